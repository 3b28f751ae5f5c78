"""A recorded tree put back into an existing directory: what is missing or differs, and nothing else."""

import os
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

from verdog_objects import durable, manifest
from verdog_objects.checkout import materialise
from verdog_objects.directories import OPEN_DIRECTORY, Descent, split_path, translate_os_error
from verdog_objects.errors import Corrupt, InvalidInput
from verdog_objects.nodes import Entry, EntryKind
from verdog_objects.oid import Oid
from verdog_objects.paths import escape_path, is_reserved
from verdog_objects.staging import remove_left_behind, remove_tree
from verdog_objects.store import ObjectReader
from verdog_objects.verify import Difference, DifferenceKind

_PLACE = "restore"
_OPEN_ANY = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def restore_tree(
    reader: ObjectReader, root: Oid, output: Path, differences: Sequence[Difference], *, staging: Path
) -> tuple[bytes, ...]:
    """Put recorded content, modes and links back where they differ.

    Each file is written whole under another name, verified, and then takes its place in one step. Files that
    are not recorded are left alone. No link is followed.

    Args:
        reader: where the tree is.
        root: the tree.
        output: the directory.
        differences: what `verify_tree` found in it. Paths that it does not name are not touched.
        staging: an existing directory on the same file system, outside of what is recorded. Nobody else
            restores into this output, so what is staged there was left by a process that was killed.

    Returns:
        The paths that were put right, in order.

    Raises:
        InvalidInput: something that is not recorded is in the way: a directory where a file or link belongs.
        Corrupt: an object is missing or damaged; nothing was changed.
        Unavailable: the disk refused. A second try goes on from there.

    Durability: all of it once the call returned; before, each path is as it was or as recorded; absent if a
        directory is about to take the place of a file or link.
    """
    wanted = _look_up(reader, root, differences)
    above = _directories_above(reader, root, wanted)
    contents = [path for path, entry in wanted.items() if entry.kind is not EntryKind.DIRECTORY]
    replaced = {each.path for each in differences if each.what is not DifferenceKind.MODE}
    discard_staged(staging)
    place = staging / _PLACE
    rewritten = [path for path in contents if path in replaced]
    try:
        if rewritten:
            materialise(reader, root, place, preserve_special=True, only=rewritten)
            _open_up(place)
        _put_back(output, place, wanted, replaced)
        with Descent(output) as descent:
            _set_modes(descent, {**above, **wanted}, skip=set(rewritten))
    finally:
        if place.is_dir():
            remove_tree(place)
    durable.sync_tree(output)
    return tuple(wanted)


def discard_staged(staging: Path) -> None:
    """Remove what a restore that was killed had staged in a directory. Nobody else is restoring there."""
    if staging.is_dir():
        place = staging / _PLACE
        remove_left_behind(staging)
        if place.is_dir() and not place.is_symlink():
            remove_tree(place)


def _look_up(reader: ObjectReader, root: Oid, differences: Iterable[Difference]) -> dict[bytes, Entry]:
    """Return the entries of the paths that differ, parents first."""
    found: dict[bytes, Entry] = {}
    for path in sorted({each.path for each in differences}, key=manifest.path_key):
        entry = manifest.lookup(reader, root, manifest.path_key(path))
        if entry is None:
            raise InvalidInput(f"{escape_path(path)}: not recorded", paths=(path,))
        if is_reserved(path, is_directory=entry.kind is EntryKind.DIRECTORY):
            raise Corrupt(f"{escape_path(path)}: recorded where verdog keeps files of its own", paths=(path,))
        found[path] = entry
    return found


def _directories_above(reader: ObjectReader, root: Oid, paths: Iterable[bytes]) -> dict[bytes, Entry]:
    """Return the entries of every directory above some paths; their modes may be lifted for a while.

    Raises:
        Corrupt: a path is recorded below what is no directory.
    """
    found: dict[bytes, Entry] = {}
    for path in paths:
        directory = split_path(path)[0]
        while directory and directory not in found:
            entry = manifest.lookup(reader, root, manifest.path_key(directory))
            if entry is None or entry.kind is not EntryKind.DIRECTORY:
                raise Corrupt(f"{escape_path(path)}: recorded below what is no directory", paths=(path,))
            found[directory] = entry
            directory = split_path(directory)[0]
    return found


def _open_up(place: Path) -> None:
    """Let files be moved out of staged directories, whatever their modes."""
    for directory, _, _ in os.walk(place):
        Path(directory).chmod(0o700)


def _put_back(output: Path, place: Path, wanted: dict[bytes, Entry], replaced: set[bytes]) -> None:
    with Descent(output) as descent:
        for path, entry in wanted.items():
            if path not in replaced:
                continue
            directory, name = split_path(path)
            try:
                parent = descent.open(directory)
                if directory:
                    _grant(parent)
                if entry.kind is EntryKind.DIRECTORY:
                    _make_directory(parent, name)
                    continue
                source = os.fsencode(place) + b"/" + path
                durable.current_disk().rename_into(source, parent, name)
            except IsADirectoryError as error:
                raise InvalidInput(
                    f"{escape_path(path)}: a directory is in the way of what is recorded; move it away",
                    paths=(path,),
                ) from error
            except OSError as error:
                raise translate_os_error(error, path) from error


def _grant(directory: int) -> None:
    """Let the owner write into a directory; its recorded mode is set at the end."""
    mode = stat.S_IMODE(os.fstat(directory).st_mode)
    if mode & 0o300 != 0o300:
        os.fchmod(directory, mode | 0o700)


def _make_directory(parent: int, name: bytes) -> None:
    """Make a directory, in the place of a file or link if one took it."""
    try:
        status = os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        pass
    else:
        if stat.S_ISDIR(status.st_mode):
            return
        os.unlink(name, dir_fd=parent)
    os.mkdir(name, 0o700, dir_fd=parent)


def _set_modes(descent: Descent, entries: dict[bytes, Entry], *, skip: set[bytes]) -> None:
    """Set recorded modes, the innermost first. A rewritten file has its own already."""
    for path in sorted(entries, key=manifest.path_key, reverse=True):
        entry = entries[path]
        if path in skip or entry.kind is EntryKind.SYMLINK:
            continue
        directory, name = split_path(path)
        flags = OPEN_DIRECTORY if entry.kind is EntryKind.DIRECTORY else _OPEN_ANY
        try:
            parent = descent.open(directory)
            status = os.stat(name, dir_fd=parent, follow_symlinks=False)
            if stat.S_IMODE(status.st_mode) != entry.mode:
                _set_mode(parent, name, flags, entry.mode)
        except OSError as error:
            raise translate_os_error(error, path) from error


def _set_mode(parent: int, name: bytes, flags: int, mode: int) -> None:
    try:
        opened = os.open(name, flags, dir_fd=parent)
    except PermissionError:
        # Its owner may not read it, so it is reached by name. A link in its place would be EACCES no longer.
        os.chmod(name, mode, dir_fd=parent)
        return
    try:
        os.fchmod(opened, mode)
    finally:
        os.close(opened)
