"""The page on JSON output, compared with what the commands print."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.store import HandMade
from tests.cli.workflows import FAILS_ONCE, countdown
from tests.commandline import Verdog
from tests.docs.generate import command_paths, find_command
from tests.repo.samples import operation
from verdog_objects.manifest import lookup, path_key
from verdog_objects.store import PutRow
from verdog_repo.checkpoint import Checkpoint, encode_row
from verdog_repo.lineage import ArgumentsKind, Lineage, LineageKind
from verdog_repo.names import LabelName, TagName
from verdog_repo.repository import Repository
from verdog_repo.runs import RunStatus
from verdog_repo.tables import CHECKPOINTS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/json.md").read_text(encoding="utf-8")

Shape = dict[str, str]
"""The members of an object and their types, as the page names them."""

SIMPLE: Mapping[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "boolean": bool,
    "any": object,
}
STREAMS = {
    "run": "run",
    "checkpoint": "checkpoint",
    "file": "file",
    "comparison": "comparison",
    "visit": "compared visit",
    "value": "changed value",
    "change": "change",
    "finding": "finding",
    "healed": "healed",
    "row": "row",
    "error": "error",
}
"""The object that a line of each type is."""


def read_shapes(part: str) -> dict[str, Shape]:
    """Return the shapes of one part of the page by their titles."""
    text = PAGE.split(f"\n## {part}\n")[1].split("\n## ")[0]
    shapes: dict[str, Shape] = {}
    for section in text.split("\n### ")[1:]:
        title, _, rest = section.partition("\n")
        shape = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", rest, re.MULTILINE))
        shapes[title] = shapes["checkpoint"] | shape if "\nA checkpoint" in rest else shape
    return shapes


DOCUMENTS = {name: shape for title, shape in read_shapes("Documents").items() for name in title.split(", ")}
OBJECTS = read_shapes("Objects")


class Checker:
    """Compares what is printed with the page.

    Attributes:
        seen: the documents and objects of which there was one.
        problems: where something is not as on the page.
    """

    def __init__(self, verdog: Verdog) -> None:
        self._verdog = verdog
        self.seen: set[str] = set()
        self.problems: list[str] = []

    def document(self, *arguments: str, shape: str | None = None) -> None:
        """Check the document of a command line; `shape` is its title if that is not the operation."""
        document = json.loads(self._verdog(*arguments, "--json").out)
        assert document.pop("schema_version") == 1
        operation = document.pop("operation")
        self.seen.add(shape or operation)
        self.problems += self._compare(document, DOCUMENTS[shape or operation], " ".join(arguments))

    def lines(self, *arguments: str) -> None:
        """Check each line of a stream."""
        for line in self._verdog(*arguments, "--jsonl").out.splitlines():
            document = json.loads(line)
            assert document.pop("schema_version") == 1
            name = STREAMS[document.pop("type")]
            name = "recorded checkpoint" if "from" in document else name
            self.seen.add(name)
            self.problems += self._compare(document, OBJECTS[name], " ".join(arguments))

    def _compare(self, found: Mapping[str, object], shape: Shape, where: str) -> Iterator[str]:
        for name in sorted(found.keys() ^ shape.keys()):
            yield f"{where}: {name} is {'not on the page' if name in found else 'missing'}"
        for name in found.keys() & shape.keys():
            yield from self._compare_value(found[name], shape[name], f"{where}.{name}")

    def _compare_value(self, value: object, kind: str, where: str) -> Iterator[str]:
        kind, _, null = kind.partition(" or ")
        if value is None and null:
            return
        before, _, inner = kind.partition(" of ")
        if before == "list" and isinstance(value, list):
            for each in value:
                yield from self._compare_value(each, inner, f"{where}[]")
        elif before == "map" and isinstance(value, dict):
            for each in value.values():
                yield from self._compare_value(each, inner, f"{where}{{}}")
        elif kind in SIMPLE:
            if not isinstance(value, SIMPLE[kind]) or (kind == "integer" and isinstance(value, bool)):
                yield f"{where}: {value!r} is no {kind}"
        elif isinstance(value, dict) and kind in OBJECTS:
            self.seen.add(kind)
            yield from self._compare(value, OBJECTS[kind], where)
        else:
            yield f"{where}: {value!r} is no {kind}"


@pytest.fixture
def run(repository: Repository) -> HandMade:
    made = HandMade(repository, "first", arguments=("--input.limit", "3"))
    made.checkpoint("plan", visit=1, files={b"plan/1/plan.txt": b"plan", b".git/x": b"x"})
    made.checkpoint("survey", visit=1, files={b"a.txt": b"a" * 90}, reason="holds a lock")
    return made


def look(check: Checker, run: HandMade) -> None:
    repository = run.repository
    parent = Lineage(
        run=run.run, operation=LineageKind.FORK, checkpoint=1, arguments=ArgumentsKind.CHECKPOINT
    )
    other = HandMade(repository, "second", parent=parent)
    other.checkpoint("plan", visit=1, files={b"plan/1/plan.txt": b"another"})
    other.checkpoint("check", visit=1, files={b"\xfe": b"x"}, following=None, call_path="call#1")
    other.checkpoint("report", visit=1)
    other.finish(RunStatus.SUCCEEDED)
    tip = repository.tip(run.run)
    assert tip is not None
    repository.marks.add_tag(TagName("before"), tip.commit, operation=operation())
    repository.marks.add_label(LabelName("baseline"), run.run, operation=operation())
    for arguments in (("runs",), ("log",), ("checkpoints", "first"), ("checkpoints", "second")):
        check.document(*arguments)
        check.lines(*arguments)
    for arguments in (("ls", "first"), ("diff", "first", "second"), ("diff", "first@1"), ("log", "nope")):
        check.document(*arguments, shape="an error" if "nope" in arguments else None)
        check.lines(*arguments)
    for arguments in (("show", "second@2"), ("show", "first"), ("tag",), ("label",), ("restore", "second")):
        check.document(*arguments)
    check.document("show", "first@1:plan/1/plan.txt", shape="show of a file")
    check.document("git", "export", "--files", "out.git")


def damage_row(repository: Repository, checkpoint: Checkpoint) -> None:
    number = repository.catalog.runs.number(checkpoint.run)
    lying = encode_row(replace(checkpoint, duration_ns=checkpoint.duration_ns + 1), number)
    repository.store.apply(writes=[PutRow(table=CHECKPOINTS, row=lying)])


def find_faults(check: Checker, run: HandMade) -> None:
    repository = run.repository
    (run.output / "plan/1/plan.txt").unlink()
    (run.output / "new").touch()
    check.document("status", "first")
    check.document("restore", "first")
    record = repository.record(repository.checkpoint_at(run.run, 2))
    assert record.artifacts is not None
    entry = lookup(repository.store, record.artifacts, path_key(b"a.txt"))
    assert entry is not None
    repository.store.delete_many([entry.oid])
    damage_row(repository, repository.checkpoint_at(run.run, 1))
    check.document("fsck", "--read-data")
    check.lines("fsck", "--read-data", "--repair")
    damage_row(repository, repository.checkpoint_at(run.run, 1))
    check.document("fsck", "--read-data", "--repair")
    with repository.lease(run.run):
        check.document("doctor")
    repository.close()
    (repository.project / ".verdog/store/store.db").write_bytes(b"no database at all")
    check.document("doctor")


def execute(check: Checker, project: Path) -> None:
    (project / "flow.py").write_text(countdown(FAILS_ONCE))
    check.document("run", "flow.py", "--run-id", "third")
    check.document("runs")
    (project / "mended").touch()
    check.document("resume", "third")
    check.document("restart", "third", "--sessions", "fresh")
    check.document("fork", "third@3", "--sessions", "fresh")


def test_commands_print_what_the_page_says_and_nothing_else(
    verdog: Verdog, run: HandMade, project: Path
) -> None:
    check = Checker(verdog)
    look(check, run)
    execute(check, project)
    find_faults(check, run)
    assert not check.problems
    assert check.seen == DOCUMENTS.keys() | OBJECTS.keys()


def test_brief_runs_lack_what_the_page_says(verdog: Verdog, run: HandMade) -> None:
    (brief,) = json.loads(verdog("runs", "--json", "--brief").out)["runs"]
    names = [*OBJECTS["run"]]
    left_out = names[names.index("checkpoint") : names.index("labels")]
    assert brief.keys() == OBJECTS["run"].keys() - set(left_out)


def test_every_command_with_json_is_on_the_page() -> None:
    named = {
        " ".join(path)
        for path in command_paths()
        if any("--json" in option.opts for option in find_command(*path).params)
    }
    assert named == DOCUMENTS.keys() - {"show of a file", "an error"}


def test_every_command_with_a_stream_is_on_the_page() -> None:
    named = {
        " ".join(path)
        for path in command_paths()
        if any("--jsonl" in option.opts for option in find_command(*path).params)
    }
    assert named == set(re.findall(r"^\| `([\w ]+) --jsonl` \|", PAGE, re.MULTILINE))
