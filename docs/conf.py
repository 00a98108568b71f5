"""The site of the documentation (``make docs``): Sphinx, MyST and MyST-NB, PyData's theme.

Nothing is fetched from the network: no fonts, scripts or inventories of other projects. Pages of
the repository that lie outside ``docs`` are copied into ``docs/project``.
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "_extensions"), str(HERE.parent)]

from alight import __version__  # noqa: E402

project = "Alight"
copyright = "the authors of Alight"
version = release = __version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_design",
    "sphinx_copybutton",
    "outside_pages",
    "api_pages",
    "commands_page",
    "notebook_cells",
    "page_examples",
    "stands_alone",
]
exclude_patterns = ["_build", "_extensions"]
# Words in quotes that several classes have as a name: not links that were meant.
suppress_warnings = ["ref.python"]

# MyST: headings have anchors as forges make them, so that one link serves both.
myst_enable_extensions = ["colon_fence", "attrs_inline"]
myst_heading_anchors = 4
myst_links_external_new_tab = True

# Notebooks run when the site is built, each in an empty folder; an error in a cell stops the build.
nb_execution_mode = "cache"
nb_execution_in_temp = True
nb_execution_timeout = 1200
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_merge_streams = True
nb_output_stderr = "remove"  # progress
nb_ipywidgets_js: dict[str, dict[str, str]] = {}

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88

html_theme = "pydata_sphinx_theme"
html_title = f"Alight {__version__}"
html_static_path = ["_static"]
html_css_files = ["alight.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "header_links_before_dropdown": 6,
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
}
html_sidebars = {"gallery": [], "index": []}
copybutton_exclude = ".linenos, .gp, .go"
