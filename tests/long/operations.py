"""What the soak test does: command lines with what they may exit with, and what must hold afterwards."""

import hashlib
import os
import random
import shutil
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from blake3 import blake3

from tests.long.flow import Plan
from tests.long.ground import Damage, Ground, KnownRun
from tests.long.model import Point, check_paths, count_changes, expect, read_directory
from tests.long.shells import Ended
from verdog_objects.nodes import EntryKind
from verdog_repo.names import format_commit_id

FAILED, BROKEN, BUSY = 1, 4, 5


@dataclass(frozen=True, kw_only=True)
class Operation:
    """A command line.

    Attributes:
        allowed: what it may exit with, when no signal comes.
        runs: those whose directories it writes to; only one at a time may.
        check: is called with how it ended.
        repeat: after a signal, it is done again and must then be done as if nothing had been.
    """

    arguments: list[str]
    allowed: frozenset[int]
    check: Callable[[Ended], None]
    runs: tuple[KnownRun, ...] = ()
    after_s: float | None = None
    signal: int = signal.SIGKILL
    repeat: bool = False


class Operations:
    """Makes operations at random."""

    def __init__(self, ground: Ground, chance: random.Random) -> None:
        self._ground = ground
        self._chance = chance
        self._number = 0

    def choose(self) -> Operation:
        """Return an operation that can be done now."""
        if not self._ground.runs or not any(run.seen for run in self._ground.runs):
            return self.run()
        unfinished = len(self._ground.unfinished)
        weights: dict[Callable[[], Operation], int] = {
            self.run: 3 if unfinished < 12 else 0,
            self.resume: min(30, 4 * unfinished),
            self.fork: 6 if unfinished < 12 else 0,
            self.restart: 1 if unfinished < 12 else 0,
            self.checkout: 5,
            self.restore: 3,
            self.diff: 6,
            self.cat: 3,
            self.read: 5,
            self.name: 1,
            self.export: 1,
        }
        return self._chance.choices(list(weights), list(weights.values()))[0]()

    def run(self) -> Operation:
        """Begin a run."""
        plan = Plan(turns=self._chance.randrange(1, 25), flavour=self._chance.randrange(3))
        run = KnownRun(id=self._name("run"), plan=plan, output=self._output())
        given = ["--", "--input.turns", str(plan.turns), "--input.flavour", str(plan.flavour)]

        def check(ended: Ended) -> None:
            self._adopt(run, ended)

        head = ["run", "flow.py", "--run-id", run.id, "--output-dir", run.output]
        return self._writing([*head, *given], run, check)

    def resume(self) -> Operation:
        """Go on with a run, whose directory may be gone or spoilt."""
        run = self._chance.choice(self._ground.unfinished or self._ground.runs)
        spoilt = self._disturb(run) if run.seen else None
        restore = self._chance.random() < (0.1 if run.damage is Damage.NONE else 0.5)
        damage = run.damage
        allowed = {0, FAILED} if self._may_fail(run) else {0}
        if not restore and damage is not Damage.NONE:
            allowed = {BROKEN} if damage is Damage.DONE else allowed | {BROKEN}

        def check(ended: Ended) -> None:
            if restore and damage is not Damage.NONE:
                run.damage = Damage.UNKNOWN if ended.cut_short else Damage.NONE
            elif ended.code == BROKEN and spoilt is not None:
                assert escape(spoilt) in ended.err, "the path is not named"
            self._adopt(run, ended)

        return self._writing(["resume", run.id, *["--restore"][: int(restore)]], run, check, allowed=allowed)

    def restore(self) -> Operation:
        """Put files back."""
        run = self._known()
        if self._ground.directory(run).exists() and self._chance.random() < 0.7:
            self._ground.spoil(run, self._chance.random())
        damage = run.damage

        def check(ended: Ended) -> None:
            if damage is not Damage.NONE:
                run.damage = Damage.UNKNOWN if ended.cut_short else Damage.NONE
            if not ended.cut_short:
                self._ground.look_at_files(run)

        return self._writing(["restore", run.id], run, check, allowed={0}, may_move=False)

    def fork(self) -> Operation:
        """Fork a run at any checkpoint."""
        point, source = self._point()
        run = KnownRun(id="", plan=source.plan, output=self._output())
        arguments = ["fork", name_of(point), "--sessions", "fresh", "--output-dir", run.output]
        if self._chance.random() < 0.3:
            arguments.append("--no-run")

        def check(ended: Ended) -> None:
            self._adopt(run, ended)
            assert not run.seen or run.seen[: point.position] == source.seen[: point.position]

        return self._writing(arguments, run, check)

    def restart(self) -> Operation:
        """Begin again."""
        source = self._known()
        run = KnownRun(id="", plan=source.plan, output=self._output())
        arguments = ["restart", source.id, "--sessions", "fresh", "--output-dir", run.output]

        def check(ended: Ended) -> None:
            self._adopt(run, ended)

        return self._writing(arguments, run, check)

    def checkout(self) -> Operation:
        """Write the files of any checkpoint."""
        point, run = self._point()
        target = self._ground.project / self._name("checkout")

        def check(ended: Ended) -> None:
            if target.exists():
                check_paths(read_directory(target), point, run.plan)
                shutil.rmtree(target)
            else:
                assert ended.cut_short
            if not ended.cut_short:
                self._require_no_partial(target)

        return self._reading(["checkout", name_of(point), target.name], check, stop=0.4, repeat=True)

    def diff(self) -> Operation:
        """Compare any two checkpoints."""
        (left, before), (right, after) = self._point(), self._point()
        changes = count_changes((before.plan, left.position), (after.plan, right.position))
        differ = bool(changes) or left.position != right.position  # then there are other directories
        sure = not self._ground.others(before, left) and not self._ground.others(after, right)

        def check(ended: Ended) -> None:
            lines = ended.out.decode().splitlines()
            found = {letter: sum(line[0] == letter for line in lines) for letter in "ADM"}
            if sure:
                assert {letter: count for letter, count in found.items() if count} == changes
                assert len(lines) == sum(found.values())

        arguments = ["diff", "--exit-code", "--name-status", name_of(left), name_of(right)]
        return self._reading(arguments, check, allowed={int(differ)} if sure else {0, 1})

    def cat(self) -> Operation:
        """Read a file of any checkpoint."""
        point, run = self._point()
        number = self._chance.randrange(point.position)
        paths = expect(run.plan)[number].paths
        files = [name for name, shape in paths.items() if shape.kind is EntryKind.FILE]
        if not files:
            return self.read()
        name = self._chance.choice(files)
        path = os.fsdecode(point.directories[number] + b"/" + name)

        def check(ended: Ended) -> None:
            assert hashlib.sha256(ended.out).hexdigest() == paths[name].digest

        return self._reading(["cat", f"{name_of(point)}:{path}"], check)

    def read(self) -> Operation:
        """Look at something."""
        point, run = self._point()
        revision = name_of(point)
        choices = [
            ["log", "--all", "--graph", "-n", "50"],
            ["log", run.id],
            ["show", revision],
            ["ls", "-l", "-R", revision],
            ["runs"],
            ["checkpoints", run.id],
            ["status", run.id],
            ["diff", revision],
            ["runs", "prune"],
            ["doctor"],
        ]
        arguments = self._chance.choice(choices)
        allowed = {0, FAILED} if arguments[0] in ("status", "doctor") else {0}
        return self._reading(arguments, lambda ended: None, allowed=allowed)

    def name(self) -> Operation:
        """Name something."""
        point, run = self._point()
        given = self._name("name")
        what = ["tag", given, name_of(point)] if self._chance.random() < 0.5 else ["label", run.id, given]
        return self._reading(what, lambda ended: None, stop=0.3)

    def export(self) -> Operation:
        """Export the history for Git, perhaps while another command does."""
        what = ["git", "export", "history.git"]
        return self._reading(what, lambda ended: None, allowed={0, BUSY}, stop=0.4, repeat=True)

    def fsck(self, *, read_data: bool) -> Operation:
        """Check the store."""
        repair = ["--repair"] if read_data and self._chance.random() < 0.3 else []
        return self._reading(["fsck", *["--read-data"][: int(read_data)], *repair], lambda ended: None)

    # Parts

    def _name(self, what: str) -> str:
        self._number += 1
        return f"{what}-{self._number}"

    def _output(self) -> str:
        return f"out/{self._name('output')}"

    def _known(self) -> KnownRun:
        """Return a run that has checkpoints, rather a young one."""
        known = [run for run in self._ground.runs if run.seen]
        return self._chance.choice(known[-30:] if self._chance.random() < 0.7 else known)

    def _point(self) -> tuple[Point, KnownRun]:
        run = self._known()
        return self._ground.point(run, self._chance.randint(1, len(run.seen))), run

    def _disturb(self, run: KnownRun) -> bytes | None:
        chance = self._chance.random()
        if chance < 0.15:
            self._ground.remove_directory(run)
        elif chance < 0.3 and run.damage is Damage.NONE and self._ground.directory(run).exists():
            return self._ground.spoil(run, self._chance.random())
        return None

    def _may_fail(self, run: KnownRun) -> bool:
        return self._ground.failing.exists() or run.ended or not run.seen

    def _moment(self, stop: float) -> float | None:
        if self._chance.random() >= stop:
            return None
        return self._chance.uniform(0, self._chance.choice([0.05, 0.3, 1.0]))

    def _writing(
        self,
        arguments: list[str],
        run: KnownRun,
        check: Callable[[Ended], None],
        *,
        allowed: set[int] | None = None,
        may_move: bool = True,
    ) -> Operation:
        if allowed is None:
            allowed = {0, FAILED} if may_move and self._ground.failing.exists() else {0}
        return Operation(
            arguments=arguments,
            allowed=frozenset(allowed),
            check=check,
            runs=(run,),
            after_s=self._moment(0.6),
            signal=signal.SIGTERM if self._chance.random() < 0.2 else signal.SIGKILL,
        )

    def _reading(
        self,
        arguments: list[str],
        check: Callable[[Ended], None],
        *,
        allowed: set[int] | None = None,
        stop: float = 0.0,
        repeat: bool = False,
    ) -> Operation:
        return Operation(
            arguments=arguments,
            allowed=frozenset({0} if allowed is None else allowed),
            check=check,
            after_s=self._moment(stop),
            signal=signal.SIGTERM if self._chance.random() < 0.2 else signal.SIGKILL,
            repeat=repeat,
        )

    def _adopt(self, run: KnownRun, ended: Ended) -> None:
        """Look at a run that a command wrote to, which may have made it."""
        ground = self._ground
        known = run in ground.runs
        if not known:
            found = ground.find(run.output) if ground.has_store() else None
            assert found is not None or ended.cut_short, "there is no run"
            if found is None:
                shutil.rmtree(ground.directory(run), ignore_errors=True)
                return
            assert run.id in ("", found)
            run.id = found
            ground.runs.append(run)
        ground.look(run)
        if run.ended and run.damage is Damage.NONE and ground.directory(run).exists():
            ground.look_at_files(run)
            if self._chance.random() < 0.8:
                ground.remove_directory(run)
        elif not run.seen and not ended.cut_short and known:
            ground.runs.remove(run)  # there was nothing to resume

    def _require_no_partial(self, target: Path) -> None:
        digest = blake3(target.name.encode()).hexdigest(length=8)
        assert not list(target.parent.glob(f".verdog-partial-{digest}-*"))


def name_of(point: Point) -> str:
    """Return a checkpoint's commit as a command takes it."""
    return format_commit_id(point.checkpoint.commit)


def escape(path: bytes) -> str:
    """Return a path as text shows it."""
    return path.decode("utf-8", "backslashreplace").replace("\n", "\\n")
