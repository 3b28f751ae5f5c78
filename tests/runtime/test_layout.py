import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verdog_objects.errors import Unavailable
from verdog_runtime.layout import (
    VisitDirectories,
    exclude_control_files,
    format_node_directory,
    format_visit,
    parse_visit,
    require_control_directory,
)


@pytest.mark.parametrize(
    ("node", "directory"),
    [
        ("count_down", "count_down"),
        ("A-z.0~_", "A-z.0~_"),
        ("", "%00"),
        ("a/b", "a%2Fb"),
        ("50%", "50%25"),
        ("é", "%C3%A9"),
        ("..", "%2E%2E"),
        ("a..", "a%2E%2E"),
        ("con", "%5Fcon"),
        ("CoM1.txt", "%5FCoM1.txt"),
        ("com10", "com10"),
        (".verdog", "%2Everdog"),
        (".verdogs", ".verdogs"),
        (".verdog-invocation.json", "%2Everdog-invocation.json"),
        ("trace.log", "trace%2Elog"),
        ("config.md", "config%2Emd"),
        ("stats.md", "stats%2Emd"),
        ("trace.log.1", "trace.log.1"),
        ("run.json", "run.json"),
    ],
)
def test_a_node_id_becomes_a_legal_directory_name(node: str, directory: str) -> None:
    assert format_node_directory(node) == directory


@given(st.text(alphabet=st.characters(), max_size=20))
def test_a_directory_name_is_one_plain_component(node: str) -> None:
    name = format_node_directory(node)
    assert name.isascii()
    assert name not in {"", ".", "..", ".verdog"}
    assert not set(name) & set("/\\:\0")
    assert not name.endswith(".")


@given(st.text(alphabet="ab.%_/", max_size=6), st.text(alphabet="ab.%_/", max_size=6))
def test_two_ids_never_share_a_directory(one: str, other: str) -> None:
    assert (format_node_directory(one) == format_node_directory(other)) == (one == other)


@pytest.mark.parametrize("number", [1, 42, 999_999, 1_000_000])
def test_a_visit_number_survives_its_directory_name(number: int) -> None:
    assert parse_visit(format_visit(number)) == number


@pytest.mark.parametrize("name", ["1", "000000", "0000001", "00000a", "\u0660" * 5 + "\u0661", "", "-00001"])
def test_other_names_are_no_visits(name: str) -> None:
    assert parse_visit(name) is None


def test_visits_are_numbered_per_node_and_scope(tmp_path: Path) -> None:
    visits = VisitDirectories(tmp_path)
    places = [visits.allocate("", "a").path, visits.allocate("", "a").path, visits.allocate("", "b").path]
    places.append(visits.allocate("a/000001", "a").path)
    assert places == ["a/000001", "a/000002", "b/000001", "a/000001/a/000001"]
    assert all((tmp_path / place).is_dir() for place in places)


def test_a_visit_directory_is_absolute_and_empty(tmp_path: Path) -> None:
    place = VisitDirectories(tmp_path).allocate("", "a")
    assert place.directory == tmp_path / "a" / "000001"
    assert list(place.directory.iterdir()) == []
    assert place.number == 1


def test_numbering_goes_on_after_the_highest_existing_directory(tmp_path: Path) -> None:
    (tmp_path / "a" / "000007").mkdir(parents=True)
    (tmp_path / "a" / "notes").mkdir()
    assert VisitDirectories(tmp_path).allocate("", "a").number == 8


def test_numbering_goes_on_after_the_highest_known_number(tmp_path: Path) -> None:
    visits = VisitDirectories(tmp_path)
    assert visits.allocate("", "a", 4).number == 5
    assert visits.allocate("", "a", 2).number == 6


def test_a_directory_made_by_somebody_else_is_skipped(tmp_path: Path) -> None:
    visits = VisitDirectories(tmp_path)
    visits.allocate("", "a")
    (tmp_path / "a" / "000002").mkdir()
    (tmp_path / "a" / "000003").write_text("a file")
    assert visits.allocate("", "a").number == 4


def test_a_removed_node_directory_is_made_again(tmp_path: Path) -> None:
    visits = VisitDirectories(tmp_path)
    visits.allocate("", "a").directory.rmdir()
    (tmp_path / "a").rmdir()
    assert visits.allocate("", "a").number == 2


@pytest.mark.parametrize("again", [False, True])
def test_a_node_directory_that_became_a_link_is_refused(tmp_path: Path, again: bool) -> None:
    output, outside = tmp_path / "output", tmp_path / "outside"
    output.mkdir()
    outside.mkdir()
    visits = VisitDirectories(output)
    if again:
        visits.allocate("", "a").directory.rmdir()
        (output / "a").rmdir()
    (output / "a").symlink_to(outside)
    with pytest.raises(ValueError, match="outside"):
        visits.allocate("", "a")
    assert list(outside.iterdir()) == []


def test_an_enclosing_directory_that_became_a_link_is_refused(tmp_path: Path) -> None:
    output, outside = tmp_path / "output", tmp_path / "outside"
    output.mkdir()
    (outside / "000001").mkdir(parents=True)
    (output / "call").symlink_to(outside)
    with pytest.raises(ValueError, match="outside"):
        VisitDirectories(output).allocate("call/000001", "a")


def test_an_output_reached_through_a_link_works(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert VisitDirectories(tmp_path / "link").allocate("", "a").directory == tmp_path / "link/a/000001"


def test_a_path_that_is_too_long_is_one_clear_error(tmp_path: Path) -> None:
    visits = VisitDirectories(tmp_path)
    scope, depth = "", 0
    with pytest.raises(Unavailable, match=r"bytes at depth \d+ of nested calls") as caught:
        while depth < 100:
            scope = visits.allocate(scope, "n" * 200).path
            depth += 1
    assert depth < 100
    assert caught.value.paths[0].startswith(os.fsencode(scope))


def test_a_name_that_is_too_long_says_so(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="255 bytes"):
        VisitDirectories(tmp_path).allocate("", "n" * 256)


@pytest.mark.parametrize(
    ("path", "is_dir", "expected"),
    [
        (b".verdog", True, True),
        (b"a/000001/.verdog", True, True),
        (b"a/.verdog", False, False),
        (b".verdog", False, True),
        (b"trace.log", False, True),
        (b"a/trace.log", False, False),
        (b"config.md", False, True),
        (b"stats.md", False, True),
        (b"config.md", True, False),
        (b"a/000001/config.md", False, False),
        (b"call/000001/config.md", False, True),
        (b"call/000001/stats.md", False, True),
        (b"call/000001/.verdog-invocation.json", False, False),
        (b"call/000001/result.md", False, False),
    ],
)
def test_control_files_are_excluded(tmp_path: Path, path: bytes, is_dir: bool, expected: bool) -> None:
    (tmp_path / "call" / "000001").mkdir(parents=True)
    (tmp_path / "call" / "000001" / ".verdog-invocation.json").write_text("{}")
    assert exclude_control_files(tmp_path)(path, is_dir) is expected


def test_a_control_directory_that_cannot_be_looked_at_is_named(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"x/\.verdog: .*name too long"):
        require_control_directory(tmp_path / ("x" * 300))
