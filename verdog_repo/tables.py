"""The tables of a repository: what each column of each row means.

A run is called by a small number in every other table. Numbers are given once and never again.
"""

from typing import Final

from verdog_objects.store import Column, ColumnType, Table


def _text(name: str, *, nullable: bool = False) -> Column:
    return Column(name=name, type=ColumnType.TEXT, nullable=nullable)


def _integer(name: str, *, nullable: bool = False) -> Column:
    return Column(name=name, type=ColumnType.INTEGER, nullable=nullable)


def _bytes(name: str, *, nullable: bool = False) -> Column:
    return Column(name=name, type=ColumnType.BLOB, nullable=nullable)


RUNS: Final = Table(
    name="runs",
    columns=(
        _text("run"),
        _integer("number"),
        _bytes("header"),
        _text("output_dir"),
        _bytes("fork_point", nullable=True),
    ),
    key=("run",),
    indexes=(("fork_point",),),
    sealed=True,
)
"""One row per run: the object of its header, and the commit it was forked from."""

RUN_NUMBERS: Final = Table(name="run_numbers", columns=(_integer("number"), _text("run")), key=("number",))
"""One row per number that was ever given to a run."""

LEASES: Final = Table(
    name="leases", columns=(_integer("run"), _integer("epoch"), _text("boot")), key=("run",)
)
"""How often each run's lease was taken, and in which boot of which host the last time."""

REFS: Final = Table(
    name="refs",
    columns=(
        _text("name"),
        _integer("run"),
        _bytes("git_id", nullable=True),
        _bytes("record", nullable=True),
        _integer("sequence"),
        _integer("generation"),
        _integer("committed_s"),
        _integer("flags"),
    ),
    key=("name",),
    sealed=True,
)
"""`runs/<run>` (its latest checkpoint), `tags/<name>` (a checkpoint), `labels/<name>` (a run; no commit)."""

REFLOG: Final = Table(
    name="reflog",
    columns=(
        _integer("number"),
        _integer("run"),
        _bytes("git_id", nullable=True),
        _integer("at_us"),
        _bytes("operation"),
    ),
    key=("number",),
    indexes=(("run",),),
    numbered=True,
    sealed=True,
)
"""Every value that a run's ref ever had, in order; no commit means that it was removed."""

OPERATIONS: Final = Table(
    name="operations",
    columns=(
        _integer("number"),
        _bytes("operation"),
        _text("kind"),
        _integer("at_us"),
        _integer("run", nullable=True),
        _bytes("detail"),
    ),
    key=("number",),
    indexes=(("operation",),),
    numbered=True,
    sealed=True,
)
"""One row per command that changed something: what it was, and the refs it moved itself."""

CHECKPOINTS: Final = Table(
    name="checkpoints",
    columns=(
        _integer("run"),
        _integer("sequence"),
        _bytes("git_id"),
        _bytes("parent", nullable=True),
        _integer("generation"),
        _bytes("record"),
        _integer("committed_s"),
        _integer("kind"),
        _integer("flags"),
        _text("place", nullable=True),
        _integer("visit", nullable=True),
        _text("next_place", nullable=True),
        _integer("next_visit", nullable=True),
        _integer("resumed_from", nullable=True),
        _integer("created_us"),
        _integer("duration_ns"),
        _integer("files_added"),
        _integer("bytes_added"),
    ),
    key=("run", "sequence", "git_id"),
    indexes=(("git_id",),),
)
"""One row per checkpoint, all of it derivable from the records. Two rows share a run and a sequence only when
one of them left its run's history."""

TABLES: Final = (RUNS, RUN_NUMBERS, LEASES, REFS, REFLOG, OPERATIONS, CHECKPOINTS)
