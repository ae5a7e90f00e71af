"""Faults planted in a copy of the compiler, one at a time: the suite must turn red.

``python -m tests.planted`` plants them all.  A fault that stays green is a gap in the suite.
"""
