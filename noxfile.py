"""``nox``: the tests on every Python present, lint, types and docs.  ``.ci/run`` does the same without nox."""

import nox

nox.options.sessions = ["lint", "tests"]
nox.options.error_on_missing_interpreters = False


@nox.session(python=["3.11", "3.12", "3.13", "3.14"])
def tests(session: nox.Session) -> None:
    session.install("-e", ".[test,plot]")
    session.run("pytest", "-q", "-n", "auto", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    session.install("-e", ".[lint]")
    session.run("ruff", "check", ".")
    session.run("mypy")
    session.run("python", "-m", "tests.types.checking")


@nox.session
def docs(session: nox.Session) -> None:
    session.install("-e", ".[docs]")
    session.run("sphinx-build", "-W", "--keep-going", "-b", "html", "docs", "docs/_build/html")
    session.run("pytest", "-q", "--noconftest", "tests/test_site.py", "tests/test_notebooks.py")
