"""`verdog doctor`: the project, the store and the machine below."""

import os
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from verdog_cli.context import JSON, Context, pass_context
from verdog_cli.diagnosis import Remark, judge
from verdog_cli.documents import emit_document
from verdog_cli.exits import FAILED, OK
from verdog_cli.forms import json_option
from verdog_cli.group import Command
from verdog_cli.messages import wrap_commands, wrap_hint
from verdog_cli.palette import BAD, GOOD, NAME, TITLE, paint
from verdog_cli.render import escape, exact, format_duration, format_size, plural, terminal_width

if TYPE_CHECKING:
    from verdog_objects.disks import Disk
    from verdog_repo.doctor import Facts, Held, StoreFacts

_MOST = 80
"""Longer lines are hard to read, however wide a terminal is."""

_LABEL = 10
_NARROW = 40
"""A terminal that is narrower gets the label of a row on a line of its own."""


@click.command("doctor", cls=Command)
@json_option
@pass_context
def command(context: Context) -> int:
    """Report on the project, its store and the machine below.

    Versions, file system, free space, limits, locks that are held, runs that look interrupted, what killed
    processes left behind, and how long the disk takes to sync. Nothing of the project is changed: a file
    without a name is written and synced to measure. The exit code is 1 when there is a finding; advice alone
    is none. Whether the store is sound is what `verdog fsck` checks.
    """
    from verdog_repo.doctor import gather_facts

    facts = gather_facts(context.project())
    remarks = [_address(each, context) for each in judge(facts)]
    findings = [each for each in remarks if each.finding]
    if context.form == JSON:
        emit_document("doctor", **_as_json(facts, remarks))
    else:
        for line in _format(facts, remarks):
            click.echo(line)
        click.echo(paint(plural(len(findings), "finding"), BAD if findings else GOOD))
    return FAILED if findings else OK


def _address(remark: Remark, context: Context) -> Remark:
    """Return a remark whose commands can be pasted where the person is."""
    return remark if remark.hint is None else replace(remark, hint=context.paste(remark.hint))


def _format(facts: "Facts", remarks: list[Remark]) -> Iterator[str]:
    versions = facts.versions
    yield from _row("versions", ", ".join(f"{name} {version}" for name, version in versions.items()))
    yield from _row("project", escape(str(facts.project)))
    yield from _row("store", "none yet" if facts.store is None else _format_store(facts.store))
    for purpose, disk in facts.disks:
        yield from _row("disk", f"{purpose}: {_format_disk(disk)}")
    yield from _row("sync", _format_syncs(facts.syncs_ns))
    yield from _row("limits", _format_limits(facts))
    if facts.store is not None:
        yield from _row("runs", _format_runs(facts.store))
    for held in facts.held:
        yield from _row("lock", _format_held(held))
    for remark in remarks:
        yield ""
        word, style = ("finding:", BAD) if remark.finding else ("advice:", NAME)
        first, *more = wrap_commands(f"{word} {remark.message}", _width())
        yield from [first.replace(word, paint(word, style), 1), *more]
        if remark.hint is not None:
            yield from wrap_hint(remark.hint, _width(), "  ", "  ")
    if remarks:
        yield ""


def _row(label: str, text: str) -> list[str]:
    if _width() < _NARROW:
        return [paint(label, TITLE), *wrap_commands(text, _width(), "  ", "  ")]
    first, *more = wrap_commands(text, _width(), label.ljust(_LABEL), " " * _LABEL)
    return [first.replace(label, paint(label, TITLE), 1), *more]


def _width() -> int:
    return min(_MOST, terminal_width())


def _format_store(store: "StoreFacts") -> str:
    form = "unreadable" if store.format is None else f"format {store.format}"
    database, packs = format_size(store.database_bytes), format_size(store.packs_bytes)
    return f"{form}, {database} in the database, {packs} in {plural(store.packs, 'pack')}"


def _format_disk(disk: "Disk") -> str:
    where = "reached over a network" if disk.network else "local"
    shares = {None: "", True: ", shares blocks (reflinks)", False: ", no reflinks"}[disk.reflinks]
    inodes = "" if disk.free_inodes is None else f", room for {disk.free_inodes:,} files"
    room = f"{format_size(disk.free_bytes)} of {format_size(disk.size_bytes)} free{inodes}"
    return f"{disk.type or 'of unknown type'}, {where}{shares}, {room}"


def _format_syncs(taken: tuple[int, ...]) -> str:
    if not taken:
        return "not measured: nothing may be written there"
    median, slowest = format_duration(taken[len(taken) // 2]), format_duration(taken[-1])
    return f"{median} for 4 KiB (median of {len(taken)}; the slowest {slowest})"


def _format_limits(facts: "Facts") -> str:
    parts = [
        f"{facts.open_files[0]:,} open files" if facts.open_files[0] >= 0 else "any number of open files"
    ]
    if facts.disks:
        disk = facts.disks[0][1]
        parts.append(f"paths of {disk.longest_path:,} bytes, names of {disk.longest_name}")
    if facts.store is not None and facts.store.longest_output:
        parts.append(f"the longest output directory has {facts.store.longest_output}")
    return ", ".join(parts)


def _format_runs(store: "StoreFacts") -> str:
    if store.error is not None:
        return "unknown"
    return (
        f"{plural(store.runs, 'run')}, {len(store.active)} active, {len(store.interrupted)} interrupted, "
        f"{store.missing} without output directory"
    )


def _format_held(held: "Held") -> str:
    owner = held.owner
    if owner is None:
        return f"{escape(held.name)} is held by an unknown process"
    said = f" ({escape(owner.text)})" if owner.text else ""
    since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(owner.since_ns // 10**9))
    return f"{escape(held.name)} is held by process {owner.pid} on {escape(owner.host)}{said} since {since}"


def _as_json(facts: "Facts", remarks: list[Remark]) -> dict[str, object]:
    store = facts.store
    return {
        "project": exact(os.fsencode(facts.project)),
        "versions": facts.versions,
        "store": None
        if store is None
        else {
            "directory": exact(os.fsencode(store.directory)),
            "format": store.format,
            "error": None if store.error is None else {"kind": store.error.kind, "message": str(store.error)},
            "database_bytes": store.database_bytes,
            "packs": store.packs,
            "packs_bytes": store.packs_bytes,
            "runs": store.runs,
            "active": list(store.active),
            "interrupted": list(store.interrupted),
            "without_output": store.missing,
            "longest_output_bytes": store.longest_output,
        },
        "disks": [_disk_as_json(purpose, disk) for purpose, disk in facts.disks],
        "syncs_ns": list(facts.syncs_ns),
        "open_files": {"soft": facts.open_files[0], "hard": facts.open_files[1]},
        "locks": [_held_as_json(held) for held in facts.held],
        "leftovers": [exact(os.fsencode(path)) for path in facts.leftovers],
        "findings": [_remark_as_json(each) for each in remarks if each.finding],
        "advice": [_remark_as_json(each) for each in remarks if not each.finding],
    }


def _disk_as_json(purpose: str, disk: "Disk") -> dict[str, object]:
    return {
        "purpose": purpose,
        "path": exact(os.fsencode(disk.path)),
        "type": disk.type,
        "network": disk.network,
        "read_only": disk.frozen,
        "writable": disk.writable,
        "size_bytes": disk.size_bytes,
        "free_bytes": disk.free_bytes,
        "inodes": disk.inodes,
        "free_inodes": disk.free_inodes,
        "reflinks": disk.reflinks,
        "longest_path_bytes": disk.longest_path,
        "longest_name_bytes": disk.longest_name,
    }


def _held_as_json(held: "Held") -> dict[str, object]:
    owner = held.owner
    return {
        "name": held.name,
        "owner": None
        if owner is None
        else {"pid": owner.pid, "host": owner.host, "since_ns": owner.since_ns, "text": owner.text},
    }


def _remark_as_json(remark: Remark) -> dict[str, object]:
    return {"kind": remark.kind, "message": remark.message, "hint": remark.hint}
