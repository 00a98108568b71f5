"""The page of a report: HTML in one file, with its style and its images inside.

It loads nothing: no script, no font, no image from elsewhere. It reads on a telephone and prints
on A4 or letter paper.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

STYLE = """
:root { --ink: #1d2430; --grey: #5a6474; --line: #d4d8df; --pale: #f5f6f8; --mark: #0072b2; }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0 auto; max-width: 64rem; padding: 2.5rem 1.5rem 4rem; background: #fff;
  color: var(--ink); font: 1rem/1.55 "Helvetica Neue", Helvetica, Arial, "Liberation Sans",
  sans-serif; overflow-wrap: break-word; }
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


def page(title: str, subtitle: str, lead: Iterable[str], sections: Iterable[str]) -> str:
    """The whole page as text."""
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
{chr(10).join(sections)}
</main>
<footer>Made by Alight. Figures lie beside this page as PNG and SVG; tables as Parquet.</footer>
</body>
</html>
"""


def section(title: str, parts: Iterable[str]) -> str:
    """A part of the page."""
    return f"<section>\n<h2>{escape(title)}</h2>\n" + "\n".join(parts) + "\n</section>"


def answers(pairs: Iterable[tuple[str, str]]) -> str:
    """Questions and answers, two abreast."""
    rows = (f"<div><dt>{escape(q)}</dt><dd>{escape(a)}</dd></div>" for q, a in pairs)
    return '<dl class="answers">\n' + "\n".join(rows) + "\n</dl>"


def warning(text: str) -> str:
    """Words that must not be overlooked."""
    return f'<p class="warning" role="note">{escape(text)}</p>'
