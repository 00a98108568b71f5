"""Examples of pages are run when the site is built, and no page is without one.

All blocks of Python of a page are one script, which runs in a folder with ``scenarios`` and
``examples`` in it. A comment of the page, which readers do not see, says what else there is:

``<!-- run first: ... -->``
    Lines that the script begins with: what the page takes for granted.
``<!-- not run: why -->``
    The next block is not run: it needs a GPU, minutes, or what the reader has.
``<!-- run -->``
    The next block of shell is run too.

A page is also fine if it is a notebook, or names the test that runs its examples:
``<!-- run by tests/... -->``. Records of what was run, and lists of contents, have no examples.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx.util import logging

if TYPE_CHECKING:
    from sphinx.application import Sphinx

#: Pages written from what other tests check, and records of runs: nothing of them can be run.
RECORDS = ("project/", "reference/", "gallery", "index")
_PARTS = re.compile(
    r"<!-- run first:\n(?P<first>.*?)-->|<!-- (?P<mark>run|not run:[^>]*) -->"
    r"|^ *```(?P<language>python|sh)\n(?P<code>.*?)^ *```",
    re.M | re.S,
)
#: Against examples that never end; a busy machine takes minutes for seconds of a quiet one.
LIMIT_S = 1200.0


def examples(text: str) -> tuple[str, str]:
    """The script and the shell commands of a page."""
    python, shell, mark = [], [], ""
    for part in _PARTS.finditer(text):
        if part["first"] is not None:
            python.append(part["first"])
        elif part["mark"]:
            mark = part["mark"]
        else:
            if part["language"] == "python" and not mark.startswith("not run"):
                python.append(textwrap.dedent(part["code"]))
            elif part["language"] == "sh" and mark == "run":
                shell.append(textwrap.dedent(part["code"]))
            mark = ""
    return "\n".join(python), "\n".join(shell)


def has_one(name: str, text: str, root: Path) -> bool:
    """Whether something on the page is run."""
    if name.startswith(RECORDS) or name.endswith("/index") or "```{code-cell}" in text:
        return True
    named = re.search(r"<!-- run by (tests/\S+) -->", text)
    return (root / named[1]).is_file() if named else any(examples(text))


def run(script: str, shell: str, root: Path) -> str:
    """What went wrong; empty if nothing."""
    with tempfile.TemporaryDirectory(prefix="alight_page_") as folder:
        for name in ("scenarios", "examples"):
            (Path(folder) / name).symlink_to(root / name)
        bin_first = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        env = {**os.environ, "PATH": bin_first, "MPLBACKEND": "agg"}
        for command in ([sys.executable, "-c", script], ["sh", "-ec", shell]):
            if not command[-1]:
                continue
            try:
                done = subprocess.run(
                    command, cwd=folder, env=env, capture_output=True, text=True, check=False,
                    timeout=LIMIT_S,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                return f"takes more than {LIMIT_S:.0f} s"
            if done.returncode:
                return done.stderr[-1500:]
    return ""


def read_page(app: Sphinx, name: str, source: list[str]) -> None:
    """Run the examples of a page that has changed."""
    root = Path(app.srcdir).parent
    page = Path(app.env.doc2path(name))
    log = logging.getLogger(__name__)
    if page.suffix != ".md":
        return
    if not has_one(name, source[0], root):
        log.warning("no example of this page is run", location=name)
    if name.startswith(RECORDS) or re.search("```{code-cell}|<!-- run by ", source[0]):
        return
    script, shell = examples(source[0])
    if (script or shell) and (wrong := run(script, shell, root)):
        log.warning("an example of this page fails: %s", wrong, location=name)


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("source-read", read_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
