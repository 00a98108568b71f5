"""Arrays on disk: what comes back is what was written, or nothing; names follow the code."""

import importlib
import io
import sys
import zipfile

import numpy as np
import pytest

from alight.core import sources, store

ARRAYS = {
    "numbers": np.linspace(0.0, 1.0, 40),
    "table": np.asfortranarray(np.arange(12, dtype=np.int32).reshape(3, 4)),
    "none": np.zeros((0, 3)),
    "report": np.array('{"error": 1e-3}'),
}


@pytest.fixture
def kept(tmp_path):
    store.save(tmp_path, "abc", ARRAYS)
    return tmp_path / "abc.npz"


def same(found):
    return (
        found is not None
        and found.keys() == ARRAYS.keys()
        and all(
            np.array_equal(found[k], a) and found[k].dtype == a.dtype for k, a in ARRAYS.items()
        )
    )


def test_arrays_come_back(kept):
    assert same(store.load(kept.parent, "abc"))
    assert [p.name for p in kept.parent.iterdir()] == ["abc.npz"]
    assert store.load(kept.parent, "abd") is None
    assert store.load(None, "abc") is None


@pytest.mark.parametrize("flip", [0xFF, 0x04])
def test_a_flipped_byte_makes_no_other_table(kept, flip):
    data = kept.read_bytes()
    refused = 0
    for at in range(len(data)):
        kept.write_bytes(data[:at] + bytes([data[at] ^ flip]) + data[at + 1 :])
        found = store.load(kept.parent, "abc")
        assert found is None or same(found)
        refused += found is None
    assert refused > 0.6 * len(data)


def test_a_file_cut_anywhere_is_no_table(kept):
    data = kept.read_bytes()
    for size in range(0, len(data), 7):
        kept.write_bytes(data[:size])
        assert store.load(kept.parent, "abc") is None


def lacks(arrays):
    del arrays["numbers"]


def short(arrays):
    arrays["numbers"] = arrays["numbers"][:-1]


def changed(arrays):
    arrays["numbers"] = arrays["numbers"] + 1e-9


def other_kind(arrays):
    arrays["table"] = arrays["table"].astype(np.uint32)


def other_shape(arrays):
    arrays["table"] = arrays["table"].reshape(4, 3)


def one_more(arrays):
    arrays["more"] = np.zeros(3)


def unsealed(arrays):
    del arrays["sha256"]


@pytest.mark.parametrize(
    "change", [lacks, short, changed, other_kind, other_shape, one_more, unsealed]
)
def test_a_sound_archive_of_other_arrays_is_no_table(kept, change):
    with np.load(kept) as file:
        arrays = dict(file)
    np.savez(kept, **arrays)
    assert same(store.load(kept.parent, "abc"))
    change(arrays)
    np.savez(kept, **arrays)
    assert store.load(kept.parent, "abc") is None


def test_a_table_under_another_name_is_none(kept):
    kept.rename(kept.with_name("abd.npz"))
    assert store.load(kept.parent, "abd") is None


def test_a_header_that_asks_for_a_trillion_numbers(kept):
    """In a sound archive, sealed or not: nothing is allocated for it."""
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        buffer, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)}
    )
    with zipfile.ZipFile(kept, "a") as out:
        out.writestr("huge.npy", buffer.getvalue())
    assert store.load(kept.parent, "abc") is None


# -- names ----------------------------------------------------------------------------------------

MAKERS = (
    "alight.surfaces.field.distance_field",
    "alight.gravity.tabulated.cached_field",
    "alight.gravity.tabulated.smooth_field",
)


@pytest.mark.parametrize("maker", MAKERS)
def test_all_that_a_maker_uses_is_behind_it(maker):
    """Against what the loaded modules hold: functions, classes and modules of the package."""
    behind = sources.modules_behind(maker)
    assert maker in behind
    importlib.import_module(maker)
    for name in behind:
        for value in vars(sys.modules.get(name, object)).values():
            made = getattr(value, "func", value)  # a function of Warp wraps one of Python
            home = getattr(made, "__module__", None) or ""
            if not home.startswith("alight.") and type(value).__name__ == "module":
                home = value.__name__
            if home.startswith("alight."):
                assert home in behind, (name, value)


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of three modules: ``a`` imports ``b`` at the top, and ``b`` ``c`` in a function."""
    root = tmp_path / "alight"
    (root / "room").mkdir(parents=True)
    for folder in (root, root / "room"):
        (folder / "__init__.py").write_text("")
    (root / "room" / "a.py").write_text("from alight.room import (\n    b,  # (first)\n)\n")
    (root / "room" / "b.py").write_text("def f():\n    from alight.room.c import g as h\n")
    (root / "room" / "c.py").write_text("import numpy, alight.room.d\ng = 1\n")
    (root / "room" / "d.py").write_text("x = 1\n")
    (root / "room" / "aside.py").write_text("x = 1\n")
    monkeypatch.setattr(sources, "_ROOT", root)
    forget()
    yield root / "room"
    forget()


def forget():
    sources.code_digest.cache_clear()
    sources._file_of.cache_clear()


@pytest.mark.parametrize("module", ["a", "b", "c", "d"])
def test_another_line_anywhere_behind_makes_another_name(package, module):
    before = store.name_of("alight.room.a", ["part"])
    forget()
    assert store.name_of("alight.room.a", ["part"]) == before
    (package / "aside.py").write_text("x = 2\n")
    forget()
    assert store.name_of("alight.room.a", ["part"]) == before
    with (package / f"{module}.py").open("a") as file:
        file.write("y = 2\n")
    forget()
    assert store.name_of("alight.room.a", ["part"]) != before


def test_other_parts_and_other_libraries_make_another_name(package, monkeypatch):
    before = store.name_of("alight.room.a", ["part"])
    assert store.name_of("alight.room.a", ["other"]) != before
    monkeypatch.setattr("importlib.metadata.version", lambda name: "0")
    forget()
    assert store.name_of("alight.room.a", ["part"]) != before


def test_a_module_that_is_not_there(package):
    with pytest.raises(ValueError, match=r"no module alight\.room\.e"):
        sources.modules_behind("alight.room.e")
