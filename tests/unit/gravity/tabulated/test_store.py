"""Tables on disk: the same bits back, a name for what they were made from, no harm from damage."""

import os
import stat

import numpy as np
import pytest

from alight.gravity import CachedField, Polyhedron
from alight.gravity.tabulated import store
from alight.shapes.icosphere import icosphere
from alight.shapes.mesh import Mesh

TOLERANCE = 1e-2


def egg(stretch=1.3):
    ball = icosphere(1)
    return Mesh(100.0 * ball.vertices * [stretch, 1.0, 0.8], ball.faces)


@pytest.fixture(scope="module")
def full():
    return Polyhedron(egg(), density=2000.0)


@pytest.fixture(scope="module")
def built(full, tmp_path_factory):
    """A field and the folder that holds its tables and nothing else."""
    folder = tmp_path_factory.mktemp("tables")
    return CachedField(full, tolerance=TOLERANCE, store=str(folder)), folder


def table_file(folder):
    (file,) = folder.iterdir()
    return file


def points():
    return np.random.default_rng(0).normal(size=(200, 3)) * 200.0


def same_field(one, other):
    pairs = zip(one.evaluate(points()), other.evaluate(points()), strict=True)
    return all(np.array_equal(a, b) for a, b in pairs)


def test_tables_come_back_with_the_same_bits(built, full):
    field, folder = built
    again = CachedField(full, tolerance=TOLERANCE, store=str(folder))
    assert field.report.seconds > 0.0
    assert again.report.seconds == 0.0
    assert "read from the cache" in str(again.report)
    assert again.report.max_error == field.report.max_error
    assert again.report.nbytes == field.report.nbytes
    assert len(again.grids) == len(field.grids)
    for one, other in zip(field.grids, again.grids, strict=True):
        for a, b in zip(one, other, strict=True):
            assert np.array_equal(a, b)
            assert np.asarray(a).dtype == np.asarray(b).dtype
    assert same_field(field, again)


def test_nothing_but_the_table_is_left_in_the_folder(built):
    file = table_file(built[1])
    assert file.suffix == ".npz"


DAMAGE = {
    "truncated": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "garbage": lambda data: b"not a table" * 100,
    "one byte changed": lambda data: data[:5000] + bytes([data[5000] ^ 0xFF]) + data[5001:],
    "another array": lambda data: npy_bytes(),
}


def npy_bytes():
    import io

    buffer = io.BytesIO()
    np.save(buffer, np.arange(10.0))
    return buffer.getvalue()


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_file_is_no_table(built, tmp_path, kind):
    data = table_file(built[1]).read_bytes()
    name = table_file(built[1]).stem
    (tmp_path / f"{name}.npz").write_bytes(data)
    assert store.load(name, str(tmp_path)) is not None
    (tmp_path / f"{name}.npz").write_bytes(DAMAGE[kind](data))
    assert store.load(name, str(tmp_path)) is None


def test_an_archive_without_the_tables_is_no_table(tmp_path):
    np.savez(tmp_path / "abc.npz", pieces=np.zeros((1, 3, 3)))
    assert store.load("abc", str(tmp_path)) is None


def test_a_damaged_file_is_replaced(built, full, tmp_path):
    field, folder = built
    file = tmp_path / table_file(folder).name
    file.write_bytes(table_file(folder).read_bytes()[:-1000])
    rebuilt = CachedField(full, tolerance=TOLERANCE, store=str(tmp_path))
    assert rebuilt.report.seconds > 0.0
    assert same_field(field, rebuilt)
    assert [f.name for f in tmp_path.iterdir()] == [file.name]
    assert CachedField(full, tolerance=TOLERANCE, store=str(tmp_path)).report.seconds == 0.0


@pytest.mark.parametrize("wrong", [{"reach": None}, {"pieces": 3}, {"report": None}])
def test_a_sound_archive_without_an_array_or_with_a_short_one_is_replaced(
    built, full, tmp_path, wrong
):
    field, folder = built
    with np.load(table_file(folder)) as file:
        arrays = dict(file)
    for name, rows in wrong.items():
        whole = arrays.pop(name)
        if rows is not None:
            arrays[name] = whole[:rows]
    np.savez(tmp_path / table_file(folder).name, **arrays)
    rebuilt = CachedField(full, tolerance=TOLERANCE, store=str(tmp_path))
    assert rebuilt.report.seconds > 0.0
    assert same_field(field, rebuilt)


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_a_folder_that_cannot_be_written_only_costs_the_next_build(full, tmp_path):
    folder = tmp_path / "locked"
    folder.mkdir()
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        if os.access(folder, os.W_OK):  # root may write anywhere: take a file for a folder
            folder = tmp_path / "a file"
            folder.write_text("")
        field = CachedField(full, tolerance=TOLERANCE, store=str(folder / "deeper"))
    finally:
        (tmp_path / "locked").chmod(stat.S_IRWXU)
    assert field.report.max_error <= TOLERANCE
    assert not (folder / "deeper").exists()


def test_a_full_disk_leaves_no_half_file(built, tmp_path, monkeypatch):
    def no_space(file, **arrays):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", no_space)
    store.save("abc", str(tmp_path), built[0]._tables())
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_while_writing_is_passed_on(built, tmp_path, monkeypatch):
    def interrupted(file, **arrays):
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez", interrupted)
    with pytest.raises(KeyboardInterrupt):
        store.save("abc", str(tmp_path), built[0]._tables())
    assert list(tmp_path.iterdir()) == []


def test_store_false_neither_reads_nor_writes(built, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert store.folder(False) is None
    store.save("abc", False, built[0]._tables())
    assert list(tmp_path.iterdir()) == []
    assert store.load(table_file(built[1]).stem, False) is None


def test_store_true_is_the_users_cache_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = store.folder(True)
    assert folder.name == "gravity"
    assert "alight" in folder.parts
    if os.name == "posix" and os.uname().sysname == "Linux":
        assert folder.is_relative_to(tmp_path)


def test_tables_too_large_for_the_memory_allowed_are_not_taken(built, full):
    """The table on disk keeps the tolerance but not this bound: refused like any other."""
    from alight.core.errors import InputError

    field, folder = built
    with pytest.raises(InputError, match="MB"):
        CachedField(full, tolerance=TOLERANCE, store=str(folder), memory=0.5 * field.report.nbytes)


def test_the_name_of_a_table_is_what_it_was_made_from(full):
    base = store.key(full, 1e-5)
    assert store.key(Polyhedron(egg(), density=2000.0), 1e-5) == base
    moved = egg().vertices.copy()
    moved[3, 1] = np.nextafter(moved[3, 1], np.inf)
    others = {
        "density": store.key(Polyhedron(egg(), density=np.nextafter(2000.0, 3000.0)), 1e-5),
        "G": store.key(Polyhedron(egg(), density=2000.0, G=6.674e-11), 1e-5),
        "tolerance": store.key(full, 2e-5),
        "mesh": store.key(Polyhedron(egg(1.31), density=2000.0), 1e-5),
        "a bit": store.key(Polyhedron(Mesh(moved, egg().faces), density=2000.0), 1e-5),
    }
    assert len({base, *others.values()}) == 1 + len(others), others
