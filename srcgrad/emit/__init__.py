"""Trees become text, text becomes functions: the last two doors of the road."""
