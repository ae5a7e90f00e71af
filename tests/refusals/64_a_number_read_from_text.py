"""Once a gradient of zero in silence: what is written and read back is the value itself."""


def f(x):
    label = ""
    label += f"{x * x}"
    kept = {"label": label}
    return float(kept["label"]) * x
