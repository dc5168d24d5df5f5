"""proctor ci plan: how many samples and attempts decide a question, and what they cost."""

from pathlib import Path
from typing import Any

import click

from proctor.cli import options, output
from proctor.cli.words import lang, t


@click.command()
@click.argument("task")
@click.option(
    "--detect",
    type=float,
    metavar="SHARE",
    help=t("The difference to find, as 0.03 for 3 points; with --threshold, how far above it."),
)
@click.option("--threshold", type=float, metavar="SHARE", help=t("Plan to show that this mean is reached, as 0.85."))
@click.option(
    "--against",
    metavar="RUN|NAME",
    help=t("The baseline, which is not run again: a run, or a name given by proctor ci baseline set."),
)
@click.option("--power", type=float, default=0.8, show_default=True, help=t("The chance that the question is decided."))
@click.option("--error", type=float, default=0.05, show_default=True, help=t("The chance of a wrong finding."))
@click.option("--attempts", type=options.AT_LEAST_ONE, help=t("Plan with this many attempts at each sample only."))
@click.option(
    "--agent", help=t("Take what a trial costs from the runs of this agent, and its price from the settings.")
)
@options.of_run("options")
@options.page
@options.of_run("store")
@options.as_json
def command(task: str, out: str | None, as_json: bool, **given: Any) -> None:
    from proctor_ci.plan import plan
    from proctor_ci.plan_page import page

    sample_plan = plan(task, **given)
    shown = page(sample_plan, lang())
    if as_json:
        import msgspec

        plain = msgspec.structs.asdict(sample_plan)
        output.print_json({name: output.with_english(value) for name, value in plain.items()})
    else:
        for name, value in shown.facts.items():
            output.line(f"{name}: {value}")
        output.line()
        output.show(shown.sections)
    if out is not None:
        from proctor.reports.pages import write

        output.message(t("Wrote {path}.", path=write(Path(out), shown, lang())))
