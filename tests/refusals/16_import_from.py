def f(x):
    from . import sibling

    return sibling.scaled(x)
