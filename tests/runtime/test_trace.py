import os
import re
from pathlib import Path

import pytest

from verdog_objects.errors import InvalidInput
from verdog_runtime.trace import TraceLog

LINE = re.compile(
    r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+ *\d+\.\d{3}s\] "
    r"(START \S+|END \S+ status=(succeeded|failed|cancelled) duration=\d+\.\d{6}s)\n"
)


def test_lines_have_the_documented_form(tmp_path: Path) -> None:
    clock = iter([100.0, 100.002, 101.5])
    log = TraceLog(tmp_path / "trace.log", wall=lambda: 1_796_000_000.9, monotonic=lambda: next(clock))
    log.start("enter/000001")
    log.end("enter/000001", "succeeded", 0.0000014)
    log.close()
    start, end = (tmp_path / "trace.log").read_text().splitlines()
    assert start.endswith(" +     0.002s] START enter/000001")
    assert end.endswith(" +     1.500s] END enter/000001 status=succeeded duration=0.000001s")


def test_every_line_matches_the_grammar(tmp_path: Path) -> None:
    with TraceLog(tmp_path / "trace.log") as log:
        log.start("call/000001/w/1000000")
        log.end("call/000001/w/1000000", "cancelled", 12345.25)
    lines = (tmp_path / "trace.log").read_text().splitlines(keepends=True)
    assert all(LINE.fullmatch(line) for line in lines)


def test_a_second_opening_appends(tmp_path: Path) -> None:
    for name in ("a/000001", "b/000001"):
        with TraceLog(tmp_path / "trace.log") as log:
            log.start(name)
    lines = (tmp_path / "trace.log").read_text().splitlines()
    assert [line.rpartition(" ")[2] for line in lines] == ["a/000001", "b/000001"]


def test_a_line_cut_short_is_ended_before_the_next(tmp_path: Path) -> None:
    (tmp_path / "trace.log").write_text("[2026-01-01 00:0")
    with TraceLog(tmp_path / "trace.log") as log:
        log.start("a/000001")
    first, second = (tmp_path / "trace.log").read_text().splitlines()
    assert first == "[2026-01-01 00:0"
    assert second.endswith("START a/000001")


def test_each_line_is_one_write_to_an_appending_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[bytes] = []
    real = os.write

    def spy(fd: int, data: bytes) -> int:
        written.append(data)
        return real(fd, data)

    with TraceLog(tmp_path / "trace.log") as log:
        monkeypatch.setattr(os, "write", spy)
        log.start("a/000001")
        log.end("a/000001", "failed", 0.5)
        monkeypatch.undo()
    assert len(written) == 2
    assert all(data.endswith(b"\n") for data in written)


def test_a_symbolic_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("kept")
    (tmp_path / "trace.log").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InvalidInput, match=re.escape("trace.log")):
        TraceLog(tmp_path / "trace.log")
    assert (tmp_path / "elsewhere").read_text() == "kept"


def test_a_closed_log_refuses_lines(tmp_path: Path) -> None:
    log = TraceLog(tmp_path / "trace.log")
    log.close()
    log.close()
    with pytest.raises(ValueError, match="closed"):
        log.start("a/000001")


def test_a_child_process_can_share_the_zero_of_the_clock(tmp_path: Path) -> None:
    with TraceLog(tmp_path / "trace.log", monotonic=lambda: 50.0) as log:
        origin = log.origin_s
    with TraceLog(tmp_path / "trace.log", origin_s=origin, monotonic=lambda: 52.0) as log:
        log.start("a/000001")
    assert "+     2.000s]" in (tmp_path / "trace.log").read_text()
