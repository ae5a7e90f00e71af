"""The faults: each replaces one piece of text of one module.  ``old`` must occur there exactly once."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """A plausible mistake."""

    name: str
    file: str
    old: str
    new: str


FAULTS = (
    Fault(
        "a dropped back edge",
        "analysis/cfg.py",
        "                graph.edge(end, head)\n                graph.edge(head, tail)\n",
        "                graph.edge(end, tail)\n                graph.edge(head, tail)\n",
    ),
    Fault(
        "a dropped back edge at continue",
        "analysis/cfg.py",
        "graph.edge(head, loops[-1][0])",
        "graph.edge(head, loops[-1][1])",
    ),
    Fault(
        "a condition read past an exit",
        "transform/control.py",
        "        guard = frame.guards[j]\n",
        "        guard = None if isinstance(block.statements[j], If) else frame.guards[j]\n",
    ),
    Fault(
        "an expression made again past an exit",
        "analysis/required.py",
        "slot.defined < 0 or slot.hidden or slot.defined >= frame.first_exit:",
        "slot.defined < 0 or slot.hidden:",
    ),
    Fault(
        "an adjoint added before it is zeroed",
        "transform/contributions.py",
        "            back.append(value)\n",
        "            back += [load(sweep.bar(target)), value]\n",
    ),
    Fault(
        "useful not restarted at break",
        "analysis/activity.py",
        "            case Return():\n                # Useful restarts",
        "            case _ if type(statement).__name__ == 'Break':\n                return 0\n"
        "            case Return():\n                # Useful restarts",
    ),
    Fault(
        "useful not restarted at continue",
        "analysis/activity.py",
        "            case Return():\n                # Useful restarts",
        "            case _ if type(statement).__name__ == 'Continue':\n                return 0\n"
        "            case Return():\n                # Useful restarts",
    ),
    Fault(
        "a value recorded one statement late",
        "analysis/required.py",
        "        return latest if max(s.defined for s in slots) < latest else None\n",
        "        late = min(latest + 1, len(frame.block.statements))\n"
        "        return late if max(s.defined for s in slots) < latest else None\n",
    ),
    Fault(
        "a value copied one statement late",
        "analysis/required.py",
        "plan.unset.append(copy)\n                plan.copies.setdefault((frame.block, slot.until), [])",
        "plan.unset.append(copy)\n                plan.copies.setdefault((frame.block, slot.until + 1), [])",
    ),
    Fault(
        "a return that records only its innermost block",
        "transform/record.py",
        "if frame.parent is None or (frame.is_loop and not isinstance(statement, Return)):",
        "if frame.parent is None or frame.is_loop or isinstance(statement, Return):",
    ),
    Fault(
        "a return that records only its innermost loop",
        "transform/record.py",
        "if frame.parent is None or (frame.is_loop and not isinstance(statement, Return)):",
        "if frame.parent is None or frame.is_loop:",
    ),
)
