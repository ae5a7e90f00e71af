# ruff: noqa: W191
# fmt: off
def f(x, y):
	if x > 0:
		z = x;	y = {z, x}
	return y
