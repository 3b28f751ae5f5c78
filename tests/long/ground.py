"""The project that the soak test works on: its runs as they were last seen, compared with what is there."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum, auto
from pathlib import Path

from tests.long import flow
from tests.long.flow import Plan
from tests.long.model import Point, check_paths, check_recorded, expect, read_directory, read_point
from verdog_repo.names import CommitId, RunId, format_commit_id
from verdog_repo.repository import Repository
from verdog_repo.runs import RunStatus


class Damage(Enum):
    """Whether files of a run's directory are not what was recorded."""

    NONE = auto()
    DONE = auto()
    UNKNOWN = auto()
    """A command that puts them back was killed."""


@dataclass(eq=False, kw_only=True)
class KnownRun:
    """A run.

    Attributes:
        output: its directory, relative to the project.
        seen: the commits of its history, oldest first.
        ended: it succeeded.
        index: acknowledgements that were read: the commit by the checkpoint's number.
    """

    id: str
    plan: Plan
    output: str
    seen: list[CommitId] = field(default_factory=list)
    ended: bool = False
    damage: Damage = Damage.NONE
    index: dict[int, str] = field(default_factory=dict)

    @property
    def visits(self) -> int:
        """How many visits it takes."""
        return len(expect(self.plan))


class Ground:
    """A project with one store."""

    def __init__(self, project: Path) -> None:
        self.project = project
        (project / "pyproject.toml").touch()
        shutil.copy(flow.__file__, project / "flow.py")
        self.runs: list[KnownRun] = []
        self.failing = project / "failing"

    @contextmanager
    def repository(self) -> Iterator[Repository]:
        """Open the store for reading."""
        with Repository.open(self.project, read_only=True) as repository:
            yield repository

    @property
    def unfinished(self) -> list[KnownRun]:
        """The runs that did not come to their end."""
        return [run for run in self.runs if not run.ended]

    def directory(self, run: KnownRun) -> Path:
        """Return a run's directory, which may be absent."""
        return self.project / run.output

    def find(self, output: str) -> str | None:
        """Return the id of the run that writes to a directory, if there is one."""
        with self.repository() as repository:
            found = [each.header.run for each in repository.runs() if each.header.output_dir == output]
        assert len(found) <= 1
        return found[0] if found else None

    def has_store(self) -> bool:
        """Whether anything was ever recorded."""
        return (self.project / ".verdog" / "store" / "store.db").exists()

    def look(self, run: KnownRun) -> None:
        """Check a run against what was seen of it and what the model says, and remember what is there."""
        with self.repository() as repository:
            header = repository.header(RunId(run.id))
            tip = repository.tip(RunId(run.id))
            if tip is None:
                assert not run.seen, "its checkpoints are gone"
                return
            point = read_point(repository, tip)
            check_recorded(repository, point, run.plan)
        commits = [each.commit for each in point.history]
        assert commits[: len(run.seen)] == run.seen, "checkpoints that were seen are gone"
        self._check_acknowledged(run, point)
        run.seen = commits
        run.ended = header.status is RunStatus.SUCCEEDED
        assert not run.ended or point.position == run.visits, "it succeeded before its end"

    def _check_acknowledged(self, run: KnownRun, point: Point) -> None:
        index = self.directory(run) / ".verdog" / "checkpoints" / "index.jsonl"
        if index.exists():
            for line in index.read_text().rpartition("\n")[0].splitlines():
                said = json.loads(line)
                run.index[said["sequence"]] = said["commit"]
        own = {each.sequence: format_commit_id(each.commit) for each in point.history if each.run == run.id}
        own[point.checkpoint.sequence] = format_commit_id(point.checkpoint.commit)
        for number, commit in run.index.items():
            assert own.get(number, commit) == commit, f"checkpoint {number} is another one"
            assert number <= point.checkpoint.sequence, f"checkpoint {number} was acknowledged and is gone"

    def look_at_files(self, run: KnownRun) -> None:
        """Check the directory of a run against the model, byte for byte."""
        point = self.point(run)
        check_paths(read_directory(self.directory(run)), point, run.plan)

    def point(self, run: KnownRun, position: int | None = None) -> Point:
        """Return the point of a run after so many visits, or the latest."""
        with self.repository() as repository:
            tip = repository.tip(RunId(run.id))
            assert tip is not None
            if position is None:
                return read_point(repository, tip)
            return read_point(repository, repository.checkpoint(run.seen[position - 1]))

    def others(self, run: KnownRun, point: Point) -> int:
        """Return how many recorded paths belong to no completed visit."""
        with self.repository() as repository:
            return check_recorded(repository, point, run.plan)

    def remove_directory(self, run: KnownRun) -> None:
        """Remove a run's directory; the store has all that counts."""
        shutil.rmtree(self.directory(run), ignore_errors=True)
        run.damage = Damage.NONE

    def spoil(self, run: KnownRun, chance: float) -> bytes | None:
        """Change, remove or hide a recorded file of a run; return its path, or None when there is none."""
        point = self.point(run)
        directory = self.directory(run)
        files = [
            os.fsencode(path.relative_to(directory))
            for visit in point.directories
            for path in sorted((directory / os.fsdecode(visit)).glob("*"))
            if path.is_file() and not path.is_symlink()
        ]
        if not files:
            return None
        chosen = files[int(chance * len(files))]
        path = directory / os.fsdecode(chosen)
        way = int(chance * 1000) % 3
        if way == 0:
            path.unlink()
        elif way == 1:
            path.chmod(path.stat().st_mode ^ 0o010)
        else:
            path.write_bytes(b"spoilt" + path.read_bytes())
        run.damage = Damage.DONE
        return chosen
