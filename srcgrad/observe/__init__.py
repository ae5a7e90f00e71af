"""Derivative programs seen line by line: what each line is for, what it costs, where numbers stop being finite."""
