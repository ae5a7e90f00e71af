"""The trees: parse, clone, compare; names; globals."""
