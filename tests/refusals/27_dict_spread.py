def f(x, options):
    table = {"scale": x, **options}
    return table["scale"]
