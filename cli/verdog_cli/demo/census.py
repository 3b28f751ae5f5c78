"""A code census: read every package below a directory, one package per visit, and report what is in them.

    verdog run census.py
    verdog run census.py -- --input.source ~/my/project --input.limit 12

Every visit writes its findings into a directory of its own, and verdog commits them together with the state
of the run: what was found so far, and which packages are left. Kill it at any moment; `verdog resume` goes on
from the last finished package.
"""

import ast
import csv
import sysconfig
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from verdog_runtime.authoring import Context, FeatureState, Success, Workflow


@dataclass(frozen=True)
class Census:
    """What to count: the packages below `source`, the largest first, at most `limit`, none of `skip`."""

    source: Path = Path(sysconfig.get_path("stdlib"))
    limit: int = 40
    skip: tuple[str, ...] = ("site-packages", "dist-packages", "test")


@dataclass(frozen=True)
class Module:
    """One Python file. `problem` says why it could not be parsed, and is empty for the others."""

    path: str
    lines: int = 0
    classes: int = 0
    functions: int = 0
    documented: int = 0
    longest_lines: int = 0
    longest: str = ""
    problem: str = ""


@dataclass(frozen=True)
class Package:
    """One row of the report: the sums over a package's modules."""

    name: str
    modules: int
    lines: int
    classes: int
    functions: int
    documented: int
    longest_lines: int
    longest: str
    unparsed: int


@dataclass(frozen=True)
class Progress:
    """What travels from visit to visit: the packages still to read, and the rows of those that were read."""

    source: Path
    todo: tuple[str, ...]
    rows: tuple[Package, ...] = ()


@dataclass(frozen=True)
class Tally:
    """The state of the node `survey`."""

    packages: int = 0
    lines: int = 0


@dataclass(frozen=True)
class Report:
    """The result of the whole run."""

    packages: int
    modules: int
    lines: int
    unparsed: int
    documented_percent: int
    longest: str


flow = Workflow("census", input=Census, output=Report)
left = flow.integer("left")
plan = flow.python_node("plan", output=Progress)
begin = flow.feature_node("begin", carries=Progress)
survey = flow.python_node("survey", output=Progress, state=Tally)
tick = flow.feature_node("tick", carries=Progress)
report = flow.python_node("report", output=Report)


@plan.on(flow.enter)
def choose_packages(value: Census, state: None, context: Context) -> Success[Progress, None]:
    """List the packages: "." stands for the modules that are in no package."""
    found = sorted(path.parent.name for path in value.source.glob("*/__init__.py"))
    sizes = {name: len(list_modules(value.source, name)) for name in (".", *found) if name not in value.skip}
    names = sorted((name for name in sizes if sizes[name]), key=lambda name: -sizes[name])
    if not names or value.limit < 1:
        raise ValueError(f"no package to read in {value.source}")
    return Success(output=Progress(value.source, tuple(names[: value.limit])), state=None)


@begin.on(plan)
def count_packages(value: Progress, state: FeatureState, context: Context) -> FeatureState:
    """Set the feature that steers the loop: how many packages are left after the next one."""
    return state.replace(left, len(value.todo) - 1)


@survey.on(begin, effects=[left.unconstrained])
@survey.on(tick, effects=[left.decreases])
def survey_package(value: Progress, state: Tally, context: Context) -> Success[Progress, Tally]:
    """Read one package and write down what is in it."""
    name = value.todo[0]
    modules = [read_module(path, value.source) for path in list_modules(value.source, name)]
    row = sum_up(name, modules)
    write_csv(context.output_dir / "modules.csv", Module, modules)
    (context.output_dir / "summary.txt").write_text(describe(row), encoding="utf-8")
    return Success(
        output=Progress(value.source, value.todo[1:], (*value.rows, row)),
        state=Tally(state.packages + 1, state.lines + row.lines),
    )


@tick.on(survey, when=[left.positive])
def count_down(value: Progress, state: FeatureState, context: Context) -> FeatureState:
    """One package less is left."""
    return state.replace(left, state.get(left) - 1)


@report.on(survey, when=[left.zero])
def write_report(value: Progress, state: None, context: Context) -> Success[Report, None]:
    """Write the table of all packages and a page for people."""
    total = sum_up("total", [])
    for row in value.rows:
        total = add(total, row)
    write_csv(context.output_dir / "packages.csv", Package, value.rows)
    pages = [describe(row) for row in sorted(value.rows, key=lambda row: -row.lines)]
    (context.output_dir / "report.txt").write_text("\n".join([describe(total), *pages]), encoding="utf-8")
    return Success(
        output=Report(
            packages=len(value.rows),
            modules=total.modules,
            lines=total.lines,
            unparsed=total.unparsed,
            documented_percent=percent(total),
            longest=f"{total.longest} ({total.longest_lines} lines)",
        ),
        state=None,
    )


flow.exit.on(report)


def list_modules(source: Path, package: str) -> list[Path]:
    """Return the Python files of a package, in order."""
    return sorted(source.glob("*.py") if package == "." else (source / package).rglob("*.py"))


def read_module(path: Path, source: Path) -> Module:
    """Parse one file and count what it defines. A file that does not parse is a row with its problem."""
    name = path.relative_to(source).as_posix()
    try:
        text = path.read_bytes()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (OSError, SyntaxError, ValueError, RecursionError) as error:
        return Module(name, problem=f"{type(error).__name__}: {error}")
    classes, functions = 0, 0
    documented, longest, longest_lines = 0, "", 0
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            classes += 1
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            functions += 1
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > longest_lines:
                longest, longest_lines = f"{name}:{node.name}", lines
        else:
            continue
        documented += ast.get_docstring(node, clean=False) is not None
    return Module(name, text.count(b"\n"), classes, functions, documented, longest_lines, longest)


def sum_up(name: str, modules: Sequence[Module]) -> Package:
    """Return the row of a package."""
    biggest = max(modules, key=lambda module: module.longest_lines, default=Module(""))
    return Package(
        name=name,
        modules=len(modules),
        lines=sum(module.lines for module in modules),
        classes=sum(module.classes for module in modules),
        functions=sum(module.functions for module in modules),
        documented=sum(module.documented for module in modules),
        longest_lines=biggest.longest_lines,
        longest=biggest.longest,
        unparsed=sum(bool(module.problem) for module in modules),
    )


def add(total: Package, row: Package) -> Package:
    """Return the sum of two rows under the first one's name."""
    biggest = max(total, row, key=lambda each: each.longest_lines)
    return Package(
        name=total.name,
        modules=total.modules + row.modules,
        lines=total.lines + row.lines,
        classes=total.classes + row.classes,
        functions=total.functions + row.functions,
        documented=total.documented + row.documented,
        longest_lines=biggest.longest_lines,
        longest=biggest.longest,
        unparsed=total.unparsed + row.unparsed,
    )


def percent(row: Package) -> int:
    """Return how many of a row's classes and functions have a docstring, in percent."""
    return 100 * row.documented // max(1, row.classes + row.functions)


def describe(row: Package) -> str:
    """Return a row as a paragraph of text."""
    return (
        f"{row.name}\n"
        f"  modules    {row.modules:>9,}   not parsed {row.unparsed:,}\n"
        f"  lines      {row.lines:>9,}\n"
        f"  classes    {row.classes:>9,}\n"
        f"  functions  {row.functions:>9,}   {percent(row)} % documented\n"
        f"  longest    {row.longest_lines:>9,}   {row.longest}\n"
    )


def write_csv(path: Path, columns: type[Module] | type[Package], rows: Iterable[Module | Package]) -> None:
    """Write rows under the names of their fields."""
    names = [field.name for field in fields(columns)]

    def cells() -> Iterator[list[str]]:
        for row in rows:
            yield [str(getattr(row, name)) for name in names]

    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(cells())
