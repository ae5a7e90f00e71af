"""Loops of which few states are kept, and functions that are run again instead of recorded."""
