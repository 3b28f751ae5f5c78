"""Cases 1, 2, 3, 6, 7 and 8 from the command line: what is listed, read and written is exact."""

import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.workflows import countdown
from tests.objects.trees import snapshot

NAMES = (
    b"\xfe",
    b"\xff",
    "größe".encode(),
    b"-Pals.pdf",
    b"--help",
    b"-",
    b"l1\nl2",
    b"t\tb",
    b"\x1b[31mred",
    b"a\\nb",
    b"HEAD",
    b"index.lock",
    b".gitignore",
    b".gitattributes",
)

BODY = f"""import os
at = os.fsencode(context.output_dir)
for name in {NAMES!r}:
    with open(os.path.join(at, name), "wb") as file:
        file.write(b"content of\\r\\n" + name)
for target, name in ((b"nope", b"dang"), (b"./f", b"rel"), (b"/etc/passwd", b"abs"), (b"loop", b"loop")):
    os.symlink(target, os.path.join(at, name))
os.makedirs(at + b"/n/e/s/t")
os.makedirs(at + b"/sub/.git")
open(at + b"/sub/.git/config", "wb").close()
os.symlink(b"..", at + b"/n/up")
for mode in (0o600, 0o664, 0o4755, 0o2755):
    open(at + b"/%o" % mode, "wb").close()
    os.chmod(at + b"/%o" % mode, mode)
os.mkdir(at + b"/sticky")
os.chmod(at + b"/sticky", 0o1777)
os.chmod(at + b"/sub", 0o555)"""

_PROGRAM = """
import io, json, sys
from verdog_cli.application import run_application

for line in sys.stdin:
    sys.stdout.flush()
    code = run_application(json.loads(line))
    sys.stdout.flush()
    sys.stdout.buffer.write(b"\\x00\\x00END %d\\n" % code)
    sys.stdout.buffer.flush()
"""

LOCALES = {
    "utf-8": {"LC_ALL": "C.UTF-8"},
    "C": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
}


class Commands:
    """A process that executes one command line after another, and what each of them printed."""

    def __init__(self, project: Path, locale: str) -> None:
        environment = {**os.environ, "NO_COLOR": "1", **LOCALES[locale]}
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM],
            cwd=project,
            env={**environment, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def __call__(self, *arguments: str) -> bytes:
        """Execute a command that must succeed, and return the bytes that it printed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(arguments).encode() + b"\n")
        self._process.stdin.flush()
        printed = b""
        while b"\0\0END " not in printed or not printed.endswith(b"\n"):
            line = self._process.stdout.readline()
            assert line, "the process ended"
            printed += line
        out, _, code = printed.rpartition(b"\0\0END ")
        assert int(code) == 0, (arguments, out)
        return out

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(60)
        assert self._process.stdout is not None
        self._process.stdout.close()


@pytest.fixture(params=LOCALES)
def verdog_in(project: Path, request: pytest.FixtureRequest) -> Iterator[Commands]:
    (project / "flow.py").write_text(countdown(BODY))
    commands = Commands(project, request.param)
    try:
        yield commands
    finally:
        commands.close()


def files_of(directory: Path) -> dict[bytes, tuple[int, bytes]]:
    found = snapshot(directory).items()
    return {
        path: each
        for path, each in found
        if not path.startswith((b".verdog", b"trace.log", b"config.md", b"stats.md"))
    }


def test_hard_names_and_files_are_exact_in_every_locale(verdog_in: Commands, project: Path) -> None:
    verdog_in("run", "flow.py", "--run-id", "first", "--output-dir", "out", "--", "--input.value", "0")
    whole = files_of(project / "out")
    recorded = {path for path in whole if not path.startswith(b"exit")}
    assert {b"work/000001/" + name for name in NAMES} < recorded

    lines = verdog_in("ls", "-R", "first").decode().splitlines()
    assert len(lines) == len(recorded)
    assert all(line.isprintable() for line in lines)
    assert {
        r"work/000001/\xfe",
        r"work/000001/\xff",
        r"work/000001/l1\nl2",
        r"work/000001/\x1b[31mred",
    } < set(lines)
    assert set(verdog_in("ls", "-R", "-z", "first").split(b"\0")) - {b""} == recorded
    listed = json.loads(verdog_in("ls", "-R", "--json", "first"))["entries"]
    assert {each["path"].encode("utf-8", "surrogateescape") for each in listed} == recorded
    for name in NAMES:
        path = name.decode("utf-8", "surrogateescape")
        assert verdog_in("cat", f"first:work/000001/{path}") == b"content of\r\n" + name

    verdog_in("checkout", "--preserve-special", "first", "exact")
    assert files_of(project / "exact").items() == {path: whole[path] for path in recorded}.items()
    verdog_in("checkout", "first", "plain")
    assert files_of(project / "plain") == {
        path: (mode if stat.S_ISLNK(mode) else mode & ~0o6000, content)
        for path, (mode, content) in whole.items()
        if path in recorded
    }
    verdog_in("fork", "first", "--sessions", "fresh", "--no-run", "--output-dir", "forked")
    assert files_of(project / "forked") == {path: whole[path] for path in recorded}

    (project / "out/work/000001" / os.fsdecode(b"\xff")).unlink()
    (project / "out/work/000001/4755").write_bytes(b"edited")
    assert verdog_in("restore", "first").decode().splitlines() == ["work/000001/4755", r"work/000001/\xff"]
    assert files_of(project / "out") == whole
    assert verdog_in("fsck", "--read-data").endswith(b" 0 findings\n")
