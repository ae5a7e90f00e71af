"""``python -m tests.planted.mutants``: break rules of the table one by one; the tests of the rules must turn red.

    python -m tests.planted.mutants                      40 rules chosen at random, one fault in each
    python -m tests.planted.mutants --count 100 --seed 3
    python -m tests.planted.mutants --only cumprod       every fault of the rules whose name contains the word

A fault is a sign, a missing factor or divisor, or a dropped call of a transpose (``unbroadcast(g, x)`` becomes ``g``)
in what a formula returns or in a line before.  For each the tests of that rule run in a temporary copy.
Exit status 1 when a fault stays green, or the suite is red without any.
"""

from __future__ import annotations

import argparse
import ast
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType

from srcgrad.rules.catalogue import installed_libraries
from srcgrad.rules.formula import displayed
from srcgrad.rules.table import load_library, rules
from srcgrad.rules.template import Rule
from tests.planted.__main__ import ROOT, copied, first_red

TESTS = ["tests/rules/test_rules.py"]


@dataclass(frozen=True)
class Mutant:
    """One piece of a rule's text replaced."""

    rule: Rule
    what: str
    file: str
    begin: int
    end: int
    new: str

    @property
    def name(self) -> str:
        return f"{displayed(self.rule.functions[0])}: {self.what}"

    def applied(self, text: bytes) -> bytes:
        return text[: self.begin] + self.new.encode() + text[self.end :]


def templates(rule: Rule) -> list[FunctionType]:
    """Every formula of a rule as its author wrote it."""
    return [formula for formula in rule.templates() if formula.__code__.co_filename.startswith(str(ROOT))]


def mutants(rule: Rule) -> Iterator[Mutant]:
    """Every fault that can be planted in a rule."""
    for template in templates(rule):
        path = Path(template.__code__.co_filename)
        text = path.read_bytes()
        starts = [0]
        for line in text.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        definition = _definition(text, template)
        *body, last = definition.body
        if not isinstance(last, ast.Return) or last.value is None:
            continue
        returned = last.value.elts if isinstance(last.value, ast.Tuple) else [last.value]
        values = [line.value for line in body if isinstance(line, ast.Assign)]

        def at(node: ast.expr, what: str, new: str) -> Mutant:
            begin = starts[node.lineno - 1] + node.col_offset
            end = starts[node.end_lineno - 1] + node.end_col_offset
            return Mutant(rule, f"{what}, line {node.lineno}", str(path.relative_to(ROOT)), begin, end, new)

        def source(node: ast.expr) -> str:
            return ast.get_source_segment(text.decode(), node) or ""

        for partial in returned:
            if not (isinstance(partial, ast.Constant) and partial.value is None) and not _is_zero(partial):
                yield at(partial, "a sign", f"-({source(partial)})")
        for expression in [*returned, *values]:
            for node in ast.walk(expression):
                match node:
                    case ast.BinOp(left=left, op=ast.Mult() | ast.Div() | ast.MatMult(), right=right):
                        kept = left if _varies(left, template) else right
                        if kept is left or isinstance(node.op, ast.Mult):
                            yield at(node, "a missing factor", f"({source(kept)})")
                    case ast.Call(func=ast.Name(id=name), args=[first, *_]) if name.startswith("un"):
                        yield at(node, f"a dropped {name}", f"({source(first)})")


def _is_zero(expression: ast.expr) -> bool:
    """Whether an expression is zero by its text: its sign is no fault."""
    match expression:
        case ast.Call(func=ast.Name(id="zeros_like") | ast.Attribute(attr="zeros_like")):
            return True
    return False


def _varies(node: ast.expr, template: FunctionType) -> bool:
    """Whether an expression holds the cotangent or a tangent: the other factor is the one to drop."""
    names = {below.id for below in ast.walk(node) if isinstance(below, ast.Name)}
    return any(name.endswith(("_bar", "_dot")) for name in names)


def _definition(text: bytes, template: FunctionType) -> ast.FunctionDef:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            if (node.name, first) == (template.__code__.co_name, template.__code__.co_firstlineno):
                return node
    raise LookupError(template.__qualname__)


def main() -> int:
    """Choose, plant, run, report."""
    parser = argparse.ArgumentParser(prog="python -m tests.planted.mutants", description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=40, help="how many rules to break (default: 40)")
    parser.add_argument("--seed", type=int, default=0, help="which (default: 0)")
    parser.add_argument("--only", default="", help="every fault of the rules whose name contains this")
    options = parser.parse_args()
    for library in installed_libraries():
        load_library(library)
    table = [rule for rule in rules() if rule.differentiable and rule.functions]
    chosen: list[Mutant] = []
    if options.only:
        chosen = [m for rule in table if options.only in displayed(rule.functions[0]) for m in mutants(rule)]
    else:
        draw = random.Random(options.seed)
        draw.shuffle(table)
        for rule in table:
            faults = list(mutants(rule))
            if faults and len(chosen) < options.count:
                chosen.append(draw.choice(faults))
    with copied() as copy:
        missed = sum(not _red(mutant, copy) for mutant in chosen)
    print(f"{len(chosen) - missed} of {len(chosen)} red")
    return 1 if missed else 0


def _red(mutant: Mutant, copy: Path) -> bool:
    """Whether the tests of the rule turn red; they must be green without the fault."""
    words = " or ".join(sorted({displayed(f) for f in mutant.rule.functions[:3]}))
    selection = [*TESTS, "-k", words]
    path = copy / mutant.file
    original = path.read_bytes()
    path.write_bytes(mutant.applied(original))
    red = first_red(copy, selection)
    path.write_bytes(original)
    if red is not None and not red.startswith("pytest ended") and (broken := first_red(copy, selection)) is not None:
        print(f"RED WITHOUT A FAULT  {mutant.name}   {broken}", flush=True)
        return False
    print(f"{'red' if red else 'STAYED GREEN':14}{mutant.name:70}{red or ''}", flush=True)
    return red is not None


if __name__ == "__main__":
    sys.exit(main())
