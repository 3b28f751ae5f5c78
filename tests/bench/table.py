"""The table of a benchmark: rows of two measured quantities, as Markdown and as JSON."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of the table.

    Attributes:
        name: what selects it on the command line.
        what: what was measured.
        ours: in `unit`.
        base: the operation that ours was alternated with, in the same unit; None when there is none.
        base_name: which operation that is.
        unit: `s`, `bytes` or `x`.
        target: what is to be held, for people.
        ok: whether it was held; None when there is no target.
        load: how many processes the machine ran on average in the minute before.
        note: what else is worth knowing.
    """

    name: str
    what: str
    ours: float
    target: str = "-"
    ok: bool | None = None
    base: float | None = None
    base_name: str = ""
    unit: str = "s"
    load: float = 0.0
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times the base operation ours takes."""
        return self.ours / self.base if self.base else None

    def as_json(self) -> dict[str, object]:
        return {**asdict(self), "ratio": self.ratio}

    def cells(self) -> list[str]:
        base = "-" if self.base is None else f"{format_quantity(self.base, self.unit)} ({self.base_name})"
        return [
            self.name,
            self.what,
            format_quantity(self.ours, self.unit),
            base,
            "-" if self.ratio is None else f"{self.ratio:.2f}x",
            self.target,
            {True: "ok", False: "MISS", None: "-"}[self.ok],
            f"{self.load:.1f}",
        ]


TITLES = ("row", "what", "ours", "base", "ratio", "target", "", "load")


def format_quantity(value: float, unit: str) -> str:
    """Return a quantity for people."""
    if unit == "bytes":
        return f"{value:,.0f} B"
    if unit == "x":
        return f"{value:.2f}x"
    if value >= 1:
        return f"{value:.2f} s"
    return f"{value * 1e3:.{2 if value < 0.01 else 1 if value < 0.1 else 0}f} ms"


def format_markdown(rows: Sequence[Row]) -> str:
    """Return the table in Markdown, readable as it is, with the notes below."""
    lines = [list(TITLES), *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(TITLES))]
    lines.insert(1, ["-" * width for width in widths])
    text = ["| " + " | ".join(map(str.ljust, line, widths)) + " |" for line in lines]
    notes = [f"- `{row.name}`: {row.note}" for row in rows if row.note]
    return "\n".join([*text, "", *notes] if notes else text)
