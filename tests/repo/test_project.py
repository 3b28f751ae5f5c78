"""Which project a directory belongs to."""

from pathlib import Path

import pytest

from verdog_repo.project import find_project, relate_to_project


@pytest.fixture
def deep(tmp_path: Path) -> Path:
    place = tmp_path / "outer/inner/deep"
    place.mkdir(parents=True)
    return place


@pytest.mark.parametrize("marker", ["project.json", "pyproject.toml", ".git"])
def test_the_nearest_root_of_a_project_is_found(deep: Path, marker: str) -> None:
    (deep.parent / marker).touch()
    (deep.parents[1] / "pyproject.toml").touch()
    assert find_project(deep) == deep.parent


@pytest.mark.parametrize("marker", [".verdog/store", ".verdog/config.toml"])
def test_a_store_further_up_comes_before_any_other_sign(deep: Path, marker: str) -> None:
    (deep.parents[1] / marker).mkdir(parents=True)
    (deep / "pyproject.toml").touch()
    assert find_project(deep) == deep.parents[1]


def test_an_empty_control_directory_is_no_sign(deep: Path) -> None:
    (deep.parent / ".verdog/runs").mkdir(parents=True)
    assert find_project(deep) == deep


def test_without_any_sign_it_is_the_directory_itself(deep: Path) -> None:
    assert find_project(deep) == deep


def test_a_file_is_related_to_its_project(deep: Path) -> None:
    (deep.parent / "pyproject.toml").touch()
    (deep / "flow.py").touch()
    assert find_project(deep / "flow.py") == deep.parent
    assert relate_to_project(deep / "flow.py") == (deep.parent, "deep/flow.py")


def test_symbolic_links_are_followed(deep: Path, tmp_path: Path) -> None:
    (deep.parent / "pyproject.toml").touch()
    (tmp_path / "link").symlink_to(deep)
    assert find_project(tmp_path / "link") == deep.parent
