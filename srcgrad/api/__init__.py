"""The public calls: each turns a function into one of its derivatives."""
