"""Sphinx settings: MyST pages, the furo theme."""

project = "srcgrad"
author = "The srcgrad maintainers"
extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence"]
exclude_patterns = ["_build"]
html_theme = "furo"
