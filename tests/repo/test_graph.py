from tests.repo.samples import Script
from verdog_repo.graph import draw_graph
from verdog_repo.history import walk_all


def draw(script: Script) -> list[str]:
    lines: list[str] = []
    for row in draw_graph(walk_all(script.repository.catalog)):
        lines += row.before
        lines.append(f"{row.marks}  {row.checkpoint.run}@{row.checkpoint.sequence}")
    return lines


def test_one_run_is_one_line(script: Script) -> None:
    script.run("a")
    script.commits("a", 3)
    assert draw(script) == ["*  a@3", "*  a@2", "*  a@1"]


def test_a_fork_joins_where_it_was_made(script: Script) -> None:
    script.run("a")
    first = script.commits("a", 2)[0]
    script.fork(first, "b")
    script.commit("a")
    assert draw(script) == ["*  a@3", "| *  b@1", "* |  a@2", "|/", "*  a@1"]


def test_runs_that_share_nothing_stand_side_by_side(script: Script) -> None:
    script.run("a")
    script.run("b")
    script.commit("a")
    script.commit("b")
    script.commit("a")
    assert draw(script) == ["*  a@2", "| *  b@1", "*  a@1"]


def test_two_forks_of_one_checkpoint_join_one_after_the_other(script: Script) -> None:
    script.run("a")
    first = script.commits("a", 2)[0]
    script.fork(first, "b")
    script.fork(first, "c")
    assert draw(script) == ["*  c@1", "| *  b@1", "| | *  a@2", "|_|/", "|/", "*  a@1"]


def test_a_fork_of_a_fork_joins_its_own_parent(script: Script) -> None:
    script.run("a")
    first = script.commits("a", 2)[0]
    fork = script.fork(first, "b")
    script.fork(fork, "c")
    assert draw(script) == ["*  c@1", "*  b@1", "| *  a@2", "|/", "*  a@1"]


def test_a_free_column_is_used_again_below_a_gap(script: Script) -> None:
    for run in ("a", "b", "c"):
        script.run(run)
        script.commit(run)
    assert draw(script) == ["*  c@1", "", "*  b@1", "", "*  a@1"]


def test_a_gap_leaves_the_lines_beside_it_whole(script: Script) -> None:
    script.run("a")
    first = script.commits("a", 2)[0]
    script.run("b")
    script.commit("b")
    script.fork(first, "c")
    assert draw(script) == ["*  c@1", "| *  b@1", "|", "| *  a@2", "|/", "*  a@1"]


def test_a_row_knows_its_columns(script: Script) -> None:
    script.run("a")
    first = script.commits("a", 2)[0]
    script.fork(first, "b")
    rows = list(draw_graph(walk_all(script.repository.catalog)))
    assert [(row.column, row.open_columns) for row in rows] == [(0, (0,)), (1, (0, 1)), (0, ())]
