async def f(x):
    y = await x
    return y * y
