"""proctor demo: two recorded agents on a benchmark, scored and compared in seconds; with `--live`, a model that runs here against one of them.

The replies are those of SmolLM2-135M-Instruct (Q4_1) on 100 questions that were drawn from BFCL v4 `simple_python` (Apache-2.0), at
two temperatures. `bench/demo_recordings.py` wrote the files; nothing in them was edited.
"""

import json
import os
import shlex
import shutil
import sys
import time
from importlib.metadata import distribution
from pathlib import Path
from typing import TYPE_CHECKING

import click

from proctor.cli import output
from proctor.cli.words import lang, t

if TYPE_CHECKING:
    from proctor.api import Run
    from proctor.api.comparison import Comparison

FOLDER = Path(__file__).parent
QUESTIONS = FOLDER / "questions.jsonl"
FIRST, SECOND = "greedy", "warm"
MODEL = "smollm2-135m"
RECORDED = "2026-11-29"
LIVE_QUESTIONS = 30
LIVE_TASK = "bfcl/simple_python"


@click.command()
@click.option("--live", is_flag=True, help=t("Run the model on this machine instead of reading what was recorded."))
@click.option("--out", "-o", metavar="FILE", help=t("Write the comparison as a page too: .html, .md or .json."))
def command(*, live: bool, out: str | None) -> None:
    from proctor.api import compare
    from proctor.api.files import check_comparison_file, write_comparison

    if out is not None:
        check_comparison_file(Path(out))
    runs = _live() if live else _recorded()
    difference = compare(*runs).rows[0].difference.value
    comparison = compare(*runs, detect=abs(difference) or None)
    _print_numbers(runs)
    _print_conclusion(runs, comparison)
    _print_story(runs, comparison)
    if out is not None:
        path = write_comparison(comparison, Path(out), lang(), runs).resolve()
        output.line(t("Every question with both replies: {url}", url=path.as_uri()))
    _print_next_steps(live, out)


def _recorded() -> "tuple[Run, Run]":
    """Score what both agents said to all questions, in a store that is gone afterwards."""
    from proctor.api import score

    _print(
        t(
            "Two agents on {count} questions of BFCL (simple_python): is the right function called with the right values? Both are the model SmolLM2-135M-Instruct, {first} at temperature 0 and {second} at 0.7.",
            count=len(_ids()),
            first=FIRST,
            second=SECOND,
        )
    )
    start = time.perf_counter()
    first, second = (
        score(
            str(QUESTIONS),
            replies=FOLDER / f"{name}.jsonl",
            scorers=["trajectory:exact"],
            store=":memory:",
            run_id=name,
        )
        for name in (FIRST, SECOND)
    )
    _print(
        t(
            "Their {count} replies were recorded on {date}, and scored just now in {seconds} s.",
            count=2 * len(_ids()),
            date=RECORDED,
            seconds=f"{time.perf_counter() - start:.1f}",
        )
    )
    return first, second


def _ids() -> list[str]:
    return [json.loads(line)["id"] for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]


def _live() -> "tuple[Run, Run]":
    """Run the model on the first questions, and score what the other agent said to them by the same official rule."""
    from proctor.api import evaluate
    from proctor.api.files import pull_data, pull_model
    from proctor.engine.progress import Progress
    from proctor.registry import MODELS

    MODELS.find("local").make(MODEL, {})  # before anything is fetched, whatever is missing is said
    output.message(
        t(
            "Fetched once and kept in your cache: the data of BFCL (2 MB) and the model {model} (98 MB). It then answers {count} questions on this machine, in two to four minutes.",
            model=MODEL,
            count=LIVE_QUESTIONS,
        )
    )
    pull_data("bfcl", None, output.tell)
    pull_model(MODEL, None, output.tell)
    ids = _ids()[:LIVE_QUESTIONS]
    progress = Progress()
    with output.watching(progress, quiet=False):
        first = evaluate(LIVE_TASK, agent=f"local:{MODEL}", ids=ids, progress=progress)
    second = evaluate(
        LIVE_TASK, agent=f"replay:{FOLDER / SECOND}.jsonl", ids=ids, store=":memory:", run_id=f"{SECOND}-recorded"
    )
    output.look_closer(first)
    output.print_run(first, as_json=False)
    output.line()
    _print(
        t(
            "{name} is the same model at temperature 0.7, recorded on {date}.",
            name=second.id,
            date=RECORDED,
        )
    )
    return first, second


def _print_numbers(runs: "tuple[Run, Run]") -> None:
    from proctor.reports.words import ReportWords

    words, width = ReportWords(lang()), max(len(run.id) for run in runs)
    output.line()
    for run in runs:
        if run.headline is not None:
            output.line(f"  {run.id.ljust(width)}  {words.sentence(run.headline, words.metric(run.headline.name))}")
    output.line()


def _print_conclusion(runs: "tuple[Run, Run]", comparison: "Comparison") -> None:
    """Print what the two percentages suggest, and then what the replies to the same questions show."""
    from proctor.reports.versus import signed, span

    first, second = (run.id for run in runs)
    row = comparison.rows[0]
    difference = row.difference
    better = second if difference.value > 0 else first
    values = {"better": better, "points": f"{abs(100 * difference.value):.1f}", "interval": span(row)}
    if difference.value:
        _print(t("The percentages alone say: {better} is better, by {points} points.", **values))
    else:
        _print(t("The percentages alone say: both are equally good."))
    if row.outcome != "inconclusive":
        said = t("The pairs of replies say: {better} is better, but by how much is open: {interval} points.", **values)
    elif difference.value:
        said = t("That is the wrong conclusion: which of them is better cannot be told from these questions.")
    else:
        said = t("That is the wrong conclusion: a difference within {interval} points is not excluded.", **values)
    _print(said, "bold")
    _print(
        t(
            "{second} − {first}: {difference} points, 95% interval {interval}. Only {second} was right in {wins} questions, only {first} in {losses}; {ties} came out alike.",
            first=first,
            second=second,
            difference=signed(difference.value),
            interval=span(row),
            wins=difference.wins,
            losses=difference.losses,
            ties=difference.ties,
        )
    )
    if comparison.needed is not None and row.outcome == "inconclusive":
        _print(
            t(
                "To find a difference as large takes about {samples} questions like these.",
                samples=f"{comparison.needed.samples:,}",
            )
        )


def _print_story(runs: "tuple[Run, Run]", comparison: "Comparison") -> None:
    """Print the story of a sample that one of them failed: the first that only the other one got right."""
    from proctor.reports.terminal import explain

    sides = ((1, comparison.losses), (0, comparison.wins))
    failed = next(((which, ids[0]) for which, ids in sides if ids), None)
    if failed is None:
        return
    which, sample_id = failed
    run = runs[which]
    output.line()
    _print(
        t("One that {name} got wrong, and {other} right:", name=run.id, other=runs[1 - which].id),
        "bold",
    )
    explain(run.record, run.store, sample_id, 0, lang(), output.console())


def _print_next_steps(live: bool, out: str | None) -> None:
    program = _program()
    output.line()
    _print(t("Now your own agent; it is looked for in this folder: {command}", command=f"{program} init"), "bold")
    if out is None:
        page = f"{program} demo{' --live' * live} --out demo.html"
        _print(t("Every question with both replies, as a page: {command}", command=page))


def _print(text: str, style: str = "") -> None:
    from proctor.reports.tables import styled

    output.console().print(styled(text, style))


def _program() -> str:
    """Return how to call this program in the shell that started it: `make demo` activates no environment, and what `uvx` makes is gone."""
    if "archive-v0" in Path(sys.prefix).parts:  # a folder of uv's cache
        origin = json.loads(distribution("proctor").read_text("direct_url.json") or "{}").get("url")
        return "uvx proctor" if origin is None else f"uvx --from {shlex.quote(origin.removeprefix('file://'))} proctor"
    own = Path(sys.executable).parent / "proctor"
    named = shutil.which("proctor")
    if not own.is_file() or (named is not None and Path(named) == own):
        return "proctor"
    return os.path.relpath(own) if own.is_relative_to(Path.cwd()) else str(own)
