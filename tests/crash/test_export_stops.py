"""An export that stops at any disk operation leaves a sound repository, and the next export completes it."""

import random
import shutil
from pathlib import Path

import pytest

from tests.crash.powercut import Loss, Recording, recorded
from tests.repo.samples import Script, memory_repository, operation
from tests.repo.test_export import names, sound
from verdog_objects import durable
from verdog_repo import gitpack
from verdog_repo.export import export
from verdog_repo.names import LabelName, RunId, TagName

pytestmark = [
    pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc to name open files"),
    pytest.mark.usefixtures("durable_disk"),
]


@pytest.fixture
def script(tmp_path: Path) -> Script:
    script = Script(memory_repository(tmp_path))
    script.run("run")
    first, *_ = script.commits("run", 3)
    script.fork(first, "fork")
    script.repository.marks.add_label(LabelName("label"), RunId("run"), operation=operation())
    return script


def perform(script: Script, place: Path, *, files: bool) -> tuple[Recording, dict[str, str], dict[str, str]]:
    """Export twice; return the recording of the second, and the names after each."""
    place.mkdir()
    target = place / "export.git"
    export(script.repository, target, files=files)
    before = names(target)
    script.commits("run", 2)
    script.repository.marks.remove_label(LabelName("label"), operation=operation())
    script.repository.marks.add_tag(TagName("tag"), script.commit("fork").commit, operation=operation())
    with recorded(place) as recording:
        recording.begin()
        export(script.repository, target, files=files)
        recording.end()
    return recording, before, names(target)


def stop_everywhere(
    script: Script, place: Path, recording: Recording, names_in: list[dict[str, str]], *, files: bool
) -> None:
    total = len(recording.operations)
    seen: set[object] = set()
    for stop in range(total + 1):
        for loss in Loss:
            remains = recording.leave(stop, loss, random.Random(stop))
            if remains.identity in seen:
                continue
            seen.add(remains.identity)
            image = place / "image"
            remains.build(image)
            target = image / "export.git"
            try:
                if (
                    (target / "HEAD").exists()
                    and (target / "refs").is_dir()
                    and (target / "objects").is_dir()
                ):
                    sound(target)
                    _each_name_is_old_or_new(names(target), names_in)
                if stop == total:
                    assert names(target) == names_in[-1]
                export(script.repository, target, files=files)
                sound(target)
                assert names(target) == names_in[-1]
                assert not [each for each in target.rglob("*") if "tmp" in each.name]
                assert {each.suffix for each in (target / "objects/pack").iterdir()} == {".idx", ".pack"}
                shutil.rmtree(image)
            except BaseException as error:
                following = recording.operations[stop] if stop < total else "the end"
                error.add_note(f"stopped after {stop} of {total} operations, before {following}: {loss}")
                raise


def _each_name_is_old_or_new(found: dict[str, str], names_in: list[dict[str, str]]) -> None:
    if "refs/heads/label" in found:
        assert found.pop("refs/heads/label") == found["refs/heads/run"]  # it follows the run
    for name, commit in found.items():
        assert commit in [each.get(name) for each in names_in], name


@pytest.mark.parametrize("files", [False, True])
def test_an_export_is_completed_wherever_the_one_before_stopped(
    script: Script, tmp_path: Path, files: bool
) -> None:
    recording, before, after = perform(script, tmp_path / "place", files=files)
    assert len(recording.operations) > 10
    stop_everywhere(script, tmp_path, recording, [before, after], files=files)


@pytest.mark.slow
def test_a_first_export_is_completed_wherever_it_stopped(
    script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gitpack, "_FULL_BYTES", 1_500)
    place = tmp_path / "place"
    place.mkdir()
    with recorded(place) as recording:
        recording.begin()
        export(script.repository, place / "export.git")
        recording.end()
    after = names(place / "export.git")
    partial = [{**after, "refs/heads/run": commit, "refs/heads/label": commit} for commit in _commits(script)]
    stop_everywhere(script, tmp_path, recording, [*partial, after], files=False)


def _commits(script: Script) -> list[str]:
    return [each.commit.hex() for each in script.repository.history(RunId("run"))]


def test_the_test_finds_a_sync_that_is_missing(
    script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(durable, "sync_file", lambda fd: None)
    recording, before, after = perform(script, tmp_path / "place", files=False)
    with pytest.raises(AssertionError):
        stop_everywhere(script, tmp_path, recording, [before, after], files=False)
