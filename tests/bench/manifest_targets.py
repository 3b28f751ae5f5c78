"""How many bytes and nodes a loop of commits costs, for targets of entries per node (decision record 0001).

Run by hand: `python -m tests.bench.manifest_targets [visits [files per visit]]`. Prints a table in Markdown.
"""

import random
import sys
import time
from statistics import mean
from typing import NamedTuple
from unittest.mock import patch

from verdog_objects import manifest, nodes
from verdog_objects.compression import compress
from verdog_objects.manifest import EMPTY_OID, Entry, EntryKind
from verdog_objects.oid import Kind, Oid, compute_oid

TARGETS = (4, 6, 8, 10, 12, 16, 32, 64)
LOOPS = (
    (b"work", b"tick"),
    (b"plan", b"build"),
    (b"draft", b"review"),
    (b"fetch", b"score"),
    (b"ask", b"check"),
    (b"load", b"train"),
)
ROW_BYTES = 90  # a row of the object table and its index entry, beside the payload
DIRECTORY = Entry(EntryKind.DIRECTORY, 0o755, 0, EMPTY_OID)


class Weighing:
    """An object writer that adds up what new objects would take as compressed rows."""

    def __init__(self) -> None:
        self.objects: dict[Oid, bytes] = {}
        self.stored_bytes = 0
        self.reads = 0

    def get(self, kind: Kind, oid: Oid) -> bytes:
        self.reads += 1
        return self.objects[oid]

    def put(self, kind: Kind, payload: bytes) -> Oid:
        oid = compute_oid(kind, payload)
        if oid not in self.objects:
            self.objects[oid] = payload
            self.stored_bytes += len(compress(payload)[1]) + ROW_BYTES
        return oid


class Cost(NamedTuple):
    tree_nodes: float
    tree_bytes: float
    state_nodes: float
    state_bytes: float
    last_bytes: float
    worst_bytes: float
    update_us: float
    cold_reads: float


def run_loop(names: tuple[bytes, bytes], visits: int, files: int, rnd: random.Random) -> Cost:
    """Commit the visits of a loop of two nodes; each leaves a directory of files and three state values."""

    def value(size: int) -> Entry:
        return Entry(EntryKind.VALUE, 0, size, Oid(rnd.randbytes(32)))

    tree, state, cache = Weighing(), Weighing(), manifest.NodeCache()
    tree_writer, state_writer = cache.writer(tree), cache.writer(state)
    keys = [b"input", b"transit", b"param:limit", b"param:model", b"feature:log", b"frame:0", b"frame:1"]
    keys += [b"node:" + names[0], b"node:" + names[1], b"session:" + names[0]]
    artifacts = manifest.build(tree_writer, [(name, DIRECTORY) for name in sorted(names)])
    values = manifest.build(state_writer, [(key, value(200)) for key in sorted(keys)])
    costs: list[int] = []
    started = time.process_time()
    for visit in range(visits):
        name = names[visit % 2]
        directory = b"%s\x00%06d" % (name, visit // 2 + 1)
        before = tree.stored_bytes + state.stored_bytes
        outputs = {directory: DIRECTORY}
        for number in range(files):
            name_of_file = b"\x00out.bin" if files == 1 else b"\x00out-%d.bin" % number
            outputs[directory + name_of_file] = Entry(EntryKind.FILE, 0o644, 1024, Oid(rnd.randbytes(32)))
        artifacts = manifest.update(tree_writer, artifacts, outputs)
        changes = {b"transit": value(300), b"node:" + name: value(100), b"frame:0": value(80)}
        values = manifest.update(state_writer, values, changes)
        costs.append(tree.stored_bytes + state.stored_bytes - before)
    elapsed = time.process_time() - started
    tree.reads = 0
    manifest.update(tree, artifacts, {names[0] + b"\x00000777\x00out.bin": None})
    return Cost(
        len(tree.objects) / visits,
        tree.stored_bytes / visits,
        len(state.objects) / visits,
        state.stored_bytes / visits,
        mean(costs[-100:]),
        max(costs),
        elapsed / visits * 1e6,
        tree.reads,
    )


def main(visits: int, files: int) -> None:
    """Print one row for each target, each the mean of all loops."""
    print("| target | tree nodes | bytes | state nodes | bytes | both | last 100 | worst | us | reads |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for target in TARGETS:
        with patch.object(nodes, "_THRESHOLD", 2**32 // target):
            runs = [run_loop(names, visits, files, random.Random(index)) for index, names in enumerate(LOOPS)]
        cost = Cost(*[mean(column) for column in zip(*runs, strict=True)])
        print(
            f"| {target} | {cost.tree_nodes:.2f} | {cost.tree_bytes:.0f} | {cost.state_nodes:.2f}"
            f" | {cost.state_bytes:.0f} | {cost.tree_bytes + cost.state_bytes:.0f} | {cost.last_bytes:.0f}"
            f" | {max(run.worst_bytes for run in runs):.0f} | {cost.update_us:.0f} | {cost.cold_reads:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    numbers = [int(text) for text in sys.argv[1:]]
    main(numbers[0] if numbers else 10_000, numbers[1] if len(numbers) > 1 else 1)
