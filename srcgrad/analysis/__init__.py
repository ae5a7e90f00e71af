"""Facts about a normal form, kept in side tables keyed by statement.  Analyses never change the tree."""
