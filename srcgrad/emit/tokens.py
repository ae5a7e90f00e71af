"""One logical line of Python as tokens, spaced as black spaces them.

Enters: the text of one simple statement or compound header on one line.  Leaves: tokens that know the space before
them, their matching bracket, whether a line may be broken at them and how readily, and the invisible parentheses
that black puts where a statement may be wrapped.

>>> render(tokenize("y = x [a+1:b] ** 2 if not (p,q) in r else f( * z, k = -1 )"))
'y = x[a + 1 : b] ** 2 if not (p, q) in r else f(*z, k=-1)'
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from keyword import kwlist

_TOKEN = re.compile(
    r"\s*(?:"
    r"(?P<string>(?i:[rbfut]{0,2})(?:\"\"\"(?:\\.|[^\\])*?\"\"\"|'''(?:\\.|[^\\])*?'''"
    r"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'))"
    r"|(?P<number>0[xX][\da-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+"
    r"|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?[jJ]?)"
    r"|(?P<name>[^\W\d]\w*|\.\.\.)"
    r"|(?P<op>\*\*=|//=|>>=|<<=|->|:=|\*\*|//|>>|<<|<=|>=|==|!=|[-+*/%@&|^]=|[-+*/%@&|^~<>()\[\]{},:.=;!]))",
    re.DOTALL,
)
_KEYWORDS = frozenset(kwlist) - {"None", "True", "False"}
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_UNARY = frozenset(("+", "-", "~", "*", "**"))
ASSIGNMENTS = frozenset(("=", "+=", "-=", "*=", "/=", "//=", "%=", "@=", "&=", "|=", "^=", ">>=", "<<=", "**="))

COMPREHENSION, COMMA, TERNARY, LOGIC, STRING, COMPARATOR, DOT = 20, 18, 16, 14, 12, 10, 1
_ARITHMETIC = {"|": 9, "^": 8, "&": 7, "<<": 6, ">>": 6, "+": 5, "-": 5}
_ARITHMETIC |= {"*": 4, "/": 4, "//": 4, "%": 4, "@": 4, "**": 2}
_COMPARATORS = frozenset(("<", ">", "<=", ">=", "==", "!=", "in", "is", "not"))


class Token:
    """``priority`` > 0: a line may break here, ``before`` it or after it; higher numbers break first."""

    __slots__ = ("text", "kind", "prefix", "priority", "before", "match", "role", "depth")

    def __init__(self, text: str, kind: str, prefix: str = "", role: str = "") -> None:
        self.text = text
        self.kind = kind  # name | keyword | number | string | op | open | close
        self.prefix = prefix
        self.priority = 0
        self.before = False
        self.match: Token | None = None
        self.role = role  # of an operator: unary, vararg, argument, slice ...; of a bracket: call, paren, subscript ...
        self.depth = 0

    def __repr__(self) -> str:
        return f"{self.prefix}{self.text or '·'}"


def tokenize(line: str) -> list[Token]:
    """The tokens of a logical line, classified and spaced; raises ValueError on what is not understood."""
    tokens = _scan(line)
    _classify(tokens)
    _space(tokens)
    return tokens


def render(tokens: Sequence[Token]) -> str:
    """The text of the tokens, powers of simple operands without spaces."""
    parts: list[str] = []
    hug = False
    for position, token in enumerate(tokens):
        here = token.text == "**" and token.role == "" and _is_simple_power(tokens, position)
        parts.append(token.text if here or hug or not parts else token.prefix + token.text)
        hug = here
    return "".join(parts)


def width(tokens: Sequence[Token]) -> int:
    """The length of the tokens on one line, powers spread."""
    if not tokens:
        return 0
    return sum(len(token.prefix) + len(token.text) for token in tokens) - len(tokens[0].prefix)


def _scan(line: str) -> list[Token]:
    tokens: list[Token] = []
    position, end = 0, len(line.rstrip())
    while position < end:
        found = _TOKEN.match(line, position)
        if found is None:
            raise ValueError(f"no token at {line[position:]!r}")
        kind = found.lastgroup or ""
        text = found.group(kind)
        if kind == "name" and text in _KEYWORDS:
            kind = "keyword"
        elif kind == "op" and text in _OPENING:
            kind = "open"
        elif kind == "op" and text in _CLOSING:
            kind = "close"
        elif kind == "string":
            text = _double_quoted(text)
        tokens.append(Token(text, kind))
        position = found.end()
    return tokens


def _double_quoted(text: str) -> str:
    """Black's preference for double quotes, where that needs no escape."""
    prefix = re.match(r"[a-zA-Z]*", text)
    assert prefix is not None
    body = text[prefix.end() :]
    if body.startswith("'") and not body.startswith("'''") and '"' not in body and "\\" not in body:
        if "f" not in prefix[0].lower() or "'" not in body[1:-1]:
            return f'{prefix[0]}"{body[1:-1]}"'
    return text


class _Bracket:
    """An open bracket while its inside is classified."""

    __slots__ = ("token", "lambdas", "loops", "annotated", "conditional", "start")

    def __init__(self, token: Token | None, start: int) -> None:
        self.token = token
        self.start = start  # the first token of the present element
        self.lambdas = 0  # lambda parameter lists that wait for their colon
        self.loops = 0  # ``for`` that wait for their ``in``
        self.annotated = False
        self.conditional: list[int] = []  # positions of ``if`` that may belong to a conditional expression

    @property
    def role(self) -> str:
        return self.token.role if self.token is not None else "statement"


def _classify(tokens: list[Token]) -> None:
    """Set roles, matches and break priorities."""
    stack = [_Bracket(None, 0)]
    is_def = bool(tokens) and tokens[0].text == "def"
    for position, token in enumerate(tokens):
        previous = tokens[position - 1] if position else None
        top = stack[-1]
        token.depth = len(stack) - 1
        match token.kind:
            case "open":
                token.role = _bracket_role(token, previous, is_def and len(stack) == 1 and position == 2)
                stack.append(_Bracket(token, position + 1))
            case "close":
                if top.token is None:
                    raise ValueError("unbalanced brackets")
                stack.pop()
                token.match, token.role, token.depth = top.token, top.role, len(stack) - 1
                top.token.match = token
            case "string":
                if previous is not None and previous.kind == "string":
                    token.priority, token.before = STRING, True
            case "keyword":
                _classify_keyword(token, previous, top, tokens, position)
            case "op":
                _classify_operator(token, previous, top, position)
    if len(stack) != 1:
        raise ValueError("unbalanced brackets")


def _bracket_role(token: Token, previous: Token | None, is_parameters: bool) -> str:
    if is_parameters:
        return "params"
    trailer = previous is not None and (
        previous.kind in ("name", "close") or (previous.kind == "string" and token.text != "{")
    )
    if token.text == "(":
        return "call" if trailer else "paren"
    if token.text == "[":
        return "subscript" if trailer else "list"
    return "brace"


def _classify_keyword(token: Token, previous: Token | None, top: _Bracket, tokens: list[Token], position: int) -> None:
    text = token.text
    inside = top.token is not None
    if text == "lambda":
        top.lambdas += 1
    elif text == "for":
        top.loops += 1
        if inside or position:
            token.priority, token.before = COMPREHENSION, True
    elif text == "in" and top.loops:
        top.loops -= 1
        token.role = "of for"
    elif top.loops or top.lambdas:
        return
    elif text in ("and", "or"):
        token.priority, token.before = LOGIC, True
    elif text in ("is", "in", "not"):
        joined = previous is not None and (text, previous.text) in (("in", "not"), ("not", "is"))
        binary = text != "not" or (position + 1 < len(tokens) and tokens[position + 1].text == "in")
        if binary and not joined and not _expects_operand(previous):
            token.priority, token.before = COMPARATOR, True
        if joined or (binary and not _expects_operand(previous)):
            token.role = "binary"
    elif text == "if" and not _expects_operand(previous):
        # A conditional expression until no ``else`` is found: then it is the filter of a comprehension.
        token.priority, token.before = COMPREHENSION, True
        top.conditional.append(position)
    elif text == "else" and top.conditional:
        token.priority, token.before = TERNARY, True
        tokens[top.conditional.pop()].priority = TERNARY


def _expects_operand(previous: Token | None) -> bool:
    """Whether what follows ``previous`` starts an operand."""
    if previous is None or previous.kind in ("open", "keyword"):
        return True
    return previous.kind == "op"


def _classify_operator(token: Token, previous: Token | None, top: _Bracket, position: int) -> None:
    text = token.text
    if text == ",":
        top.start = position + 1
        top.annotated = False
        top.conditional.clear()
        if not top.lambdas and not top.loops:
            token.priority = COMMA
    elif text in _UNARY and _expects_operand(previous):
        argument = top.role in ("call", "params")
        token.role = "unary" if not text.startswith("*") else "argument" if argument else "vararg"
    elif text == ":":
        if top.lambdas:
            top.lambdas -= 1
            token.role = "lambda"
        elif top.role == "subscript":
            token.role = "slice"
        elif top.role in ("params", "statement"):
            top.annotated = True
    elif text == "=":
        if top.lambdas or top.role == "call" or (top.role == "params" and not top.annotated):
            token.role = "keyword"
    elif text == "/" and top.role == "params":
        token.role = "vararg"
    elif text in _ARITHMETIC and not top.loops and not top.lambdas:
        token.priority, token.before = _ARITHMETIC[text], True
    elif text in _COMPARATORS and not top.loops and not top.lambdas:
        token.priority, token.before = COMPARATOR, True
    elif text == "." and previous is not None and previous.kind == "close" and not top.loops and not top.lambdas:
        token.priority, token.before = DOT, True


def _space(tokens: list[Token]) -> None:
    """Set the prefix of every token as black would."""
    complexity: dict[int, bool] = {}
    opened: list[int] = []
    for position, token in enumerate(tokens):
        previous = tokens[position - 1] if position else None
        if token.kind == "close":
            opened.pop()
        if previous is not None:
            start = opened[-1] if opened else 0
            token.prefix = _prefix(tokens, position, previous, token, start, complexity)
        if token.kind == "open":
            opened.append(position)


def _prefix(
    tokens: list[Token], position: int, previous: Token, token: Token, start: int, complexity: dict[int, bool]
) -> str:
    text = token.text
    if token.kind == "close" or text in (",", ";") or previous.kind == "open":
        return ""
    if previous.role in ("unary", "vararg", "argument", "keyword"):
        return "" if token.kind != "keyword" or previous.role != "unary" else " "
    if token.role == "keyword" and text == "=":
        return ""
    if token.role == "slice" or previous.role == "slice":
        if token.role == "slice" and previous.text == ",":
            return " "
        if token.role == "slice" and previous.role == "slice":
            return ""
        return " " if _is_complex(tokens, position, start, complexity) else ""
    if text == ":":
        return ""
    if text == "." or previous.text == ".":
        return "" if not (previous.kind == "keyword" or token.kind == "keyword") else " "
    if token.kind == "open" and token.role in ("call", "subscript", "params"):
        return ""
    if previous.text == "@" and position == 1:
        return ""
    return " "


def _is_complex(tokens: list[Token], position: int, start: int, complexity: dict[int, bool]) -> bool:
    """Whether the slice around ``position``, in the bracket at ``start``, has more than names and literals."""
    first = position
    depth = 0
    while first - 1 > start:
        before = tokens[first - 1]
        depth += (before.kind == "close") - (before.kind == "open")
        if before.text == "," and depth == 0:
            break
        first -= 1
    if first not in complexity:
        found = False
        depth = 0
        for index in range(first, len(tokens)):
            token = tokens[index]
            if token.kind == "close" and depth == 0 or token.text == "," and depth == 0:
                break
            depth += (token.kind == "open") - (token.kind == "close")
            found = (
                (token.kind == "keyword" and token.role != "of for" and token.priority != COMPREHENSION)
                or (token.kind == "op" and token.role not in ("slice", "unary") and token.text not in (",", ":"))
                or token.role in ("call", "subscript")
            )
            if found:
                break
        complexity[first] = found
    return complexity[first]


def _is_simple_power(tokens: Sequence[Token], position: int) -> bool:
    """Whether both operands of the ``**`` at ``position`` are names, numbers or dotted names: ``x**2``, ``a.b**-n``."""
    if not 0 < position < len(tokens) - 1:
        return False
    base = tokens[position - 1]
    if base.kind not in ("name", "number") or base.text == "...":
        return False
    if position >= 3 and tokens[position - 2].text == "." and tokens[position - 3].kind == "close":
        return False
    index = position + 1
    if tokens[index].role == "unary":
        index += 1
    if index >= len(tokens) or tokens[index].kind not in ("name", "number"):
        return False
    while index < len(tokens):
        token = tokens[index]
        if token.text in ("(", "["):
            return False
        if token.text == "for" or not (token.kind in ("name", "keyword") or token.text == "."):
            return True
        index += 1
    return True
