"""proctor init: one question, a few short files, and the first number."""

import sys
from collections.abc import Callable, Mapping
from contextlib import chdir
from pathlib import Path

import click

from proctor import registry
from proctor.cli import first_run, output, templates
from proctor.cli.plugin_files import PARTS, write_plugin
from proctor.cli.words import t
from proctor.core.errors import BadInput
from proctor.core.near import near
from proctor.core.sentence import Sentence, say
from proctor.runtime.visible import visible

ENVIRONMENT = "environment"
PLUGIN = "plugin"
ENDING = "-set"
QUESTIONS: Mapping[str, Sentence] = {  # the answers to the one question, in its order
    "function": say("a function in Python"),
    "endpoint": say("an endpoint that speaks as OpenAI's"),
    "framework": say("an agent of a framework (ADK, LangGraph, OpenAI Agents, Pydantic AI, smolagents)"),
    "traces": say("traces of conversations that were had"),
    "data": say("a file of questions"),
    "benchmark": say("a published benchmark (BFCL)"),
}
FORMER = {"project": "function"}


@click.command(
    help=t(
        "Write files to start from, and run them. KIND is what to evaluate: function, endpoint, framework, traces, data or benchmark; without it there is one question. Or it is a file to add: ci (tiers and jobs), gate, watch, check (of tasks, for audits), environment (tools with a state), gaia-set (questions), or plugin (a package with a part of Proctor); the last three need a folder."
    )
)
@click.argument("kind", required=False)
@click.argument("folder", metavar="[DIR]", type=click.Path(file_okay=False, path_type=Path), required=False)
@click.option("--part", type=click.Choice([*PARTS]), help=t("What a plugin adds (default: scorer, with a command)."))
@click.pass_context
def command(ctx: click.Context, kind: str | None, folder: Path | None, part: str | None) -> None:
    kind = FORMER.get(kind or "", kind)
    if part is not None and kind != PLUGIN:
        raise BadInput("--part goes with a plugin: proctor init plugin DIR --part {part}", part=part)
    if kind == PLUGIN and folder is not None:
        write_plugin(folder, part or "scorer")
    elif kind is None or kind in QUESTIONS:
        path = folder or Path()
        path.mkdir(parents=True, exist_ok=True)
        with chdir(path):
            ctx.exit(first_run.begin(kind or _ask(), folder))
    elif kind in KINDS:
        KINDS[kind](folder or Path())
    else:
        _write_template(kind, folder)


def _ask() -> str:
    """Return what is to be evaluated: as the user answers, or where there is no terminal, what was found."""
    from proctor.cli.found import look_into

    contents = look_into(Path())
    there = {kind: getattr(contents, kind, "") for kind in QUESTIONS}
    likeliest = next(
        (kind for kind in ("framework", "function", "data", "traces", "endpoint") if there[kind]), "function"
    )
    if not sys.stdin.isatty():
        output.message(
            t("There is no terminal to ask on, so it is '{kind}'. Another one: proctor init KIND", kind=likeliest)
        )
        return likeliest
    output.message(t("What do you want to evaluate?"))
    for number, (kind, sentence) in enumerate(QUESTIONS.items(), start=1):
        seen = f"  ← {there[kind]}" if there[kind] else ""
        output.message(f"  {number}  {t(sentence)}{seen}")
    kinds = [*QUESTIONS]
    number = click.prompt(t("Number"), default=kinds.index(likeliest) + 1, type=click.IntRange(1, len(kinds)), err=True)
    return kinds[number - 1]


def _write_template(kind: str, folder: Path | None) -> None:
    from proctor.api import resolve

    part = resolve.benchmark(kind.removesuffix(ENDING)) if kind.endswith(ENDING) else None
    own = None if part is None else part.own
    if own is None and kind not in (ENVIRONMENT, PLUGIN):
        sets = [f"{name}{ENDING}" for name, declared in resolve.benchmarks() if declared.own is not None]
        known = [*QUESTIONS, *KINDS, ENVIRONMENT, PLUGIN, *sets]
        if near(kind, known):
            raise registry.unknown("template", kind, known, paths=False)
        raise BadInput(
            "No template is called '{name}'. Known: {known}. To start in a folder of this name: proctor init function {name}",
            name=kind,
            known=", ".join(known),
        )
    if folder is None:
        raise BadInput("Name the folder to write to: proctor init {kind} DIR", kind=kind)
    if own is None:
        templates.write_environment(folder)
        return
    for path in own.write_template(folder):
        output.line(visible(str(path)))
    benchmark = kind.removesuffix(ENDING)
    output.message(
        t("Fill it in, then check it: proctor data check {benchmark} {folder}", benchmark=benchmark, folder=folder)
    )


def _write_gate(folder: Path) -> None:
    templates.write_files(folder, {"gate.toml": templates.gate_text()}, "proctor ci gate RUN --policy {path}")


def _write_watch(folder: Path) -> None:
    templates.write_files(
        folder, {"watch.toml": templates.watch_text()}, "proctor ci watch --file {path} --now nightly"
    )


def _write_ci(folder: Path) -> None:
    registry.offered("starters", "ci")(folder, templates.gate_text, at_least=templates.AT_LEAST)


def _write_check(folder: Path) -> None:
    registry.offered("starters", "check")(folder)


KINDS: "dict[str, Callable[[Path], None]]" = {
    "check": _write_check,
    "ci": _write_ci,
    "gate": _write_gate,
    "watch": _write_watch,
}
