"""proctor judge items: the items of a file, or the answers of a stored run, by a rubric."""

from typing import TYPE_CHECKING, Any

import click
import msgspec

from proctor.cli import options, output
from proctor.cli.derived import gathered
from proctor.cli.long_help import long_command
from proctor.cli.words import t
from proctor.core.errors import BadInput

if TYPE_CHECKING:
    from proctor.api import RunOptions


class RubricFlags(msgspec.Struct, frozen=True, kw_only=True):
    """By what items are judged, and the name of the run."""

    rubric: str | None
    judges: tuple[str, ...]
    scorers: tuple[str, ...]
    reference: str | None
    run_id: str | None

    @property
    def model(self) -> str | None:
        """Return the judge, or the jury with commas between."""
        return ",".join(self.judges) or None


@long_command(
    "rubric judge judge-set repeats run limit labels map scorer out budget dry-run json",
    help=t("Judge the items of a file by a rubric. With --run and no file: the answers of a stored run."),
)
@click.argument("file", required=False)
@click.option(
    "--rubric",
    metavar="NAME|FILE",
    help=t("What to judge by: math-problem, code, answer-quality … or a file of your own, ./mine.toml."),
)
@click.option(
    "--judge",
    "judges",
    metavar="MODEL",
    multiple=True,
    help=t(
        "The model that judges: openai:MODEL, local:NAME, scripted:FILE (else PROCTOR_JUDGE); three or more are a jury."
    ),
)
@options.of_run("judge_options")
@click.option("--repeats", type=options.AT_LEAST_ONE, help=t("Judgements of each item (default 1)."))
@click.option(
    "--scorer",
    "scorers",
    metavar="NAME",
    multiple=True,
    help=t("A judge out of a file of scorers, instead of --rubric."),
)
@options.items
@click.option("--reference", metavar="FILE", help=t("Items as they should be; the judge is shown some as examples."))
@click.option(
    "--labels",
    metavar="FILE",
    multiple=True,
    help=t(
        "A verification file: compare the judge with these people, and correct its figures; may be given several times."
    ),
)
@options.of_run("limit first seed concurrency budget")
@click.option(
    "--run",
    "run_id",
    metavar="ID",
    help=t("With a file: the name of the run; that of a stored run resumes it. Without: the stored run to judge."),
)
@options.of_run("accept_changes store")
@options.reports
@options.dry_run
@options.showing
@click.pass_context
@gathered("flags", RubricFlags)
def command(
    ctx: click.Context,
    /,
    file: str | None,
    flags: RubricFlags,
    as_json: bool,
    dry_run: bool,
    quiet: bool,
    reports: tuple[str, ...],
    **given: Any,
) -> None:
    from msgspec.structs import replace

    from proctor import api
    from proctor_judging.commands import judged
    from proctor_judging.review import labels

    chosen, run_id = _scorers(flags), flags.run_id
    if given["repeats"] is not None:
        given["judge_options"] = {**(given["judge_options"] or {}), "repeats": given["repeats"]}
    how = options.judging(flags.model, {**given, "run_id": run_id})
    for path in given["labels"]:
        labels.read(path)  # what cannot be read is reported before any model is asked
    if file is not None:
        if not chosen:
            raise BadInput("Name what to judge by: --rubric NAME. Known: {known}.", known=", ".join(_known()))
        same = {name: given[name] for name in ("limit", "first", "seed")}
        how = replace(how, scorers=chosen, options=_task_options(given, flags.reference), **same)
    elif run_id is None:
        raise BadInput(
            "Name a file to judge, or a stored run: proctor judge items FILE --rubric NAME --judge openai:MODEL"
        )
    if dry_run:
        _show_plan(how, file, chosen, as_json=as_json)
        return
    with output.judging(quiet=quiet) as progress:
        how = replace(how, progress=progress)
        if file is not None:
            run = api.run_task(f"judged-items:{file}", how)
        elif chosen:
            same = {name: getattr(how, name) for name in ("judge", "judge_options", "store", "budget", "concurrency")}
            run = api.rescore(str(run_id), scorers=chosen, progress=progress, **same)
        else:
            run = judged.resume(how)
    if given["labels"]:
        from proctor_judging.commands.agree import compare_with_labels

        run = compare_with_labels(run, given["labels"], as_json=as_json)
    judged.print_judged(ctx, run, as_json=as_json, reports=reports)


def _show_plan(how: "RunOptions", file: str | None, chosen: list[str], *, as_json: bool) -> None:
    from proctor import api
    from proctor_judging.commands.judged import rehearse, rehearse_again, show_rehearsal

    if file is not None:
        rehearsal = rehearse(f"judged-items:{file}", how)
    else:
        run = api.open_run(str(how.run_id), store=how.store)
        scorers = chosen or run.record.spec.scorers
        rehearsal = rehearse_again(run, scorers, judge=how.judge, judge_options=how.judge_options)
    show_rehearsal(rehearsal, as_json=as_json)


def _scorers(flags: RubricFlags) -> list[str]:
    if flags.scorers and flags.rubric is not None:
        raise BadInput("Use either --rubric or --scorer.")
    if flags.rubric is None:
        return [*flags.scorers]
    from proctor.config import judge_name, settings

    several = "," in (flags.model or judge_name(settings()) or "")
    return [f"jury:{flags.rubric}" if several else f"rubric:{flags.rubric}"]


def _known() -> list[str]:
    from proctor_judging.judges.rubric import known

    return known()


def _task_options(given: dict[str, object], reference: str | None) -> dict[str, object]:
    options: dict[str, object] = {}
    if given["columns"]:
        options["columns"] = given["columns"]
    if reference is not None:
        options |= {"reference": reference, "seed": given["seed"] or 0}
    return options
