"""The modules of the packages, parsed once for all tests of a process."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("objects/verdog_objects", "verdog_repo", "runtime/verdog_runtime", "cli/verdog_cli")


@cache
def parse_packages() -> dict[Path, ast.Module]:
    """Return what each module is, by its path."""
    paths = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in paths}
