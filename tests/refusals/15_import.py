def f(x):
    import no_such_module

    return no_such_module.scaled(x)
