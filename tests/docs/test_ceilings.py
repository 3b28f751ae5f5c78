"""Rooms that outgrew their size, each one named here with its reason or mended."""

import ast
from collections.abc import Iterator
from functools import cache

from tests.docs.parsed import ROOT, parse_packages

MODULE_LINES, CLASS_LINES, FUNCTION_LINES, PARAMETERS = 400, 200, 50, 6

_CLICK = "a click command takes one parameter per option"
_FACADE = "one parameter per choice of the command that calls it"
_PUBLIC = "the public signature is given"

EXCEPTIONS: dict[str, str] = {
    "cli/verdog_cli/commands/fork.py:command": _CLICK,
    "cli/verdog_cli/commands/log.py:command": _CLICK,
    "cli/verdog_cli/commands/restart.py:command": _CLICK,
    "runtime/verdog_runtime/interpreter/execution.py:Dispatcher.restart": _PUBLIC,
    "runtime/verdog_runtime/interpreter/execution.py:Dispatcher.run": _PUBLIC,
    "runtime/verdog_runtime/lifecycle.py:fork_recorded": _FACADE,
    "runtime/verdog_runtime/lifecycle.py:restart_recorded": _FACADE,
    "verdog_repo/repository.py:Repository": "a front door: each method is a docstring and one call",
}
"""What may be larger: `path` of a module or `path:qualified.name`, and why."""


def count_parameters(function: ast.FunctionDef | ast.AsyncFunctionDef, *, method: bool) -> int:
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return len(named) - (method and bool(named) and named[0].arg in ("self", "cls"))


def oversized(tree: ast.AST, where: str, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the name and the measure of each class and function beyond a ceiling."""
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if isinstance(node, ast.stmt | ast.excepthandler | ast.match_case):
                yield from oversized(node, where, prefix)
            continue
        name = f"{prefix}{node.name}"
        lines = (node.end_lineno or node.lineno) - node.lineno + 1
        if isinstance(node, ast.ClassDef):
            if lines > CLASS_LINES:
                yield f"{where}:{name}", f"class of {lines} lines"
        else:
            if lines > FUNCTION_LINES:
                yield f"{where}:{name}", f"function of {lines} lines"
            parameters = count_parameters(node, method=isinstance(tree, ast.ClassDef))
            if parameters > PARAMETERS:
                yield f"{where}:{name}", f"{parameters} parameters"
        yield from oversized(node, where, f"{name}.")


@cache
def findings() -> dict[str, str]:
    found: dict[str, str] = {}
    for path, tree in parse_packages().items():
        text = path.read_text(encoding="utf-8")
        where = path.relative_to(ROOT).as_posix()
        if text.count("\n") > MODULE_LINES:
            found[where] = f"module of {text.count(chr(10))} lines"
        for name, measure in oversized(tree, where):
            found[name] = f"{found[name]}, {measure}" if name in found else measure
    return found


def test_nothing_is_larger_than_its_ceiling_without_a_reason() -> None:
    unexplained = {name: measure for name, measure in findings().items() if name not in EXCEPTIONS}
    assert not unexplained, "\n".join(f"{name}: {measure}" for name, measure in unexplained.items())


def test_every_exception_is_still_needed() -> None:
    assert not EXCEPTIONS.keys() - findings().keys()


def test_a_module_says_what_it_is_in_its_first_line() -> None:
    for path, tree in parse_packages().items():
        first = ast.get_docstring(tree)
        assert first and first.splitlines()[0].endswith("."), path
