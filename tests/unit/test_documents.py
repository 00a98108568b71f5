"""The documents: links lead somewhere, commands exist, and every command is in the manual."""

import pathlib
import re
import shlex

import pytest
import typer

from alight.cli.main import app

ROOT = pathlib.Path(__file__).resolve().parents[2]
SITE = ROOT / "docs"
#: Written when the site is built, from what other tests check.
MADE = (SITE / "project", SITE / "reference" / "api", SITE / "reference" / "commands.md")


def kept(pages):
    """Pages without those that are written when the site is built."""
    return {page for page in pages if not any(page.is_relative_to(made) for made in MADE)}


PAGES = sorted([*ROOT.glob("*.md"), *kept(SITE.rglob("*.md")), *ROOT.glob("benchmarks/*.md")])
MANUAL = ROOT / "docs" / "reference" / "command_line.md"

command_line = typer.main.get_command(app)


def name(page):
    return str(page.relative_to(ROOT))


def prose(text):
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)


def anchors(page):
    """What a link to a heading of the page may end in, as GitHub makes it."""
    heads = re.findall(r"^#+ +(.+)$", prose(page.read_text("utf-8")), re.M)
    plain = (re.sub(r"[^\w\- ]", "", head.strip().lower()) for head in heads)
    return {head.replace(" ", "-") for head in plain}


def broken(page):
    """Links of a page that lead nowhere."""
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page.read_text("utf-8"))):
        if re.match(r"[a-z]+:", target):
            continue  # the network is not asked
        file, _, anchor = target.partition("#")
        aim = (page.parent / file).resolve() if file else page
        if not aim.exists() or (anchor and anchor not in anchors(aim)):
            yield target


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page):
    assert list(broken(page)) == []


def test_a_broken_link_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# One head\n[a](#one-head) [b](#other) [c](no.md) [d](page.md#one-head)\n")
    assert list(broken(page)) == ["#other", "no.md"]


def listed(index):
    """Pages that the lists of contents of a page name."""
    blocks = re.findall(r"^```\{toctree\}\n(.*?)^```", index.read_text("utf-8"), re.M | re.S)
    names = [line for block in blocks for line in block.splitlines() if line[:1].isalnum()]
    return {(index.parent / f"{name}.md").resolve() for name in names}


def test_the_site_leads_to_every_page():
    reached = {SITE / "index.md"}.union(*(listed(index) for index in SITE.rglob("index.md")))
    assert kept(SITE.rglob("*.md")) == kept(reached)


# -- commands -------------------------------------------------------------------------------------


def lines():
    """Every line of a shell block that calls ``alight``, with its page."""
    for page in PAGES:
        for block in re.findall(r"^```sh\n(.*?)^```", page.read_text("utf-8"), re.M | re.S):
            for line in block.replace("\\\n", " ").splitlines():
                words = shlex.split(line, comments=True)
                if words[:1] == ["alight"]:
                    yield name(page), line.strip(), words[1:]


LINES = list(lines())


def parsed(words):
    """Read a command's words as the command line does, and run nothing."""
    words = words[: next((k for k, word in enumerate(words) if word in "<|>"), len(words))]
    context = command_line.make_context("alight", list(words))
    while isinstance(context.command, typer.core.TyperGroup):
        _, command, rest = context.command.resolve_command(context, context._protected_args)
        context = command.make_context(command.name, [*rest, *context.args], parent=context)
    return context


@pytest.mark.parametrize("case", LINES, ids=[f"{page}: {line}" for page, line, _ in LINES])
def test_commands_are_written_right(case):
    words = case[2]
    if words[0].startswith("--"):  # such as --install-completion, which would run
        assert any(words[0] in option.opts for option in command_line.params)
        return
    found = parsed(words)
    for value in [found.params.get("scenario"), *(found.params.get("files") or [])]:
        if str(value).startswith("scenarios/") and "*" not in value:
            assert (ROOT / value).is_file(), value


def commands(group=command_line, before=()):
    for key, command in group.commands.items():
        if isinstance(command, typer.core.TyperGroup):
            yield from commands(command, (*before, key))
        else:
            yield (*before, key)


def test_the_manual_has_an_example_of_every_command():
    shown = [words for page, _, words in LINES if page == name(MANUAL)]
    for command in commands():
        assert any(tuple(words[: len(command)]) == command for words in shown), command
