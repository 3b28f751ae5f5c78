# ruff: noqa: PTH118
import os
import sys
from pathlib import Path

import pytest

from tests.objects.trees import build, exclude_nothing, exclude_verdog, run_script, unprivileged
from verdog_objects import manifest
from verdog_objects.capture import ProblemCode, capture_tree
from verdog_objects.directories import Excluded
from verdog_objects.errors import NotFound
from verdog_objects.manifest import Entry
from verdog_objects.memory import MemoryStore
from verdog_objects.oid import Kind, compute_oid
from verdog_objects.signatures import UNSETTLED, Signatures
from verdog_objects.staging import remove_tree
from verdog_objects.sweep import Swept, sweep
from verdog_objects.verify import DifferenceKind, verify_tree

LATER_NS = 10**10


class Output:
    """An output directory whose content is recorded, with a clock of its own."""

    def __init__(self, path: Path, excluded: Excluded = exclude_nothing) -> None:
        self.path = path
        self.excluded = excluded
        self.offset_ns = 0
        self.signatures = Signatures(clock=self.read_clock)
        self.writer = MemoryStore([]).writer()
        self.root = manifest.empty(self.writer)
        self.lookups = 0

    def read_clock(self) -> int:
        times = [0]
        for at, _, names in os.walk(self.path):
            times += [os.lstat(os.path.join(at, name)).st_ctime_ns for name in names]
        return max(times) + self.offset_ns

    def record(self) -> None:
        captured = capture_tree(self.writer, self.path, [b""], excluded=self.excluded, memory=self.signatures)
        self.root = build(self.writer, captured.entries)

    def look_up(self, path: bytes) -> Entry | None:
        self.lookups += 1
        return manifest.lookup(self.writer, self.root, manifest.path_key(path))

    def sweep(self) -> Swept:
        self.lookups = 0
        return sweep(self.writer, self.path, self.signatures, self.look_up, excluded=self.excluded)


def write(path: Path, data: bytes = b"x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_an_untouched_output_has_nothing_to_report(tmp_path: Path) -> None:
    write(tmp_path / "a/b/f")
    (tmp_path / "link").symlink_to("a")
    output = Output(tmp_path)
    output.record()
    swept = output.sweep()
    assert swept == Swept(looked_at=4)


def test_fresh_files_are_read_again_once_and_then_trusted(tmp_path: Path) -> None:
    write(tmp_path / "f")
    write(tmp_path / "g")
    output = Output(tmp_path)
    output.record()
    assert output.signatures.names_in(b"") == {"f": UNSETTLED, "g": UNSETTLED}
    output.offset_ns = LATER_NS
    output.sweep()
    assert output.lookups == 2
    output.sweep()
    assert output.lookups == 0


def test_an_edit_within_the_tick_of_the_capture_is_found(tmp_path: Path) -> None:
    file = write(tmp_path / "f", b"before")
    output = Output(tmp_path)
    output.record()
    file.write_bytes(b"behind")
    # Whatever the file system made of the times: a file read in its own tick has no trusted signature.
    (difference,) = output.sweep().changed
    assert (difference.path, difference.what) == (b"f", DifferenceKind.MODIFIED)


@pytest.mark.parametrize("size_bytes", [10, 300_000])
def test_an_edit_behind_the_same_length_and_time_is_found_in_a_file_that_was_trusted(
    tmp_path: Path, size_bytes: int
) -> None:
    file = write(tmp_path / "f", b"a" * size_bytes)
    output = Output(tmp_path)
    output.offset_ns = LATER_NS
    output.record()
    assert output.signatures.names_in(b"")["f"] != UNSETTLED
    before = file.stat()
    with file.open("r+b") as opened:
        opened.write(b"b")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = file.stat()
    assert (after.st_size, after.st_mtime_ns, after.st_ino) == (
        before.st_size,
        before.st_mtime_ns,
        before.st_ino,
    )
    assert [(each.path, each.what) for each in output.sweep().changed] == [(b"f", DifferenceKind.MODIFIED)]


def test_late_files_come_with_their_directories_and_content(tmp_path: Path) -> None:
    write(tmp_path / "f")
    output = Output(tmp_path)
    output.record()
    write(tmp_path / "late/deep/g", b"late")
    swept = output.sweep()
    assert sorted(swept.late) == [b"late", b"late/deep", b"late/deep/g"]
    assert output.writer.get(Kind.BLOB, swept.late[b"late/deep/g"].oid) == b"late"
    assert (swept.files, swept.size_bytes) == (1, 4)


def test_what_came_late_is_known_to_the_next_sweep(tmp_path: Path) -> None:
    output = Output(tmp_path)
    write(tmp_path / "late/g", b"late")
    output.offset_ns = LATER_NS
    late = output.sweep().late
    output.root = build(output.writer, late)
    assert output.sweep() == Swept(looked_at=2)
    assert output.lookups == 0


def test_edits_of_recorded_files_are_reported_until_they_are_put_right(tmp_path: Path) -> None:
    file = write(tmp_path / "f", b"before")
    output = Output(tmp_path)
    output.offset_ns = LATER_NS
    output.record()
    file.write_bytes(b"after")
    for _ in range(2):
        swept = output.sweep()
        assert [(each.path, each.what) for each in swept.changed] == [(b"f", DifferenceKind.MODIFIED)]
        assert swept.late == {}
    file.write_bytes(b"before")
    assert output.sweep() == Swept(looked_at=1)


def test_an_edit_is_not_put_in_the_store(tmp_path: Path) -> None:
    file = write(tmp_path / "f", b"before")
    output = Output(tmp_path)
    output.record()
    file.write_bytes(b"after")
    output.sweep()
    with pytest.raises(NotFound):
        output.writer.get(Kind.BLOB, compute_oid(Kind.BLOB, b"after"))


def test_a_touched_file_with_the_same_content_did_not_change(tmp_path: Path) -> None:
    file = write(tmp_path / "f")
    output = Output(tmp_path)
    output.offset_ns = LATER_NS
    output.record()
    os.utime(file, ns=(0, 0))
    assert output.sweep() == Swept(looked_at=1)
    assert output.lookups == 1


def test_changed_modes_of_files_and_directories_are_found(tmp_path: Path) -> None:
    write(tmp_path / "d/f").chmod(0o644)
    (tmp_path / "d").chmod(0o755)
    output = Output(tmp_path)
    output.offset_ns = LATER_NS
    output.record()
    (tmp_path / "d/f").chmod(0o600)
    (tmp_path / "d").chmod(0o700)
    changed = {each.path: (each.what, each.expected, each.found) for each in output.sweep().changed}
    assert changed == {
        b"d": (DifferenceKind.MODE, "0755", "0700"),
        b"d/f": (DifferenceKind.MODE, "0644", "0600"),
    }


def test_what_is_gone_is_missing_with_all_below_it(tmp_path: Path) -> None:
    write(tmp_path / "d/e/f")
    write(tmp_path / "g")
    output = Output(tmp_path)
    output.record()
    (tmp_path / "d/e/f").unlink()
    (tmp_path / "d/e").rmdir()
    (tmp_path / "d").rmdir()
    (tmp_path / "g").unlink()
    for _ in range(2):
        assert sorted(output.sweep().missing) == [b"d", b"d/e", b"d/e/f", b"g"]


def test_a_directory_that_became_a_link_is_changed_and_what_was_below_it_missing(tmp_path: Path) -> None:
    write(tmp_path / "output/d/f")
    write(tmp_path / "outside/f", b"other")
    output = Output(tmp_path / "output")
    output.record()
    (tmp_path / "output/d/f").unlink()
    (tmp_path / "output/d").rmdir()
    (tmp_path / "output/d").symlink_to(tmp_path / "outside")
    swept = output.sweep()
    assert [(each.path, each.what) for each in swept.changed] == [(b"d", DifferenceKind.KIND)]
    assert swept.missing == (b"d/f",)
    assert swept.late == {}


def test_a_file_that_became_a_directory_is_changed_and_what_it_holds_late(tmp_path: Path) -> None:
    write(tmp_path / "d")
    output = Output(tmp_path)
    output.record()
    (tmp_path / "d").unlink()
    write(tmp_path / "d/f")
    swept = output.sweep()
    assert [(each.path, each.what) for each in swept.changed] == [(b"d", DifferenceKind.KIND)]
    assert list(swept.late) == [b"d/f"]


def test_special_files_are_problems_at_every_sweep(tmp_path: Path) -> None:
    output = Output(tmp_path)
    os.mkfifo(tmp_path / "p")
    for _ in range(2):
        swept = output.sweep()
        assert [(each.path, each.code) for each in swept.problems] == [(b"p", ProblemCode.SPECIAL)]


def test_excluded_paths_are_not_looked_into(tmp_path: Path) -> None:
    write(tmp_path / ".verdog/lock")
    write(tmp_path / "f")
    output = Output(tmp_path, exclude_verdog)
    assert sorted(output.sweep().late) == [b"f"]


def test_a_directory_that_cannot_be_listed_is_a_problem_not_missing() -> None:
    with unprivileged() as directory:
        write(directory / "d/f")
        output = Output(directory)
        output.record()
        (directory / "d").chmod(0)
        swept = output.sweep()
        assert swept.missing == ()
        assert [(each.path, each.code) for each in swept.problems] == [(b"d", ProblemCode.UNREADABLE)]
        assert [(each.path, each.what) for each in swept.changed] == [(b"d", DifferenceKind.MODE)]


def test_after_a_resume_verify_says_what_is_known(tmp_path: Path) -> None:
    write(tmp_path / "d/f")
    write(tmp_path / "g")
    output = Output(tmp_path)
    output.record()
    output.offset_ns = LATER_NS
    output.signatures = Signatures(clock=output.read_clock)
    verify_tree(output.writer, output.root, tmp_path, signatures=output.signatures)
    assert output.sweep() == Swept(looked_at=3)
    assert output.lookups == 0
    (tmp_path / "g").unlink()
    assert output.sweep().missing == (b"g",)


def test_without_signatures_everything_is_compared_with_what_is_recorded(tmp_path: Path) -> None:
    write(tmp_path / "d/f")
    write(tmp_path / "g", b"before")
    output = Output(tmp_path)
    output.record()
    output.signatures = Signatures(clock=output.read_clock)
    write(tmp_path / "g", b"after!")
    write(tmp_path / "h")
    swept = output.sweep()
    assert [each.path for each in swept.changed] == [b"g"]
    assert list(swept.late) == [b"h"]


_MANY = """
import os, sys
from pathlib import Path
from tests.memory import read_peak_bytes
from tests.objects.trees import build, capture_all, exclude_nothing
from verdog_objects import manifest
from verdog_objects.capture import capture_tree
from verdog_objects.memory import MemoryStore
from verdog_objects.signatures import Signatures
from verdog_objects.sweep import sweep

output = Path(sys.argv[1])
for index in range(100_000):
    directory = output if index % 2 else output / f"d{index // 20_000}/{index // 200 % 100}"
    if index % 200 == 0:
        directory.mkdir(parents=True)
    (directory / f"f{index}").write_bytes(b"%010d" % index)
writer, memory = MemoryStore([]).writer(), Signatures()
entries = capture_all(writer, output, memory).entries
root = build(writer, entries)
(output / "late").mkdir()
(output / "late/f").write_bytes(b"one more")
captured = capture_tree(writer, output, [b"late"], excluded=exclude_nothing, memory=memory)
assert sorted(captured.entries) == [b"late", b"late/f"]
root = manifest.update(writer, root, {manifest.path_key(p): e for p, e in captured.entries.items()})
lookup = lambda path: manifest.lookup(writer, root, manifest.path_key(path))
swept = sweep(writer, output, memory, lookup, excluded=exclude_nothing)
assert (len(swept.late), swept.changed, swept.missing) == (0, (), ()), swept
print(swept.looked_at, read_peak_bytes() // 2**20)
"""


@pytest.mark.slow
def test_a_hundred_thousand_files_fit_in_half_a_gigabyte(tmp_path: Path) -> None:
    environment = {"PYTHONPATH": os.pathsep.join(sys.path)}
    looked_at, peak_mib = run_script(_MANY, str(tmp_path), environment=environment).split()
    assert int(looked_at) > 100_000
    assert int(peak_mib) < 500
    remove_tree(tmp_path)
