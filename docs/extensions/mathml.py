"""Formulas as MathML, which browsers set themselves: no script, no network, no LaTeX.

The translator is the one of docutils (``docutils.utils.math.latex2mathml``), which Sphinx needs anyway.  MathJax and
KaTeX are loaded from elsewhere or weigh megabytes; ``sphinx.ext.imgmath`` needs LaTeX, and its pictures do not follow a
dark theme.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import MathError, tex2mathml
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError


def inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(_translated(node))
    raise nodes.SkipNode


def block(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(f'{writer.starttag(node, "div", CLASS="math")}{_translated(node, as_block=True)}</div>\n')
    raise nodes.SkipNode


def _translated(node: nodes.math | nodes.math_block, as_block: bool = False) -> str:
    try:
        translated = str(tex2mathml(node.astext(), as_block=as_block))
    except MathError as error:
        raise ExtensionError(f"{node.source}:{node.line}: {error} in {node.astext()!r}") from error
    # Where no mathematical font is installed, browsers draw accents into the letter; as scripts they stand above it.
    translated = translated.replace('<mover accent="true">', "<mover>")
    space = '<mspace width="0.17em"></mspace>'  # log x, but log(x)
    return re.sub(r"<mo>&ApplyFunction;</mo>(?=\s*<m(?!o))", space, translated)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
