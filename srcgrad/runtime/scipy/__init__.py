"""What emitted code imports besides NumPy's part of the runtime where the program calls SciPy: these modules need it.

Each function has a rule of its own (``srcgrad.rules.scipy``), so that emitted code can be differentiated again.
"""
