"""Case 14 from the command line: rows whose compressed bytes are not what they claim."""

import json
import tracemalloc
from pathlib import Path

import apsw
import pytest
import zstandard

from tests.cli.workflows import countdown
from tests.commandline import Verdog

TEXT = "a line of a log, much like the others\n" * 60
FRAME = zstandard.ZstdCompressor(level=1).compress(TEXT.encode())


def make_bomb() -> bytes:
    compressor = zstandard.ZstdCompressor().compressobj()
    zeros = bytes(1 << 20)
    return b"".join([*(compressor.compress(zeros) for _ in range(256)), compressor.flush()])


FRAMES = {
    "claims exabytes": lambda: bytes.fromhex("28b52ffde06c06060663636363"),
    "lacks its last byte": lambda: FRAME[:-1],
    "two frames": lambda: FRAME + FRAME,
    "holds 256 MiB": make_bomb,
    "is empty": lambda: b"",
    "is no frame": lambda: b"no frame at all",
}


@pytest.fixture
def recorded(verdog: Verdog, project: Path) -> Path:
    (project / "flow.py").write_text(countdown(f'(context.output_dir / "log").write_text({TEXT!r})'))
    assert verdog("run", "flow.py", "--run-id", "first", "--", "--input.value", "0").code == 0
    return project


@pytest.mark.parametrize("name", FRAMES)
def test_a_hostile_frame_is_refused_by_name_and_takes_no_memory(
    verdog: Verdog, recorded: Path, name: str
) -> None:
    listed = json.loads(verdog("ls", "-R", "--json", "first").out)["entries"]
    (oid,) = [each["oid"] for each in listed if each["path"].endswith("/log")]
    frame = FRAMES[name]()
    connection = apsw.Connection(str(recorded / ".verdog/store/store.db"))
    connection.execute("UPDATE objects SET data = ? WHERE oid = ?", (frame, bytes.fromhex(oid)))
    assert connection.changes() == 1
    connection.close()
    tracemalloc.start()
    try:
        for command in (["cat", "first:work/000001/log"], ["checkout", "first", "copy"]):
            result = verdog(*command)
            assert result.code == 4
            assert result.err.startswith(f"error: work/000001/log: object {oid}")
        checked = verdog("fsck", "--read-data", "--json")
        assert tracemalloc.get_traced_memory()[1] < 32 << 20
    finally:
        tracemalloc.stop()
    assert checked.code == 1
    (finding,) = json.loads(checked.out)["findings"]
    assert (finding["oid"], finding["run"], finding["paths"]) == (oid, "first", ["work/000001/log"])
    assert not (recorded / "copy").exists()
