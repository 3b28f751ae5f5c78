"""Tables of every kind, which stores are tested with."""

from verdog_objects.store import Column, ColumnType, Table

TEXT, INTEGER, BLOB = ColumnType.TEXT, ColumnType.INTEGER, ColumnType.BLOB

REFS = Table(
    name="refs",
    columns=(
        Column(name="run", type=TEXT),
        Column(name="tip", type=BLOB, nullable=True),
        Column(name="epoch", type=INTEGER),
    ),
    key=("run",),
    sealed=True,
)
STEPS = Table(
    name="steps",
    columns=(
        Column(name="run", type=TEXT),
        Column(name="sequence", type=INTEGER),
        Column(name="label", type=TEXT, nullable=True),
        Column(name="digest", type=BLOB),
    ),
    key=("run", "sequence"),
    indexes=(("digest",), ("label", "sequence")),
)
EVENTS = Table(
    name="events",
    columns=(Column(name="number", type=INTEGER), Column(name="run", type=TEXT)),
    key=("number",),
    indexes=(("run",),),
    numbered=True,
    sealed=True,
)
MARKS = Table(name="marks", columns=(Column(name="mark", type=BLOB),), key=("mark",))
TABLES = (REFS, STEPS, EVENTS, MARKS)
