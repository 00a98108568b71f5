"""``python -m alight``: the same as the command ``alight``."""

from alight.cli.start import run

if __name__ == "__main__":
    run()
