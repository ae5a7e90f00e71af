"""Parentheses that a statement may get when it is too long for a line: black's "invisible" ones.

``x = a + b`` becomes ``x = (a + b)`` with parentheses of no text; those that the text has needlessly lose theirs.
"""

from __future__ import annotations

from srcgrad.emit.tokens import ASSIGNMENTS, TERNARY, Token


def with_optional_parentheses(tokens: list[Token]) -> list[Token]:
    """The tokens of a statement with invisible parentheses inserted."""
    for start, end in sorted(_regions(tokens), reverse=True):
        tokens = _wrapped(tokens, start, end)
    return _with_ternaries(tokens)


def _regions(tokens: list[Token]) -> list[tuple[int, int]]:
    """Half-open ranges of tokens that black parenthesises at will."""
    first = tokens[0].text
    flat = [position for position, token in enumerate(tokens) if token.depth == 0]
    end = len(tokens)
    if first in ("return", "del"):
        return [(1, end)] if end > 1 else []
    if first in ("if", "elif", "while"):
        return [(1, end - 1)]
    if first == "for":
        middle = next(position for position in flat if tokens[position].text == "in")
        return [(1, middle), (middle + 1, end - 1)]
    if first == "assert":
        comma = next((position for position in flat if tokens[position].text == ","), end)
        return [(1, comma)] + ([(comma + 1, end)] if comma < end else [])
    if tokens[0].kind == "keyword" and first not in ("lambda", "not", "await"):
        return []
    marks = [position for position in flat if tokens[position].text in ASSIGNMENTS]
    marks = [position for position in marks if tokens[position].role != "keyword"]
    if not marks:
        return []
    bounds = [*marks, end]
    regions = [(left + 1, right) for left, right in zip(bounds, bounds[1:])]
    if any(tokens[position].text == "," for position in flat if position < marks[0]):
        regions.append((0, marks[0]))
    return regions


def _wrapped(tokens: list[Token], start: int, end: int) -> list[Token]:
    """Wrap ``tokens[start:end]``; needless parentheses around all of it turn invisible, a tuple's stay."""
    first, last = tokens[start], tokens[end - 1]
    if first.kind == "open" and first.text == "(" and first.match is last:
        inside = tokens[start + 1 : end - 1]
        level = first.depth + 1
        keeps = any(
            token.depth == level and (token.text in (",", ":=", "for", "yield") or token.role in ("vararg", "argument"))
            for token in inside
        )
        if inside and not keeps:
            first.text = last.text = ""
            first.role = last.role = "optional"
        return tokens
    left, right = _pair(first, "optional")
    return [*tokens[:start], left, *tokens[start:end], right, *tokens[end:]]


def _pair(first: Token, role: str) -> tuple[Token, Token]:
    left, right = Token("", "open", first.prefix, role), Token("", "close", "", role)
    first.prefix = ""
    left.match, right.match = right, left
    left.depth = right.depth = first.depth
    return left, right


def _with_ternaries(tokens: list[Token]) -> list[Token]:
    """Invisible parentheses around conditional expressions that have none."""
    opens: dict[int, list[Token]] = {}
    closes: dict[int, list[Token]] = {}
    for position, token in enumerate(tokens):
        if token.priority != TERNARY or token.text != "if":
            continue
        start, end = _extent(tokens, position)
        before = tokens[start - 1] if start else None
        after = tokens[end] if end < len(tokens) else None
        if before is not None and before.match is after and before.role in ("paren", "call", "optional"):
            continue
        left, right = _pair(tokens[start], "ternary")
        opens.setdefault(start, []).append(left)
        closes.setdefault(end, []).insert(0, right)
    if not opens:
        return tokens
    made: list[Token] = []
    for position in range(len(tokens) + 1):
        made += closes.get(position, [])
        made += opens.get(position, [])
        made += tokens[position : position + 1]
    return made


def _extent(tokens: list[Token], position: int) -> tuple[int, int]:
    """The range of the conditional expression whose ``if`` stands at ``position``."""
    start, level = position, 0
    while start:
        token = tokens[start - 1]
        level += (token.kind == "close") - (token.kind == "open")
        if level < 0 or (level == 0 and _delimits(token)):
            break
        start -= 1
    end, level = position, 0
    while end < len(tokens):
        token = tokens[end]
        level += (token.kind == "open") - (token.kind == "close")
        if level < 0 or (level == 0 and token.text in (",", ":", "=", "for") and token.role != "lambda"):
            break
        end += 1
    return start, end


def _delimits(token: Token) -> bool:
    return token.text in (",", "=", ":", ":=") or (token.kind == "keyword" and token.text in ("else", "return"))
