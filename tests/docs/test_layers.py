"""The walls between the packages, as import-linter checks them."""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLACES = {
    "verdog_objects": "objects/verdog_objects",
    "verdog_repo": "verdog_repo",
    "verdog_runtime": "runtime/verdog_runtime",
    "verdog_cli": "cli/verdog_cli",
}

PURE = """
verdog_objects: oid canonical compression chunking manifest treediff store memory errors
verdog_repo: names record revision
verdog_runtime: declarations authoring values ledger interpreter.machine interpreter.frame interpreter.events
    interpreter.commands interpreter.routing interpreter.features interpreter.validation
"""
"""The house plan's pure modules. Each is in the contract from the day it exists."""


def contract(name: str) -> dict[str, list[str]]:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    return next(each for each in contracts if each["id"] == name)


def exists(module: str) -> bool:
    package, _, rest = module.partition(".")
    path = ROOT / PLACES[package] / rest.replace(".", "/")
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()


def planned() -> set[str]:
    modules: set[str] = set()
    package = ""
    for word in PURE.split():
        if word.endswith(":"):
            package = word[:-1]
        else:
            modules.add(f"{package}.{word}")
    return modules


def test_every_pure_module_of_the_house_plan_is_under_contract() -> None:
    listed = {module.removesuffix(".**") for module in contract("pure")["source_modules"]}
    assert {module for module in planned() if exists(module)} <= listed


def test_the_contracts_are_kept() -> None:
    # In a process of its own: import-linter disables the loggers that exist.
    program = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
