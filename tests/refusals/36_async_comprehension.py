def f(x):
    async def gather(items):
        return [x * item async for item in items]

    return gather([x])
