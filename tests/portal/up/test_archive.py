"""The file of a backup: read again whole, and refused when it is not as it was written."""

import io
import json
import tarfile

import pytest

from portal.up import clients
from portal.up.archive import ABOUT, BOOKS, FORMAT, KEYS, About, pack, sum_of, unpacked
from portal.up.backup import backup, restore, verify
from portal.up.refusal import Refused


@pytest.fixture
def parts(tmp_path):
    books, keys = tmp_path / "b", tmp_path / "k"
    books.write_bytes(b"rows" * 1000)
    keys.write_text('{"sealing_key": "x"}')
    return {BOOKS: books, KEYS: keys}


def about(parts, **given):
    words = {"format": FORMAT, "made_at": "2026-05-02T03:00:00+00:00", "epoch": 3, "server": 18}
    return About(**words | {"sums": {name: sum_of(path) for name, path in parts.items()}} | given)


@pytest.fixture
def archive(tmp_path, parts):
    target = tmp_path / "a.gpupool"
    pack(target, about(parts), parts)
    return target


def test_what_was_packed_comes_out_and_only_its_owner_may_read_it(archive, parts):
    assert archive.stat().st_mode & 0o777 == 0o600
    with unpacked(archive) as (told, room):
        assert told == about(parts)
        assert (room / BOOKS).read_bytes() == parts[BOOKS].read_bytes()
        assert (room / KEYS).read_text() == parts[KEYS].read_text()
    assert not room.exists()


def test_a_file_that_somebody_laid_ready_never_gets_the_keys(tmp_path, parts):
    target, trap = tmp_path / "a.gpupool", tmp_path / "a.gpupool.new"
    trap.write_text("mine")
    trap.chmod(0o666)
    pack(target, about(parts), parts)
    assert trap.read_text() == "mine"
    assert target.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.gpupool", trap.name, "b", "k"]


def test_its_parts_are_laid_beside_it_in_a_folder_of_its_owner_alone(archive, tmp_path):
    before = set(tmp_path.iterdir())
    with unpacked(archive) as (_, room):
        assert room.parent == tmp_path
        assert room.stat().st_mode & 0o777 == 0o700
    assert set(tmp_path.iterdir()) == before


def test_what_a_program_of_the_database_writes_is_its_owners_alone(tmp_path, monkeypatch):
    made = tmp_path / "made"
    monkeypatch.setattr(clients, "program", lambda name: "/bin/sh")
    clients.run("pg_dump", "-c", f"echo words > {made}")
    assert made.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("at", [0.2, 0.5, 0.8])
def test_a_file_with_one_other_byte_in_it_is_refused(archive, at):
    body = bytearray(archive.read_bytes())
    where = body.index(b"rows") + int(4000 * at)
    body[where] ^= 0xFF
    archive.write_bytes(bytes(body))
    with pytest.raises(Refused, match="is damaged"), unpacked(archive):
        pass


@pytest.mark.parametrize("kept", [0, 100, 2000, 4000])
def test_a_file_that_was_cut_off_is_refused(archive, kept):
    archive.write_bytes(archive.read_bytes()[:kept])
    with pytest.raises(Refused), unpacked(archive):
        pass


def test_a_file_that_is_none_and_one_that_is_not_there_are_said_in_one_line(tmp_path):
    other = tmp_path / "other.tar"
    other.write_bytes(b"hello " * 1000)
    with pytest.raises(Refused, match="no backup"), unpacked(other):
        pass
    with pytest.raises(Refused, match="There is no file"), unpacked(tmp_path / "nothing"):
        pass


def test_names_that_are_not_ours_are_left_in_the_archive(tmp_path, archive):
    with tarfile.open(archive, "a") as more:
        for name in ("../outside", "/etc/outside", "more.txt"):
            member = tarfile.TarInfo(name)
            member.size = 1
            more.addfile(member, io.BytesIO(b"x"))
    with unpacked(archive) as (_, room):
        assert sorted(path.name for path in room.iterdir()) == [ABOUT, BOOKS, KEYS]
    assert not (tmp_path.parent / "outside").exists()


@pytest.mark.parametrize("format_", [0, 2, "x"])
def test_another_format_is_refused(tmp_path, parts, format_):
    target = tmp_path / "odd"
    told = tmp_path / ABOUT
    told.write_text(json.dumps(about(parts, format=format_).__dict__))
    with tarfile.open(target, "w") as made:
        for name, path in {ABOUT: told, **parts}.items():
            made.add(path, arcname=name)
    with pytest.raises(Refused, match="another version"), unpacked(target):
        pass


def test_a_backup_never_writes_over_a_file_and_needs_an_installation(
    tmp_path, archive, monkeypatch
):
    monkeypatch.delenv("DATABASE_URL", raising=False)
    said = []
    with pytest.raises(Refused, match="is there already"):
        backup(data=tmp_path / "none", target=archive, say=said.append)
    with pytest.raises(Refused, match="There is no installation"):
        backup(data=tmp_path / "none", target=tmp_path / "new", say=said.append)
    with pytest.raises(Refused, match="There is no folder"):
        backup(data=tmp_path / "none", target=tmp_path / "no" / "new", say=said.append)
    assert said == [] and not (tmp_path / "new").exists()


def test_a_dump_that_pg_restore_cannot_read_is_no_verified_backup(archive):
    with pytest.raises(Refused, match="pg_restore failed"):
        verify(archive=archive, say=lambda line: None)


def test_a_damaged_archive_is_refused_before_any_database_is_touched(
    tmp_path, archive, monkeypatch
):
    monkeypatch.delenv("DATABASE_URL", raising=False)
    archive.write_bytes(archive.read_bytes()[:3000])
    with pytest.raises(Refused):
        restore(
            archive=archive, data=tmp_path / "d", reason="x", least_epoch=0, say=lambda line: None
        )
    assert not (tmp_path / "d").exists()
