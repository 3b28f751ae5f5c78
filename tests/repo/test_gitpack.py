"""Packs and deltas as the `git` program reads them, and trees as its `fsck` judges them."""

import random
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.repo.test_gitobjects import git
from verdog_objects.errors import Corrupt
from verdog_repo import gitpack
from verdog_repo.gitpack import BLOB, TREE, PackWriter, recover_packs
from verdog_repo.gittree import (
    Directory,
    Edit,
    can_be_attributes,
    encode_delta,
    judge_name,
    parse_tree,
)


@pytest.fixture
def packs(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "--bare", "bare.git")
    return tmp_path / "bare.git" / "objects" / "pack"


def content(packs: Path, name: bytes) -> bytes:
    return git(packs.parent.parent, "cat-file", "-p", name.hex())


def test_git_reads_what_was_packed(packs: Path) -> None:
    pack = PackWriter(packs)
    noise = random.Random(1).randbytes(3_000_000)
    names = {pack.add(BLOB, data): data for data in (b"", b"x", b"y" * 100_000, noise[:70_000])}
    parts = [noise[start : start + 65_536] for start in range(0, len(noise), 65_536)]
    names[pack.add_stream(len(noise), parts)] = noise
    names[pack.add_stream(5 << 20, (b"a" * (1 << 20) for _ in range(5)))] = b"a" * (5 << 20)
    names[pack.add_stream(0, [])] = b""
    assert len(pack) == 6
    assert pack.publish() == sum(each.stat().st_size for each in packs.glob("*.pack"))
    git(packs.parent.parent, "fsck", "--strict", "--full")
    assert all(content(packs, name) == data for name, data in names.items())
    assert sorted(each.suffix for each in packs.iterdir()) == [".idx", ".pack"]


def test_nothing_is_published_of_an_empty_or_a_closed_pack(packs: Path) -> None:
    assert PackWriter(packs).publish() == 0
    pack = PackWriter(packs)
    pack.add(BLOB, b"x")
    pack.close()
    pack.close()
    assert [*packs.iterdir()] == []


def test_what_was_written_last_can_be_forgotten(packs: Path) -> None:
    pack = PackWriter(packs)
    kept = pack.add(BLOB, b"kept")
    start = pack.size_bytes
    gone = pack.add_stream(4 << 20, (random.Random(each).randbytes(1 << 20) for each in range(4)))
    assert gone in pack
    pack.forget(start)
    assert gone not in pack and pack.size_bytes == start
    also = pack.add(BLOB, b"also")
    start = pack.size_bytes
    pack.add(BLOB, b"short")
    pack.forget(start)
    pack.publish()
    git(packs.parent.parent, "fsck", "--strict", "--full")
    assert (content(packs, kept), content(packs, also)) == (b"kept", b"also")
    assert len(git(packs.parent.parent, "cat-file", "--batch-all-objects", "--batch-check").splitlines()) == 2


def test_a_stream_that_the_pack_has_is_dropped(packs: Path) -> None:
    pack = PackWriter(packs)
    name = pack.add_stream(6, [b"ab", b"cdef"])
    size_bytes = pack.size_bytes
    assert pack.add_stream(6, [b"abcdef"]) == name
    assert pack.size_bytes == size_bytes


@pytest.mark.parametrize("parts", [[b"abc"], [b"abc", b"defg"], []])
def test_a_stream_of_another_length_is_refused(packs: Path, parts: list[bytes]) -> None:
    pack = PackWriter(packs)
    with pytest.raises(Corrupt):
        pack.add_stream(6, parts)
    pack.close()


def test_an_unfinished_index_is_removed_and_a_finished_one_put_in_place(packs: Path) -> None:
    pack = PackWriter(packs)
    name = pack.add(BLOB, b"data")
    pack.publish()
    (index,) = packs.glob("*.idx")
    (packs / "tmp_pack_verdog").write_bytes(b"PACK")
    index.rename(packs / "tmp_idx_verdog")
    recover_packs(packs)
    assert index.exists() and content(packs, name) == b"data"
    (packs / "tmp_idx_verdog").write_bytes(index.read_bytes()[:-1])
    recover_packs(packs)
    assert len([*packs.iterdir()]) == 2


def test_a_full_pack_takes_nothing_more(packs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gitpack, "_OFFSET_LIMIT", 1_000)
    pack = PackWriter(packs)
    pack.add(BLOB, random.Random(1).randbytes(2_000))
    with pytest.raises(ValueError, match="full"):
        pack.add(BLOB, b"x")
    pack.close()


def line(name: bytes, number: int = 1, mode: bytes = b"100644") -> bytes:
    return b"%b %b\0" % (mode, name) + number.to_bytes(20, "big")


def apply_delta(base: bytes, delta: bytes) -> bytes:
    """What the format's documentation says."""
    position = 0

    def number() -> int:
        nonlocal position
        value = shift = 0
        while True:
            byte = delta[position]
            position += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    assert number() == len(base)
    size_bytes = number()
    out = b""
    while position < len(delta):
        code = delta[position]
        position += 1
        if code < 0x80:
            assert code
            out += delta[position : position + code]
            position += code
            continue
        offset = length = 0
        for bit in range(7):
            if code >> bit & 1:
                if bit < 4:
                    offset |= delta[position] << 8 * bit
                else:
                    length |= delta[position] << 8 * (bit - 4)
                position += 1
        assert length and offset + length <= len(base)
        out += base[offset : offset + length]
    assert len(out) == size_bytes
    return out


@given(st.binary(max_size=300), st.binary(max_size=300), st.binary(max_size=300), st.binary(max_size=300))
def test_a_delta_makes_the_target(start: bytes, old: bytes, new: bytes, end: bytes) -> None:
    base, target = start + old + end, start + new + end
    assert apply_delta(base, encode_delta(base, target)) == target


def test_a_delta_copies_long_parts(packs: Path) -> None:
    before = b"".join(line(b"%06d" % number, number + 1) for number in range(10_000))
    after = before.replace(line(b"005000", 5_001), line(b"005000", 7) + line(b"005000a"))
    delta = encode_delta(before, after)
    assert len(delta) < 200
    assert apply_delta(before, delta) == after
    pack = PackWriter(packs)
    base = pack.add(BLOB, before)
    wanted = git(packs, "hash-object", "--stdin", data=after).decode().strip()
    pack.add_delta(bytes.fromhex(wanted), base, delta)
    with pytest.raises(ValueError, match="same pack"):
        pack.add_delta(bytes(20), bytes(20), delta)
    pack.publish()
    assert content(packs, bytes.fromhex(wanted)) == after


HOSTILE = [
    b".git", b".GIT", b".Git.", b".git ", b".git. . ", b".git:stream", b"git~1", b"GIT~1.",
    b".g\xe2\x80\x8cit", b"\xef\xbb\xbf.git", b".git\xe2\x81\xaf", b".git\xff", b"a\\.git",
    b"a\\git~1", b".git\\x",
    b".gitmodules", b".GITMODULES ", b"gitmod~1", b"gitmod~4", b"GI7EBA~1", b"gi7eb~10", b"g~123456",
    b"~1234567", b"gi7d~123", b".gitm\xe2\x80\x8dodules", b"x\\.gitmodules", b".gitattributes",
    b"gitatt~1", b"gi7d29~1", b".gitattributes.", b".gitignore", b".mailmap", b".github", b"git", b"git~",
    b".git-", b".gitx", b"..git", b"...", b". ", b"\xff\xfe", b"a b", b"a\nb", b"\t", b"-", b"git~1x",
    b".git\xc3\xa9", b"con", b"a:b", b".gitmodules2", b"HEAD", b"config", b"\xe2\x80\x8c", b".gi\xc4\xb1t",
    b"~1", b"~12345678", b"gi7eba~12", b"g~12345x", b"report~1",
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_a_name_that_git_refuses_is_refused(packs: Path, name: bytes) -> None:
    """Of `.gitmodules` and `.gitattributes` Git judges the content: it would refuse this one as either."""
    bare = packs.parent.parent
    bad = b'[submodule "../x"]\n\turl = -u\n# ' + b"x" * 3_000
    pack = PackWriter(packs)
    tree = pack.add(TREE, b"100644 %b\0%b" % (name, pack.add(BLOB, bad)))
    pack.publish()
    commit = git(bare, "commit-tree", tree.hex(), data=b"m").decode().strip()
    git(bare, "update-ref", "refs/heads/main", commit)
    try:
        git(bare, "fsck", "--strict", "--full")
    except AssertionError:
        assert judge_name(name) != "fine"
    else:
        assert judge_name(name) == "fine"


def test_ordinary_names_are_fine() -> None:
    fine = [
        b"report.txt",
        b".gitignore",
        b".github",
        b".gitx",
        b".git\xc3\xa9",
        b"gi",
        b"git",
        b"a\\b",
        b"\xff",
    ]
    assert {judge_name(name) for name in fine} == {"fine"}
    assert {judge_name(name) for name in (b".git", b"Git~1", b".gitmodules")} == {"refused"}
    assert judge_name(b".gitattributes") == "attributes"


def test_attributes_have_short_lines() -> None:
    assert can_be_attributes(b"* text=auto\n" + b"x" * 2_047)
    assert not can_be_attributes(b"a\n" + b"x" * 2_048 + b"\n")


class Trees:
    """Tree objects in a dictionary."""

    def __init__(self) -> None:
        self.objects: dict[bytes, bytes] = {}

    def edit(self, root: Directory) -> Edit:
        return Edit(root, self.objects.__getitem__, self.write)

    def write(self, raw: bytes, before: Directory | None) -> bytes:
        name = zlib.crc32(raw).to_bytes(20, "big")
        self.objects[name] = raw
        return name

    def files(self, name: bytes, prefix: bytes = b"") -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = {}
        directory = parse_tree(self.objects[name])
        assert directory.keys == sorted(directory.keys)
        for key, raw in zip(directory.keys, directory.lines, strict=True):
            if key.endswith(b"/"):
                below = self.files(raw[-20:], prefix + key)
                assert below
                found |= below
            else:
                found[prefix + key] = raw[-20:]
        return found


def test_a_tree_that_is_cut_off_is_corrupt() -> None:
    for raw in (b"1", b"100644", b"100644 a", b"100644 a\0", b"100644 a\0" + bytes(19)):
        with pytest.raises(Corrupt):
            parse_tree(raw)


def test_a_file_may_become_a_directory_and_back() -> None:
    trees = Trees()
    edit = trees.edit(Directory())
    edit.put(b"a", b"100644", bytes(20))
    edit.put(b"a.b", b"100644", bytes(20))
    first = edit.finish()
    edit = trees.edit(first)
    edit.make_directory(b"a")
    edit.put(b"a/x/y", b"100644", bytes(20))
    second = edit.finish()
    assert [*trees.files(second.name)] == [b"a.b", b"a/x/y"]
    edit = trees.edit(parse_tree(trees.objects[second.name]))
    edit.put(b"a", b"100644", bytes(20))
    edit.remove(b"a/x")
    edit.remove(b"a/x/y")
    assert [*trees.files(edit.finish().name)] == [b"a", b"a.b"]
    assert [*trees.files(first.name)] == [b"a", b"a.b"]


def test_empty_directories_are_left_out_and_named() -> None:
    trees = Trees()
    edit = trees.edit(Directory())
    edit.make_directory(b"x/y/z")
    edit.put(b"f", b"100644", bytes(20))
    root = edit.finish()
    assert [*trees.files(root.name)] == [b"f"]
    assert sorted(edit.empty) == [b"x", b"x/y", b"x/y/z"]
    edit = trees.edit(root)
    edit.put(b"x/y/z/g", b"100644", bytes(20))
    root = edit.finish()
    assert [*trees.files(root.name)] == [b"f", b"x/y/z/g"]
    edit = trees.edit(parse_tree(trees.objects[root.name]))
    edit.remove(b"x/y/z/g")
    root = edit.finish()
    assert [*trees.files(root.name)] == [b"f"]
    assert sorted(edit.empty) == [b"x", b"x/y", b"x/y/z"]


def test_a_tree_may_be_very_deep() -> None:
    trees = Trees()
    edit = trees.edit(Directory())
    path = b"/".join([b"d"] * 2_000)
    edit.put(path, b"100644", bytes(20))
    root = edit.finish()
    edit = trees.edit(parse_tree(trees.objects[root.name]))
    edit.remove(path)
    assert trees.objects[edit.finish().name] == b""
