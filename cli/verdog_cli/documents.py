"""JSON on standard output: one document, or one object per line."""

from collections.abc import Mapping

import click

SCHEMA_VERSION = 1
"""Of every document, and of every line."""


def emit_document(operation: str, **fields: object) -> None:
    """Print the one JSON document of a command. It is ASCII, whatever the names in it."""
    import json

    document = {"schema_version": SCHEMA_VERSION, "operation": operation, **fields}
    click.echo(json.dumps(document, indent=2, ensure_ascii=True))


def emit_line(kind: str, fields: Mapping[str, object]) -> None:
    """Print one object of a stream, on a line of its own and at once. It is ASCII, whatever the names in it.

    Args:
        kind: what the object is: the member `type`.
        fields: its other members.
    """
    import json

    click.echo(json.dumps({"schema_version": SCHEMA_VERSION, "type": kind, **fields}, ensure_ascii=True))
