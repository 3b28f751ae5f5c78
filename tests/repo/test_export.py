"""An export is a Git repository that `git` itself finds sound, with everything that the store has."""

import hashlib
import json
import os
import random
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.repo.samples import Script, header, memory_repository, operation
from tests.repo.test_gitobjects import git
from verdog_objects import manifest
from verdog_objects.errors import Busy, Corrupt, FormatUnsupported, InvalidInput, Unavailable
from verdog_objects.locking import acquire
from verdog_objects.manifest import EMPTY_OID
from verdog_objects.nodes import Entry, EntryKind
from verdog_objects.oid import Kind, Oid
from verdog_objects.store import PutRow, Writer
from verdog_repo import gitpack
from verdog_repo.checkpoint import Checkpoint
from verdog_repo.export import Exported, export
from verdog_repo.exportwriter import ATTRIBUTES, EMPTY, REFUSED
from verdog_repo.names import LabelName, RunId, TagName
from verdog_repo.refs import name_run_ref, point_at
from verdog_repo.repository import Repository
from verdog_repo.tables import CHECKPOINTS

Content = tuple[EntryKind, int, bytes]
"""A kind, a mode, and the bytes of a file or the target of a link."""


class FileScript(Script):
    """Its checkpoints have exactly the files that it was given; None is files that were not recorded."""

    files: Mapping[bytes, Content] | None = {}

    def artifacts(self, writer: Writer, run: str, number: int) -> Oid | None:  # type: ignore[override]
        if self.files is None:
            return None
        items = [(manifest.path_key(path), self.entry(writer, each)) for path, each in self.files.items()]
        return manifest.build(writer, sorted(items))

    def entry(self, writer: Writer, content: Content) -> Entry:
        from verdog_objects.chunking import INLINE_LIMIT, Chunker, encode_chunks

        kind, mode, data = content
        if kind is EntryKind.DIRECTORY:
            return Entry(kind, mode, 0, EMPTY_OID)
        if len(data) <= INLINE_LIMIT:
            return Entry(kind, mode, len(data), writer.put(Kind.BLOB, data))
        chunker = Chunker()
        chunks = [*chunker.feed(data), *chunker.finish()]
        listed = encode_chunks([(writer.put(Kind.CHUNK, bytes(each)), len(each)) for each in chunks])
        return Entry(kind, mode, len(data), writer.put(Kind.CHUNKS, listed))

    def add(self, run: str, files: Mapping[bytes, Content] | None) -> Checkpoint:
        self.files = files
        if files is None:
            return self.commit(run, restorable=False, unavailable_code="checkpoint.capture_failed")
        return self.commit(run)


def file(data: bytes, mode: int = 0o644) -> Content:
    return EntryKind.FILE, mode, data


def link(target: bytes) -> Content:
    return EntryKind.SYMLINK, 0o777, target


DIRECTORY: Content = (EntryKind.DIRECTORY, 0o755, b"")


@pytest.fixture
def files(tmp_path: Path) -> Iterator[FileScript]:
    script = FileScript(memory_repository(tmp_path))
    script.run("run")
    yield script
    script.close()


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "export.git"


def sound(target: Path) -> None:
    git(target, "fsck", "--strict", "--full", "--no-dangling")


def names(target: Path) -> dict[str, str]:
    lines = git(target, "for-each-ref", "--format=%(refname) %(objectname)").decode().splitlines()
    return dict(line.split() for line in lines)


def count_objects(target: Path) -> int:
    return len(git(target, "cat-file", "--batch-all-objects", "--batch-check").splitlines())


def tree(target: Path, revision: str) -> dict[bytes, tuple[bytes, bytes]]:
    """Return mode and content of each file of a commit."""
    lines = [line.partition(b"\t") for line in git(target, "ls-tree", "-r", "-z", revision).split(b"\0")[:-1]]
    ids = [head.split(b" ")[2] for head, _, _ in lines]
    out = git(target, "cat-file", "--batch", data=b"\n".join([*ids, b""]))
    found: dict[bytes, tuple[bytes, bytes]] = {}
    for head, _, path in lines:
        first, _, out = out.partition(b"\n")
        size_bytes = int(first.rpartition(b" ")[2])
        found[path] = head[:6], out[:size_bytes]
        out = out[size_bytes + 1 :]
    return found


def history(target: Path, revision: str) -> list[str]:
    return git(target, "rev-list", "--first-parent", revision).decode().split()


def test_the_commits_are_those_of_the_log(script: Script, target: Path) -> None:
    script.run("run")
    commits = script.commits("run", 5)
    forked = script.fork(commits[2], "fork")
    done = export(script.repository, target)
    assert done == Exported(
        commits=6,
        objects=18,
        size_bytes=done.size_bytes,
        branches=2,
        tags=0,
        labels=0,
        left_out={},
        unrecorded=0,
    )
    sound(target)
    assert history(target, "run") == [each.commit.hex() for each in reversed(commits)]
    assert history(target, "fork") == [each.commit.hex() for each in (forked, *reversed(commits[:3]))]
    shown = git(target, "show", f"{commits[4].commit.hex()}:checkpoint.json")
    assert shown == script.repository.store.get(Kind.RECORD, commits[4].record)
    drawn = git(target, "log", "--graph", "--all", "--format=%h").decode()
    assert "|/" in drawn and drawn.count("*") == 6


def test_git_clones_it(script: Script, target: Path, tmp_path: Path) -> None:
    script.run("run")
    tip = script.commits("run", 2)[-1]
    export(script.repository, target)
    git(tmp_path, "clone", "-q", str(target), "clone")
    assert json.loads((tmp_path / "clone" / "checkpoint.json").read_bytes())["sequence"] == 2
    assert git(tmp_path / "clone", "rev-parse", "HEAD").decode().strip() == tip.commit.hex()
    assert git(tmp_path / "clone", "status", "--porcelain") == b""


@pytest.mark.parametrize("with_files", [False, True])
def test_only_what_is_new_is_written(script: Script, target: Path, with_files: bool) -> None:
    script.run("run")
    commits = script.commits("run", 3)
    export(script.repository, target, files=with_files)
    before = {path: path.read_bytes() for path in target.rglob("*") if path.is_file()}
    assert export(script.repository, target, files=with_files).commits == 0
    assert {path: path.read_bytes() for path in target.rglob("*") if path.is_file()} == before
    script.commits("run", 2)
    script.fork(commits[0], "fork")
    again = export(script.repository, target, files=with_files)
    assert again.commits == 3
    assert again.objects == (7 if with_files else 9)  # the fork's files are those of its parent
    sound(target)
    assert count_objects(target) == (16 if with_files else 18)
    assert len(history(target, "run")) == 5 and len(history(target, "fork")) == 2


@pytest.mark.parametrize("with_files", [False, True])
def test_many_small_exports_give_what_one_gives(script: Script, tmp_path: Path, with_files: bool) -> None:
    script.run("run")
    for number in range(4):
        tip = script.commit("run")
        script.fork(tip, f"fork{number}")
        script.commit(f"fork{number}")
        export(script.repository, tmp_path / "small.git", files=with_files)
    export(script.repository, tmp_path / "whole.git", files=with_files)
    assert names(tmp_path / "small.git") == names(tmp_path / "whole.git")
    assert count_objects(tmp_path / "small.git") == count_objects(tmp_path / "whole.git")
    sound(tmp_path / "small.git")


def test_tags_and_labels_are_names(script: Script, target: Path) -> None:
    script.run("run")
    first, second = script.commits("run", 2)
    script.run("empty")
    marks = script.repository.marks
    marks.add_tag(TagName("first"), first.commit, operation=operation())
    marks.add_label(LabelName("baseline"), RunId("run"), operation=operation())
    marks.add_label(LabelName("nothing"), RunId("empty"), operation=operation())
    done = export(script.repository, target)
    assert (done.branches, done.tags, done.labels) == (1, 1, 1)
    sound(target)
    assert names(target) == {
        "refs/heads/run": second.commit.hex(),
        "refs/heads/baseline": second.commit.hex(),
        "refs/tags/first": first.commit.hex(),
    }
    assert git(target, "symbolic-ref", "refs/heads/baseline").decode().strip() == "refs/heads/run"
    marks.remove_tag(TagName("first"), operation=operation())
    marks.remove_label(LabelName("baseline"), operation=operation())
    marks.add_tag(TagName("baseline"), second.commit, operation=operation())
    export(script.repository, target)
    assert names(target).keys() == {"refs/heads/run", "refs/tags/baseline"}


@pytest.mark.parametrize("with_files", [False, True])
def test_names_and_settings_of_others_are_kept(script: Script, target: Path, with_files: bool) -> None:
    script.run("run")
    first = script.commit("run")
    export(script.repository, target, files=with_files)
    mine = names(target)["refs/heads/run"]
    git(target, "branch", "mine", "run")
    git(target, "tag", "-a", "-m", "a tag", "annotated", mine)
    git(target, "config", "core.logAllRefUpdates", "true")
    git(target, "symbolic-ref", "HEAD", "refs/heads/mine")
    script.fork(first, "fork")
    script.commit("run")
    export(script.repository, target, files=with_files)
    git(target, "pack-refs", "--all")
    script.commit("run")
    export(script.repository, target, files=with_files)
    sound(target)
    assert names(target)["refs/heads/mine"] == mine
    assert git(target, "rev-parse", "annotated^{commit}").decode().strip() == mine
    assert git(target, "symbolic-ref", "HEAD").decode().strip() == "refs/heads/mine"
    assert len(history(target, "run")) == 3


@pytest.mark.parametrize("with_files", [False, True])
def test_a_branch_that_git_moved_is_moved_back(script: Script, target: Path, with_files: bool) -> None:
    script.run("run")
    script.commits("run", 3)
    export(script.repository, target, files=with_files)
    right = names(target)
    git(target, "update-ref", "refs/heads/run", "refs/heads/run~2")
    export(script.repository, target, files=with_files)
    assert names(target) == right
    git(target, "update-ref", "-d", "refs/heads/run")
    assert export(script.repository, target, files=with_files).objects == 0
    assert names(target) == right
    sound(target)


@pytest.mark.parametrize("with_files", [False, True])
def test_it_can_be_packed_and_pruned_by_git(script: Script, target: Path, with_files: bool) -> None:
    script.run("run")
    first, *_ = script.commits("run", 20)
    export(script.repository, target, files=with_files)
    git(target, "gc", "-q", "--prune=now")
    script.commits("run", 2)
    script.fork(first, "fork")
    assert export(script.repository, target, files=with_files).commits == 3
    sound(target)
    assert len(history(target, "run")) == 22 and len(history(target, "fork")) == 2


def test_objects_that_git_unpacked_are_read_and_checked(script: Script, target: Path) -> None:
    script.run("run")
    script.commits("run", 3)
    export(script.repository, target, files=True)
    (pack,) = (target / "objects" / "pack").glob("*.pack")
    data = pack.read_bytes()
    pack.unlink()
    pack.with_suffix(".idx").unlink()
    git(target, "unpack-objects", "-q", data=data)
    script.commit("run")
    export(script.repository, target, files=True)
    sound(target)
    assert len(history(target, "run")) == 4
    name = git(target, "rev-parse", "run~1").decode().strip()
    git(target, "update-ref", "refs/heads/run", name)
    loose = target / "objects" / name[:2] / name[2:]
    whole = loose.read_bytes()
    loose.chmod(0o600)
    for damaged in (whole[:-20], b"", whole[:40] + b"x" + whole[41:], zlib.compress(b"commit 1\0x")):
        loose.write_bytes(damaged)
        with pytest.raises(Corrupt, match=name):
            export(script.repository, target, files=True)


@pytest.mark.parametrize("with_files", [False, True])
def test_a_run_whose_ref_went_back_goes_back(tmp_path: Path, target: Path, with_files: bool) -> None:
    script = Script(memory_repository(tmp_path))
    script.run("run")
    first, second, third = script.commits("run", 3)
    export(script.repository, target, files=with_files)
    store, number = script.repository.store, script.repository.catalog.runs.number(RunId("run"))
    script.release("run")
    store.apply(writes=[point_at(name_run_ref(RunId("run")), number, first).write])
    other = script.commit("run", node="other")
    assert other.sequence == second.sequence
    export(script.repository, target, files=with_files)
    sound(target)
    subjects = git(target, "log", "--format=%s", "run").decode().splitlines()
    assert subjects == ["other/2 -> work", "work/1 -> work"]
    script.fork(third, "fork")  # of a checkpoint that only the fork still needs
    export(script.repository, target, files=with_files)
    assert len(history(target, "fork")) == 4
    sound(target)
    script.close()


def test_nothing_to_export_is_an_empty_repository(script: Script, target: Path, tmp_path: Path) -> None:
    script.run("run")
    done = export(script.repository, target)
    assert (done.commits, done.branches) == (0, 0)
    sound(target)
    script.commit("run")
    export(script.repository, target)
    assert git(target, "symbolic-ref", "HEAD").decode().strip() == "refs/heads/run"


def test_the_project_is_not_touched(tmp_path: Path, target: Path) -> None:
    with Repository.create(tmp_path / "project") as repository:
        script = Script(repository)
        script.run("run")
        script.commits("run", 3)
        script.close()

    def digest() -> dict[str, str]:
        found = [path for path in (tmp_path / "project").rglob("*") if path.is_file()]
        return {
            str(path): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in found
            if not path.name.endswith(("-shm", "-wal"))
        }

    before = digest()
    with Repository.open(tmp_path / "project", read_only=True) as repository:
        export(repository, target, files=True)
    assert digest() == before


# What is refused


def test_a_directory_of_something_else_is_refused(script: Script, target: Path) -> None:
    script.run("run")
    script.commit("run")
    target.mkdir()
    (target / "thesis.txt").write_text("years of work")
    with pytest.raises(InvalidInput, match=r"thesis\.txt"):
        export(script.repository, target)
    assert [each.name for each in target.iterdir()] == ["thesis.txt"]
    (target / "thesis.txt").unlink()
    git(target, "init", "-q", "--bare", ".")
    with pytest.raises(InvalidInput, match="neither empty nor an export"):
        export(script.repository, target)
    (target.parent / "file").touch()
    with pytest.raises(InvalidInput, match="not a directory"):
        export(script.repository, target.parent / "file")
    with pytest.raises(Unavailable):
        export(script.repository, target.parent / "file" / "below")


def test_an_export_of_another_kind_or_project_is_refused(tmp_path: Path, target: Path) -> None:
    for project in ("one", "two"):
        with Repository.create(tmp_path / project) as repository:
            repository.create_run(header("run"), operation=operation())
    with Repository.open(tmp_path / "one") as repository:
        export(repository, target)
        with pytest.raises(InvalidInput, match="without files"):
            export(repository, target, files=True)
        with pytest.raises(InvalidInput, match="inside the store"):
            export(repository, tmp_path / "one" / ".verdog" / "store" / "x")
    with (
        Repository.open(tmp_path / "two") as repository,
        pytest.raises(InvalidInput, match="another project"),
    ):
        export(repository, target)


def test_two_exports_do_not_mix(script: Script, target: Path) -> None:
    export(script.repository, target)
    with acquire(target / "verdog.lock"), pytest.raises(Busy):
        export(script.repository, target)
    (target / "packed-refs.lock").touch()
    script.run("run")
    script.commit("run")
    with pytest.raises(Busy, match=r"packed-refs\.lock"):
        export(script.repository, target)
    (target / "packed-refs.lock").unlink()
    assert export(script.repository, target).commits == 0  # its objects were there, the name was not
    assert names(target).keys() == {"refs/heads/run"}


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", Corrupt),
        ("[]", Corrupt),
        ("[" * 100_000, Corrupt),
        ('{"format": 1}', Corrupt),
        ('{"format": 1, "store": "", "files": 0, "names": []}', Corrupt),
        ('{"format": 2}', FormatUnsupported),
    ],
)
def test_a_marker_that_no_export_wrote_is_refused(
    script: Script, target: Path, text: str, error: type[Exception]
) -> None:
    target.mkdir()
    (target / "verdog.json").write_text(text)
    with pytest.raises(error):
        export(script.repository, target)


def test_a_reftable_is_refused(script: Script, target: Path) -> None:
    export(script.repository, target)
    (target / "reftable").mkdir()
    with pytest.raises(InvalidInput, match="reftable"):
        export(script.repository, target)


def test_a_damaged_record_is_an_error_and_what_came_before_is_sound(tmp_path: Path, target: Path) -> None:
    script = Script(memory_repository(tmp_path))
    script.run("run")
    commits = script.commits("run", 3)
    export(script.repository, target)
    script.commits("run", 2)
    bad = script.repository.checkpoint_at(RunId("run"), 4)
    script.repository.store.delete_many([bad.record])
    with pytest.raises(Corrupt, match="the record of checkpoint 4 is missing"):
        export(script.repository, target)
    sound(target)
    assert history(target, "run")[0] == commits[2].commit.hex()


def test_a_record_of_another_checkpoint_is_an_error(tmp_path: Path, target: Path) -> None:
    from dataclasses import replace

    from verdog_repo.checkpoint import encode_row

    script = Script(memory_repository(tmp_path))
    script.run("run")
    script.commits("run", 3)
    bad = script.repository.checkpoint_at(RunId("run"), 2)
    number = script.repository.catalog.runs.number(RunId("run"))
    script.repository.store.apply(
        writes=[PutRow(table=CHECKPOINTS, row=encode_row(replace(bad, files_added=9), number))]
    )
    with pytest.raises(Corrupt, match="not what its record says"):
        export(script.repository, target)


# Files


def test_names_modes_and_links_are_kept(files: FileScript, target: Path, tmp_path: Path) -> None:
    wanted = {
        b"plain": file(b"text\r\n"),
        b"tool": file(b"#!/bin/sh\n", 0o4755),
        b"others": file(b"only others may execute", 0o645),
        b"link": link(b"plain"),
        b"dir": DIRECTORY,
        b"dir/\xff\xfe": file(b"bytes"),
        b"dir/new\nline": file(b""),
        b"dir/ ": file(b"space"),
        b"dir.txt": file(b"sorts before dir/"),
        b".gitignore": file(b"*\n"),
        b".gitattributes": file(b"* -text\n"),
        b"checkpoint.json": file(b"not ours"),
        b"dangling": link(b"../../nowhere"),
    }
    tip = files.add("run", wanted)
    done = export(files.repository, target, files=True)
    assert done.left_out == {}
    sound(target)
    expected = {
        path: (
            b"120000" if kind is EntryKind.SYMLINK else b"100755" if mode & 0o100 else b"100644",
            data,
        )
        for path, (kind, mode, data) in wanted.items()
        if kind is not EntryKind.DIRECTORY
    }
    assert tree(target, "run") == expected
    message = git(target, "log", "-1", "--format=%(trailers:key=Commit,valueonly)", "run").decode().strip()
    assert message == tip.commit.hex()
    git(tmp_path, "clone", "-q", str(target), "clone")
    assert (tmp_path / "clone" / os.fsdecode(b"dir/\xff\xfe")).read_bytes() == b"bytes"
    assert git(tmp_path / "clone", "status", "--porcelain") == b""


def test_what_git_cannot_hold_is_left_out_and_named(files: FileScript, target: Path) -> None:
    files.add(
        "run",
        {
            b"repo": DIRECTORY,
            b"repo/.git": DIRECTORY,
            b"repo/.git/config": file(b"x"),
            b"repo/.git/hooks": DIRECTORY,
            b"repo/.GIT": file(b"x"),
            b"repo/.gitmodules": file(b"x"),
            b"repo/kept": file(b"x"),
            b"empty": DIRECTORY,
            b"full": DIRECTORY,
            b"full/.gitattributes": file(b"x" * 3_000),
            b"large": DIRECTORY,
            b"large/.gitattributes": file(b"x\n" * 50_000),
        },
    )
    done = export(files.repository, target, files=True)
    assert done.left_out == {
        b"repo/.git": REFUSED,
        b"repo/.GIT": REFUSED,
        b"repo/.gitmodules": REFUSED,
        b"empty": EMPTY,
        b"full": EMPTY,
        b"full/.gitattributes": ATTRIBUTES,
        b"large": EMPTY,
        b"large/.gitattributes": ATTRIBUTES,
    }
    sound(target)
    assert tree(target, "run").keys() == {b"repo/kept"}
    files.add("run", {b"empty": DIRECTORY, b"empty/x": file(b"x"), b"repo": file(b"x")})
    assert export(files.repository, target, files=True).left_out == {}
    assert tree(target, "run").keys() == {b"empty/x", b"repo"}


def test_large_files_are_streamed_and_written_once(files: FileScript, target: Path) -> None:
    large = random.Random(1).randbytes(900_000)
    zeros = bytes(2_000_000)
    files.add("run", {b"a": file(large), b"b": file(large), b"zeros": file(zeros)})
    first = export(files.repository, target, files=True)
    assert first.objects == 4 and first.size_bytes < 1_000_000
    files.add("run", {b"a": file(large[:500_000]), b"moved": file(large), b"zeros": file(zeros)})
    second = export(files.repository, target, files=True)
    assert second.objects == 3 and second.size_bytes < 600_000
    sound(target)
    assert tree(target, "run") == {
        b"a": (b"100644", large[:500_000]),
        b"moved": (b"100644", large),
        b"zeros": (b"100644", zeros),
    }


def test_files_that_were_not_recorded_stay_those_of_the_parent(files: FileScript, target: Path) -> None:
    files.add("run", None)
    files.add("run", {b"a": file(b"1")})
    files.add("run", None)
    done = export(files.repository, target, files=True)
    assert done.unrecorded == 2
    assert [tree(target, f"run~{back}").keys() for back in (2, 1, 0)] == [set(), {b"a"}, {b"a"}]
    files.add("run", {b"b": file(b"2")})
    export(files.repository, target, files=True)
    assert tree(target, "run").keys() == {b"b"}
    sound(target)


def test_a_large_directory_is_written_as_what_changed(files: FileScript, target: Path) -> None:
    wanted: dict[bytes, Content] = {}
    for number in range(60):
        wanted |= {b"d": DIRECTORY} | {
            b"d/%04d-%d" % (number * 7919 % 1000, each): file(b"") for each in range(9)
        }
        files.add("run", wanted)
    done = export(files.repository, target, files=True)
    sound(target)
    assert tree(target, "run").keys() == wanted.keys() - {b"d"}
    assert tree(target, "run~30").keys() == {*[*wanted][: 30 * 9 + 1]} - {b"d"}
    assert done.size_bytes < 50_000  # the trees together are ten times as long


def test_packs_are_published_on_the_way_and_the_names_with_them(
    files: FileScript, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gitpack, "_FULL_BYTES", 30_000)
    noise = random.Random(1)
    wanted: dict[bytes, Content] = {}
    for number in range(12):
        wanted[b"%d" % number] = file(noise.randbytes(9_000))
        wanted[b"large%d" % number] = file(noise.randbytes(100_000))
        files.add("run", wanted)

    class Stopped(Exception):
        pass

    def stop(done: int, total: int) -> None:
        if done == 7:
            raise Stopped

    with pytest.raises(Stopped):
        export(files.repository, target, files=True, progress=stop)
    sound(target)
    assert len(history(target, "run")) == 6
    done = export(files.repository, target, files=True)
    assert done.commits == 6
    sound(target)
    assert {path: data for path, (_, data) in tree(target, "run").items()} == {
        path: data for path, (_, _, data) in wanted.items()
    }


@pytest.mark.parametrize("missing", [b"small", b"large"])
def test_missing_content_is_an_error_that_names_the_file(
    files: FileScript, target: Path, missing: bytes
) -> None:
    files.add("run", {b"small": file(b"x"), b"large": file(random.Random(1).randbytes(300_000))})
    files.add("run", {b"small": file(b"y" * 50), b"large": file(random.Random(2).randbytes(300_000))})
    store = files.repository.store
    root = files.repository.record(files.repository.checkpoint_at(RunId("run"), 2)).artifacts
    assert root is not None
    entry = manifest.lookup(store, root, missing)
    assert entry is not None
    store.delete_many([entry.oid])
    with pytest.raises(Corrupt, match=missing.decode()):
        export(files.repository, target, files=True)
    sound(target)
    assert [each.name for each in (target / "objects" / "pack").iterdir()] == []


_PATHS = st.lists(st.sampled_from([b"a", b"b", b"a.b", b"a-b", b"\xff", b"a0"]), min_size=1, max_size=4).map(
    b"/".join
)
_CONTENTS = st.one_of(
    st.builds(file, st.sampled_from([b"", b"1", b"2"]), st.sampled_from([0o644, 0o755])),
    st.builds(link, st.sampled_from([b"x", b"1"])),
)
_STEPS = st.lists(st.dictionaries(_PATHS, _CONTENTS, max_size=8), min_size=1, max_size=5)


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=_STEPS, split=st.integers(0, 5))
def test_the_trees_are_the_files(
    tmp_path_factory: pytest.TempPathFactory, steps: list[dict[bytes, Content]], split: int
) -> None:
    place = tmp_path_factory.mktemp("files")
    script = FileScript(memory_repository(place))
    script.run("run")
    wanted = [_with_directories(step) for step in steps]
    for number, each in enumerate(wanted):
        script.add("run", each)
        if number == split:
            export(script.repository, place / "export.git", files=True)
    export(script.repository, place / "export.git", files=True)
    sound(place / "export.git")
    for back, each in enumerate(reversed(wanted)):
        found = tree(place / "export.git", f"run~{back}")
        assert {path: data for path, (_, data) in found.items()} == {
            path: data for path, (kind, _, data) in each.items() if kind is not EntryKind.DIRECTORY
        }
    script.close()


def _with_directories(step: dict[bytes, Content]) -> dict[bytes, Content]:
    """Return the files with the directories above them, without those that are below a file."""
    found: dict[bytes, Content] = {}
    for path, content in sorted(step.items()):
        parts = path.split(b"/")
        above = [b"/".join(parts[:depth]) for depth in range(1, len(parts))]
        if any(found.get(each, DIRECTORY) != DIRECTORY for each in above) or path in found:
            continue
        found |= dict.fromkeys(above, DIRECTORY)
        found[path] = content
    return found
