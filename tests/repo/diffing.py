"""Runs with chosen files and values at each checkpoint, to be compared."""

from collections.abc import Mapping, Sequence

from tests.repo.samples import Script, at, boundary, operation
from verdog_objects import manifest
from verdog_objects.nodes import EMPTY_OID, Entry, EntryKind
from verdog_objects.oid import Kind, Oid
from verdog_objects.store import Writer
from verdog_repo.checkpoint import Checkpoint
from verdog_repo.diff import Comparison, compare
from verdog_repo.draft import CheckpointDraft
from verdog_repo.names import RunId
from verdog_repo.record import CheckpointKind

Files = Mapping[bytes, bytes | Entry | None]
"""Paths with their new content or entry; None removes."""

Values = Mapping[bytes, bytes | None]
"""Addresses with their new value; None removes."""

DIRECTORY = Entry(EntryKind.DIRECTORY, 0o755, 0, EMPTY_OID)


def layout(steps: Sequence[tuple[str, int]]) -> bytes:
    """Return the directory of a visit."""
    return "/".join(f"{node}/{number}" for node, number in steps).encode()


class World:
    """A repository of runs whose checkpoints change named files and values of the one before."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.repository = script.repository

    def run(self, name: str) -> None:
        self.script.run(name)

    def visit(
        self,
        run: str,
        node: str = "work",
        number: int = 1,
        files: Files | None = None,
        values: Values | None = None,
        **changes: object,
    ) -> Checkpoint:
        """Commit a visit; its checkpoint goes on from the files and the state of the run's latest one."""
        tip = self.repository.tip(RunId(run))
        record = None if tip is None else self.repository.record(tip)
        self.script.second += 1
        writer = self.repository.store.writer()
        wanted: dict[str, object] = {
            "kind": CheckpointKind.NODE,
            "operation": operation().id,
            "created_at": at(self.script.second),
            "completed": boundary(node, number),
            "next": boundary("work", number + 1),
            "artifacts": self._files(writer, record and record.artifacts, files or {}),
            "state": self._state(writer, record and record.state, values or {}),
        }
        draft = CheckpointDraft(**{**wanted, **changes})  # type: ignore[arg-type]
        return self.repository.commit(writer, self.script.lease(run), draft)

    def fork(self, source: Checkpoint, name: str) -> Checkpoint:
        return self.script.fork(source, name)

    def compare(self, left: Checkpoint | str | None, right: Checkpoint | str) -> Comparison:
        sides = [self._tip(each) if isinstance(each, str) else each for each in (left, right)]
        assert sides[1] is not None
        return compare(self.repository.catalog, sides[0], sides[1], layout)

    def _tip(self, run: str) -> Checkpoint:
        found = self.repository.tip(RunId(run))
        assert found is not None
        return found

    def _files(self, writer: Writer, root: Oid | None, files: Files) -> Oid:
        changes: dict[bytes, Entry | None] = {}
        for path, content in files.items():
            entry = content
            if isinstance(content, bytes):
                entry = Entry(EntryKind.FILE, 0o644, len(content), writer.put(Kind.BLOB, content))
            key = manifest.path_key(path)
            changes[key] = entry  # type: ignore[assignment]
            if entry is not None:
                changes |= {key[:end]: DIRECTORY for end, byte in enumerate(key) if byte == 0}
        return manifest.update(writer, root or manifest.empty(writer), changes)

    def _state(self, writer: Writer, root: Oid | None, values: Values) -> Oid:
        changes = {
            key: None
            if value is None
            else Entry(EntryKind.VALUE, 0, len(value), writer.put(Kind.VALUE, value))
            for key, value in values.items()
        }
        return manifest.update(writer, root or manifest.empty(writer), changes)
