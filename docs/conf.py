"""Sphinx settings: MyST pages, the furo theme; ``extensions/`` runs the examples and sets the formulas."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "extensions"))
os.environ.setdefault("OMP_NUM_THREADS", "1")

project = "srcgrad"
author = "The srcgrad maintainers"
extensions = ["myst_parser", "sphinx.ext.autodoc", "executed", "mathml"]

myst_enable_extensions = ["colon_fence", "dollarmath", "attrs_inline", "attrs_block"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "extensions"]

# The programs of this page are refused, as they should be; tests/refusals runs each by itself.
executed_elsewhere = ["refusals"]

autodoc_member_order = "bysource"
autodoc_typehints = "signature"

html_theme = "furo"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_title = "srcgrad"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
