"""Small faults that a file of Python can have: each one edit of its text.

Operators are exchanged, comparisons shifted by their edge, conditions turned round, numbers and
whole results made 1 % larger, signs and statements dropped. Text, annotations and messages are
left alone. Kernels are Python too: their faults go through Warp's compiler like the right code.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

#: How much larger a number or a result is made: enough for any check that knows the right one.
SCALE = "1.01"

_OPERATORS = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "*"),
    ast.Pow: ("**", "*"),
}
_COMPARISONS = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
_FUNCTIONS = {
    "min": "max",
    "max": "min",
    "minimum": "maximum",
    "maximum": "minimum",
    "sin": "cos",
    "cos": "sin",
    "floor": "ceil",
    "ceil": "floor",
    "any": "all",
    "all": "any",
}


@dataclass(frozen=True)
class Mutation:
    """Characters ``start`` to ``end`` of a file replaced by ``new``."""

    start: int
    end: int
    new: str
    line: int

    def apply(self, text: str) -> str:
        """The file with the fault in it."""
        return text[: self.start] + self.new + text[self.end :]

    def describe(self, text: str) -> str:
        """The line as it becomes, for a person to judge."""
        mutated = self.apply(text).splitlines()
        return f"{self.line}: {mutated[self.line - 1].strip()}"


def mutations(text: str) -> list[Mutation]:
    """Every fault of a file, in the order of its lines."""
    return sorted(_Finder(text).found, key=lambda m: (m.line, m.start, m.end, m.new))


class _Finder(ast.NodeVisitor):
    def __init__(self, text: str) -> None:
        self.text = text
        lines = text.splitlines(keepends=True)
        self.starts = [0]
        for line in lines:
            self.starts.append(self.starts[-1] + len(line.encode()))
        self.raw = text.encode()
        self.found: list[Mutation] = []
        self.visit(ast.parse(text))

    # -- places ---------------------------------------------------------------------------------

    def _span(self, node: ast.AST) -> tuple[int, int]:
        """First and last character of a node; ``ast`` counts bytes in a line."""
        first = self.starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]
        last = self.starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]
        return len(self.raw[:first].decode()), len(self.raw[:last].decode())

    def _replace(self, node: ast.AST, new: str) -> None:
        start, end = self._span(node)
        self._add(start, end, new, node.lineno)  # type: ignore[attr-defined]

    def _add(self, start: int, end: int, new: str, line: int) -> None:
        if "\n" not in self.text[start:end]:
            self.found.append(Mutation(start, end, new, line))

    def _between(self, left: ast.AST, right: ast.AST, old: str, new: str) -> None:
        """Exchange the operator that stands between two operands."""
        start, end = self._span(left)[1], self._span(right)[0]
        at = self.text.find(old, start, end)
        if at >= 0:
            line = self.text.count("\n", 0, at) + 1
            self._add(at, at + len(old), new, line)

    def _scaled(self, value: ast.expr | None) -> None:
        """A whole result, 1 % too large, where it is visibly arithmetic."""
        if isinstance(value, ast.BinOp) and _arithmetic(value):
            start, end = self._span(value)
            self._add(start, end, f"{SCALE} * ({self.text[start:end]})", value.lineno)

    # -- what is left alone ---------------------------------------------------------------------

    def visit_Raise(self, node: ast.Raise) -> None:
        """Messages are for people."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Text."""

    def visit_Import(self, node: ast.Import) -> None:
        """Names."""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """Names."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Bodies and default values; no decorators, no annotations."""
        for value in [*node.args.defaults, *(d for d in node.args.kw_defaults if d)]:
            self.visit(value)
        for statement in node.body:
            self.visit(statement)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """The body; no decorators."""
        for statement in node.body:
            self.visit(statement)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """Not the annotation."""
        if node.value is not None:
            self._scaled(node.value)
            self.visit(node.value)

    # -- faults ---------------------------------------------------------------------------------

    def visit_Assign(self, node: ast.Assign) -> None:
        """A value 1 % too large, and what is inside it."""
        self._scaled(node.value)
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        """A result 1 % too large, and what is inside it."""
        self._scaled(node.value)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """Left out."""
        self._replace(node, "pass")
        self.visit(node.value)

    def visit_Expr(self, node: ast.Expr) -> None:
        """A call for its effect, left out."""
        if isinstance(node.value, ast.Call):
            self._replace(node, "pass")
            self.visit(node.value)

    def visit_If(self, node: ast.If) -> None:
        """The other branch."""
        self._negated(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        """The other branch."""
        self._negated(node.test)
        self.generic_visit(node)

    def _negated(self, test: ast.expr) -> None:
        start, end = self._span(test)
        self._add(start, end, f"not ({self.text[start:end]})", test.lineno)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """Another operator."""
        if type(node.op) in _OPERATORS and not _textual(node):
            self._between(node.left, node.right, *_OPERATORS[type(node.op)])
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        """The edge on the other side."""
        sides = [node.left, *node.comparators]
        for op, left, right in zip(node.ops, sides[:-1], sides[1:], strict=True):
            self._between(left, right, *_COMPARISONS[type(op)])
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        """Or for and."""
        pair = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values[:-1], node.values[1:], strict=True):
            self._between(left, right, *pair)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        """A sign or a ``not`` forgotten."""
        if isinstance(node.op, ast.USub | ast.Not):
            start, end = self._span(node.operand)
            self._replace(node, self.text[start:end])
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        """Another number."""
        if isinstance(node.value, bool):
            self._replace(node, str(not node.value))
        elif isinstance(node.value, int):
            self._replace(node, str(node.value + 1))
        elif isinstance(node.value, float):
            shifted = f"({self.text[slice(*self._span(node))]} * {SCALE})"
            self._replace(node, shifted if node.value else "1.0")

    def visit_Call(self, node: ast.Call) -> None:
        """Its counterpart: max for min, cos for sin."""
        name = node.func.attr if isinstance(node.func, ast.Attribute) else None
        name = node.func.id if isinstance(node.func, ast.Name) else name
        if name in _FUNCTIONS:
            end = self._span(node.func)[1]
            self._add(end - len(name), end, _FUNCTIONS[name], node.lineno)
        self.generic_visit(node)


def _textual(node: ast.BinOp) -> bool:
    """Whether one side is text or a list, or the whole a union of types."""
    return any(
        isinstance(part, ast.JoinedStr | ast.List | ast.Tuple)
        or (isinstance(part, ast.Constant) and isinstance(part.value, str))
        for part in _operands(node)
    )


def _operands(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp):
        yield from _operands(node.left)
        yield from _operands(node.right)
    else:
        yield node


def _arithmetic(node: ast.BinOp) -> bool:
    return type(node.op) in _OPERATORS and not _textual(node)
