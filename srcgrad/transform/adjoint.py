"""The adjoint program of one function, joint or split.

Enters: ``Function``, its ``Activity`` and the shape facts.  Leaves: ``AdjointProgram``; ``joint`` puts the forward and
the reverse sweep into one function, ``split`` makes the pair that callers and pullbacks use::

    grad_f(x, value_bar=1.0) -> x_bar
    f_fwd(x) -> value, saved            f_bwd(saved, value_bar) -> x_bar
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

import gast

from srcgrad import runtime
from srcgrad.analysis.activity import Activity, atoms
from srcgrad.analysis.asking import data_names
from srcgrad.analysis.cfg import stores_of, walk
from srcgrad.analysis.contents import undone
from srcgrad.analysis.layout import layout_of
from srcgrad.analysis.references import Reference, local_names, names_mentioned, reference
from srcgrad.analysis.required import Plan, Planner, saved_names
from srcgrad.analysis.sinking import Sinking
from srcgrad.errors import InternalError
from srcgrad.ir.normal_form import AddAt, Append, Bind, Call, Effect, For, Function, Statement
from srcgrad.rules.facts import Array, Fact
from srcgrad.syntax.comment import Comment
from srcgrad.syntax.globals import GlobalReference, call_runtime
from srcgrad.syntax.marks import Role, in_role
from srcgrad.syntax.namer import Namer
from srcgrad.syntax.parse import clone
from srcgrad.syntax.parse import walk as nodes_of
from srcgrad.transform.build import assign, constant, load, store, tuple_of, unpack
from srcgrad.transform.calls import pair_of
from srcgrad.transform.control import block_adjoint, placed
from srcgrad.transform.record import JointForward, PairForward
from srcgrad.transform.resolving import Resolver, settled
from srcgrad.transform.shadows import Modes, Shadows
from srcgrad.transform.sweep import Calls, reverse_sweep


@dataclass(frozen=True, eq=False)
class Split:
    """A forward function and the backward function that takes what the forward one saved."""

    forward: gast.FunctionDef
    backward: gast.FunctionDef


class AdjointProgram:
    """The sweeps of one function for a choice of differentiated parameters.  ``str()`` is its joint or split text."""

    def __init__(
        self,
        function: Function,
        wanted: Sequence[str],
        activity: Activity,
        facts: Mapping[str, Fact],
        calls: Calls,
        shadows: Shadows | None = None,
        *,
        sink: bool = True,
        handed: Sequence[str] = (),
        restored: bool = True,
    ) -> None:
        """``handed``: parameters whose adjoints are buffers of the caller's, which the reverse sweep adds to.

        ``restored``: the caller reads again what memory held that comes with its shadow.
        """
        self.handed = tuple(handed)
        self.restored = restored
        self.shadows = shadows
        self.sink = sink
        self.function = function
        self.wanted = tuple(wanted)
        self.activity = activity
        self.facts = facts
        self.calls = calls
        self.numbers = frozenset(n for n, f in facts.items() if isinstance(f, Array) and f.shape == ())
        shadowed = frozenset() if shadows is None else frozenset(shadows.bars) | shadows.idle
        self.layout = layout_of(function, self.numbers, shadowed)
        self.temporaries: set[str] = set(function.temporaries)
        self.data = data_names(facts)

    @property
    def has_single_return(self) -> bool:
        return self.layout.single_return()

    def reads_again(self) -> bool:
        """Whether the reverse sweep reads what memory holds that comes with its shadow."""
        if self.shadows is None:
            return False
        given = {self.shadows.root(name) for name in self.shadows.with_shadow}
        state = _Sweep(self, pair=True, tupled=False).state
        return any(not given.isdisjoint(roots) for roots in (*state.touched.values(), *state.reread.values()))

    def _names_taken(self) -> list[str]:
        taken: dict[str, None] = dict.fromkeys(self.function.parameters)
        for statement in self.activity.graph.heads:
            for name in names_mentioned(statement):
                taken[name] = None
        return list(taken)

    def joint(
        self, name: str, *, with_value: bool = False, tupled: bool = False, of: str | None = None
    ) -> gast.FunctionDef:
        """One function: forward sweep, reverse sweep, gradients (or ``(value, gradients)``).

        The seed is its last parameter; with ``of``, the name of what is derived, or an empty one (``one_for``), it is 1
        if the value is one number.
        """
        sweep = _Sweep(self, pair=False, tupled=tupled)
        final = self.layout.returns()[0]
        value: gast.expr = clone(final.value)
        if (with_value or of is not None) and atoms(value):
            position = len(self.function.body.statements) - 1
            value = reference(atoms(value)[0], self.function.body, position)
            sweep.planner.need_all(value)
        plan = self._planned(sweep)
        forward = JointForward(
            plan, sweep.exits(), sweep.forward_of, self._primal_of, sweep.idle_binds(plan), self.shadows,
            sweep.state.requests.masks,
        )  # fmt: skip
        body: list[gast.stmt] = [assign(n, constant(None)) for n in plan.unset]
        body += [in_role(assign(tape, gast.List([], gast.Load())), "record") for tape in sweep.tapes(plan)]
        body += named_where_unset(forward.block(self.function.body), plan.unset)
        if with_value and sweep.restores(value):
            kept = sweep.state.fresh("value")
            body.append(assign(kept, call_runtime(runtime.private, clone(final.value))))
            value = load(kept)
        if of is not None:
            seed = call_runtime(runtime.one_for, clone(value), *([constant(of)] if of else []))
            body += sweep.resolved(plan, [assign(sweep.seed_name, seed)])
        body = [in_role(statement, "primal") for statement in body]
        body.append(Comment(""))
        reverse = [*sweep.opening(plan), *sweep.resolved(plan, sweep.code)]
        result = sweep.gradients
        if with_value:
            result = tuple_of([value, result])
        reverse += sweep.resolved(plan, [gast.Return(result)])
        body += [in_role(statement, "adjoint") for statement in reverse]
        parameters = [*self.function.parameters, *([] if of is not None else [sweep.seed_name])]
        return self._define(name, parameters, body, "primal", seed=of is None)

    def split(self, forward_name: str, backward_name: str, *, tupled: bool = False) -> Split:
        """The pair; ``saved`` is one value or a tuple: exit number, versions, decisions, tapes."""
        sweep = _Sweep(self, pair=True, tupled=tupled)
        plan = self._planned(sweep)
        tapes = sweep.tapes(plan)
        numbered = not self.has_single_return
        forward = PairForward(
            plan,
            sweep.exits(),
            sweep.forward_of,
            self._primal_of,
            sweep.idle_binds(plan),
            self.shadows,
            sweep.state.requests.masks,
            numbered=numbered,
            tapes=tapes,
        )
        body: list[gast.stmt] = [assign(n, constant(None)) for n in plan.unset]
        body += [in_role(assign(tape, gast.List([], gast.Load())), "record") for tape in tapes]
        body += named_where_unset(forward.block(self.function.body), plan.unset)
        forward_def = self._define(forward_name, list(self.function.parameters), body, "primal", seed=False)
        names = saved_names(plan) + tapes
        if numbered:
            names.insert(0, sweep.leave)
        saved = sweep.namer.fresh("saved")
        opening: list[gast.stmt] = []
        if len(names) == 1:
            opening = [in_role(assign(names[0], load(saved)), "recall")]
        elif names:
            opening = [in_role(unpack(names, load(saved)), "recall")]
        # Popping must not empty what was saved: a pullback runs again, and its zeros have the lengths of the tapes.
        listed = [assign(tape, call_runtime(runtime.as_list, load(tape))) for tape in tapes]
        opening += [in_role(each, "recall") for each in listed]
        reverse = [*opening, *sweep.opening(plan), *sweep.resolved(plan, sweep.code)]
        if self.wanted or tupled:
            reverse += sweep.resolved(plan, [gast.Return(sweep.gradients)])
        seeded = self.shadows is None or not self.shadows.results
        given = [saved, sweep.seed_name] if seeded else [saved]
        given += [sweep.state.bar(name) for name in self.handed]
        is_default = seeded and not self.handed
        backward_def = self._define(backward_name, given, reverse or [gast.Pass()], "adjoint", seed=is_default)
        return Split(forward_def, backward_def)

    def _planned(self, sweep: _Sweep) -> Plan:
        plan = sweep.plan()
        self.temporaries |= sweep.state.temporaries
        self.temporaries |= set(sweep.state.names.values())
        self.temporaries -= {sweep.seed_name}
        return plan

    def _primal_of(self, statement: Bind) -> gast.expr | None:
        made = statement.operation
        assert isinstance(made, Call)
        return self.calls.primal(made.callee)

    def _define(
        self, name: str, parameters: list[str], body: list[gast.stmt], role: Role, *, seed: bool
    ) -> gast.FunctionDef:
        function = self.function
        defaults: list[gast.expr] = []
        if parameters[: len(function.parameters)] == list(function.parameters):
            trailing = [p for p in function.parameters if p in function.defaults]
            if trailing == list(function.parameters[len(function.parameters) - len(trailing) :]):
                defaults = [clone(function.defaults[p]) for p in trailing]
        if seed:
            defaults = [*defaults, constant(1.0)]
        arguments = gast.arguments(
            [gast.Name(p, gast.Param(), None, None) for p in parameters], [], None, [], [], None, defaults
        )
        made = gast.FunctionDef(name, arguments, body, [], None, None, [])
        return in_role(placed(made, function.span), role)


class _Sweep:
    """One reverse sweep with its plan: the text first, then what it requires."""

    def __init__(self, program: AdjointProgram, *, pair: bool, tupled: bool) -> None:
        function = program.function
        self.program = program
        self.layout = program.layout
        self.namer = Namer(program._names_taken())
        self.idle = self.namer.fresh("_")  # the index of a reversed loop that nobody reads
        final = self.layout.returns()[0] if self.layout.returns() else None
        value = atoms(final.value) if final is not None else ()
        shadows = program.shadows
        self.shadowed: Mapping[str, str] = {} if shadows is None else shadows.bars
        named = value and (value[0] == "value" or value[0] not in function.temporaries)
        named = named and value[0] not in self.shadowed
        single = program.has_single_return and named
        stem = value[0] if single else "value"
        self.seed_name = self.namer.fresh(f"{stem}_bar")
        self.leave = self.namer.fresh("leave") if not program.has_single_return else ""
        self.state = reverse_sweep(
            self.layout, program.activity, program.facts, program.calls, self.namer, load(self.seed_name), self.leave,
            shadows, frozenset(program.handed),
        )  # fmt: skip
        if single:
            self.state.names[value[0]] = self.seed_name
        root = function.body
        self.code = block_adjoint(self.state, root, self.leave, set())
        self.undone = self._undone()
        self.code = settled(self.code, self.undone)
        for name in program.handed:
            if name in self.shadowed:
                self.code.append(gast.AugAssign(store(self.state.bar(name)), gast.Add(), self._entry_shadow(name)))
        gradients: list[gast.expr] = []
        for name in program.wanted:
            if name in self.shadowed:
                made = self._entry_shadow(name)
                # What an argument holds in two places is one memory: its cotangent belongs to it once.
                whole = isinstance(self.state.fact(name), Array)
                gradients.append(made if whole else call_runtime(runtime.each_once, made))
            elif name in self.state.bars:
                gradients.append(load(self.state.bar(name)))
            else:
                gradients.append(call_runtime(runtime.zeros_like, reference(name, root, 0, shape_only=True)))
        self.gradients = gradients[0] if len(gradients) == 1 and not tupled else tuple_of(gradients)
        stored = {
            s.buffer if isinstance(s, AddAt) else s.sequence
            for s in program.activity.graph.heads
            if isinstance(s, AddAt | Append)
        }
        self.planner = Planner(
            self.layout,
            self.namer,
            pair=pair,
            can_index=lambda base: not stored or (base in function.parameters and base not in stored),
            is_number=self.state.is_scalar,
            fact=self.state.fact,
            shadowed=frozenset(self.shadowed) | self._changing_shadows(),
        )

    def _is_needed(self, name: str, needed: Set[str]) -> bool:
        """Whether any shadow of the class of ``name`` is."""
        assert self.program.shadows is not None
        return any(self.shadowed[n] in needed for n in self.program.shadows.classes.members(name) if n in self.shadowed)

    def _changing_shadows(self) -> frozenset[str]:
        """The shadows of containers that change: a part of one is never taken again."""
        shadows = self.program.shadows
        if shadows is None:
            return frozenset()
        return shadows.idle | {shadows.bars[name] for name in shadows.changing if name in shadows.bars}

    def _undone(self) -> set[Statement]:
        """The stores that the sweep has to undo."""
        shadows = self.program.shadows
        if shadows is None:
            return set()
        stores: dict[Statement, tuple[str, ...]] = {s: (shadows.root(stores_of(s)[0]),) for s in shadows.olds}
        stores |= {call: self._given(call, modes) for call, modes in shadows.calls.items()}
        entry = {shadows.root(name) for name in shadows.with_shadow if self.program.restored}
        found = undone(self.program.activity.graph, self.state.touched, stores, entry, self.state.reread)
        self.state.unrestored = frozenset(shadows.calls).difference(found)
        return found

    def _given(self, call: Bind, modes: Modes) -> tuple[str, ...]:
        """The classes of which a callee gets the shadows."""
        assert isinstance(call.operation, Call) and self.program.shadows is not None
        pairs = zip(call.operation.arguments, modes.given, strict=True)
        return tuple(self.program.shadows.root(name) for a, given in pairs if given for name in atoms(a))

    def restores(self, value: gast.expr) -> bool:
        """Whether the sweep changes what a value holds."""
        shadows = self.program.shadows
        if shadows is None:
            return False
        roots = {shadows.root(name) for name in atoms(value)}
        called = [self._given(call, modes) for call, modes in shadows.calls.items() if call in self.undone]
        stored = [(shadows.root(stores_of(s)[0]),) for s in self.undone if s in shadows.olds]
        return any(not roots.isdisjoint(changed) for changed in (*called, *stored))

    def _entry_shadow(self, name: str) -> gast.expr:
        """The shadow of a parameter, as it was made when the function was entered."""
        root = self.program.function.body
        assert self.program.shadows is not None
        made = self.program.shadows.entries.get(name, self.shadowed[name])
        for j, statement in enumerate(root.statements):
            if isinstance(statement, Bind) and statement.target == made:
                return reference(made, root, j + 1)
        raise InternalError(f"the parameter {name} has no shadow", self.program.function.span)

    def forward_of(self, statement: Bind) -> gast.expr:
        """The forward half of the derivative that a call site uses."""
        return pair_of(self.state, statement)[0]

    def idle_binds(self, plan: Plan) -> set[Statement]:
        """What the shadow pass added and nobody needs, and looks at arguments of calls that are made as they are."""
        shadows = self.program.shadows
        activity = self.program.activity
        needless = {s for s in walk(self.program.function.body) if activity.is_needless(s, self.shadowed)}
        if shadows is None:
            return needless
        made = [s for s in walk(shadows.function.body) if isinstance(s, Bind) and s in shadows.made]
        effects = [s for s in walk(shadows.function.body) if s in shadows.effects]
        needed = {slot.name for slot in self.planner.slots if slot not in self.planner.expressions}
        users = set(self.program.function.parameters) | set(self.shadowed)
        needed |= {*users, *shadows.results.values()}
        for site, modes in shadows.calls.items():
            assert isinstance(site.operation, Call)
            pairs = zip(site.operation.arguments, modes.given, strict=True)
            needed |= {self.shadowed[name] for a, given in pairs if given for name in atoms(a)}
        kept: set[Statement] = set()

        def changes() -> list[Statement]:
            """The shadow of a container is what its changes made it, under whatever name they were made."""
            return [s for s in effects if s not in kept and self._is_needed(shadows.effects[s], needed)]

        pending: list[Statement] = [s for s in made if s.target in needed] or changes()
        while pending:
            statement = pending.pop()
            kept.add(statement)
            assert isinstance(statement, Bind | Effect)
            expression = statement.expression if isinstance(statement, Bind) else statement.statement
            more = {n.id for n in local_names(expression)} - needed
            needed |= more
            pending += [s for s in made if s.target in more]
            pending = pending or changes()
        idle = {s for s in made if s not in kept and s.target not in needed}
        return needless | idle | {s for s in effects if s not in kept} | shadows.silent

    def plan(self) -> Plan:
        planner = self.planner
        if self.program.shadows is not None and self.program.sink:
            self._sink(self.program.shadows)
        planner.need_all(*self.code, self.gradients)
        for loop in self.state.requests.iterables:
            assert isinstance(loop, For)
            planner.settle_iterable(loop)
        planner.settle(self.state.requests.decisions)
        for loop in self.state.requests.counted:
            planner.need_hidden(loop, "passes")
        for statement in self.program.activity.graph.heads:
            if statement in self.state.requests.saved_calls:
                planner.need_hidden(statement, "saved")
        for owner, role in self.state.requests.masks:
            planner.need_hidden(owner, role)
        return planner.plan()

    def _sink(self, shadows: Shadows) -> None:
        """Leave to the reverse sweep the shadows that it can make for itself."""
        root = shadows.root
        barred = {root(name) for name in {*shadows.changing, *shadows.with_shadow}}
        for call, modes in shadows.calls.items():
            assert isinstance(call.operation, Call)
            pairs = zip(call.operation.arguments, modes.given, strict=True)
            barred |= {root(name) for a, given in pairs if given for name in atoms(a)}
        for statement, sources in shadows.sources.items():
            barred |= {root(name) for name in (statement.target, *sources)}
        for parts in shadows.parts.values():
            barred |= {root(base) for _, base, _ in parts}
        barred |= {root(name) for name in shadows.bars if not isinstance(self.program.facts.get(name), Array)}
        classes = {bar: root(name) for name, bar in shadows.bars.items()}
        trees = [*self.code, self.gradients]
        read = [n for tree in trees for n in gast.walk(tree) if isinstance(n, Reference)]
        self.planner.sinking = sinking = Sinking(self.layout, shadows.made, classes, barred)
        self.planner.sunk = sinking.sunk(read)

    def opening(self, plan: Plan) -> list[gast.stmt]:
        """What the reverse sweep makes before anything else."""
        return self.resolved(plan, Resolver(self, plan).opening(self.program.function.body))

    def exits(self) -> dict[int, str]:
        """The loop bodies that an exit may leave, each with the list of its exit numbers."""
        if not hasattr(self, "_exits"):
            self._exits = {order: self.namer.fresh("exits") for order in self.state.leave if order}
        return self._exits

    def tapes(self, plan: Plan) -> list[str]:
        return [lane.tape for lanes in plan.lanes.values() for lane in lanes] + list(self.exits().values())

    def resolved(self, plan: Plan, code: list[gast.stmt]) -> list[gast.stmt]:
        """The sweep's text with every placeholder replaced by the local that the plan gives it."""
        for statement in code:
            Resolver(self, plan).resolve(statement)
        return code


def named_where_unset(code: list[gast.stmt], unset: Sequence[str]) -> list[gast.stmt]:
    """The code of a sweep that tells reads of variables without a value by their names where these begin as None."""
    for statement in code if unset else ():
        for node in nodes_of(statement):
            match node:
                case gast.Call(func=GlobalReference() as function, args=[gast.Name(id=name)]) if name in unset:
                    if function.binding.value is runtime.require_assigned:
                        node.args.append(constant(name))
    return code
