"""Every example of the site is run while the site is built, and what it prints and draws stands below it.

The blocks of a page that are marked ``python`` are one program: they are written to a module of the page's name, since
srcgrad reads functions from files, and run from top to bottom.  Text that a block prints and figures that it leaves
open follow the block.  An exception fails the build and names the line of the page.  Blocks marked ``py`` are shown and
not run.

myst-nb was considered.  It starts a kernel for each page: one second, and two and a half more to import NumPy,
matplotlib and the compiler again, which on thirty pages takes longer than the whole build does this way.  And the
functions of a notebook are named after a hash in the generated text (``1811334200.py:2``), those of a module after the
page.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import io
import os
import shutil
import sys
import textwrap
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.transforms import SphinxTransform

PICTURES = "_pictures"
END_OF_BLOCK = "__end_of_block__"


class Execute(SphinxTransform):
    """Run the page, before Sphinx collects its images."""

    default_priority = 400

    def apply(self, **kwargs: Any) -> None:
        page = self.env.docname
        blocks = [node for node in self.document.findall(nodes.literal_block) if node.get("language") == "python"]
        if not blocks or page in self.config.executed_elsewhere:
            return
        pictures = Path(self.env.srcdir) / PICTURES
        pictures.mkdir(exist_ok=True)
        below = _run(page, blocks, Path(self.env.doctreedir) / "programs" / page, pictures)
        for block, found in zip(blocks, below, strict=True):
            place = block.parent.index(block) + 1
            block.parent[place:place] = found


def _run(page: str, blocks: list[nodes.literal_block], folder: Path, pictures: Path) -> list[list[nodes.Node]]:
    """What each block prints and draws.  The page runs in a folder of its own, which is the working directory."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    module = ModuleType(folder.name.replace("-", "_"))
    if module.__name__ not in sys.modules and importlib.util.find_spec(module.__name__):
        raise ExtensionError(f"{page}.md: its program would hide the module {module.__name__}: rename the page")
    module.__file__ = str(folder / f"{module.__name__}.py")
    text, starts = _text(blocks)
    Path(module.__file__).write_text(text, encoding="utf-8")
    below: list[list[nodes.Node]] = []
    drawn = 0

    def end_of_block() -> None:
        nonlocal drawn
        found: list[nodes.Node] = [_output(printed.getvalue())] if printed.getvalue().strip() else []
        printed.seek(0)
        printed.truncate()
        for alternative, save in _figures():
            name = f"{module.__name__}{f'-{drawn}' if drawn else ''}.png"
            save(pictures / name)
            found.append(nodes.image(uri=f"/{PICTURES}/{name}", alt=alternative, classes=["picture"]))
            drawn += 1
        below.append(found)

    vars(module)[END_OF_BLOCK] = end_of_block
    printed = io.StringIO()
    with _imported(module, folder), contextlib.redirect_stdout(printed):
        try:
            exec(_compiled(text, starts, module.__file__), vars(module))
        except Exception as error:
            shown = "".join(traceback.format_exception(error))
            raise ExtensionError(f"{page}.md: the block in line {blocks[len(below)].line} raises\n{shown}") from error
    return below


def _text(blocks: list[nodes.literal_block]) -> tuple[str, list[int]]:
    """The program of a page, and the line of it before each block."""
    text, starts = "", []
    for block in blocks:
        starts.append(text.count("\n"))
        text += block.astext().rstrip("\n") + "\n\n\n"
    return text.rstrip("\n") + "\n", starts


def _compiled(text: str, starts: list[int], file: str) -> CodeType:
    """The program with a call at the end of each block.  It is compiled as a whole, as the file itself would be: what
    CPython makes of ``np.sin(x)`` depends on whether ``np`` is imported in the same text."""
    tree = ast.parse(text, file)
    body: list[ast.stmt] = []
    ends = [*starts[1:], text.count("\n") + 1]
    for statement in [*tree.body, None]:
        while ends and (statement is None or statement.lineno > ends[0]):
            line = ends.pop(0)
            call = ast.Call(ast.Name(END_OF_BLOCK, ast.Load()), [], [])
            place = ast.Pass(lineno=line, col_offset=0, end_lineno=line, end_col_offset=0)
            body.append(ast.fix_missing_locations(ast.copy_location(ast.Expr(call), place)))
        if statement is not None:
            body.append(statement)
    tree.body = body
    return compile(tree, file, "exec", dont_inherit=True)


@contextlib.contextmanager
def _imported(module: ModuleType, folder: Path) -> Iterator[None]:
    """The page as an imported module, in its folder; afterwards all is as it was."""
    before, known = os.getcwd(), sys.modules.get(module.__name__)
    sys.modules[module.__name__] = module
    sys.path.insert(0, str(folder))
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
        sys.path.remove(str(folder))
        for name, one in list(sys.modules.items()):
            if str(getattr(one, "__file__", None) or "").startswith(f"{folder}{os.sep}"):
                del sys.modules[name]
        if known is not None:
            sys.modules[module.__name__] = known


def _output(text: str) -> nodes.literal_block:
    """A block of printed text, coloured as Python where it is a program."""
    text = text.rstrip("\n")
    node = nodes.literal_block(text, text, classes=["output"])  # Sphinx colours it because both are the same
    node["language"] = "python" if _is_program(textwrap.dedent(text)) else "text"
    return node


def _is_program(text: str) -> bool:
    try:
        return any(isinstance(one, ast.FunctionDef | ast.For | ast.Assign) for one in ast.parse(text).body)
    except SyntaxError:
        return False


def _figures() -> Iterator[tuple[str, Any]]:
    """The figures that are open, each with its description and the function that saves it; they are closed."""
    if "matplotlib.pyplot" not in sys.modules:
        return
    from matplotlib import pyplot

    for number in pyplot.get_fignums():
        figure = pyplot.figure(number)
        titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
        yield "; ".join(titles) or "figure", figure.savefig
    pyplot.close("all")


def setup(app: Sphinx) -> dict[str, Any]:
    os.environ["MPLBACKEND"] = "Agg"
    os.environ["MATPLOTLIBRC"] = str(app.srcdir)
    app.add_config_value("executed_elsewhere", [], "env")
    app.add_transform(Execute)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
