"""`--jsonl`: one object per line, each at once; and that a command line has one form of output."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.store import HandMade
from tests.commandline import Verdog
from tests.processes import Starter
from verdog_objects.manifest import lookup, path_key
from verdog_repo.repository import Repository


@pytest.fixture
def run(repository: Repository) -> HandMade:
    made = HandMade(repository, "first")
    for number in range(1, 5):
        made.checkpoint("survey", visit=number, files={b"survey/%d/n.txt" % number: b"%d" % number})
    return made


def objects(text: str) -> list[dict[str, object]]:
    """Return the objects of a stream without what tells them from members of a document."""
    found = [json.loads(line) for line in text.splitlines()]
    for each in found:
        assert each.pop("schema_version") == 1
        del each["type"]
    return found


@pytest.mark.parametrize(
    ("arguments", "member"),
    [
        (("log",), "checkpoints"),
        (("log", "first@2", "-n", "1"), "checkpoints"),
        (("runs",), "runs"),
        (("runs", "--brief"), "runs"),
        (("checkpoints",), "checkpoints"),
        (("ls", "first"), "entries"),
        (("ls", "-R", "first@2"), "entries"),
    ],
)
def test_a_stream_has_what_the_document_has(
    verdog: Verdog, run: HandMade, arguments: tuple[str, ...], member: str
) -> None:
    document = json.loads(verdog(*arguments, "--json").out)
    assert objects(verdog(*arguments, "--jsonl").out) == document[member]


def test_a_stream_of_findings_has_what_the_document_has(verdog: Verdog, run: HandMade) -> None:
    tip = run.repository.tip(run.run)
    assert tip is not None
    run.repository.store.delete_many([tip.record])
    document = verdog("fsck", "--json")
    stream = verdog("fsck", "--jsonl")
    assert (document.code, stream.code) == (1, 1)
    assert objects(stream.out) == json.loads(document.out)["findings"]


def test_a_comparison_comes_in_pieces(verdog: Verdog, run: HandMade) -> None:
    document = json.loads(verdog("diff", "first@2", "first@3", "--json").out)
    result = verdog("diff", "first@2", "first@3", "--jsonl", "--exit-code")
    assert result.code == 1
    lines = [json.loads(line) for line in result.out.splitlines()]
    assert [each["type"] for each in lines] == ["comparison", "visit", "value", "change", "change"]
    assert lines[0]["compared"] == ["state", "files"]
    assert objects(result.out)[1:] == [*document["only_right"], *document["state"], *document["files"]]


def test_an_error_is_the_last_line(verdog: Verdog, run: HandMade) -> None:
    result = verdog("log", "nope", "--jsonl")
    assert result.code == 2
    (line,) = [json.loads(each) for each in result.out.splitlines()]
    assert (line["type"], line["kind"]) == ("error", "not_found")
    assert result.err.startswith("error: ")


def test_lines_are_printed_before_the_rest_is_read(verdog: Verdog, run: HandMade) -> None:
    first = run.repository.record(run.repository.checkpoint_at(run.run, 1))
    assert first.artifacts is not None
    run.repository.store.delete_many([first.artifacts])
    result = verdog("log", "--jsonl", "--", "survey/3", "survey/4")
    numbers = [json.loads(line).get("checkpoint") for line in result.out.splitlines()]
    assert numbers == [4, 3, None]
    assert result.code == 4
    assert json.loads(verdog("log", "--json", "--", "survey/3", "survey/4").out)["status"] == "error"


@pytest.mark.parametrize("command", ["log", "checkpoints", "ls -R first", "runs", "diff first@1 first@4"])
def test_a_reader_may_go_away_after_one_line(
    run: HandMade, project: Path, processes: Starter, command: str
) -> None:
    result = processes.run_until(*command.split(), "--jsonl", lines=1, cwd=project)
    assert json.loads(result.out)["schema_version"] == 1
    assert (result.code, result.err) == (0, "")


def test_names_are_byte_exact_and_the_stream_is_ascii(verdog: Verdog, repository: Repository) -> None:
    HandMade(repository, "odd").checkpoint(files={b"\xfe\n": b"x", "数据".encode(): b"y"})
    out = verdog("ls", "odd", "--jsonl").out
    assert out.isascii()
    assert [os.fsencode(str(each["path"])) for each in objects(out)] == ["数据".encode(), b"\xfe\n"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("diff", "first", "--stat", "--json"),
        ("diff", "first", "--json", "--stat"),
        ("diff", "first", "--name-status", "--stat"),
        ("diff", "first", "--json", "--jsonl"),
        ("diff", "first", "--name-status", "--jsonl", "-z"),
        ("log", "--json", "--jsonl"),
        ("log", "--json", "--graph"),
        ("log", "--oneline", "--jsonl"),
        ("runs", "--jsonl", "--json"),
        ("checkpoints", "--jsonl", "--json"),
        ("ls", "first", "-z", "--json"),
        ("ls", "first", "-l", "-z"),
        ("ls", "first", "--jsonl", "-l"),
        ("status", "-z", "--json"),
        ("fsck", "--json", "--jsonl"),
    ],
    ids=" ".join,
)
def test_two_forms_of_output_are_refused(verdog: Verdog, run: HandMade, arguments: tuple[str, ...]) -> None:
    result = verdog(*arguments)
    assert result.code == 2
    assert "are two forms of output: choose one\n" in result.err
    assert result.err.count("error: ") == 1


def test_the_same_form_twice_is_one(verdog: Verdog, run: HandMade) -> None:
    assert verdog("log", "--json", "--json").code == 0


def test_names_and_status_with_nul_are_exact(repository: Repository, project: Path) -> None:
    made = HandMade(repository, "odd")
    made.checkpoint(files={b"a\nb": b"the very same content\n", b"gone": b"x"})
    (made.output / "a\nb").rename(made.output / "c d")
    (made.output / "gone").unlink()
    made.checkpoint(files={b"\xfe": b"1"})
    command = [sys.executable, "-m", "verdog_cli", "diff", "--name-status", "-z", "odd"]
    out = subprocess.run(command, cwd=project, check=True, capture_output=True).stdout
    assert out.endswith(b"\0")
    parts = out.split(b"\0")[:-1]
    assert b"\0".join(parts[:4]) in (b"R100\0a\nb\0c d\0D", b"R100\0a\nb\0c d\0A")
    assert sorted(parts[3:]) == [b"A", b"D", b"gone", b"\xfe"]


def test_a_nul_without_names_is_refused(verdog: Verdog, run: HandMade) -> None:
    result = verdog("diff", "-z", "first")
    assert result.code == 2
    assert "--name-status" in result.err


def test_the_directory_of_a_checkpoint_is_listed_in_the_form_of_show(verdog: Verdog, run: HandMade) -> None:
    document = json.loads(verdog("show", "first:survey", "--json").out)
    assert [each["path"] for each in document["entries"]] == ["1", "2", "3", "4"]


def test_artifacts_of_a_stream_are_looked_up_as_recorded(verdog: Verdog, run: HandMade) -> None:
    (line, *_) = objects(verdog("ls", "-R", "first:survey/4/n.txt", "--jsonl").out)
    record = run.repository.record(run.repository.checkpoint_at(run.run, 4))
    assert record.artifacts is not None
    entry = lookup(run.repository.store, record.artifacts, path_key(b"survey/4/n.txt"))
    assert entry is not None
    assert line["oid"] == entry.oid.hex()
