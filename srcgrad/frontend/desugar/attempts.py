"""``try`` as attempts of single expressions and branches on what they raised.

Every expression of the body that may raise is attempted by itself: its value and the exception that it raised are kept,
and what follows runs if there was none.  So the path taken is a path of branches, which is reversed as any other::

    try:                              raised = None
        y = f(x)                      t, raised = attempt(lambda: f(x), (ValueError,))
        z = y * a                     if raised is None:
    except ValueError as e:      ->       y = t
        z = str(e)                        t2, raised = attempt(lambda: y * a, (ValueError,))
    finally:                              if raised is None:
        n = 1                                 z = t2
                                      if raised is not None:
                                          e = raised; z = str(e)
                                      n = 1

Where one ``try`` stands in another, an expression is attempted once, with the kinds of both: what the inner one does
not catch was raised in the outer.  ``finally`` is an attempt of everything, after which what was raised is raised
again.  What cannot be taken apart (a binding inside of an expression, a context manager that may raise, or do anything
with what its body raises) stays a ``gast.Try``, to be refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import gast

from srcgrad import runtime
from srcgrad.frontend.desugar.assignment import staged
from srcgrad.frontend.desugar.build import (
    assign,
    branch,
    call,
    compare,
    constant,
    load,
    negation,
    placed,
    targets,
    tuple_of,
    with_bodies,
)
from srcgrad.frontend.desugar.loops import endless
from srcgrad.frontend.desugar.raising import (
    IN_PLACE,
    are_pairs,
    defaults_may_raise,
    header_with_names,
    indifferent,
    is_everything,
    is_known_iterable,
    is_ours,
    is_plain,
    is_silent,
    is_truth,
    iterated_by,
    may_catch,
    may_differ_in_length,
    may_have_no_step,
    may_raise,
    reraising,
    test_may_raise,
    waits,
    writes,
)
from srcgrad.language import effects
from srcgrad.syntax.globals import builtin, of_runtime, reference
from srcgrad.syntax.parse import clone, walk

Body = Sequence[gast.stmt]
Meaning = Callable[[str], object]  # of names that a function binds nowhere
Attempted = tuple[list[gast.stmt], gast.expr, bool]
Given = Callable[[gast.expr], list[gast.expr]]
Blocks = Callable[[Body], list[gast.stmt]]
_CHANGES = effects.updating()
_ATTEMPT = of_runtime(runtime.attempt)
_ASKED = of_runtime(runtime.asked)
_AUGMENTING = of_runtime(runtime.raised_augmenting)
_ENTERING = of_runtime(runtime.raised_entering)
_ITERATING = of_runtime(runtime.raised_iterating)
_RAISABLE = of_runtime(runtime.raisable)


class Stays(Exception):
    """This ``try`` cannot be taken apart."""


def without_try(statement: gast.Try, block: Blocks, fresh: Callable[[str], str], meaning: Meaning) -> Body:
    """The statements in place of a ``try``; ``block`` takes apart what stands inside of it."""
    statement = with_bodies(statement, body=staged(statement.body, fresh))
    try:
        handled = _handled(statement, block, fresh, meaning)
        if not statement.finalbody:
            return handled
        # Each copy of the last block is taken apart by itself: what it attempts has names of its own.
        return _finally(handled, statement, lambda: block([*map(clone, statement.finalbody)]), fresh, meaning)
    except Stays:
        return [statement]


def _handled(statement: gast.Try, block: Blocks, fresh: Callable[[str], str], meaning: Meaning) -> list[gast.stmt]:
    if not statement.handlers:
        return [*block(statement.body), *block(statement.orelse)]
    raised = fresh("raised")
    caught: list[gast.expr] = []
    dispatch: list[gast.stmt] = []
    for handler in reversed(statement.handlers):
        kinds = handler.type if handler.type is not None else reference(builtin("BaseException"))
        caught = [*(kinds.elts if isinstance(kinds, gast.Tuple) else [kinds]), *caught]
        body = list(block(reraising(handler.body, raised)))
        if handler.name is not None:
            name = handler.name if isinstance(handler.name, str) else handler.name.id
            body.insert(0, assign(name, load(raised, handler), handler))
        if handler is statement.handlers[-1] and len(statement.handlers) == 1:
            dispatch = body
            continue
        test = call(reference(builtin("isinstance")), [load(raised, handler), kinds], handler)
        dispatch = [branch(test, body, dispatch, handler)]
    attempts = _Attempts(raised, tuple(caught), fresh, meaning)
    body, _ = attempts.block(block(statement.body))
    at = statement.body[0]
    no = compare(load(raised, statement), gast.IsNot(), constant(None, statement), statement)
    orelse = block(statement.orelse)
    last = branch(_is_none(raised, statement), orelse, dispatch, statement) if orelse else branch(
        no, dispatch, [], statement
    )
    return [assign(raised, constant(None, at), at), *body, last]


def _finally(
    body: list[gast.stmt], statement: gast.Try, final: Callable[[], Body], fresh: Callable[[str], str], meaning: Meaning
) -> list[gast.stmt]:
    if any(isinstance(inner, gast.Return | gast.Break | gast.Continue) for inner in walk(*statement.finalbody)):
        raise Stays
    raised = fresh("raised")
    attempts = _Attempts(raised, (reference(builtin("BaseException")),), fresh, meaning, final)
    made, may = attempts.block(body)
    if not may:
        return [*made, *final()]
    again = placed(gast.Raise(load(raised, statement), None), statement)
    test = compare(load(raised, statement), gast.IsNot(), constant(None, statement), statement)
    return [
        assign(raised, constant(None, statement), statement),
        *made,
        *final(),
        branch(test, [again], [], statement),
    ]


@dataclass(frozen=True)
class _Attempts:
    """The body of one ``try``: which exceptions it catches, and what runs before it is left."""

    raised: str
    caught: tuple[gast.expr, ...]
    fresh: Callable[[str], str]
    meaning: Meaning
    final: Callable[[], Body] | None = None
    in_loop: bool = False  # in a loop of the body, so that break and continue stay inside of it

    def block(self, statements: Body) -> tuple[list[gast.stmt], bool]:
        """The statements, each run if none before it raised; and whether one of them may raise."""
        made: list[gast.stmt] = []
        asked = False
        for position, statement in enumerate(statements):
            if isinstance(statement, gast.AugAssign) and is_plain(statement):
                made += self._augmenting(statement, statement.value)
                asked = True
                continue
            if asked:
                rest, _ = self.block(statements[position:])
                return [*made, branch(_is_none(self.raised, statement), rest, [], statement)], True
            before, after, may = self.statement(statement)
            made += before
            if may:
                rest, _ = self.block(statements[position + 1 :])
                if after or rest:
                    made.append(branch(_is_none(self.raised, statement), [*after, *rest], [], statement))
                return made, True
            made += after
        return made, asked

    def attempt(self, value: gast.expr, stem: str = "attempted", *first: gast.stmt) -> Attempted:
        """An expression evaluated now, after ``first``: the statements, what holds its value, whether it may raise."""
        if not may_raise(value):
            return [], value, False
        if isinstance(value, gast.Starred) or waits(value):
            raise Stays
        name = self.fresh(stem)
        return self._tried(placed(gast.Return(value), value), name, *first), load(name, value), True

    def test(self, value: gast.expr) -> Attempted:
        """A test evaluated now, and asked whether it is true."""
        return self.attempt(value if is_truth(value) else call(reference(builtin("bool")), [value], value))

    def _tried(self, part: gast.stmt, name: str, *first: gast.stmt) -> list[gast.stmt]:
        """One statement attempted as a function of its own; ``name`` gets what it returns."""
        arguments = gast.arguments([], [], None, [], [], None, [])
        thunk = placed(gast.FunctionDef(self.fresh("part"), arguments, [*first, part], [], None, None, []), part)
        kinds = tuple_of([clone(kind) for kind in self.caught], part)
        tried = call(reference(_ATTEMPT), [load(thunk.name, part), kinds], part)
        pair = targets([_stored(name, part), _stored(self.raised, part)], part)
        return [thunk, assign(pair, tried, part)]

    def _changing(self, change: gast.stmt, before: list[gast.stmt], may: bool) -> list[gast.stmt]:
        """A change of an array, container or object, which may raise itself, after what comes before it, which may."""
        if waits(change):
            raise Stays
        tried = self._tried(change, self.fresh("attempted"))
        return [*before, branch(_is_none(self.raised, change), tried, [], change)] if may else [*before, *tried]

    def _augmenting(self, statement: gast.AugAssign, held: gast.expr) -> list[gast.stmt]:
        """``target op= value``, which may store into an array: what it would raise is asked before it does.

        The answer is what was raised before, if anything was: such statements stand side by side, not in each other.
        """
        kinds = tuple_of([clone(kind) for kind in self.caught], statement)
        operation = constant(type(statement.op).__name__, statement)
        asked = [load(self.raised, statement), kinds, operation, load(statement.target.id, statement), clone(held)]
        ask = assign(self.raised, call(reference(_AUGMENTING), asked, statement), statement)
        done = with_bodies(statement, value=held)
        return [ask, branch(_is_none(self.raised, statement), [done], [], statement)]

    def _entering(self, at: gast.stmt, kind: gast.expr, options: dict[str, gast.expr]) -> gast.stmt:
        """What entering a context manager raises that depends on its options alone."""
        named = [tuple_of([clone(each) for each in self.caught], at), clone(kind), constant(tuple(options), at)]
        asked = call(reference(_ENTERING), [load(self.raised, at), *named, *map(clone, options.values())], at)
        return assign(self.raised, asked, at)

    def _in_place(self, changed: gast.Name) -> gast.stmt:
        """What was raised, if the augmented assignment that raised it has not changed this all the same."""
        given = [load(self.raised, changed), load(changed.id, changed)]
        return assign(self.raised, call(reference(IN_PLACE), given, changed), changed)

    def _unpacking(self, target: gast.Tuple | gast.List, value: gast.expr, at: gast.stmt) -> gast.stmt:
        """The same unpacking to names of no use, which raises where the number of parts does not fit."""
        parts: list[gast.expr] = []
        for part in target.elts:
            name = _stored(self.fresh("t"), at)
            nested = isinstance(part, gast.Tuple | gast.List)
            parts.append(self._unpacking(part, value, at).targets[0] if nested else name)
            if isinstance(part, gast.Starred):
                parts[-1] = placed(gast.Starred(name, gast.Store()), part)
        return placed(gast.Assign([placed(gast.Tuple(parts, gast.Store()), target)], clone(value), None), at)

    def statement(self, statement: gast.stmt) -> tuple[list[gast.stmt], list[gast.stmt], bool]:
        """What runs in any case, what runs if that did not raise, and whether it may have."""
        match statement:
            case gast.Assign(
                targets=[gast.Tuple(elts=[_, gast.Name(id=raised)])], value=gast.Call(func=function, args=[part, kinds])
            ) if is_ours(function, _ATTEMPT):
                return self._attempted_inside(statement, raised, kinds.elts, lambda both: [part, both])
            case gast.Assign(
                targets=[gast.Name(id=raised)], value=gast.Call(func=function, args=[so_far, kinds, *asked])
            ) if is_ours(function, _AUGMENTING, _ITERATING, _ENTERING):
                return self._attempted_inside(statement, raised, kinds.elts, lambda both: [so_far, both, *asked])
            case gast.Assign(targets=[target], value=value):
                before, held, may = self.attempt(value)
                after: list[gast.stmt] = [with_bodies(statement, value=held)]
                if isinstance(target, gast.Subscript | gast.Attribute):
                    return self._changing(after[0], before, may), [], True
                if isinstance(target, gast.Tuple | gast.List):
                    fitting = self._changing(self._unpacking(target, held, statement), before, may)
                    inner = [branch(_is_none(self.raised, statement), after, [], statement)]
                    return [*fitting, *inner], [], True
                return before, after, may
            case gast.AugAssign(target=gast.Subscript(value=gast.Name() as base)):
                return [*self._changing(statement, [], False), self._in_place(base)], [], True
            case gast.AugAssign(target=gast.Subscript() | gast.Attribute()) | gast.Delete(
                targets=[gast.Subscript() | gast.Attribute()]
            ):
                return self._changing(statement, [], False), [], True
            case gast.AugAssign(value=value):
                before, held, _ = self.attempt(value)
                return [*before, *self._augmenting(statement, held)], [], True
            case gast.Expr(value=gast.Call(func=gast.Attribute(attr=attr) as func) as made) if attr in _CHANGES:
                befores: list[gast.stmt] = []
                arguments: list[gast.expr] = []
                attempted = 0
                for argument in made.args:
                    if attr == "update" and are_pairs(argument):
                        argument = call(reference(builtin("dict")), [argument], argument)
                    look = call(reference(_ASKED), [clone(func.value), constant(attr, made)], made)
                    before, held, may = self.attempt(argument, "attempted", placed(gast.Expr(look), made))
                    attempted += may
                    befores += before
                    arguments.append(held)
                named = any(may_raise(keyword.value) for keyword in made.keywords)
                lazy = any(isinstance(argument, gast.GeneratorExp) for argument in made.args)
                if attempted > 1 or named or lazy or not isinstance(func.value, gast.Name):
                    befores, arguments, attempted = [], made.args, 0
                changed = with_bodies(statement, value=placed(gast.Call(func, arguments, made.keywords), made))
                return self._changing(changed, befores, bool(attempted)), [], True
            case gast.Expr(value=value):
                may = may_raise(value) and not writes(value)
                return (self._changing(statement, [], False), [], True) if may else ([], [statement], False)
            case gast.Return(value=value):
                if value is None:
                    return [], [*self._leaving(), statement], False
                before, held, may = self.attempt(value, "value")
                if self.final is not None and not may and not isinstance(held, gast.Constant):
                    name = self.fresh("value")
                    before, held = [assign(name, held, statement)], load(name, statement)
                return before, [*self._leaving(), with_bodies(statement, value=held)], may
            case gast.Raise():
                return self._raise(statement), [], True
            case gast.Assert(test=test, msg=msg):
                before, held, may = self.test(test)
                kind = reference(builtin("AssertionError"))
                error = call(kind, [] if msg is None else [msg], statement)
                raising = self._raise(placed(gast.Raise(error, None), statement))
                asserted = branch(negation(held, statement), raising, [], statement)
                if may:
                    asserted = branch(_is_none(self.raised, statement), [asserted], [], statement)
                return [*before, asserted], [], True
            case gast.If(test=test, body=body, orelse=orelse):
                before, held, may = self.test(test)
                first, may_first = self.block(body)
                second, may_second = self.block(orelse)
                inside = [branch(held, first, second, statement)]
                if may and (may_first or may_second):
                    return [*before, branch(_is_none(self.raised, statement), inside, [], statement)], [], True
                return (before, inside, True) if may else ([*before, *inside], [], may_first or may_second)
            case gast.For(iter=iterated):
                if may_catch(ValueError, self.caught) and any(map(may_differ_in_length, walk(iterated))):
                    raise Stays
                arguments_held, iterated = header_with_names(iterated, self.caught, self.fresh)
                if not arguments_held:
                    return self._loop(statement)
                rest, may = self.block([*arguments_held, with_bodies(statement, iter=iterated)])
                return rest, [], may
            case gast.While():
                return self._loop(statement)
            case gast.With():
                entered: list[gast.stmt] = []
                for item in statement.items:
                    found = indifferent(item.context_expr, self.meaning)
                    if found is None:
                        raise Stays
                    if not is_silent(*found):
                        entered.append(self._entering(statement, item.context_expr.func, found[1]))
                body, may = self.block(statement.body)
                inside = with_bodies(statement, body=body)
                if entered:
                    return [*entered, branch(_is_none(self.raised, statement), [inside], [], statement)], [], True
                return [inside], [], may
            case gast.Break() | gast.Continue():
                return [], [*([] if self.in_loop else self._leaving()), statement], False
            case gast.FunctionDef(args=arguments) if defaults_may_raise(arguments):
                raise Stays
            case gast.Try() | gast.Match():
                raise Stays
        return [statement], [], False

    def _attempted_inside(
        self, statement: gast.Assign, raised: str, kinds: Sequence[gast.expr], given: Given
    ) -> tuple[list[gast.stmt], list[gast.stmt], bool]:
        """What a ``try`` in here attempts is attempted once, for both: what is not caught there was raised here."""
        if any(is_everything(kind) for kind in kinds):
            return [statement], [], False
        both = [*kinds, *self.caught]
        both = [kind for kind in both if is_everything(kind)] or both
        tried = call(statement.value.func, given(tuple_of([clone(kind) for kind in both], statement)), statement)
        inner = tuple_of([clone(kind) for kind in kinds], statement)
        caught = call(reference(builtin("isinstance")), [load(raised, statement), inner], statement)
        passed_on = [
            assign(self.raised, load(raised, statement), statement),
            assign(raised, constant(None, statement), statement),
        ]
        some = compare(load(raised, statement), gast.IsNot(), constant(None, statement), statement)
        dispatch = branch(some, [branch(negation(caught, statement), passed_on, [], statement)], [], statement)
        return [with_bodies(statement, value=tried), dispatch], [], True

    def _loop(self, loop: gast.For | gast.While) -> tuple[list[gast.stmt], list[gast.stmt], bool]:
        before: list[gast.stmt] = []
        if isinstance(loop, gast.While) and test_may_raise(loop.test):
            loop = endless(loop)
        if isinstance(loop, gast.For) and not is_known_iterable(loop.iter):
            before, held, may_start = self.attempt(loop.iter)
            loop = with_bodies(loop, iter=held)
        elif isinstance(loop, gast.For) and (
            may_catch(TypeError, self.caught) or may_have_no_step(loop.iter) and may_catch(ValueError, self.caught)
        ) and (iterated := iterated_by(loop.iter, self.meaning)):
            kinds = tuple_of([clone(kind) for kind in self.caught], loop)
            asked = [load(self.raised, loop), kinds, *map(clone, iterated)]
            before.append(assign(self.raised, call(reference(_ITERATING), asked, loop), loop))
            may_start = True
        else:
            may_start = False
        body, may = replace(self, in_loop=True).block(loop.body)
        if may:
            test = compare(load(self.raised, loop), gast.IsNot(), constant(None, loop), loop)
            body.append(branch(test, [placed(gast.Break(), loop)], [], loop))
        made = with_bodies(loop, body=body)
        if may_start and may:
            return [*before, branch(_is_none(self.raised, loop), [made], [], loop)], [], True
        return (before, [made], True) if may_start else ([made], [], may)

    def _raise(self, statement: gast.Raise) -> list[gast.stmt]:
        if statement.exc is None:
            raise Stays
        made = call(reference(_RAISABLE), [statement.exc], statement)
        again = placed(gast.Raise(load(self.raised, statement), None), statement)
        kinds = tuple_of([clone(kind) for kind in self.caught], statement)
        caught = call(reference(builtin("isinstance")), [load(self.raised, statement), kinds], statement)
        code: list[gast.stmt] = [assign(self.raised, made, statement)]
        if statement.cause is not None and not isinstance(statement.cause, gast.Constant):
            held = call(reference(_RAISABLE), [statement.cause], statement)
            code.append(assign(self.fresh("cause"), held, statement))  # for what evaluating it changes
        return [*code, branch(negation(caught, statement), [again], [], statement)]

    def _leaving(self) -> list[gast.stmt]:
        return [] if self.final is None else [*self.final()]


def _is_none(name: str, at: gast.AST) -> gast.expr:
    return compare(load(name, at), gast.Is(), constant(None, at), at)


def _stored(name: str, at: gast.AST) -> gast.Name:
    return placed(gast.Name(name, gast.Store(), None, None), at)
