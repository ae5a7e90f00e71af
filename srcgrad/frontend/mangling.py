"""Private names of classes, ``__x`` in the body of ``Owner``, as Python's compiler spells them: ``_Owner__x``.

Enters: a tree, and the class whose body it stands in, if any.  Leaves: the same tree, changed in place: variables,
attributes, definitions, imports and declarations (*The Python Language Reference*, 6.2.1).
"""

from __future__ import annotations

import gast

from srcgrad.syntax.parse import children, walk


def mangle(root: gast.AST, owner: str | None) -> None:
    """Mangle the names below ``root``, whose own name is left as it is."""
    if owner is None and not any(isinstance(node, gast.ClassDef) for node in walk(root)):
        return
    pending: list[tuple[gast.AST, str | None]] = [(root, owner)]
    while pending:
        node, inside = pending.pop()
        if inside is not None and inside.strip("_"):
            _rename(node, f"_{inside.lstrip('_')}", node is root)
        if isinstance(node, gast.ClassDef):
            outer = [*node.decorator_list, *node.bases, *node.keywords]
            pending += [(part, inside) for part in outer]
            pending += [(part, written_name(node)) for part in node.body]
        else:
            pending += [(part, inside) for part in children(node)]


def written_name(node: gast.FunctionDef | gast.ClassDef) -> str:
    """The name of a definition as its author wrote it."""
    return str(getattr(node, "written_name", node.name))


def _rename(node: gast.AST, prefix: str, is_root: bool) -> None:
    def spelled(name: str) -> str:
        private = name.startswith("__") and not name.endswith("__") and "." not in name
        return prefix + name if private else name

    match node:
        case gast.Name():
            node.id = spelled(node.id)
        case gast.Attribute():
            node.attr = spelled(node.attr)
        case gast.FunctionDef() | gast.AsyncFunctionDef() | gast.ClassDef() if not is_root:
            node.written_name = node.name  # which the function or class is called
            node.name = spelled(node.name)
        case gast.alias():
            bound = spelled(node.asname or node.name)
            if bound != (node.asname or node.name):
                node.asname = bound
        case gast.Global() | gast.Nonlocal():
            node.names = [spelled(name) for name in node.names]
        case gast.MatchAs(name=str() as name) | gast.MatchStar(name=str() as name):
            node.name = spelled(name)
        case gast.MatchMapping(rest=str() as name):
            node.rest = spelled(name)
