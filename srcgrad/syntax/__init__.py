"""gast made comfortable: parse with spans, quote, globals, fresh names.  Knows no derivative."""
