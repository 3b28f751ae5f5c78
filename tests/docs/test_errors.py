"""The page of errors against the code: every class with its kind and exit code, every machine code."""

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.docs.parsed import parse_packages
from verdog_cli import exits
from verdog_cli.failures import describe
from verdog_objects.errors import NotRestorable, VerdogError
from verdog_runtime.storeerrors import RunStoreError

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/errors.md").read_text(encoding="utf-8")
PACKAGES = {
    "verdog_objects": "objects/verdog_objects",
    "verdog_repo": "verdog_repo",
    "verdog_runtime": "runtime/verdog_runtime",
    "verdog_cli": "cli/verdog_cli",
}

RUN_CODE = re.compile(r"(run|checkpoint|session|workflow|invocation)\.[a-z]+(_[a-z]+)*")
GRAPH_CODE = re.compile(r"\[([a-z]+(?:_[a-z]+)+)\]")
NO_CODES = {"run.json", "checkpoint.json"}


@cache
def rows(heading: str) -> dict[str, list[str]]:
    """Return the cells of the tables below a heading, by the name in the first one."""
    part = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    found: dict[str, list[str]] = {}
    for line in part.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        name = re.fullmatch(r"`(\w+(?:\.\w+)?)`", cells[0])
        if line.startswith("| ") and name:
            assert name[1] not in found, name[1]
            found[name[1]] = [cell.strip("`") for cell in cells]
    return found


def defined_classes() -> dict[str, type[Exception]]:
    for name in PACKAGES:
        for each in pkgutil.walk_packages(importlib.import_module(name).__path__, f"{name}."):
            importlib.import_module(each.name)
    found: dict[str, type[Exception]] = {}
    pending: list[type[Exception]] = [VerdogError, RunStoreError]
    while pending:
        base = pending.pop()
        pending += base.__subclasses__()
        if base.__module__.partition(".")[0] in PACKAGES and not base.__name__.startswith("_"):
            found[base.__name__] = base
    del found["VerdogError"]
    return found


def instance(kind: type[Exception], code: str) -> Any:
    """Return an error of a class without asking what its constructor takes."""
    error: Any = kind.__new__(kind, "what happened")
    error.args = ("what happened",)
    error.paths = error.candidates = ()
    error.code, error.reason, error.path = code, "what happened", ""
    return error


CLASSES = defined_classes()
TABLE = rows("Classes")


def test_every_class_is_on_the_page() -> None:
    assert TABLE.keys() == CLASSES.keys()


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_has_the_kind_and_the_exit_code_of_the_page(name: str) -> None:
    kind, exit_code = TABLE[name][1:3]
    if exit_code == "by code":
        return
    codes = {"IntegrityError": "checkpoint.artifact_corrupt", "AlreadySucceeded": "run.already_succeeded"}
    failure = describe(instance(CLASSES[name], codes.get(name, "run.other")))
    assert (failure.kind, str(failure.exit_code)) == (kind, exit_code)


@cache
def strings() -> frozenset[str]:
    """Return every text in the code but docstrings and kinds of findings, and code words in brackets."""
    return frozenset(text for tree in parse_packages().values() for text in strings_of(tree))


def strings_of(tree: ast.Module) -> Iterator[str]:
    nodes = list(ast.walk(tree))
    passed_over: set[ast.AST] = {
        node.body[0].value
        for node in nodes
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    passed_over |= {each.value for each in nodes if isinstance(each, ast.keyword) and each.arg == "kind"}
    for node in nodes:
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "_refusal":
            yield from (f"[{each.value}]" for each in node.args if isinstance(each, ast.Constant))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in passed_over:
            yield node.value


def test_every_machine_code_of_runs_is_on_the_page() -> None:
    used = {text for text in strings() if RUN_CODE.fullmatch(text)} - NO_CODES
    assert rows("Codes of runs").keys() == used


def test_every_machine_code_of_graphs_is_on_the_page() -> None:
    used = {code for text in strings() for code in GRAPH_CODE.findall(text)} - NO_CODES
    assert rows("Codes of graphs").keys() == used


@pytest.mark.parametrize("code", rows("Codes of runs"))
def test_a_code_has_the_exit_code_of_the_page(code: str) -> None:
    classes = {
        "run.active": "RunActive",
        "checkpoint.not_found": "CheckpointNotFound",
        "checkpoint.artifact_corrupt": "IntegrityError",
        "checkpoint.artifact_destination_invalid": "DestinationInvalid",
        "checkpoint.artifact_destination_not_empty": "DestinationInvalid",
        "workflow.arguments_invalid": "InvalidInput",
    }
    recorded = ("serialization_failed", "artifact_capture_failed", "session_branch_unavailable")
    kind = NotRestorable if code.endswith(recorded) else CLASSES[classes.get(code, "RunStoreError")]
    assert str(describe(instance(kind, code)).exit_code) == rows("Codes of runs")[code][1]


def test_the_exit_codes_are_those_of_the_command_line() -> None:
    part = PAGE.partition("\n## Exit codes\n")[2].partition("\n## ")[0]
    listed = {int(number) for number in re.findall(r"^\| (\d+) \|", part, re.MULTILINE)}
    assert listed == {value for name, value in vars(exits).items() if name.isupper()}
