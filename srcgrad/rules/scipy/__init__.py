"""Rules of SciPy, a module for each library, imported when a function of that library is first asked about."""
