"""Cells of notebooks as readers paste them: commands without the magic word that runs them here.

A cell that begins with ``%%sh`` is shown as a block of shell, and one that begins with
``%%writefile NAME`` as the file of that name, with the name above it. Kernels find the commands of
this environment, print no colours, and draw figures in one style.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_MAGIC = re.compile(r"%%(sh|writefile)(?: +(\S+))?\n")
_LANGUAGES = {"py": "python", "toml": "toml"}
#: Jupyter's own ``%%sh`` hands on what a command prints in pieces that end anywhere, each of which
#: would begin a line of the page. Here it comes as a whole; what goes to standard error (progress)
#: is for terminals, and is shown where a command fails.
_SHELL = """
def _shell(line, cell):
    import subprocess
    done = subprocess.run(["sh", "-c", cell], capture_output=True, text=True)
    print(done.stdout.rstrip())
    if done.returncode:
        raise RuntimeError(f"exit code {done.returncode}: {done.stderr}")


get_ipython().register_magic_function(_shell, "cell", "sh")
"""
_KERNELS = f"""
c.InteractiveShellApp.exec_lines = [
    "import os as _os",
    "[_os.environ.pop(_name, None) for _name in ('FORCE_COLOR', 'CLICOLOR', 'CLICOLOR_FORCE')]",
    {_SHELL!r},
]
c.Application.log_level = "ERROR"
c.HistoryManager.enabled = False
c.InlineBackend.rc = {{
    "figure.figsize": (7.2, 3.4), "figure.dpi": 140, "font.size": 10, "lines.linewidth": 1.6,
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "axes.axisbelow": True,
    "grid.color": "e3e5e8", "grid.linewidth": 0.8, "legend.frameon": False,
}}
"""


def show_plain(_app: Sphinx, doctree: nodes.document) -> None:
    """Take the magic words off."""
    for block in list(doctree.findall(nodes.literal_block)):
        if match := _MAGIC.match(block.astext()):
            _strip(block, match)


def _strip(block: nodes.literal_block, match: re.Match[str]) -> None:
    text = block.astext()[match.end() :]
    name = match.group(2)
    block.rawsource = text
    block.children = []
    block += nodes.Text(text)
    block["language"] = _LANGUAGES.get((name or "").rpartition(".")[2], "sh")
    if name:
        label = nodes.paragraph("", "", nodes.literal(name, name), classes=["file-name"])
        block.parent.insert(block.parent.index(block), label)


def prepare_kernels() -> None:
    """What the kernels of notebooks inherit."""
    made = Path(tempfile.mkdtemp(prefix="alight_docs_"))
    profile = made / "profile_default"
    profile.mkdir()
    (profile / "ipython_kernel_config.py").write_text(_KERNELS, encoding="utf-8")
    os.environ["IPYTHONDIR"] = str(made)
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    os.environ["COLUMNS"] = "78"  # what fits into the column of a page


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    prepare_kernels()
    app.connect("doctree-read", show_plain)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
