"""The untyped intermediate representation of a program: one operation per statement, every operand evaluated once."""
