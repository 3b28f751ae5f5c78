"""Tables in CSV compared row by row."""

import csv
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from verdog_repo.parts import PartChange

_DELIMITERS: Final = {b".csv": ",", b".tsv": "\t"}


class _Table(NamedTuple):
    """A table whose first column names its rows."""

    columns: list[str]
    rows: dict[str, list[str]]


def find_delimiter(path: bytes) -> str | None:
    """Return what separates the columns of a file of this name, or None for a file that is no table."""
    return _DELIMITERS.get(path[-4:].lower())


def compare_csv(before: bytes, after: bytes, delimiter: str) -> list[PartChange] | None:
    """Return what differs between two tables: rows that one lacks, then for the others, changed cells.

    Returns:
        None when one of them is not a table in UTF-8 whose first row names the same columns as that of the
        other and whose first column names each row once, or when no row differs.
    """
    try:
        old, new = _parse(before, delimiter), _parse(after, delimiter)
    except (ValueError, StopIteration, csv.Error):
        return None
    if old is None or new is None or old.columns != new.columns:
        return None
    return list(_compare(old, new, delimiter)) or None


def _parse(content: bytes, delimiter: str) -> _Table | None:
    text = content.decode("utf-8-sig").removesuffix("\n")
    lines = csv.reader((f"{line}\n" for line in text.split("\n")), delimiter=delimiter, strict=True)
    columns = next(lines)
    rows: dict[str, list[str]] = {}
    for row in lines:
        if len(row) != len(columns) or row[0] in rows:
            return None
        rows[row[0]] = row
    return _Table(columns, rows) if len(columns) > 1 and len(set(columns)) == len(columns) else None


def _compare(old: _Table, new: _Table, delimiter: str) -> Iterator[PartChange]:
    for name, row in old.rows.items():
        other = new.rows.get(name)
        if other is None:
            yield PartChange(name, _format(row, delimiter), None)
        elif other != row:
            for column, before, after in zip(old.columns, row, other, strict=True):
                if before != after:
                    yield PartChange(f"{name}: {column}", before, after)
    for name, row in new.rows.items():
        if name not in old.rows:
            yield PartChange(name, None, _format(row, delimiter))


def _format(row: Sequence[str], delimiter: str) -> str:
    return f"{delimiter} ".join(row[1:]) if delimiter == "," else delimiter.join(row[1:])
