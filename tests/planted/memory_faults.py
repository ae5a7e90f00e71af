"""Faults in what the compiler does about memory: classes, shadows, stores, contents, containers, calls, tangents.

Random programs must find each (``python -m tests.planted.hunted``).  ``old`` occurs once in its file.
"""

from __future__ import annotations

from tests.planted.faults import Fault

FAULTS = (
    # --- which names may share memory ---------------------------------------------------------------------------------
    Fault(
        "a second name is taken for other memory",
        "analysis/memory.py",
        "            case Copy(source=source) | Field(base=source):\n",
        "            case Field(base=source):\n",
    ),
    Fault(
        "an index is always taken for new memory",
        "analysis/memory.py",
        "                is_new = isinstance(self.fact(base), Array) and self._is_fancy(index)\n",
        "                is_new = isinstance(self.fact(base), Array)\n",
    ),
    Fault(
        "what a callee returns is taken for new memory",
        "analysis/memory.py",
        "            groups.append([target, *(name for j in sorted(summary.returned) for name in given[j])])\n",
        "            groups.append([target])\n",
    ),
    Fault(
        "the stores of callees are not seen",
        "analysis/memory.py",
        "                for position in sorted(self.called(made).stored):\n",
        "                for position in ():\n",
    ),
    Fault(
        "what is put into a container is taken for a copy",
        "analysis/memory.py",
        "                self._hold(made.base, given)\n",
        "                pass\n",
    ),
    Fault(
        "an array that was stored into is computed again",
        "analysis/required.py",
        "        if slot.name in self.shadowed:  # it was stored into since, and others may hold it\n",
        "        if False:\n",
    ),
    # --- activity -----------------------------------------------------------------------------------------------------
    Fault(
        "a store concerns the name alone, not its class",
        "analysis/activity.py",
        "        masks[name] = sum(names.add(member) for member in sorted(members))\n",
        "        masks[name] = names.add(name)\n",
    ),
    Fault(
        "what is stored into a parameter is of no use to the caller",
        "analysis/activity.py",
        "        if members & with_shadow:\n",
        "        if False:\n",
    ),
    # --- shadows ------------------------------------------------------------------------------------------------------
    Fault(
        "a second name gets a shadow of its own",
        "transform/shadowing.py",
        "                mirror.add(bar, mirror.bar(source), span)\n",
        "                mirror.add(bar, mirror.zeros(source), span)\n",
    ),
    Fault(
        "a view gets a copy of the shadow",
        "transform/shadowing.py",
        "                mirror.add(bar, subscript(mirror.bar(base), clone(index)), span)\n",
        "                copied = gast.Attribute(subscript(mirror.bar(base), clone(index)), 'copy', gast.Load())\n"
        "                mirror.add(bar, gast.Call(copied, [], []), span)\n",
    ),
    Fault(
        "a result that may be a view never is",
        "runtime/shadows.py",
        "                sharing.append((w, w_bar))\n        for w, w_bar in sharing:\n            if _holds(w, v):\n",
        "                pass\n        for w, w_bar in sharing:\n            if _holds(w, v):\n",
    ),
    Fault(
        "an argument is not copied at the door",
        "transform/shadowing.py",
        "    if outside is not None and given:\n",
        "    if False:\n",
    ),
    # --- stores -------------------------------------------------------------------------------------------------------
    Fault(
        "the adjoint of a place outlives the store",
        "transform/stores.py",
        "        code = [assign(taken, part), _store(bar, constant(0.0))]\n",
        "        code = [assign(taken, part)]\n",
    ),
    Fault(
        "the adjoint of a place outlives the store of a constant",
        "transform/stores.py",
        "            return [_store(bar, constant(0.0)), restore]\n",
        "            return [restore]\n",
    ),
    Fault(
        "the adjoint of a place is read after it is zeroed",
        "transform/stores.py",
        '            part = gast.Call(gast.Attribute(part, "copy", gast.Load()), [], [])\n',
        "            pass\n",
    ),
    Fault(
        "of equal indices in one store the first wins",
        "runtime/shadows.py",
        "    return last[index] != order\n",
        "    return np.zeros(shape, bool)\n",
    ),
    Fault(
        "what is subtracted in place is added",
        "transform/stores.py",
        "            value = gast.UnaryOp(gast.USub(), value)\n        return [restore,",
        "            pass\n        return [restore,",
    ),
    # --- contents -----------------------------------------------------------------------------------------------------
    Fault(
        "contents are required by the next statement only",
        "analysis/contents.py",
        "        return state | reads.get(node, 0)\n",
        "        return reads.get(node, 0)\n",
    ),
    Fault(
        "a callee does not take back what its caller needs",
        "transform/adjoint.py",
        "        entry = {shadows.root(name) for name in shadows.with_shadow if self.program.restored}\n",
        "        entry = set()\n",
    ),
    Fault(
        "what an array holds is asked again after a store",
        "analysis/required.py",
        "        if not is_cheap(expression) or reads_contents(expression, self.shadowed):\n",
        "        if not is_cheap(expression):\n",
    ),
    Fault(
        "a pullback changes what it was given",
        "api/transforms.py",
        "        return cloned(self._kept(), keys=True) if once is None else once[0]\n",
        "        return self._kept() if once is None else once[0]\n",
    ),
    # --- containers ---------------------------------------------------------------------------------------------------
    Fault(
        "a number that is put into a container loses its adjoint",
        "transform/mirroring.py",
        "        mirror.result.put.setdefault(statement, []).append((names[0], cell))\n",
        "        pass\n",
    ),
    Fault(
        "a number that comes out of a container loses its adjoint",
        "transform/mirroring.py",
        "    mirror.result.taken.setdefault(statement, []).append((target, cell))\n",
        "    pass\n",
    ),
    Fault(
        "the shadows of a sorted list keep their places",
        "transform/mirroring.py",
        "            mirror.change(base, gast.Assign([everything], items, None), span)\n",
        "            pass\n",
    ),
    Fault(
        "the gradient of a list is that of what it holds last",
        "transform/shadowing.py",
        "            mirror.result.entries[name] = entry = ",
        "            entry = ",
    ),
    # --- tangents -----------------------------------------------------------------------------------------------------
    Fault(
        "a store of a constant leaves the tangent",
        "transform/forward_stores.py",
        "    value = _stored(sweep, statement.value, base, statement)\n"
        "    return _beside(sweep, statement, statement.index, value, lambda",
        "    value = _stored(sweep, statement.value, base, statement)\n"
        "    if isinstance(value, gast.Constant):\n        return [restated(statement)]\n"
        "    return _beside(sweep, statement, statement.index, value, lambda",
    ),
    Fault(
        "the tangent of a view is a copy",
        "transform/forward_stores.py",
        "            value = subscript(load(sweep.dot(base)), clone(index))\n",
        "            copied = gast.Attribute(subscript(load(sweep.dot(base)), clone(index)), 'copy', gast.Load())\n"
        "            value = gast.Call(copied, [], [])\n",
    ),
    # --- the order of evaluation --------------------------------------------------------------------------------------
    Fault(
        "what overlaps within one array is taken to be stored as a copy",
        "analysis/overlapping.py",
        "    checked = {store for store in stores if may_overlap(store)}\n",
        "    checked: set[Store] = set()\n",
    ),
    # --- refusals -----------------------------------------------------------------------------------------------------
    Fault(
        "a handler of the program's catches a refusal",
        "specialise/attempts.py",
        "    if around.raised is None or _is_refusal(here.made.value(exception)):  # which nothing catches\n",
        "    if around.raised is None:\n",
    ),
    Fault(
        "an object of a library that gives its index is taken for an array",
        "infer/outside.py",
        "\"__getitem__\", None), FunctionType) and not isinstance(each, Mapping)\n",
        "\"__getitem__\", None), FunctionType) and False\n",
    ),
    # --- what a call meets ----------------------------------------------------------------------------------------
    Fault(
        "a callee that is bound again is the old one",
        "programs.py",
        "        return self.guards.check()\n",
        "        return lambda: True\n",
    ),
    Fault(
        "an array of any class is taken for an array",
        "runtime/exact.py",
        "            found = [name for name in _defined(kind, base) if _matters(name, base)]\n",
        "            found: list[str] = []\n",
    ),
)
