"""From a function to its normal form: source, fence, desugar, normalize."""
