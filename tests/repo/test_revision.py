import pytest
from hypothesis import given
from hypothesis import strategies as st

from verdog_objects.errors import InvalidInput
from verdog_repo.revision import (
    Completed,
    Earlier,
    NodeStep,
    Numbered,
    RangeQuery,
    RevisionQuery,
    Selector,
    parse_range,
    parse_revision,
)


@pytest.mark.parametrize(
    ("text", "name", "selector", "back", "path"),
    [
        ("run", "run", None, 0, None),
        ("run@17", "run", Numbered(17), 0, None),
        ("run@-1", "run", Numbered(-1), 0, None),
        ("run@node", "run", Completed((NodeStep("node"),)), 0, None),
        ("run@node#2", "run", Completed((NodeStep("node", 2),)), 0, None),
        ("run@call#1/child#2", "run", Completed((NodeStep("call", 1), NodeStep("child", 2))), 0, None),
        ("run@call/child", "run", Completed((NodeStep("call"), NodeStep("child"))), 0, None),
        ("run@{1}", "run", Earlier(1), 0, None),
        ("run@{0}^", "run", Earlier(0), 1, None),
        ("run~3", "run", None, 3, None),
        ("run~", "run", None, 1, None),
        ("run^", "run", None, 1, None),
        ("run^^~2^0", "run", None, 4, None),
        ("run@17~2:a/b", "run", Numbered(17), 2, b"a/b"),
        ("run:", "run", None, 0, b""),
        ("run:./a/", "run", None, 0, b"a"),
        ("run:--help", "run", None, 0, b"--help"),
        ("run:a..b", "run", None, 0, b"a..b"),
        ("run:a:b@1~2", "run", None, 0, b"a:b@1~2"),
        ("run:\udcfe", "run", None, 0, b"\xfe"),
        ("@3", "", Numbered(3), 0, None),
        ("~1", "", None, 1, None),
        (":a", "", None, 0, b"a"),
        ("../out/run", "../out/run", None, 0, None),
        ("a/../b@2", "a/../b", Numbered(2), 0, None),
        ("~/runs/x~2", "~/runs/x", None, 2, None),
        (".", ".", None, 0, None),
        ("run@my-node", "run", Completed((NodeStep("my-node"),)), 0, None),
        ("run@a%20b", "run", Completed((NodeStep("a%20b"),)), 0, None),
        ("run@a b", "run", Completed((NodeStep("a%20b"),)), 0, None),
    ],
)
def test_a_revision_is_read(
    text: str, name: str, selector: Selector | None, back: int, path: bytes | None
) -> None:
    assert parse_revision(text) == RevisionQuery(
        text=text, name=name, selector=selector, back=back, path=path
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "run@",
        "run@0",
        "run@{",
        "run@{x}",
        "run@{-1}",
        "run@a#",
        "run@a#0",
        "run@a#x",
        "run@a//b",
        "run@#1",
        "run@/a",
        "run^2",
        "run~x",
        "run~1x",
        "run^@2",
        "run~99999999999",
        "run@99999999999",
        "run:/etc/passwd",
        "run:../a",
        "run:a//b",
        "run:a/./b",
        "run\0",
        "run:a\0b",
        "run@a#٣",
        "run:\ud800",
    ],
)
def test_what_follows_no_rule_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_revision(text)


def test_two_dots_make_a_range() -> None:
    query = parse_range("a@3..b~1")
    assert query == RangeQuery(left=parse_revision("a@3"), right=parse_revision("b~1"))


def test_three_dots_make_a_symmetric_range() -> None:
    query = parse_range("a...b")
    assert query == RangeQuery(left=parse_revision("a"), right=parse_revision("b"), symmetric=True)


@pytest.mark.parametrize("text", ["a", "../x", "a/../b", "x/..", "run:a..b", ".."])
def test_other_dots_make_no_range(text: str) -> None:
    assert parse_range(text) == parse_revision(text)


@pytest.mark.parametrize("text", ["a..b:path", "a..b..c", "a...b..c"])
def test_a_range_has_two_ends_and_no_path(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_range(text)


@given(st.text(alphabet="ab1@~^:./#{}-%\0é", max_size=20))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        query = parse_range(text)
    except InvalidInput:
        return
    assert isinstance(query, RangeQuery) or query.text == text
