"""For minutes or hours, commands at random on one store: killed, repeated, two at a time, all compared."""

import os
import random
import subprocess
import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from tests.long.ground import Damage, Ground
from tests.long.operations import BUSY, FAILED, Operation, Operations
from tests.long.shells import Ended, Shell

FSCK_SHARE = 5
"""The store is checked again after so many times as long as the last check took."""


class Soak:
    """Does operations and checks each."""

    def __init__(self, ground: Ground, shells: list[Shell], seed: int) -> None:
        self.ground = ground
        self.done: Counter[str] = Counter()
        self.recent: deque[str] = deque(maxlen=40)
        self._shells = shells
        self._chance = random.Random(seed)
        self._operations = Operations(ground, self._chance)
        self._checked, self._check_took = time.monotonic(), 1.0

    def go_on(self) -> None:
        """Do one operation, or two at the same time."""
        self.ground.failing.unlink(missing_ok=True)
        if self._chance.random() < 0.1:
            self.ground.failing.touch()
        chosen = [self._operations.choose()]
        if self._chance.random() < 0.4:
            runs = self.ground.runs  # choosing can spoil files, so what is chosen is done, and for other runs
            self.ground.runs = [run for run in runs if run not in chosen[0].runs]
            chosen.append(self._operations.choose())
            self.ground.runs = runs
        elif chosen[0].arguments[0] == "resume" and self._chance.random() < 0.2:
            chosen = compete(chosen[0])
        begun = time.monotonic()
        if self.ground.has_store() and begun > self._checked + FSCK_SHARE * self._check_took:
            chosen.append(self._operations.fsck(read_data=self._chance.random() < 0.3))
        self._do(chosen)
        if chosen[-1].arguments[0] == "fsck":
            self._checked = time.monotonic()
            self._check_took = self._checked - begun

    def end(self) -> None:
        """Bring every run to its end, and look at everything once more."""
        self.ground.failing.unlink(missing_ok=True)
        shell = self._shells[0]
        for run in self.ground.unfinished:
            ended = shell.run("resume", run.id, "--restore")
            assert ended.code == (0 if run.seen else 1), ended.err
            if run.seen:
                run.damage = Damage.NONE
                self.ground.look(run)
                self.ground.look_at_files(run)
                assert run.ended
        for run in self.ground.runs:
            if run.seen:
                self.ground.look(run)
        for command in (["fsck", "--read-data"], ["git", "export", "history.git"]):
            ended = shell.run(*command)
            assert ended.code == 0, ended.err
        subprocess.run(["git", "-C", self.ground.project / "history.git", "fsck", "--strict"], check=True)

    def _do(self, operations: list[Operation]) -> None:
        pairs = list(zip(self._shells, operations, strict=False))
        for shell, operation in pairs:
            self._note(f"begin {operation.arguments} {operation.after_s} {operation.signal}")
            shell.start(operation.arguments, operation.after_s, operation.signal)
        ended = [shell.finish() for shell, _ in pairs]
        for (shell, operation), end in zip(pairs, ended, strict=True):
            self._judge(operation, end)
            if operation.repeat and end.cut_short:
                self._judge(operation, shell.run(*operation.arguments))

    def _judge(self, operation: Operation, ended: Ended) -> None:
        self._note(f"  {operation.arguments[0]} ended with {ended.code}: {ended.err[-2000:].strip()}")
        assert not ended.hung, f"{operation.arguments} does not end"
        assert ended.cut_short <= (operation.after_s is not None)
        assert ended.cut_short or ended.code in operation.allowed, f"{operation.arguments}: {ended}"
        assert "Traceback" not in ended.err or self.ground.failing.exists(), ended.err
        operation.check(ended)
        self.done[operation.arguments[0]] += 1
        self.done["killed"] += ended.cut_short

    def _note(self, text: str) -> None:
        self.recent.append(text)


@pytest.fixture
def shells(project: Path) -> Iterator[list[Shell]]:
    ground = project / "ground"
    ground.mkdir()
    with ExitStack() as stack:
        yield [stack.enter_context(Shell(ground, project / f"shell-{number}")) for number in range(3)]


@pytest.mark.long
def test_one_store_serves_for_hours_whatever_is_done_and_killed(project: Path, shells: list[Shell]) -> None:
    """Ten minutes, or VERDOG_SOAK_MINUTES. VERDOG_SOAK_SEED repeats the choices, though not the moments."""
    seed = int(os.environ.get("VERDOG_SOAK_SEED", random.randrange(1 << 32)))
    seconds = 60 * float(os.environ.get("VERDOG_SOAK_MINUTES", "10"))
    print(f"VERDOG_SOAK_SEED={seed}")
    soak = Soak(Ground(project / "ground"), shells, seed)
    begun = told = time.monotonic()
    try:
        while time.monotonic() < begun + seconds:
            soak.go_on()
            if time.monotonic() > told + 60:
                told = time.monotonic()
                print(f"{(told - begun) / 60:.0f} min: {describe(soak)}", flush=True)
        soak.end()
    except BaseException as error:
        error.add_note("\n".join([f"VERDOG_SOAK_SEED={seed}, in {project}", *soak.recent]))
        raise
    print(f"the end: {describe(soak)}")


def compete(resume: Operation) -> list[Operation]:
    """Return a command that goes on with a run, and a second one that wants the same at the same time."""
    (run,) = resume.runs
    if run.damage is not Damage.NONE or not run.seen:
        return [resume]
    codes: list[int] = []

    def check(ended: Ended) -> None:
        resume.check(ended)
        codes.append(ended.code)
        assert codes != [BUSY, BUSY], "each was in the other's way"

    either = replace(resume, allowed=resume.allowed | {FAILED, BUSY}, check=check)
    return [either, replace(either, after_s=None)]


def describe(soak: Soak) -> str:
    done = ", ".join(f"{count} {name}" for name, count in sorted(soak.done.items()))
    return f"{len(soak.ground.runs)} runs; {done}"
