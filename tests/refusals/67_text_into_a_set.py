def f(x):
    seen = set()
    for j in range(3):
        seen.add(f"{x * j}")
    return sum(float(name) for name in seen)
