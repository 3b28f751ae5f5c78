import pytest

from verdog_runtime.interpreter.visibility import require_visible


@pytest.mark.parametrize(
    ("caller", "target"),
    [
        ("a.b.main", "a.b.main"),
        ("a.b.main", "a.b.other"),
        ("a.b.main__x__y", "a.b.other"),
        ("a.b.main", "a.b.main__x"),
        ("a.b.main__x", "a.b.main__x__y"),
        ("a.b.main__x", "a.b.main__z"),
        ("a.b.main__x__y", "a.b.main__z"),
        ("a.b.main__x__y", "a.b.main__x__y"),
        ("main", "other"),
    ],
)
def test_roots_and_what_the_definitions_around_own_are_visible(caller: str, target: str) -> None:
    require_visible(caller, target)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("caller", "target"),
    [
        ("a.b.main", "a.c.main"),
        ("a.b.main", "a.b.c.main"),
        ("a.b.main", "main"),
        ("a.b.main", "a.b.other__x"),
        ("a.b.main", "a.b.main__x__y"),
        ("a.b.main__x", "a.b.main__z__y"),
        ("a.b.main_x", "a.b.main__x"),
        ("a.b.mainer", "a.b.main__x"),
    ],
)
def test_anything_else_is_a_lookup_error(caller: str, target: str) -> None:
    with pytest.raises(LookupError, match=target):
        require_visible(caller, target)  # type: ignore[arg-type]


def test_the_root_workflow_is_always_visible() -> None:
    require_visible("a.b.main", "x.y.main", workflow="x.y.main")  # type: ignore[arg-type]
    with pytest.raises(LookupError):
        require_visible("a.b.main", "x.y.main", workflow="x.y.other")  # type: ignore[arg-type]
