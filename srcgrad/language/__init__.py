"""What Python's built-in classes, NumPy's and the standard library's functions do, as data."""
