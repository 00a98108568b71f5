"""The page of a report: HTML in one file, with its style and its images inside.

It loads nothing: no script, no font, no image from elsewhere. It reads on a telephone and prints
on A4 or letter paper.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

STYLE = """
:root { --ink: #1d2430; --grey: #5a6474; --line: #d4d8df; --pale: #f5f6f8; --mark: #0072b2; }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0 auto; max-width: 64rem; padding: 2.5rem 1.5rem 4rem; background: #fff;
  color: var(--ink); font: 1rem/1.55 "Helvetica Neue", Helvetica, Arial, "Liberation Sans",
  sans-serif; }
header { border-bottom: 2px solid var(--ink); padding-bottom: 0.9rem; margin-bottom: 1.6rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 0.3rem; }
header p { margin: 0; color: var(--grey); }
h2 { font-size: 1.3rem; margin: 2.8rem 0 0.5rem; }
p { max-width: 46rem; margin: 0.5rem 0; }
.answers { display: grid; gap: 1.1rem 2.4rem; grid-template-columns: 1fr 1fr; margin: 0; }
.answers div { border-top: 3px solid var(--mark); padding-top: 0.55rem; }
.answers div:last-child:nth-child(odd) { grid-column: 1 / -1; }
.answers dt { font-weight: 700; margin-bottom: 0.15rem; }
.answers dd { margin: 0; }
.warning { border-left: 4px solid #d55e00; background: #fdf3ec; padding: 0.6rem 1rem;
  max-width: none; margin: 0 0 0.8rem; }
figure { margin: 0.8rem 0 0; }
figure div { overflow-x: auto; }
figure img { display: block; width: 100%; height: auto; min-width: 34rem; }
figcaption { color: var(--grey); font-size: 0.875rem; max-width: 46rem; margin-top: 0.4rem; }
ul { max-width: 46rem; margin: 0.7rem 0 0; padding-left: 1.1rem; color: var(--grey);
  font-size: 0.875rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums;
  margin-top: 0.6rem; }
th, td { text-align: left; padding: 0.35rem 1.4rem 0.35rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
th { border-bottom-color: var(--ink); white-space: nowrap; }
td.n, th.n { text-align: right; white-space: nowrap; }
td.long { overflow-wrap: anywhere; }
pre { background: var(--pale); border: 1px solid var(--line); padding: 0.9rem 1.1rem;
  font: 0.8rem/1.5 "DejaVu Sans Mono", Menlo, Consolas, monospace; white-space: pre-wrap;
  overflow-wrap: anywhere; margin: 0.6rem 0 0; }
footer { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: 0.7rem;
  color: var(--grey); font-size: 0.85rem; }
@media (max-width: 44rem) {
  body { padding: 1.2rem 1rem 3rem; }
  h1 { font-size: 1.5rem; }
  .answers { grid-template-columns: 1fr; }
}
@media print {
  @page { margin: 16mm 15mm; }
  body { max-width: none; padding: 0; font-size: 10pt; line-height: 1.42; }
  h1 { font-size: 18pt; }
  h2 { font-size: 12.5pt; margin-top: 8mm; break-after: avoid; }
  p { orphans: 3; widows: 3; }
  p:has(+ .scroll) { break-after: avoid; }
  figure, table, .answers div, .warning { break-inside: avoid; }
  figure img { min-width: 0; max-height: 200mm; object-fit: contain; object-position: left top; }
  .scroll, figure div { overflow: visible; }
  table { font-size: 8.5pt; }
  th, td { padding-right: 0.8rem; }
  pre { font-size: 6.8pt; background: none; columns: 2; }
  .warning { background: none; }
  * { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
}
"""


@dataclass(frozen=True)
class Picture:
    """A figure on the page."""

    file: Path
    """An SVG or PNG file, which is put into the page."""
    alt: str
    """What it shows, for who cannot see it."""
    caption: str


@dataclass(frozen=True)
class Section:
    """A part of the page: a title, words, figures, tables."""

    title: str
    parts: Sequence[str]
    """HTML of each part, in order."""


def page(title: str, subtitle: str, lead: Iterable[str], sections: Iterable[Section]) -> str:
    """The whole page as text."""
    body = "\n".join(
        f"<section>\n<h2>{escape(s.title)}</h2>\n" + "\n".join(s.parts) + "\n</section>"
        for s in sections
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="Alight">
<link rel="icon" href="data:,">
<title>{escape(title)}</title>
<style>{STYLE}</style>
</head>
<body>
<header>
<h1>{escape(title)}</h1>
<p>{escape(subtitle)}</p>
</header>
<main>
{chr(10).join(lead)}
{body}
</main>
<footer>Made by Alight. Figures lie beside this page as PNG and SVG; tables as Parquet.</footer>
</body>
</html>
"""


def answers(pairs: Iterable[tuple[str, str]]) -> str:
    """Questions and answers, two abreast."""
    rows = (f"<div><dt>{escape(q)}</dt><dd>{escape(a)}</dd></div>" for q, a in pairs)
    return '<dl class="answers">\n' + "\n".join(rows) + "\n</dl>"


def paragraph(text: str) -> str:
    """Words."""
    return f"<p>{escape(text)}</p>"


def listed(lines: Iterable[str]) -> str:
    """Sentences, one below the other."""
    return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"


def warning(text: str) -> str:
    """Words that must not be overlooked."""
    return f'<p class="warning" role="note">{escape(text)}</p>'


def table(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """A table; columns whose places are in ``numbers`` are set to the right."""

    def cells(row: Sequence[str], tag: str) -> str:
        marks = (' class="n"' if k in numbers else "" for k in range(len(row)))
        found = zip(row, marks, strict=True)
        return "".join(f"<{tag}{mark}>{escape(text)}</{tag}>" for text, mark in found)

    top = f"<thead><tr>{cells(head, 'th')}</tr></thead>\n" if head else ""
    body = "\n".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
    return f'<div class="scroll"><table>\n{top}<tbody>\n{body}\n</tbody>\n</table></div>'


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """Names and values."""
    body = "\n".join(
        f'<tr><td>{escape(name)}</td><td class="long">{escape(value)}</td></tr>'
        for name, value in rows
    )
    return f'<div class="scroll"><table><tbody>\n{body}\n</tbody></table></div>'


def code(text: str) -> str:
    """Text of a file."""
    return f"<pre>{escape(text)}</pre>"


def picture(shown: Picture) -> str:
    """A figure with its image inside the page."""
    kind = {".svg": "image/svg+xml", ".png": "image/png"}[shown.file.suffix]
    data = base64.b64encode(shown.file.read_bytes()).decode("ascii")
    return (
        f'<figure><div><img src="data:{kind};base64,{data}" alt="{escape(shown.alt)}"></div>\n'
        f"<figcaption>{escape(shown.caption)}</figcaption></figure>"
    )
