"""Rows about trees of files: captured, written again, and one big file; beside `cp`, Git and restic."""

import os
import shutil
from pathlib import Path

from tests.bench.bench import Bench
from tests.bench.pairs import Samples, measure, run
from verdog_objects.checkout import materialise
from verdog_objects.oid import Oid
from verdog_objects.sqlite import SqliteStore, create_store
from verdog_repo.tables import TABLES
from verdog_runtime.interpreter.artifacts import ArtifactTree
from verdog_runtime.layout import exclude_control_files

FILE_BYTES = 10_000
DIRECTORY_FILES = 100

GIT = {
    "GIT_AUTHOR_NAME": "bench",
    "GIT_AUTHOR_EMAIL": "bench@localhost",
    "GIT_COMMITTER_NAME": "bench",
    "GIT_COMMITTER_EMAIL": "bench@localhost",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


def make_tree(root: Path, files: int) -> Path:
    """Write files of 10 KB, a hundred to a directory, that compress to about a half."""
    for number in range(files):
        directory = root / f"{number // DIRECTORY_FILES:04d}"
        directory.mkdir(parents=True, exist_ok=True)
        (directory / f"{number:06d}.txt").write_text(os.urandom(FILE_BYTES // 2).hex())
    return root


class Rivals:
    """A repository of Git and one of restic, new for each capture."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._cache = directory / "restic-cache"
        self.restic = shutil.which("restic")

    def make(self, number: int) -> None:
        """Make the repositories of a round."""
        run(["git", "init", "-q", "--bare", self._git(number)], environment=GIT)
        if self.restic is not None:
            self._restic(number, "init")

    def git_commit(self, tree: Path, number: int) -> None:
        git = ["git", "-c", "gc.auto=0", f"--git-dir={self._git(number)}", f"--work-tree={tree}"]
        run([*git, "add", "-A", tree], environment=GIT)
        run([*git, "commit", "-q", "-m", "tree"], environment=GIT)

    def restic_backup(self, tree: Path, number: int) -> None:
        self._restic(number, "backup", tree)

    def restic_restore(self, number: int, target: Path) -> None:
        self._restic(number, "restore", "latest", "--target", target)

    def restic_list(self, number: int) -> None:
        """Do what every command of restic has to do: derive the key and open the repository."""
        self._restic(number, "snapshots")

    def _git(self, number: int) -> Path:
        return self._directory / f"git-{number}"

    def _restic(self, number: int, *arguments: str | Path) -> None:
        where = ["-r", self._directory / f"restic-{number}", "--cache-dir", self._cache, "-q"]
        run(["restic", *where, *arguments], environment={"RESTIC_PASSWORD": "bench"})


def capture(tree: Path, directory: Path) -> tuple[SqliteStore, Oid]:
    """Record a tree durably in a new store, by what the recorder uses."""
    store = create_store(directory, TABLES)
    with store.writer() as writer:
        artifacts = ArtifactTree(tree.parent, None, excluded=exclude_control_files(tree.parent))
        found = artifacts.take(writer, tree.name, last=False)
        assert not found.problems
        store.apply(writer)
    return store, found.root


def measure_capture(bench: Bench) -> None:
    """Many files captured, against a backup and a commit of them."""
    directory = bench.directory("capture")
    rivals = Rivals(directory)
    output = directory / "out"
    tree = make_tree(output / "tree", bench.sizes.files)
    for number in range(bench.sizes.rounds):
        rivals.make(number)

    def ours(number: int) -> None:
        capture(tree, directory / f"store-{number}")[0].close()

    operations = [ours, lambda number: rivals.git_commit(tree, number)]
    if rivals.restic is not None:
        operations += [lambda number: rivals.restic_backup(tree, number), rivals.restic_list]
    taken = measure(*operations, rounds=bench.sizes.rounds, settle=True)
    what = f"{bench.sizes.files:,} files x 10 KB captured"
    _add(bench, "capture", what, taken[0], (taken[1], "git add && git commit"), 0.33)
    if rivals.restic is not None:
        _add(bench, "capture", what, taken[0], (taken[2], "restic backup"), 1.0, _restic_note(taken[3]))


def measure_checkout(bench: Bench) -> None:
    """Many files written from the store, against a copy and a restored backup."""
    directory = bench.directory("checkout")
    rivals = Rivals(directory)
    tree = make_tree(directory / "out" / "tree", bench.sizes.files)
    store, root = capture(tree, directory / "store")
    rivals.make(0)
    if rivals.restic is not None:
        rivals.restic_backup(tree, 0)

    def place(name: str, number: int) -> Path:
        return directory / f"{name}-{number}"

    def copy(number: int) -> None:
        run(["cp", "-r", tree, place("copy", number)])

    def copy_and_sync(number: int) -> None:
        run(["cp", "-r", tree, place("synced", number)])
        run(["sync", "-f", place("synced", number)])

    operations = [
        lambda number: materialise(store, root, place("ours", number), preserve_special=False),
        copy,
        copy_and_sync,
    ]
    if rivals.restic is not None:
        operations.append(lambda number: rivals.restic_restore(0, place("restored", number)))
        operations.append(lambda number: rivals.restic_list(0))
    taken = measure(*operations, rounds=bench.sizes.rounds, settle=True)
    what = f"{bench.sizes.files:,} files x 10 KB written, verified, synced"
    note = f"`cp -r` and `sync -f`, which is as durable as ours: {taken[2].median:.2f} s"
    _add(bench, "checkout", what, taken[0], (taken[1], "cp -r"), 2.5, note)
    if rivals.restic is not None:
        _add(bench, "checkout", what, taken[0], (taken[3], "restic restore"), 1.0, _restic_note(taken[4]))
    store.close()


def measure_big(bench: Bench) -> None:
    """One big file that nothing compresses, captured, against a synced copy."""
    directory = bench.directory("big")
    tree = directory / "out" / "tree"
    tree.mkdir(parents=True)
    source = tree / "big.bin"
    with source.open("wb") as file:
        for _ in range(bench.sizes.big_bytes >> 20):
            file.write(os.urandom(1 << 20))

    def ours(number: int) -> None:
        capture(tree, directory / "store")[0].close()

    def copy(number: int) -> None:
        run(["cp", source, directory / "copy"])
        run(["sync", directory / "copy"])

    rounds: list[list[float]] = [[], []]
    for _ in range(bench.sizes.rounds):
        for samples, each in zip(rounds, measure(ours, copy, rounds=1, settle=True), strict=True):
            samples += each.taken
        shutil.rmtree(directory / "store")
        (directory / "copy").unlink()
    what = f"{bench.sizes.big_bytes >> 20:,} MiB incompressible file captured"
    mine, base = (Samples(taken=tuple(each)) for each in rounds)
    _add(bench, "big", what, mine, (base, "cp, sync"), 2.0)


def _restic_note(listed: Samples) -> str:
    return f"restic takes {listed.median:.2f} s to list snapshots, which is mostly its key derivation"


def _add(
    bench: Bench, name: str, what: str, ours: Samples, base: tuple[Samples, str], limit: float, note: str = ""
) -> None:
    bench.add(
        name=name,
        what=what,
        ours=ours.median,
        base=base[0].median,
        base_name=base[1],
        target=f"<= {limit:g}x",
        ok=ours.median <= limit * base[0].median,
        note=note,
    )
