"""The one table of derivative rules: runnable templates that the compiler inlines and the eager machine calls."""
