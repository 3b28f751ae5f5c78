"""Add up the sales of each shop from CSV files, one file per round of a loop.

    verdog run sales.py
    verdog run sales.py -- --input.source elsewhere --input.pause 0

`fetch` copies the files into its own directory first, so that what the run works on is recorded with it. The
page `docs/howto/write.md` explains each part, and tries another rule from the middle of a run.
"""

import csv
import shutil
import time
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from verdog_runtime.authoring import Context, FeatureState, Success, Workflow

LEAST = Decimal(0)


@dataclass(frozen=True)
class Job:
    """The input: where the files are. `pause` is in seconds, for each file, as if it were a large one."""

    source: Path = Path("data")
    pause: float = 0.5


@dataclass(frozen=True)
class Sales:
    """What travels round the loop: the files that are left, and the sum of each shop so far."""

    todo: tuple[Path, ...]
    sums: dict[str, Decimal]
    pause: float


@dataclass(frozen=True)
class Cleaned:
    """What `clean` passes on to `add`: the same, and the file that it wrote."""

    sales: Sales
    file: Path


flow = Workflow("sales", input=Job, output=Sales)
left = flow.integer("left")
fetch = flow.python_node("fetch", output=Sales)
begin = flow.feature_node("begin", carries=Sales)
clean = flow.python_node("clean", output=Cleaned)
add = flow.python_node("add", output=Sales)
tick = flow.feature_node("tick", carries=Sales)


@fetch.on(flow.enter)
def copy_files(job: Job, state: None, context: Context) -> Success[Sales, None]:
    """Make the input a part of the run."""
    found = sorted(job.source.glob("*.csv"))
    if not found:
        raise FileNotFoundError(f"no CSV file in {job.source}")
    copies = tuple(Path(shutil.copy(file, context.output_dir)) for file in found)
    return Success(output=Sales(copies, {}, job.pause), state=None)


@begin.on(fetch)
def count_files(sales: Sales, state: FeatureState, context: Context) -> FeatureState:
    """Set the feature that steers the loop: how many files are left after the first."""
    return state.replace(left, len(sales.todo) - 1)


@clean.on(begin, effects=[left.unconstrained])
@clean.on(tick, effects=[left.decreases])
def drop_rows(sales: Sales, state: None, context: Context) -> Success[Cleaned, None]:
    """Write the next file again without rows that are no sale."""
    time.sleep(sales.pause)
    file = context.output_dir / sales.todo[0].name
    with sales.todo[0].open(newline="") as source, file.open("w", newline="") as target:
        rows = csv.DictReader(source)
        kept = csv.DictWriter(target, rows.fieldnames or ())
        kept.writeheader()
        for row in rows:
            amount = read_amount(row["amount"])
            if amount > LEAST:
                kept.writerow({**row, "amount": amount})
    return Success(output=Cleaned(sales, file), state=None)


@add.on(clean)
def add_rows(cleaned: Cleaned, state: None, context: Context) -> Success[Sales, None]:
    """Add what is left to the sums."""
    sums = dict(cleaned.sales.sums)
    with cleaned.file.open(newline="") as file:
        for row in csv.DictReader(file):
            sums[row["shop"]] = sums.get(row["shop"], Decimal(0)) + Decimal(row["amount"])
    return Success(output=Sales(cleaned.sales.todo[1:], sums, cleaned.sales.pause), state=None)


@tick.on(add, when=[left.positive])
def count_down(sales: Sales, state: FeatureState, context: Context) -> FeatureState:
    """Go round once more, with one file less ahead."""
    return state.replace(left, state.get(left) - 1)


flow.exit.on(add, when=[left.zero])


def read_amount(text: str) -> Decimal:
    """Return the amount of a row; that of a row that is no sale is nothing."""
    return Decimal(0 if text == "n/a" else text)
