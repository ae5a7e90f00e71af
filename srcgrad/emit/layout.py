"""Logical lines laid out as black lays them out, 88 columns wide.

The rules are those of black's ``linegen``: what fits stays on its line; what does not is split at its last bracket,
where needed one made for it; what stands inside brackets is split at its loosest operators, or at its commas.

>>> print("\\n".join(lay_out("x_bar = unbroadcast(" + " + ".join(["x_bar * weights"] * 5) + ")", 0)))
x_bar = unbroadcast(
    x_bar * weights
    + x_bar * weights
    + x_bar * weights
    + x_bar * weights
    + x_bar * weights
)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from srcgrad.emit.optional import with_optional_parentheses
from srcgrad.emit.tokens import COMMA, DOT, Token, render, tokenize, width

WIDTH = 88
_INDENT = "    "


class CannotSplit(Exception):
    """This way of splitting does not apply; another may."""


@dataclass(eq=False)
class Line:
    """Tokens on one line; ``inside`` brackets its operators are places to split at, and ``explode`` demands it."""

    tokens: list[Token]
    depth: int
    inside: bool = False
    explode: bool = False
    breaks: dict[int, int] = field(default_factory=dict)  # position of the token before a break -> priority

    @property
    def width(self) -> int:
        return len(_INDENT) * self.depth + width(self.tokens)

    @property
    def fits(self) -> bool:
        return self.width <= WIDTH

    @property
    def text(self) -> str:
        return _INDENT * self.depth + render(self.tokens)


@dataclass(frozen=True, eq=False)
class Split:
    """A line cut at a pair of brackets."""

    head: Line
    body: Line
    tail: Line
    opening: Token
    closing: Token


@lru_cache(maxsize=4096)  # the modes of one function have most of their lines in common
def lay_out(text: str, depth: int) -> tuple[str, ...]:
    """The physical lines of one logical line at an indentation of ``depth`` levels."""
    tokens = tokenize(text)
    plain = _INDENT * depth + render(tokens)
    if len(plain) <= WIDTH and not _may_lose_parentheses(text):
        return (plain,)
    return tuple(line.text for line in _transform(_marked(Line(with_optional_parentheses(tokens), depth)), False))


def _may_lose_parentheses(text: str) -> bool:
    words = ("if", "while", "in", "return", "=", "for", "assert", ",")
    return "(" in text and any(f"{word} (" in text for word in words)


def _transform(line: Line, force: bool) -> list[Line]:
    """Split a line as often as it takes; one that cannot be split stays too long."""
    if not line.explode and len(line.text) <= WIDTH:
        return [line]
    splitters: list[Callable[[Line, bool], list[Line]]]
    if line.tokens[0].text == "def":
        splitters = [_left_hand_split]
    elif line.inside:
        splitters = [_delimiter_split, _right_hand_split]
    else:
        splitters = [_right_hand_split]
    for splitter in splitters:
        try:
            return _split_by(line, splitter, force)
        except CannotSplit:
            continue
    return [line]


def _split_by(line: Line, splitter: Callable[[Line, bool], list[Line]], force: bool) -> list[Line]:
    before = _spread(line)
    tracked = line.inside or bool(line.breaks) or not line.explode
    invisible = [token for token in line.tokens if token.kind in ("open", "close") and not token.text]
    outermost = [token for token, level in _levels(line.tokens) if not token.text and level == 0]
    result: list[Line] = []
    for part in splitter(line, force):
        if _spread(part) == before:
            raise CannotSplit
        result += _transform(part, force)
    if (
        force
        or splitter is not _right_hand_split
        or not tracked
        or not invisible
        or any(token.text for token in outermost)
        or result[0].fits
        or any(token.kind == "made" for token in line.tokens)
    ):
        return result
    again = _marked(Line(_copied(line.tokens), line.depth, line.inside, line.explode))
    try:
        second = _split_by(again, splitter, True)
    except CannotSplit:
        return result
    return second if all(part.fits for part in second) else result


def _spread(line: Line) -> str:
    return _INDENT * line.depth + "".join(token.prefix + token.text for token in line.tokens)


def _levels(tokens: list[Token]) -> Iterator[tuple[Token, int]]:
    """Each token with its depth of brackets within these tokens; closing brackets without partner are at depth 0."""
    level = 0
    for token in tokens:
        if token.kind == "close" and level:
            level -= 1
        yield token, level
        if token.kind == "open":
            level += 1


def _marked(line: Line) -> Line:
    """Note where the line may break."""
    line.breaks.clear()
    for position, (token, level) in enumerate(_levels(line.tokens)):
        if token.priority and level == 0:
            if not token.before:
                line.breaks[position] = token.priority
            elif position:
                line.breaks[position - 1] = token.priority
    return line


def _copied(tokens: list[Token]) -> list[Token]:
    copies: dict[int, Token] = {}
    for token in tokens:
        copy = Token(token.text, token.kind, token.prefix, token.role)
        copy.priority, copy.before, copy.depth, copy.match = token.priority, token.before, token.depth, token.match
        copies[id(token)] = copy
    for copy in copies.values():
        if copy.match is not None:
            copy.match = copies.get(id(copy.match), copy.match)
    return list(copies.values())


# --- cutting at brackets ---------------------------------------------------------------------------------------------
def _cut(line: Line, opening: int, closing: int) -> Split:
    """Head up to and with the opening bracket, body one level deeper, tail from the closing bracket."""
    tokens = line.tokens
    left, right = tokens[opening], tokens[closing]
    head = Line(tokens[: opening + 1], line.depth)
    inner = tokens[opening + 1 : closing]
    if tokens[0].text == "def" and left.text == "(" and inner and not any(token.text == "," for token in inner):
        inner = [*inner, Token(",", "made")]
    body = _marked(Line(inner, line.depth + 1, inside=True))
    body.explode = _explodes(body, left)
    tail = Line(tokens[closing:], line.depth)
    if not inner:
        length = len("".join(token.prefix + token.text for token in tail.tokens).strip())
        if length < 3:
            raise CannotSplit
    return Split(head, body, tail, left, right)


def _explodes(body: Line, opening: Token) -> bool:
    """A display of several elements that does not fit has one element per line."""
    last = len(body.tokens) - 1
    trailing = last >= 0 and body.tokens[last].text == ","
    priorities = [priority for position, priority in body.breaks.items() if not (trailing and position == last)]
    displays = ("paren", "list", "brace", "optional")
    return bool(priorities) and max(priorities) == COMMA and (trailing or opening.role in displays)


def _show(split: Split) -> list[Line]:
    if not split.opening.text:
        split.opening.text, split.closing.text = "(", ")"
    return [line for line in (split.head, split.body, split.tail) if line.tokens]


def _left_hand_split(line: Line, force: bool) -> list[Line]:
    """At the first pair of brackets: function headers."""
    for position, token in enumerate(line.tokens):
        if token.text == "(":
            closing = _index(line.tokens, token.match)
            return _show(_cut(line, position, closing))
    raise CannotSplit


def _last_pair(line: Line, omit: frozenset[int]) -> Split:
    """Cut at the last pair of brackets that is not omitted."""
    for closing in range(len(line.tokens) - 1, -1, -1):
        token = line.tokens[closing]
        if token.kind == "close" and id(token) not in omit:
            opening = _index(line.tokens, token.match)
            if opening < 0:
                raise CannotSplit
            if opening == closing - 1:
                continue  # an empty pair belongs to what follows it
            return _cut(line, opening, closing)
    raise CannotSplit


def _index(tokens: list[Token], wanted: Token | None) -> int:
    return next((position for position, token in enumerate(tokens) if token is wanted), -1)


def _right_hand_split(line: Line, force: bool) -> list[Line]:
    """At the last pair of brackets whose head fits on its line."""
    offsets: dict[int, int] = {}
    length = len(_INDENT) * line.depth
    for token in line.tokens:
        offsets[id(token)] = length
        length += len(token.prefix) + len(token.text)
    first: list[Line] | None = None
    for omit in _omissions(line):
        if omit:
            closing = next((t for t in reversed(line.tokens) if t.kind == "close" and id(t) not in omit), None)
            target = closing.match if closing is not None else None
            if target is not None and target.text and offsets.get(id(target), 0) > WIDTH:
                continue
        lines = _without_optional(_last_pair(line, omit), line, force, omit)
        if first is None and not omit:
            first = lines
        if lines[0].fits:
            return lines
    if first is not None:
        return first
    return _without_optional(_last_pair(line, frozenset()), line, force, frozenset())


def _omissions(line: Line) -> Iterator[frozenset[int]]:
    """Growing sets of closing brackets at the end of the line that may stay together."""
    omit: set[int] = set()
    yield frozenset(omit)
    length = len(_INDENT) * line.depth
    opening: Token | None = None
    closing: Token | None = None
    inner: set[int] = set()
    for position in range(len(line.tokens) - 1, -1, -1):
        token = line.tokens[position]
        length += len(token.prefix) + len(token.text)
        if length > WIDTH:
            break
        if opening is not None:
            if token is opening:
                opening = None
            elif token.kind == "close":
                inner.add(id(token))
        elif token.kind == "close":
            if position and line.tokens[position - 1].kind == "open":
                inner.add(id(token))
                continue
            if closing is not None:
                omit.add(id(closing))
                omit |= inner
                inner.clear()
                yield frozenset(omit)
            if token.text:
                opening, closing = token.match, token


def _without_optional(split: Split, line: Line, force: bool, omit: frozenset[int]) -> list[Line]:
    """Prefer a split that needs no new parentheses, where that reads well."""
    if not force and not split.opening.text and _can_omit(split):
        try:
            omit = omit | {id(split.closing)}
            other = _last_pair(line, omit)
            if _prefers(other, split):
                return _without_optional(other, line, force, omit)
        except CannotSplit:
            chained = sum(token.text == "=" for token in line.tokens) > 1
            if not chained and not _can_be_split(split.body) and not split.body.fits:
                raise
    return _show(split)


def _prefers(other: Split, split: Split) -> bool:
    """Whether a split without the optional parentheses is better than the one with them."""
    head = split.head.tokens
    if not (len(head) >= 2 and head[-2].text == "="):
        return True
    if not any(token.kind in ("open", "close") for token in head[:-1]):
        return True
    if split.head.width > WIDTH - 1:
        return True
    equals = sum(token.text == "=" for token in head)
    if equals > 1 and equals > sum(token.text == "=" for token in other.head.tokens):
        return False
    for token in reversed(other.head.tokens):
        if token.text == "=":
            break
        if token.kind == "close":
            return True
    return any(token.text == "=" for token in other.head.tokens) and other.head.fits


def _can_omit(split: Split) -> bool:
    """Whether the body of optional parentheses can be split without them."""
    line = split.body
    if not line.breaks:
        return True
    loosest = max(line.breaks.values())
    if sum(priority == loosest for priority in line.breaks.values()) > 1:
        return False
    if loosest == DOT:
        return True
    first, second = line.tokens[0], line.tokens[1]
    if first.kind == "open" and second.kind != "close" and _can_omit_opening(line, first):
        return True
    last, before = line.tokens[-1], line.tokens[-2]
    if last.kind == "close" and (last.text in (")", "}", "") or last.role == "list"):
        return before.kind != "open" and _can_omit_closing(line, last)
    return False


def _can_omit_opening(line: Line, first: Token) -> bool:
    remainder = False
    length = len(_INDENT) * line.depth
    for token in line.tokens:
        if token.kind == "close" and token.match is first:
            remainder = True
        if remainder:
            length += len(token.prefix) + len(token.text)
            if length > WIDTH:
                return False
            if token.kind == "open":
                remainder = False
    return True


def _can_omit_closing(line: Line, last: Token) -> bool:
    length = len(_INDENT) * line.depth
    seen_other = False
    for token in line.tokens:
        length += len(token.prefix) + len(token.text)
        if token is last.match:
            if seen_other or length <= WIDTH:
                return True
        elif token.kind == "open":
            seen_other = True
    return False


def _can_be_split(line: Line) -> bool:
    """False if the line certainly has nothing to split at."""
    tokens = line.tokens
    if len(tokens) < 2:
        return False
    if tokens[0].kind == "string" and tokens[1].text == ".":
        calls = dots = 0
        following = tokens[-1]
        for token in tokens[-2::-1]:
            if token.kind == "open":
                if following.kind != "close":
                    return False
                calls += 1
            elif token.text == ".":
                dots += 1
            elif token.kind in ("name", "keyword"):
                if not (following.text == "." or following.kind == "open"):
                    return False
            elif token.kind != "close":
                return False
            if dots > 1 and calls > 1:
                return False
    return True


# --- breaking at delimiters ------------------------------------------------------------------------------------------
def _delimiter_split(line: Line, force: bool) -> list[Line]:
    """One line for each operand of the loosest operators, or for each element, with a comma after the last."""
    last = len(line.tokens) - 1
    priorities = [priority for position, priority in line.breaks.items() if position != last]
    if not priorities:
        raise CannotSplit
    loosest = max(priorities)
    if loosest == DOT and priorities.count(loosest) == 1:
        raise CannotSplit
    parts: list[list[Token]] = [[]]
    for position, token in enumerate(line.tokens):
        parts[-1].append(token)
        if line.breaks.get(position) == loosest:
            parts.append([])
    if not parts[-1]:
        parts.pop()
    if loosest == COMMA and parts[-1][-1].text != ",":
        parts[-1].append(Token(",", "made"))
    made: list[Line] = []
    for part in parts:
        part[0].prefix = ""
        made.append(_marked(Line(part, line.depth, inside=True)))
    return made

