"""A function over a batch of arguments: the program in which values carry one more axis, in front."""
