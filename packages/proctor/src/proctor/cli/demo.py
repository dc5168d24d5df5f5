"""proctor demo: a real run on a real model, in two to four minutes."""

import os
import shutil
import sys
from pathlib import Path

import click

from proctor.cli import options, output
from proctor.cli.words import lang, t

MODEL = "smollm2-135m"
CATEGORIES = {"simple_python": 20, "irrelevance": 10}


@click.command()
@click.option(
    "--out", "-o", metavar="FILE", default="proctor-demo.html", show_default=True, help=t("Where the report goes.")
)
@options.of_run("store")
@options.quiet
def command(out: str, store: str | None, quiet: bool) -> None:
    from proctor.api import evaluate
    from proctor.api.files import pull_data, pull_model
    from proctor.engine.progress import Progress

    output.message(t("The model {model} and the data of BFCL are fetched once and kept in your cache.", model=MODEL))
    pull_model(MODEL, None, output.tell)
    pull_data("bfcl", None, output.tell)
    progress = Progress()
    with output.watching(progress, quiet=quiet):
        run = evaluate(
            f"bfcl/{','.join(CATEGORIES)}",
            agent=f"local:{MODEL}",
            ids=[f"{category}_{number}" for category, count in CATEGORIES.items() for number in range(count)],
            store=store,
            progress=progress,
        )
    output.print_run(run, as_json=False)
    path = run.report(out, lang=lang()).resolve()
    output.message(t("Report: {url}", url=Path(path).as_uri()))
    output.message(t("A model this small is here to show the way, not to impress. Now your own agent:"))
    program = _program()
    output.message(f"  {program} run bfcl/simple_python --agent openai:MODEL --limit 50")
    output.message(f"  {program} run bfcl/simple_python --agent ./agent.py:answer --limit 50")
    output.message(t("Look closer: {program} show {run} --failures", program=program, run=run.id))


def _program() -> str:
    """Return how to call this program in the shell that started it: `make demo` activates no environment."""
    own = Path(sys.executable).parent / "proctor"
    named = shutil.which("proctor")
    if not own.is_file() or (named is not None and Path(named) == own):
        return "proctor"
    return os.path.relpath(own) if own.is_relative_to(Path.cwd()) else str(own)
