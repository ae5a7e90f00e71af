"""What a person sees: the command line, its reports, and the demonstration."""
