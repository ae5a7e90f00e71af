"""The front end: source, fence, desugar, normalize."""
