"""Renames: which removed file is which added one, by its object or by what both have in common."""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from verdog_objects.nodes import Entry, EntryKind
from verdog_repo.artifactdiff import FileChange, FileStatus

SIMILAR_BYTES: Final = 1 << 20
"""Larger files are renamed only when not a byte of them changed."""

COMPARISONS: Final = 200
"""So many pairs of files are compared at most; what is left then was removed and added."""

READ_BYTES: Final = 32 << 20
"""When so much was read, no further pair is compared."""

SIMILAR_PERCENT: Final = 50
"""What two files have in common at least, to be one file that was renamed."""

_PIECE_BYTES: Final = 64

Read = Callable[[bytes, Entry], bytes]
"""Returns the content of the file with this path, which is at most `SIMILAR_BYTES` long."""


def find_renames(changes: Sequence[FileChange], read: Read) -> list[FileChange]:
    """Return the changes, with one in place of two where a removed and an added file are one that moved.

    Empty files never moved: they are all alike.

    Cost: a lookup per change; reads the files of at most `COMPARISONS` pairs.
    """
    removed = [each for each in changes if _can_move(each, FileStatus.REMOVED)]
    added = [each for each in changes if _can_move(each, FileStatus.ADDED)]
    found: dict[FileChange, FileChange] = {}  # the new half of each rename, by the old one
    percents: dict[FileChange, int] = {}
    for key in (_content_and_name, _content):
        found |= _match(_others(removed, found), _others(added, found.values()), key)
    for gone, new, percent in _match_similar(_others(removed, found), _others(added, found.values()), read):
        found[gone], percents[gone] = new, percent
    arrived = set(found.values())
    return [
        _join(each, found[each], percents.get(each, 100)) if each in found else each
        for each in changes
        if each not in arrived
    ]


def measure_similarity(before: bytes, after: bytes) -> int:
    """Return how much two contents have in common, in percent of the longer one.

    They are cut at ends of lines and after 64 bytes, and their pieces compared regardless of order.
    """
    return _measure(_count_pieces(before), _count_pieces(after))


def _join(gone: FileChange, new: FileChange, percent: int) -> FileChange:
    return FileChange(gone.before_path, new.after_path, gone.before, new.after, percent)


def _can_move(change: FileChange, status: FileStatus) -> bool:
    if change.status is not status:
        return False
    entry = _entry(change)
    return entry.size > 0 and entry.kind in (EntryKind.FILE, EntryKind.SYMLINK)


def _others(changes: Iterable[FileChange], without: Iterable[FileChange]) -> list[FileChange]:
    matched = set(without)
    return [each for each in changes if each not in matched]


def _content(change: FileChange) -> Hashable:
    entry = _entry(change)
    return entry.kind, entry.oid


def _content_and_name(change: FileChange) -> Hashable:
    return _content(change), _name(change)


def _name(change: FileChange) -> bytes:
    return change.path.rpartition(b"/")[2]


def _match(
    removed: Sequence[FileChange], added: Sequence[FileChange], key: Callable[[FileChange], Hashable]
) -> Iterator[tuple[FileChange, FileChange]]:
    """Yield the pairs that have the same key, those of one key in their order."""
    waiting: defaultdict[Hashable, list[FileChange]] = defaultdict(list)
    for each in reversed(added):
        waiting[key(each)].append(each)
    for gone in removed:
        here = waiting.get(key(gone))
        if here:
            yield gone, here.pop()


class _Candidate(NamedTuple):
    gone: FileChange
    new: FileChange
    percent: int


def _match_similar(
    removed: Sequence[FileChange], added: Sequence[FileChange], read: Read
) -> Iterator[_Candidate]:
    """Yield the pairs of small files that are most alike, each file in one pair."""
    candidates: list[_Candidate] = []
    known: dict[FileChange, Counter[bytes]] = {}
    left_bytes = READ_BYTES
    for gone, new in islice(_iter_candidates(removed, added), COMPARISONS):
        for each in (gone, new):
            if each not in known:
                known[each] = _count_pieces(read(each.path, _entry(each)))
                left_bytes -= _entry(each).size
        candidates.append(_Candidate(gone, new, _measure(known[gone], known[new])))
        if left_bytes < 0:
            break
    done: set[FileChange] = set()
    for each in sorted(candidates, key=lambda each: -each.percent):
        if each.percent >= SIMILAR_PERCENT and each.gone not in done and each.new not in done:
            done |= {each.gone, each.new}
            yield each


def _iter_candidates(
    removed: Sequence[FileChange], added: Sequence[FileChange]
) -> Iterator[tuple[FileChange, FileChange]]:
    """Yield the pairs whose sizes let them be alike: first those of the same name, then the others."""
    small = [each for each in removed if _is_small(each)]
    by_size = sorted((each for each in added if _is_small(each)), key=_size)
    by_name: defaultdict[bytes, list[FileChange]] = defaultdict(list)
    for each in by_size:
        by_name[_name(each)].append(each)
    most = max(1, COMPARISONS // max(1, len(small)))
    for gone in small:
        yield from ((gone, new) for new in islice(_alike_in_size(by_name[_name(gone)], gone), most))
    for gone in small:
        others = (new for new in _alike_in_size(by_size, gone) if _name(new) != _name(gone))
        yield from ((gone, new) for new in islice(others, most))


def _alike_in_size(by_size: Sequence[FileChange], gone: FileChange) -> Iterator[FileChange]:
    size = _size(gone)
    first = bisect_left(by_size, size * SIMILAR_PERCENT / 100, key=_size)
    return iter(by_size[first : bisect_right(by_size, size * 100 / SIMILAR_PERCENT, key=_size)])


def _is_small(change: FileChange) -> bool:
    entry = _entry(change)
    return entry.kind is EntryKind.FILE and entry.size <= SIMILAR_BYTES


def _entry(change: FileChange) -> Entry:
    entry = change.before or change.after
    assert entry is not None, "a change has an entry on one side at least"
    return entry


def _size(change: FileChange) -> int:
    return _entry(change).size


def _measure(before: Counter[bytes], after: Counter[bytes]) -> int:
    common = sum(len(piece) * count for piece, count in (before & after).items())
    longest = max(sum(len(piece) * count for piece, count in each.items()) for each in (before, after))
    return common * 100 // longest if longest else 100


def _count_pieces(content: bytes) -> Counter[bytes]:
    return Counter(
        line[start : start + _PIECE_BYTES]
        for line in content.splitlines(keepends=True)
        for start in range(0, len(line), _PIECE_BYTES)
    )
