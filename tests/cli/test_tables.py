"""Tables of any width, and those of the commands on terminals from 20 to 200 columns."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.store import HandMade
from tests.cli.terminal import show
from tests.commandline import Verdog
from tests.repo.samples import operation
from verdog_cli.cells import measure
from verdog_cli.tables import Column, format_table
from verdog_repo.lineage import ArgumentsKind, Lineage, LineageKind
from verdog_repo.names import LabelName, TagName
from verdog_repo.repository import Repository

RUN = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff"
LONG = "a-name-that-somebody-chose-to-be-very-long-indeed"
COLUMNS = (
    Column("NAME"),
    Column("COMMIT", leaves=3),
    Column("VISIT", least=6),
    Column("NEXT", least=6, leaves=2),
    Column("N", right=True, leaves=1),
)
CELLS = st.text(alphabet="ab数é/", max_size=30)
ROWS = st.lists(
    st.tuples(st.text("w", min_size=1, max_size=30), st.sampled_from(["1a2b3c4d"]), CELLS, CELLS, CELLS),
    max_size=8,
)


@pytest.fixture
def width(monkeypatch: pytest.MonkeyPatch) -> "SetWidth":
    return SetWidth(monkeypatch)


class SetWidth:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch

    def __call__(self, columns: int) -> None:
        self._monkeypatch.setenv("COLUMNS", str(columns))


def table(rows: list[tuple[str, ...]], columns: int) -> list[str]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("COLUMNS", str(columns))
        return [*format_table(COLUMNS, rows)]


@given(ROWS, st.integers(20, 200))
def test_a_table_fits_any_width_save_for_what_must_stay_whole(
    rows: list[tuple[str, ...]], columns: int
) -> None:
    for line in table(rows, columns):
        assert measure(line) <= columns or line.strip() in {row[0] for row in rows} | {row[4] for row in rows}


@given(ROWS, st.integers(20, 200))
def test_no_name_is_cut_and_a_commit_is_whole_or_not_there(rows: list[tuple[str, ...]], columns: int) -> None:
    lines = table(rows, columns)
    words = [line.split()[0] for line in lines if line.split()]
    assert [word for word in words if set(word) == {"w"}] == [row[0] for row in rows]
    text = "\n".join(lines)
    assert text.count("1a2b") == text.count("1a2b3c4d")


def test_what_does_not_fit_gives_way_in_order() -> None:
    rows = [("first@1", "1a2b3c4d", "survey/000001", "tick", "3"), ("first@2", "1a2b3c4d", "s/1", "t", "3")]
    assert table(rows, 46)[1] == "first@1  1a2b3c4d  survey/000001  tick  3"
    assert table(rows, 40)[1] == "first@1  1a2b3c4d  surve..00001  tick  3"
    assert table(rows, 33)[1] == "first@1  1a2b3c4d  sur..001  tick"
    assert table(rows, 26)[1] == "first@1  1a2b3c4d  sur..01"
    assert table(rows, 20)[1] == "first@1  surve..0001"
    assert table(rows, 14) == [
        "first@1",
        "  commit",
        "    1a2b3c4d",
        "  visit su..01",
        "  next tick",
        "  n 3",
        "first@2",
        "  commit",
        "    1a2b3c4d",
        "  visit s/1",
        "  next t",
        "  n 3",
    ]


def test_one_long_name_stands_on_a_line_of_its_own() -> None:
    rows = [("a", "1a2b3c4d", "survey/1", "tick", "3")] * 4 + [
        ("n" * 60, "1a2b3c4d", "survey/1", "tick", "3")
    ]
    lines = table(rows, 60)
    assert lines[0] == "NAME  COMMIT    VISIT     NEXT  N"
    assert lines[-2:] == ["n" * 60, "      1a2b3c4d  survey/1  tick  3"]


def test_a_wide_record_has_its_fields_aligned() -> None:
    (name, *fields) = table([("n" * 38, "1a2b3c4d", "survey/000001" * 3, "", "3")], 45)
    assert name == "n" * 38
    assert fields == ["  commit  1a2b3c4d", "  visit   survey/000001surv..001survey/000001", "  n       3"]


def test_columns_stand_below_each_other_whatever_is_in_them() -> None:
    rows = [("a", "1a2b3c4d", "数据", "x", "1"), ("b", "1a2b3c4d", "cafe\u0301", "y", "22")]
    lines = table(rows, 80)
    assert len({measure(line[: line.index(each)]) for line, each in zip(lines[1:], "xy", strict=True)}) == 1


def test_a_table_without_rows_has_titles() -> None:
    assert table([], 80) == ["NAME  COMMIT  VISIT  NEXT  N"]


@pytest.fixture
def runs(repository: Repository, project: Path) -> Path:
    first = HandMade(repository, RUN, arguments=("--input.text", "数据" * 30))
    for number in range(1, 4):
        tip = first.checkpoint(
            "survey_everything",
            visit=number,
            following="a_node_with_a_long_name",
            files={b"survey/%d/a file with a name" % number: b"x"},
            reason="input.items[3] is a lock that nobody can keep" if number == 2 else None,
        )
    parent = Lineage(
        run=first.run, operation=LineageKind.FORK, checkpoint=1, arguments=ArgumentsKind.CHECKPOINT
    )
    HandMade(repository, LONG, parent=parent).checkpoint(call_path="数据#1")
    repository.marks.add_tag(TagName("before"), tip.commit, operation=operation())
    repository.marks.add_label(LabelName("baseline"), first.run, operation=operation())
    return project


TABLES = (
    ("runs",),
    ("log", RUN),
    ("log", "--all", "--graph"),
    ("log", "--oneline"),
    ("checkpoints", RUN),
    ("tag",),
    ("label",),
)


@pytest.mark.parametrize("command", TABLES, ids=" ".join)
@pytest.mark.parametrize("columns", [20, 40, 80, 200])
def test_no_table_of_a_command_is_wider_than_its_terminal(
    runs: Path, command: tuple[str, ...], columns: int
) -> None:
    shown = show(*command, cwd=runs, columns=columns)
    assert shown.code == 0
    for line in shown.lines:
        name = re.search(rf"({LONG}|{RUN})(@\d)?", line)
        assert measure(line) <= columns or (name and measure(line) <= name.end())


@pytest.mark.parametrize("columns", [20, 33, 80, 200])
def test_names_and_commits_in_tables_can_be_pasted(verdog: Verdog, runs: Path, columns: int) -> None:
    text = "\n".join("\n".join(show(*command, cwd=runs, columns=columns).lines) for command in TABLES)
    names = set(re.findall(rf"(?:{RUN[:8]}|{LONG})(?:@\d)?", text)) | {"before", "baseline"}
    commits = set(re.findall(rf"\b(?!{RUN[:8]})[0-9a-f]{{8}}\b", text))
    assert {RUN[:8], LONG, f"{RUN[:8]}@3", f"{LONG}@1"} <= names
    assert len(commits) >= 3
    for each in names | commits:
        assert verdog("show", each).code == 0


def test_a_listing_of_files_gives_up_columns_and_never_a_path(runs: Path) -> None:
    titles = {
        columns: show("ls", "-l", f"{RUN}:survey/1", cwd=runs, columns=columns) for columns in (80, 50, 30)
    }
    assert titles[80].lines[0].split() == ["MODE", "BYTES", "OID", "NAME"]
    assert titles[50].lines[0].split() == ["MODE", "BYTES", "NAME"]
    assert titles[30].lines[0].split() == ["BYTES", "NAME"]
    assert all(shown.lines[1].endswith("a file with a name") for shown in titles.values())


@pytest.mark.parametrize("columns", ["0", "-5", "1e2", "\u0663", "9" * 5000])
def test_a_width_that_is_none_is_not_heeded(
    verdog: Verdog, runs: Path, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    usual = verdog("runs").out
    monkeypatch.setenv("COLUMNS", columns)
    assert verdog("runs").out == usual


def test_80_columns_are_taken_without_a_terminal(verdog: Verdog, runs: Path, width: SetWidth) -> None:
    usual = verdog("runs").out
    width(80)
    assert verdog("runs").out == usual
    assert all(measure(line) <= 80 for line in usual.splitlines())
    width(40)
    assert all(measure(line) <= 40 for line in verdog("log", RUN).out.splitlines())
