"""What a value may be, who else sees it, and what is reached: abstract interpretation of the untyped IR."""
