"""Random programs for the transforms of ``torch.func``: a function drawn from a table of operations, under a transform.

A program is text, the same for PyTorch and for this module; its number is its seed.  Where every operation of it can be
written in NumPy the same function is also a plain one, for the compiler.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

# --- operations -------------------------------------------------------------------------------------------------------
# (kind of operand, text for tensors, text for NumPy, kind of result): ``s`` a number, ``v`` a vector, ``m`` a matrix;
# ``V`` and ``M`` where no two elements are equal, of which PyTorch would take either.
# ``~`` is the same text with ``np`` for ``torch``; None has no counterpart.  {a}: the operand; {b}: another value of
# its shape; {n}: its length; {i} {j} {k}: places in it; {o}: the result.  A result ``v:3`` has that length; ``v-1`` is
# shorter by one.
OPERATIONS: tuple[tuple[str, str, str | None, str], ...] = (
    # elementwise, on anything
    ("*", "{o} = torch.sin({a})", "~", "="),
    ("*", "{o} = torch.tanh({a}) * {a}", "~", "="),
    ("*", "{o} = torch.exp(-{a} * {a})", "~", "="),
    ("*", "{o} = {a} * {b} + 0.5", "~", "="),
    ("*", "{o} = {a} / (1.5 + {b} * {b})", "~", "="),
    ("*", "{o} = {a} ** 3", "~", "="),
    ("*", "{o} = torch.sqrt(1.0 + {a} * {a})", "~", "="),
    ("*", "{o} = torch.where({a} > {b}, {a} * {b}, torch.cos({b}))", "~", "="),
    ("*", "{o} = torch.maximum({a}, {b})", "~", "="),
    ("*", "{o} = torch.abs({a}) * {b}", "~", "="),
    ("*", "{o} = torch.clamp({a}, -1.1, 1.6) * {a}", "{o} = np.clip({a}, -1.1, 1.6) * {a}", "="),
    ("*", "{o} = torch.nn.functional.softplus({a})", None, "="),
    ("*", "{o} = torch.relu({a}) * {b}", "{o} = np.maximum({a}, 0.0) * {b}", "="),
    ("*", "{o} = torch.logaddexp({a}, {b})", "~", "="),
    ("*", "{o} = torch.atan2({a}, 2.0 + {b} * {b})", "{o} = np.arctan2({a}, 2.0 + {b} * {b})", "="),
    # complex
    ("*", "{o} = torch.abs(torch.complex({a}, {b} + 1.0)) ** 2", None, "="),
    ("*", "{o} = ({a} * (1.0 + 2.0j) * torch.conj({b} * 1j + {a})).real", None, "="),
    ("*", "{o} = torch.exp(1j * {a}).imag * {b}", None, "="),
    ("*", "{o} = torch.view_as_real(torch.complex({a}, {b}) ** 2).sum(-1)", None, "="),
    ("v", "{o} = torch.fft.fft({a}).real + {a}", None, "="),
    ("v", "{o} = torch.fft.rfft({a}).abs().square().sum()", None, "s"),
    # indexing
    ("v", "{o} = {a}[{i}] * {a}[{j}]", "~", "s"),
    ("v", "{o} = torch.sin({a}[{i}]) * torch.exp({a}[-1])", "~", "s"),
    ("v", "{o} = {a}[1:] * {a}[:-1]", "~", "v-1"),
    ("v", "{o} = {a}[[{i}, {j}, {i}]] * {b}[[{j}, {k}, {k}]]", "~", "v:3"),
    ("v", "{o} = {a}[torch.tensor([{i}, {j}, {k}, {i}])] ** 2",
     "{o} = {a}[np.array([{i}, {j}, {k}, {i}])] ** 2", "v:4"),
    ("v", "{o} = {a}[None, :] * {b}[:, None]", "~", "m:n"),
    ("v", "{o} = {a}[..., {i}] + {a}[::2].sum()", "{o} = {a}[..., {i}] + np.sum({a}[::2])", "s"),
    ("v", "{o} = {a}[torch.arange({n}) != {i}]", "{o} = {a}[np.arange({n}) != {i}]", "v-1"),
    ("v", "{o} = ({a}[{a} > {b}] ** 2).sum()", "{o} = np.sum({a}[{a} > {b}] ** 2)", "s"),
    ("v", "{o} = torch.take({a}, torch.tensor([{i}, {j}, {j}]))",
     "{o} = np.take({a}, np.array([{i}, {j}, {j}]))", "v:3"),
    ("v", "{o} = {a}.gather(0, torch.tensor([{k}, {i}, {k}]))", None, "v:3"),
    ("v", "{o} = {a}.index_select(0, torch.tensor([{k}, {j}])) * {b}[{i}]", None, "v:2"),
    ("m", "{o} = {a}[{i}]", "~", "v"),
    ("m", "{o} = {a}[:, {j}] * {b}[{i}, {j}]", "~", "v"),
    ("m", "{o} = {a}[[{i}, {j}], [{j}, {k}]]", "~", "v:2"),
    ("m", "{o} = {a}[{i}][{j}] * {a}[{j}, -1]", "~", "s"),
    ("m", "{o} = {a}.T[{i}] + {a}.select(1, {j})", None, "v"),
    ("m", "{o} = torch.tril({a}) @ {b}", "{o} = np.tril({a}) @ {b}", "="),
    ("m", "{o} = {a}.masked_fill(torch.eye({n}) > 0, 0.5) * {b}", None, "="),
    # taking apart and joining
    ("v", "{o} = 0.5\nfor e in {a}:\n    {o} = {o} * e + e * e", "~", "s"),
    ("v", "{o} = torch.stack([e * e for e in {a}.unbind()])", "{o} = np.stack([e * e for e in {a}])", "="),
    ("v", "p, *q = {a}\n{o} = torch.stack([p * e for e in q])",
     "p, *q = {a}\n{o} = np.stack([p * e for e in q])", "v-1"),
    ("v", "{o} = torch.concatenate([{a}[1:], {a}[:1] * {b}[{i}]])", "~", "="),
    ("v", "{o} = torch.stack([{a}[{i}], {b}[{j}] ** 2, {a}[{k}] * {a}[{i}]])", "~", "v:3"),
    ("v", "p, q = torch.split({a}, [1, {n} - 1])\n{o} = p * q", None, "v-1"),
    ("m", "p = [torch.prod(e) for e in {a}]\n{o} = torch.stack(p)",
     "p = [np.prod(e) for e in {a}]\n{o} = np.stack(p)", "v"),
    ("m", "{o} = sum(e[{i}] * e for e in {a})", "~", "v"),
    ("m", "{o} = torch.cat([{a}, {b}], 0).sum(0)", "{o} = np.sum(np.concatenate([{a}, {b}], 0), 0)", "v"),
    ("m", "{o} = torch.stack({a}.unbind(1), 0) * {b}", None, "="),
    ("m", "p, q, *r = {a}.unbind()\n{o} = p * q.flip(0)", None, "v"),
    # reductions
    ("v", "{o} = torch.sum({a} * {b})", "~", "s"),
    ("v", "{o} = torch.mean({a}) * {a}", "~", "="),
    ("v", "{o} = torch.prod({a})", "~", "s"),
    ("v", "{o} = torch.amax({a}, 0) * {b}[{i}]", "{o} = np.amax({a}, 0) * {b}[{i}]", "s"),
    ("v", "{o} = torch.max({a}) ** 2", "~", "s"),
    ("v", "{o} = {a}.min(0).values * {b}", "{o} = np.min({a}) * {b}", "="),
    ("v", "{o} = torch.var({a}) + torch.std({b} + {a} * {a})",
     "{o} = np.var({a}, ddof=1) + np.std({b} + {a} * {a}, ddof=1)", "s"),
    ("v", "{o} = torch.logsumexp({a}, 0)", None, "s"),
    ("v", "{o} = torch.nanmean({a}) * torch.nansum({b})", "{o} = np.nanmean({a}) * np.nansum({b})", "s"),
    ("v", "{o} = torch.softmax({a}, 0) * {b}", None, "="),
    ("v", "{o} = {a}.log_softmax(-1)[{i}]", None, "s"),
    ("m", "{o} = {a}.sum(0) * {b}.mean(1)", "{o} = np.sum({a}, 0) * np.mean({b}, 1)", "v"),
    ("m", "{o} = torch.amax({a}, 1)", "~", "v"),
    ("m", "{o} = {a}.max(0).values + {a}.amin(1)", "{o} = np.max({a}, 0) + np.amin({a}, 1)", "v"),
    ("m", "{o} = {a}.prod(1)", "{o} = np.prod({a}, 1)", "v"),
    ("m", "{o} = {a}.var(0)", "{o} = np.var({a}, 0, ddof=1)", "v"),
    ("m", "{o} = torch.softmax({a}, 1)", None, "="),
    ("m", "{o} = torch.trace({a} @ {b})", "~", "s"),
    # norms
    ("v", "{o} = torch.linalg.norm({a})", "~", "s"),
    ("v", "{o} = torch.norm({a}, 1) * {b}[{i}]", "{o} = np.linalg.norm({a}, 1) * {b}[{i}]", "s"),
    ("v", "{o} = torch.linalg.vector_norm({a}, 3)", None, "s"),
    ("v", "{o} = torch.linalg.norm({a}, float('inf'))", "{o} = np.linalg.norm({a}, np.inf)", "s"),
    ("v", "{o} = torch.nn.functional.normalize({a}, dim=0)", None, "="),
    ("m", "{o} = torch.linalg.norm({a})", "~", "s"),
    ("m", "{o} = torch.linalg.vector_norm({a}, dim=1)", "{o} = np.linalg.norm({a}, axis=1)", "v"),
    # sorting
    ("v", "{o} = torch.sort({a}).values * {b}", "{o} = np.sort({a}) * {b}", "="),
    ("v", "{o} = {a}.sort(descending=True)[0][:2]", "{o} = np.sort({a})[::-1][:2]", "v:2"),
    ("v", "{o} = torch.median({a})", None, "s"),
    ("v", "{o} = {a}.median(0).values * {b}", None, "="),
    ("V", "{o} = torch.topk({a}, 2).values", None, "v:2"),
    ("v", "{o} = {a}[{a}.argsort()] ** 2", "{o} = {a}[np.argsort({a})] ** 2", "="),
    ("v", "{o} = {a}[{a}.argmax()] * {b}", "{o} = {a}[np.argmax({a})] * {b}", "="),
    ("V", "{o} = torch.kthvalue({a}, 2).values", None, "s"),
    ("v", "{o} = torch.quantile({a}, 0.3)", "~", "s"),
    ("m", "{o} = {a}.sort(1).values.sum(0)", "{o} = np.sum(np.sort({a}, 1), 0)", "v"),
    ("m", "{o} = {a}.median(1)[0]", None, "v"),
    ("M", "{o} = {a}.topk(2, 0).values[1]", None, "v"),
    # cumulative
    ("v", "{o} = torch.cumsum({a} * {b}, 0)", "~", "="),
    ("v", "{o} = torch.cumprod({a}, 0)", "~", "="),
    ("v", "{o} = torch.cummax({a}, 0).values * {b}", "{o} = np.maximum.accumulate({a}) * {b}", "="),
    ("v", "{o} = torch.diff({a})", "~", "v-1"),
    ("m", "{o} = torch.cumsum({a}, 1)", "~", "="),
    ("m", "{o} = torch.cumprod({a}, 0)[-1]", "~", "v"),
    # products
    ("v", "{o} = torch.einsum('i,j->ij', {a}, {b})", "~", "m:n"),
    ("v", "{o} = torch.outer({a}, {a})", "~", "m:n"),
    ("v", "{o} = torch.dot({a}, {b}) * {a}", "~", "="),
    ("v", "{o} = (torch.arange({n} * {n}).reshape({n}, {n}) * 0.1) @ {a}",
     "{o} = (np.arange({n} * {n}).reshape({n}, {n}) * 0.1) @ {a}", "="),
    ("v", "{o} = torch.diag({a}) @ torch.outer({a}, {b})", "~", "m:n"),
    ("m", "{o} = {a} @ {b}", "~", "="),
    ("m", "{o} = torch.matmul({a}, {b}[{i}])", "~", "v"),
    ("m", "{o} = torch.einsum('ij,kj->ik', {a}, {b})", "~", "="),
    ("m", "{o} = torch.einsum('ii->i', {a})", "~", "v"),
    ("m", "{o} = torch.linalg.det({a} + torch.diag(torch.arange(3.0, {n} + 3.0)))",
     "{o} = np.linalg.det({a} + np.diag(np.arange(3.0, {n} + 3.0)))", "s"),
    ("m", "{o} = torch.linalg.inv({a} @ {a}.T + 3.0 * torch.eye({n}))",
     "{o} = np.linalg.inv({a} @ {a}.T + 3.0 * np.eye({n}))", "="),
    ("m", "{o} = torch.diagonal({a}) * {b}[0]", "~", "v"),
    # shapes
    ("m", "{o} = {a}.T.reshape(-1)[:4]", "{o} = {a}.T.reshape(-1)[:4]", "v:4"),
    ("m", "{o} = {a}.unsqueeze(1).expand(-1, 2, -1).sum(1)", None, "="),
    ("m", "{o} = {a}.roll(1, 0) * {b}.flip(1)", None, "="),
    ("v", "{o} = torch.flip({a}, (0,)) * {b}", "~", "="),
    ("v", "{o} = torch.roll({a}, 1)", "~", "="),
    ("v", "{o} = torch.nn.functional.pad({a}[1:], (0, 1), value=0.5)", None, "="),
    ("s", "{o} = torch.stack([{a}, {a} * {a}, torch.sin({a})])", "~", "v:3"),
    ("s", "{o} = {a}.expand(3) * torch.arange(1.0, 4.0)", "{o} = {a} * np.arange(1.0, 4.0)", "v:3"),
    # stores
    ("v", "{o} = {a}.clone()\n{o}[{i}] = {o}[{j}] * {a}[{k}]", "{o} = {a}.copy()\n{o}[{i}] = {o}[{j}] * {a}[{k}]", "="),
    ("v", "{o} = {a} * 1.0\n{o}[1:] *= {b}[:-1]", "~", "="),
    ("v", "{o} = {a} * {b}\n{o} += {a}\n{o}[{i}] += {b}[{j}]", "~", "="),
    ("v", "{o} = torch.sin({a})\n{o}.mul_({b}).add_(1.0)", None, "="),
    ("v", "{o} = torch.zeros_like({a})\n{o}[{i}] = {a}[{j}] ** 2", "~", "="),
    ("v", "{o} = {a}.new_zeros({n})\nfor e in range({n}):\n    {o}[e] = {a}[e] * {a}[{i}]",
     "{o} = np.zeros({n})\nfor e in range({n}):\n    {o}[e] = {a}[e] * {a}[{i}]", "="),
    ("v", "{o} = torch.zeros({n}, dtype=torch.float64)\n{o}[{i}:] = {a}[{i}:] * {b}[{j}]",
     "{o} = np.zeros({n})\n{o}[{i}:] = {a}[{i}:] * {b}[{j}]", "="),
    ("v", "{o} = {a}.clone()\nfor e in range(1, {n}):\n    {o}[e] += {o}[e - 1] * 0.5",
     "{o} = {a}.copy()\nfor e in range(1, {n}):\n    {o}[e] += {o}[e - 1] * 0.5", "="),
    ("v", "{o} = {a}.clone()\n{o}[{o} > 0.2] = 0.25", None, "="),
    ("v", "{o} = {a}.index_add(0, torch.tensor([{i}, {i}]), {b}[:2])", None, "="),
    ("v", "{o} = torch.zeros_like({a}).scatter_add(0, torch.tensor([{i}, {j}, {i}]), {a}[[0, 1, 0]])", None, "="),
    ("m", "{o} = {a}.clone()\n{o}[{i}] = {b}[:, {j}] * 2.0", "{o} = {a}.copy()\n{o}[{i}] = {b}[:, {j}] * 2.0", "="),
    ("m", "{o} = {a} * 1.0\nq = {o}[:, {j}]\nq *= {b}[{i}]", "~", "="),
    ("m", "{o} = {a}.clone()\n{o}.diagonal().mul_({b}[0])", None, "="),
)  # fmt: skip


@dataclass
class Function:
    """A function of one vector: its lines for tensors, those for NumPy (None without), the kind of its result."""

    lines: list[str] = field(default_factory=list)
    plain: list[str] | None = field(default_factory=list)
    kind: str = "v"


def drawn_function(rng: random.Random, n: int, scalar: bool, generic: bool) -> Function:
    """A few operations, each on what is there by then; where ``scalar`` the result is a number."""
    made = Function()
    values: list[tuple[str, str, int]] = [("x", "v", n)]
    for step in range(rng.randint(1, 4)):
        name, kind, length = values[-1] if rng.random() < 0.75 else rng.choice(values)
        fitting = [op for op in OPERATIONS if op[0] in ("*", kind) or (generic and op[0] == kind.upper())]
        _, text, plain, result = rng.choice(fitting)
        alike = [v for v, k, m in values if (k, m) == (kind, length)]
        # what a row, a column, or a matrix of another size would need is avoided: all matrices are square
        length_of = length
        if kind == "v" and length < 3:
            continue
        places = {p: rng.randrange(length_of) if length_of else 0 for p in "ijk"}
        target = f"t{step}"
        fill = {"a": name, "b": rng.choice(alike), "n": length, "o": target, **places}
        made.lines += text.format(**fill).split("\n")
        if made.plain is not None:
            if plain is None:
                made.plain = None
            else:
                written = text.replace("torch.", "np.") if plain == "~" else plain
                made.plain += written.format(**fill).split("\n")
        values.append((target, *_result(result, kind, length)))
    name, kind, _ = values[-1]
    if kind == "v":
        made.lines.append(f"return ({name} * {name}).sum() + {name}[0]" if scalar else f"return {name}")
        if made.plain is not None:
            made.plain.append(f"return np.sum({name} * {name}) + {name}[0]" if scalar else f"return {name}")
    elif kind == "m":
        flat = f"return {name}.reshape(-1)"
        made.lines.append(f"return ({name} * {name}.T).sum() + {name}[0, 1]" if scalar else flat)
        if made.plain is not None:
            made.plain.append(f"return np.sum({name} * {name}.T) + {name}[0, 1]" if scalar else flat)
    else:
        for lines in (made.lines, *([] if made.plain is None else [made.plain])):
            lines.append(f"return {name}" if scalar else f"return {name} * x")
    made.kind = "s" if scalar else "v"
    return made


def _result(rule: str, kind: str, length: int) -> tuple[str, int]:
    if rule == "=":
        return kind, length
    if rule == "s":
        return "s", 0
    if rule == "v-1":
        return "v", length - 1
    if ":" in rule:
        head, size = rule.split(":")
        return head, length if size == "n" else int(size)
    return rule, length


# --- transforms -------------------------------------------------------------------------------------------------------
# (whether the function must return a number, the call, its counterpart in the compiler or None)
# f: the function; x: a vector, v: a direction; X: three vectors; c: a matrix of cotangents made from the result's shape
TRANSFORMS: tuple[tuple[bool, str, str | None], ...] = (
    (True, "func.grad(f)(x)", "srcgrad.grad(f)(x)"),
    (True, "func.grad_and_value(f)(x)", None),
    (False, "pulled(f, x)", None),
    (False, "func.jvp(f, (x,), (v,))", "srcgrad.jvp(f, (x,), (v,))"),
    (False, "func.linearize(f, x)[1](v)", None),
    (False, "func.jacrev(f)(x)", "srcgrad.jacobian(f)(x)"),
    (False, "func.jacfwd(f)(x)", "srcgrad.jacobian(f)(x)"),
    (True, "func.hessian(f)(x)", "srcgrad.hessian(f)(x)"),
    (True, "func.hessian(f)(x)", "srcgrad.hessian(f)(x)"),
    (True, "func.jacfwd(func.jacrev(f))(x)", "srcgrad.hessian(f)(x)"),
    (True, "func.jacrev(func.jacfwd(f))(x)", "srcgrad.hessian(f)(x)"),
    (True, "func.jacrev(func.grad(f))(x)", "srcgrad.hessian(f)(x)"),
    (True, "func.jacfwd(func.jacfwd(f))(x)", "srcgrad.hessian(f)(x)"),
    (False, "func.jacrev(func.jacrev(f))(x)", None),
    (False, "func.jacfwd(func.jacrev(f))(x)", None),
    (True, "func.jvp(func.grad(f), (x,), (v,))", None),
    (True, "func.grad(lambda x: func.jvp(f, (x,), (v,))[1])(x)", None),
    (True, "func.grad(lambda x: (func.grad(f)(x) * v).sum())(x)", None),
    (False, "func.jvp(lambda x: func.jvp(f, (x,), (v,))[1], (x,), (v,))", None),
    (False, "func.vjp(lambda x: func.jvp(f, (x,), (v,))[1], x)[0]", None),
    (True, "func.vjp(func.grad(f), x)[1](v)", None),
    (True, "func.grad(lambda x: func.grad(lambda y: f(x * y))(x).sin().sum())(x)", None),
    (False, "func.vmap(f)(X)", "np.stack([f(x) for x in X])"),
    (False, "func.vmap(f, in_dims=1, out_dims=1)(X.T)", "np.stack([f(x) for x in X]).T"),
    (False, "func.vmap(f, in_dims=-1, out_dims=-1, chunk_size=2)(X.mT)", "np.stack([f(x) for x in X]).T"),
    (False, "func.vmap(lambda x, y: f(x * y), in_dims=(0, None))(X, v)", None),
    (False, "func.vmap(func.vmap(f))(torch.stack([X, X + 0.5]))", None),
    (True, "func.vmap(func.grad(f))(X)", "np.stack([srcgrad.grad(f)(x) for x in X])"),
    (False, "func.vmap(func.jacrev(f))(X)", "np.stack([srcgrad.jacobian(f)(x) for x in X])"),
    (False, "func.vmap(func.jacfwd(f), out_dims=1)(X)", None),
    (True, "func.vmap(func.hessian(f))(X)", "np.stack([srcgrad.hessian(f)(x) for x in X])"),
    (False, "func.vmap(lambda x: func.jvp(f, (x,), (v,))[1])(X)", None),
    (False, "func.vmap(lambda d: func.jvp(f, (x,), (d,))[1])(X)", None),
    (False, "func.vmap(lambda x: pulled(f, x))(X)", None),
    (True, "func.grad(lambda X: (func.vmap(f)(X) ** 2).sum())(X)", None),
    (True, "func.grad(lambda X: (func.vmap(func.grad(f))(X) ** 2).sum())(X)", None),
    (True, "func.jvp(lambda X: func.vmap(func.grad(f))(X), (X,), (X * 0.5 + 1.0,))[1]", None),
    (False, "func.jacrev(func.vmap(f))(X[:2])", None),
    (False, "func.jacfwd(func.vmap(f))(X[:2])", None),
    (False, "func.jacfwd(lambda a, b: f(a * b + b), argnums=(0, 1))(x, v)", None),
    (False, "func.jacrev(lambda d: {'y': f(d['p'] * d['q']), 'z': d['p'].sum()})({'p': x, 'q': v})", None),
    (True, "func.functional_call(Scaled(f), {'w': v}, (x,))", None),
    (True, "func.grad(lambda w: func.functional_call(Scaled(f), {'w': w}, (x,)))(v)", None),
    (True, "func.vmap(func.grad(lambda w: func.functional_call(Scaled(f), {'w': w}, (x,))))(X)", None),
    (False, "noisy(f, x, X, 'same')", None),
    (False, "noisy(f, x, X, 'different')", None),
    (False, "noisy(f, x, X, 'error')", None),
    (True, "autograd.functional.hessian(f, x)", "srcgrad.hessian(f)(x)"),
    (True, "autograd.functional.hessian(f, x, vectorize=True, outer_jacobian_strategy='forward-mode')", None),
    (True, "autograd.functional.hvp(f, x, v)", None),
    (True, "autograd.functional.vhp(f, x, v)", None),
    (False, "autograd.functional.jacobian(f, x)", "srcgrad.jacobian(f)(x)"),
    (False, "autograd.functional.jacobian(f, x, vectorize=True)", "srcgrad.jacobian(f)(x)"),
    (False, "autograd.functional.jacobian(f, x, strategy='forward-mode', vectorize=True)", "srcgrad.jacobian(f)(x)"),
    (False, "autograd.functional.jvp(f, x, v)", "srcgrad.jvp(f, (x,), (v,))"),
    (False, "autograd.functional.vjp(lambda x: (f(x) ** 2).sum(), x)", None),
    (False, "dual(f, x, v)", None),
    (True, "dual(func.grad(f), x, v)", None),
    (True, "dual(lambda x: gradient(f, x, True), x, v)", None),
    (True, "gradient(f, x, False)", "srcgrad.grad(f)(x)"),
    (True, "gradient(lambda x: (gradient(f, x, True) * v).sum(), x, False)", None),
    (True, "func.vmap(lambda x: gradient(f, x, True), randomness='same')(X)", None),
)  # fmt: skip

HEAD = """\
autograd, func, forward_ad = torch.autograd, torch.func, torch.autograd.forward_ad

def pulled(f, x):
    y, pull = func.vjp(f, x)
    return pull(torch.cos(torch.arange(float(y.numel()), dtype=torch.float64)).reshape(y.shape))[0]

def noisy(f, x, X, randomness):
    torch.manual_seed(7)
    return func.vmap(lambda x: f(x + torch.rand(x.shape[0], dtype=torch.float64)), randomness=randomness)(X)

def dual(f, x, v):
    with forward_ad.dual_level():
        y, dot = forward_ad.unpack_dual(f(forward_ad.make_dual(x, v)))
        return y.detach(), torch.zeros_like(y) if dot is None else dot.detach()

def gradient(f, x, create):
    if not create:
        x = x.detach().requires_grad_()
    elif not x.requires_grad:
        x = x.clone().requires_grad_()
    return autograd.grad(f(x), x, create_graph=create, materialize_grads=True)[0]

class Scaled(torch.nn.Module):
    def __init__(self, f):
        super().__init__()
        self.f = f
        self.w = torch.nn.Parameter(torch.ones(4, dtype=torch.float64))
    def forward(self, x):
        return self.f(x * self.w)

"""


@dataclass(frozen=True)
class Program:
    """A program: text for tensors, which leaves ``result``; the plain function and its call, where there are some."""

    seed: int
    text: str
    plain: str | None
    call: str | None
    generic: bool


def program(seed: int) -> Program:
    """Program number ``seed``."""
    rng = random.Random(seed)
    scalar, call, compiled = rng.choice(TRANSFORMS)
    inner = "vmap" in call and not call.startswith("func.vmap")  # there PyTorch itself takes one of several extremes
    generic = rng.random() < 0.6 or inner
    function = drawn_function(rng, 4, scalar, generic)
    numbers = [_numbers(rng, generic, 4) for _ in range(5)]
    tensors = [f"torch.tensor({row}, dtype=torch.float64)" for row in numbers]
    if "linearize" in call and any(mark in line for line in function.lines for mark in ("] =", "] +=", "] *=", "_(")):
        call = "func.jvp(f, (x,), (v,))[1]"  # PyTorch's linearize loses what is stored
    lines = [f"def f(x):\n    {_indented(function.lines)}\n"]
    lines.append(f"x = {tensors[0]}\nv = {tensors[1]}\nX = torch.stack([x, {', '.join(tensors[2:4])}])")
    lines.append(f"result = {call}\n")
    plain = None
    if function.plain is not None and compiled is not None:
        plain = (
            f"def f(x):\n    {_indented(function.plain)}\n\n"
            f"x = np.array({numbers[0]})\nv = np.array({numbers[1]})\nX = np.array({[numbers[0], *numbers[2:4]]})\n"
        )
    return Program(seed, "\n".join(lines), plain, compiled, generic)


def _indented(lines: list[str]) -> str:
    return "\n    ".join(lines)


def _numbers(rng: random.Random, generic: bool, n: int) -> list[float]:
    """Different numbers, or few different ones, so that there are ties and kinks."""
    if generic:
        return [round(rng.uniform(-1.8, 1.8), 3) + 0.0005 for _ in range(n)]
    return [rng.choice((-1.0, -0.5, 0.5, 1.0, 1.0, 2.0)) for _ in range(n)]
