"""Files of visits: whatever a node writes is recorded, and a fork writes exactly that again.

Names are bytes here, which pathlib does not take.
"""
# ruff: noqa: PTH101, PTH102, PTH103, PTH106, PTH120, PTH123, PTH211

import os
import shutil
import stat
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.graphs import Count, line_graph, loop_graph, workflow
from tests.runtime.recorded import artifacts_of, fork, last, read_tree, resume, run, summaries
from verdog_runtime.declarations import Success

PLACE = b"work/000001/"
NOBODY = 65534


def write(path: bytes, content: bytes = b"x", mode: int = 0o644) -> None:
    with open(path, "wb") as file:
        file.write(content)
    os.chmod(path, mode)


def reproduced(project: Path, action: Callable[[bytes], None]) -> dict[bytes, tuple[Any, ...]]:
    """Let a visit do something, fork from behind it, and return what both directories held."""

    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        if state.n == 0:
            action(os.fsencode(context.output_dir))
        return Success(output=value, state=Count(n=state.n + 1))

    definition = workflow(loop_graph(work))
    run(project, definition, 1)
    assert all(each.restore_available for each in summaries(project / "out"))
    trees = [read_tree(project / "out")]
    shutil.rmtree(project / "out", onerror=_force)
    fork(project, definition, 3)
    trees.append(read_tree(project / "forked"))
    assert all(each.restore_available for each in summaries(project / "forked"))
    below = [{path: each for path, each in tree.items() if path.startswith(PLACE)} for tree in trees]
    assert below[0] == below[1]
    recorded = artifacts_of(project, 1, "forked")
    for path, (mode, content) in below[0].items():
        assert stat.S_ISLNK(mode) or recorded[path].mode == stat.S_IMODE(mode)
        assert stat.S_ISDIR(mode) or recorded[path].size == len(content)
    return {path.removeprefix(PLACE): each for path, each in below[0].items()}


def _force(function: Any, path: Any, error: Any) -> None:
    os.chmod(os.path.dirname(path), 0o700)
    os.chmod(path, 0o700)
    function(path)


def test_names_that_are_no_unicode(project: Path) -> None:
    def action(at: bytes) -> None:
        for name in (b"\xfe", b"\xff", b"caf\xe9", "caf\u00e9".encode()):
            write(at + b"/" + name, name)

    tree = reproduced(project, action)
    assert {name: content for name, (_, content) in tree.items()} == {
        name: name for name in (b"\xfe", b"\xff", b"caf\xe9", "caf\u00e9".encode())
    }


def test_names_that_look_like_something_else(project: Path) -> None:
    names = [
        b"-Pals.pdf",
        b"--help",
        b"-",
        b"l1\nl2",
        b"t\tb",
        b"*",
        b"a b",
        b"'",
        b"\\",
        b"\x1b[31m",
        b"x" * 255,
    ]

    def action(at: bytes) -> None:
        for name in names:
            write(at + b"/" + name, name)

    assert sorted(reproduced(project, action)) == sorted(names)


def test_links_are_stored_as_links_and_never_followed(project: Path) -> None:
    links = {
        b"dang": b"nope",
        b"rel": b"./f",
        b"abs": b"/etc/passwd",
        b"loop": b"loop",
        b"up": b"../..",
        b"odd": b"\xff\n",
    }

    def action(at: bytes) -> None:
        write(at + b"/f")
        for name, target in links.items():
            os.symlink(target, at + b"/" + name)
        os.mkdir(at + b"/s")
        os.symlink(b"..", at + b"/s/up")

    tree = reproduced(project, action)
    assert {name: tree[name][1] for name in links} == links
    assert all(stat.S_ISLNK(tree[name][0]) for name in links)
    assert tree[b"s/up"][1] == b".."
    assert not any(name.startswith(b"s/up/") for name in tree)


def test_empty_directories_and_empty_files(project: Path) -> None:
    def action(at: bytes) -> None:
        os.makedirs(at + b"/n/e/s/t")
        os.mkdir(at + b"/empty")
        write(at + b"/zero", b"")

    tree = reproduced(project, action)
    assert sorted(tree) == [b"empty", b"n", b"n/e", b"n/e/s", b"n/e/s/t", b"zero"]
    assert tree[b"zero"][1] == b""


def test_every_mode(project: Path) -> None:
    files = (
        [0o000, 0o600, 0o664, 0o4755, 0o2755, 0o111] if os.geteuid() == 0 else [0o600, 0o664, 0o4755, 0o2755]
    )

    def action(at: bytes) -> None:
        for mode in files:
            write(at + b"/f%o" % mode, b"x", mode)
        os.mkdir(at + b"/ro")
        write(at + b"/ro/f", b"x", 0o444)
        os.chmod(at + b"/ro", 0o555)
        os.mkdir(at + b"/sticky")
        os.chmod(at + b"/sticky", 0o1777)

    tree = reproduced(project, action)
    assert {name: stat.S_IMODE(mode) for name, (mode, _) in tree.items()} == {
        **{b"f%o" % mode: mode for mode in files},
        b"ro": 0o555,
        b"ro/f": 0o444,
        b"sticky": 0o1777,
    }


def test_output_that_looks_like_a_repository(project: Path) -> None:
    files = {
        b".gitignore": b"*.pt\n",
        b"m.pt": b"model",
        b".gitattributes": b"* text=auto\n",
        b"crlf.txt": b"a\r\nb\r\n",
        b"HEAD": b"ref: x",
        b"index.lock": b"",
        b"sub/.git/config": b"[core]\n",
        b"sub/.git/HEAD": b"ref: refs/heads/main\n",
    }

    def action(at: bytes) -> None:
        os.makedirs(at + b"/sub/.git")
        for name, content in files.items():
            write(at + b"/" + name, content)

    tree = reproduced(project, action)
    assert {name: each[1] for name, each in tree.items() if stat.S_ISREG(each[0])} == files


def test_large_and_sparse_files_and_hard_links(project: Path) -> None:
    large = bytes(range(256)) * 1200

    def action(at: bytes) -> None:
        write(at + b"/large", large)
        os.link(at + b"/large", at + b"/linked")
        with open(at + b"/sparse", "wb") as file:
            file.truncate(200_000)

    tree = reproduced(project, action)
    assert tree[b"large"][1] == tree[b"linked"][1] == large
    assert tree[b"sparse"][1] == bytes(200_000)


def test_a_visit_that_writes_nothing_keeps_its_directory(project: Path) -> None:
    assert reproduced(project, lambda at: None) == {}
    assert stat.S_ISDIR(read_tree(project / "forked")[b"work/000001"][0])


def test_a_visit_that_removes_its_own_directory_goes_on(project: Path) -> None:
    tree = reproduced(project, os.rmdir)
    assert tree == {}
    assert b"work/000001" not in read_tree(project / "forked")


def test_a_visit_that_replaces_its_directory_by_a_file(project: Path) -> None:
    def action(at: bytes) -> None:
        os.rmdir(at)
        write(at, b"instead")

    reproduced(project, action)
    assert read_tree(project / "forked")[b"work/000001"][1] == b"instead"


def test_files_are_exact_after_the_directory_was_written_anew_by_resume(project: Path) -> None:
    fails = [True]

    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        if state.n == 0:
            write(os.fsencode(context.output_dir) + b"/\xff", b"x", 0o4711)
            os.symlink(b"\xfe", os.fsencode(context.output_dir) + b"/l")
        elif fails:
            fails.clear()
            raise ValueError("boom")
        return Success(output=value, state=Count(n=state.n + 1))

    definition = workflow(loop_graph(work))
    with pytest.raises(ValueError, match="boom"):
        run(project, definition, 1)
    before = read_tree(project / "out")
    shutil.rmtree(project / "out")
    resume(project, definition)
    after = read_tree(project / "out")
    assert {path: after[path] for path in (PLACE + b"\xff", PLACE + b"l")} == {
        path: before[path] for path in (PLACE + b"\xff", PLACE + b"l")
    }


@pytest.mark.root
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_file_that_its_user_cannot_read_is_named() -> None:
    def work(value: Any, state: Count, context: Any, /) -> Success[Any, Count]:
        (context.output_dir / "secret").touch(mode=0)
        return Success(output=value, state=state)

    definition = workflow(line_graph(work))
    with tempfile.TemporaryDirectory() as place:
        project = Path(place)
        run(project, definition, 1, output="before")  # as root, who can read everything
        assert last(project / "before").restore_available
        for directory, directories, files in os.walk(project):
            for name in (".", *directories, *files):
                os.chown(Path(directory, name), NOBODY, NOBODY, follow_symlinks=False)
        child = os.fork()
        if child == 0:
            try:
                os.setgid(NOBODY)
                os.setuid(NOBODY)
                run(project, definition, 1)
                os._exit(0)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert last(project / "out").unavailable_code == "checkpoint.artifact_capture_failed"
        assert "work/000001/secret cannot be read" in (last(project / "out").unavailable_reason or "")
