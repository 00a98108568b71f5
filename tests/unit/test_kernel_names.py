"""Names in kernels: a local called like one of Warp's constants confuses its hashes.

Warp looks a name like ``e.total`` up among its own constants: the hash of the module then depends
on what was compiled before, and kernels are compiled again at later starts.
"""

import ast
import pathlib

import warp as wp

import alight

SOURCES = sorted(pathlib.Path(alight.__file__).parent.rglob("*.py"))
CONSTANTS = {
    name for name in dir(wp) if isinstance(getattr(wp, name), float) and not name.startswith("_")
}


def is_kernel_code(node):
    """Whether Warp compiles a function: ``@wp.func``, ``@wp.kernel(...)``, ``@out_of_line``."""
    marks = [mark.func if isinstance(mark, ast.Call) else mark for mark in node.decorator_list]
    names = {m.attr if isinstance(m, ast.Attribute) else getattr(m, "id", "") for m in marks}
    return bool(names & {"func", "kernel", "out_of_line"})


def locals_of(node):
    """Arguments and names that a function assigns."""
    found = {arg.arg for arg in node.args.args}
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            found.add(inner.id)
    return found


def clashes(source):
    """Names of locals of kernel code that Warp has for a constant."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and is_kernel_code(node):
            found += [f"{node.name}: {name}" for name in sorted(locals_of(node) & CONSTANTS)]
    return found


def test_warp_has_such_constants():
    assert {"e", "pi", "tau", "phi", "inf", "nan"} <= CONSTANTS


def test_the_check_sees_them():
    code = "@wp.func\ndef f(x: scalar, tau: scalar):\n    e = x\n    return e\n"
    assert clashes(code) == ["f: e", "f: tau"]


def test_no_local_is_called_like_a_constant_of_warp():
    found = {str(path): clashes(path.read_text(encoding="utf-8")) for path in SOURCES}
    assert {path: names for path, names in found.items() if names} == {}
