"""The suite of srcgrad.  Run it from the root of the project: ``python -m pytest``."""
