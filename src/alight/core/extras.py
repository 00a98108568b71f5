"""Optional packages: imported when a feature first needs them, named when they are absent."""

from __future__ import annotations

import importlib
from types import ModuleType

from alight.core.errors import MissingExtraError


def require(module: str, extra: str) -> ModuleType:
    """Import ``module``, or say in one line which extra of Alight to install.

    Parameters
    ----------
    module:
        Dotted name, such as ``"viser"``.
    extra:
        The extra of Alight that brings it, such as ``"view"``.
    """
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != package:
            raise _broken(module, extra, error) from error
        raise MissingExtraError(
            f'this needs the package "{package}", which is not installed: '
            f'run pip install "alight[{extra}]"'
        ) from None
    except ImportError as error:
        raise _broken(module, extra, error) from error


def _broken(module: str, extra: str, error: ImportError) -> MissingExtraError:
    """An error for a package that is installed but does not load."""
    return MissingExtraError(
        f'the package "{module}" is installed but does not load ({error}): '
        f'run pip install --force-reinstall "alight[{extra}]"'
    )
