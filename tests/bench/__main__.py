"""The table of `docs/benchmarks.md`, measured here and now.

Every row alternates the operation with a base operation in the same minute, so that their ratio says more
than the machine does. Run by hand: `python -m tests.bench`.
"""

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.bench.bench import QUICK, Bench, Sizes
from tests.bench.commands import measure_help, measure_log, measure_open, measure_runs
from tests.bench.commits import measure_bytes, measure_commit, measure_growth, measure_off
from tests.bench.forks import measure_diff
from tests.bench.machine import describe_machine, wait_for_quiet
from tests.bench.table import format_markdown
from tests.bench.trees import measure_big, measure_capture, measure_checkout

MEASURES: dict[str, Callable[[Bench], None]] = {
    "commit": measure_commit,
    "growth": measure_growth,
    "bytes": measure_bytes,
    "capture": measure_capture,
    "big": measure_big,
    "diff": measure_diff,
    "checkout": measure_checkout,
    "log": measure_log,
    "open": measure_open,
    "runs": measure_runs,
    "help": measure_help,
    "off": measure_off,
}


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"only these: {', '.join(MEASURES)}")
    parser.add_argument(
        "--quick", action="store_true", help="small sizes, less than a minute; proves no target"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument(
        "--directory", type=Path, help="measure the disk of this directory (default: the temporary one)"
    )
    parser.add_argument(
        "--wait",
        type=float,
        metavar="LOAD",
        help="before each row, wait up to ten minutes for a load below this",
    )
    chosen = parser.parse_args(arguments)
    unknown = [name for name in chosen.rows if name not in MEASURES]
    if unknown:
        parser.error(f"there is no row {unknown[0]}; there are {', '.join(MEASURES)}")
    return chosen


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; exit with 1 if a target was missed at full size."""
    chosen = parse_arguments(arguments)
    scratch = Path(tempfile.mkdtemp(prefix="verdog-bench-", dir=chosen.directory)).resolve()
    bench = Bench(QUICK if chosen.quick else Sizes(), scratch)
    try:
        machine = describe_machine(scratch)
        for name in chosen.rows or MEASURES:
            if chosen.wait is not None:
                wait_for_quiet(chosen.wait, 600)
            bench.begin()
            begun = len(bench.rows)
            MEASURES[name](bench)
            for row in bench.rows[begun:]:
                print(" | ".join(row.cells()), file=sys.stderr, flush=True)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    if chosen.json:
        rows = [row.as_json() for row in bench.rows]
        print(json.dumps({"quick": chosen.quick, "machine": machine, "rows": rows}, indent=2))
    else:
        print("".join(f"- {key}: {value}\n" for key, value in machine.items()))
        print(format_markdown(bench.rows))
    return int(not chosen.quick and any(row.ok is False for row in bench.rows))


if __name__ == "__main__":
    sys.exit(main())
