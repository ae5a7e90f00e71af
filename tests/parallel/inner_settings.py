"""A module inside of one."""

SHIFT = 1.0
