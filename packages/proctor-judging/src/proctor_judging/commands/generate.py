"""proctor data generate: an agent writes data, and one report says how good it is; each half alone, too."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proctor.cli import derived, options, output
from proctor.cli.long_help import long_command
from proctor.cli.words import lang, t
from proctor.core.errors import BadInput

if TYPE_CHECKING:
    from proctor_judging.generation.problems import Generated, GenerationPlan
    from proctor_judging.generation.quality import Quality

DATA_FOLDER = "generated_data"
REPORT_FOLDER = "evaluation_results"
PLANNED = ("count", "reference", "topics", "tries", "examples", "near", "meaning", "seed")
EXITS = {"met": 0, "missed": 1, "open": 3}


@long_command(
    "agent count reference topic judge rubric evaluate solver labels out budget dry-run json",
    help=t(
        "Have an agent write data (aime, code, dialogue, document, scenario, or a generator file of your own); with --judge, say how good it is. With --evaluate: only look at data that exists."
    ),
)
@click.argument("generator", required=False)
@click.option("--count", "-n", type=options.AT_LEAST_ONE, help=t("How many items (default 30)."))
@click.option("--agent", help=t("Who writes: openai:MODEL, local:NAME, ./agent.py:object … as in proctor run."))
@options.of_run("agent_options")
@options.base_url
@click.option(
    "--reference",
    metavar="FILE|SET",
    help=t(
        "Real items: shown as examples, not to be repeated, and compared with. A file, or a set of the hub: aime25, aime-1983-2025, hub:OWNER/NAME."
    ),
)
@click.option(
    "--topic",
    "topics",
    metavar="TEXT",
    multiple=True,
    help=t("A topic, instead of those of the generator; may be given several times."),
)
@click.option(
    "--examples/--no-examples", default=None, help=t("Show an item of the reference set in each prompt (default: yes).")
)
@click.option("--tries", type=options.AT_LEAST_ONE, help=t("How often an item is asked for at most (default 3)."))
@click.option("--near", type=float, help=t("The share of wording from which an item is a copy (default 0.6)."))
@click.option(
    "--meaning", is_flag=True, default=None, help=t("Nearly the same meaning makes a copy, too (extra semantic).")
)
@click.option("--evaluate", "data", metavar="FILE", help=t("Generate nothing; look at the items of this file."))
@options.of_run("judge judge_options")
@click.option("--rubric", metavar="NAME|FILE", help=t("What to judge by (default: that of the generator)."))
@click.option(
    "--comparisons",
    type=options.AT_LEAST_ONE,
    help=t("How many items are compared with reference items (default: all)."),
)
@click.option("--solver", metavar="AGENT", help=t("An agent that solves the items again, to check the stated answers."))
@derived.several(
    "--solver-set", "solver_options", t("An option of the solver; may be given several times."), read=derived.pairs
)
@click.option(
    "--votes",
    type=click.IntRange(min=1),
    default=5,
    help=t("How often the solver tries each item; the majority counts (default 5)."),
)
@click.option(
    "--labels",
    metavar="FILE",
    help=t("The labels of people for the items (default: the verification file next to the data)."),
)
@options.of_run("seed concurrency limits budget cache run_id accept_changes")
@click.option(
    "--out",
    "-o",
    metavar="DIR",
    help=t("The folder for all files (default: generated_data, and evaluation_results/TIME)."),
)
@options.of_run("store")
@options.dry_run
@options.showing
@click.pass_context
def command(
    ctx: click.Context,
    /,
    generator: str | None,
    data: str | None,
    dry_run: bool,
    as_json: bool,
    **given: Any,
) -> None:
    if data is not None and (given["run_id"] or given["count"] is not None or given["agent"]):
        raise BadInput("--evaluate looks at data that exists; it goes with neither --agent, --count nor --run.")
    plan = _plan(generator, data, given)
    if dry_run:
        _show_plan(plan)
        return
    generated_set: Generated | None = None
    if data is None:
        generated_set = _generate(ctx, plan, given)
        data = str(generated_set.path) if generated_set.path is not None else None
        plan = generated_set.plan
        _tell_generated(generated_set)
    quality = _assess(data, plan, given) if data is not None and (generated_set is None or _judge(given)) else None
    files = _write(quality, given["out"]) if quality is not None else []
    if as_json:
        output.print_json(_summary(generated_set, quality, files))
    elif quality is not None:
        _show(quality)
        for path in files:
            output.message(t("Wrote {path}.", path=path))
    ctx.exit(_exit(generated_set, quality))


def _plan(generator: str | None, data: str | None, given: dict[str, object]) -> "GenerationPlan | None":
    from proctor.config import converted
    from proctor_judging.generation.generator import known
    from proctor_judging.generation.problems import GenerationPlan

    if generator is None and data is not None:
        generator = next((name for name in known() if Path(data).name.startswith(f"{name}_generated_")), "aime")
    if generator is None:
        if given["run_id"] is not None:
            return None
        raise BadInput(
            "Say what to generate: proctor data generate aime --agent openai:MODEL. Known: {known}, or a file of your own, ./mine.toml.",
            known=", ".join(known()),
        )
    values = {name: given[name] for name in PLANNED if given[name] not in (None, ())}
    return converted({"generator": generator, **values}, GenerationPlan, "generate")


def _generate(ctx: click.Context, plan: "GenerationPlan | None", given: dict[str, Any]) -> "Generated":
    from msgspec.structs import asdict

    from proctor.api import RunOptions
    from proctor.config import settings
    from proctor.core.errors import Stopped
    from proctor.engine.progress import Progress
    from proctor_judging.generation.problems import ItemProgress, generate

    project_settings = settings()
    progress: Progress = ItemProgress(tell=output.tell, show=None if given["quiet"] else output.message)
    usual = RunOptions(
        limits=project_settings.limits,
        budget=project_settings.budget,
        concurrency=project_settings.concurrency,
        progress=progress,
    )
    if plan is not None:  # else agent and options are those of the stored run
        usual = usual.changed({"agent": project_settings.agent, "agent_options": project_settings.agent_options})
    names = ("agent", "agent_options", "limits", "budget", "concurrency", "accept_changes", "cache", "store", "run_id")
    flags = {name: value for name, value in options.nested(given).items() if name in names}
    try:
        with output.watching(progress, quiet=given["quiet"]):
            how = asdict(usual.changed(flags))
            return generate(plan, folder=given["out"] or DATA_FOLDER, lang=lang(), **how)
    except (Stopped, BadInput) as error:
        run_id = error.run_id
        if run_id is None:
            raise
        if isinstance(error, BadInput):
            output.message(t("Error: {message}", message=t(error.sentence)))
        output.message(
            t("Stopped; everything finished is kept. Go on with: proctor data generate --run {run}", run=run_id)
        )
        ctx.exit(130 if isinstance(error, Stopped) else 2)


def _judge(given: dict[str, Any]) -> str | None:
    from proctor.config import judge_name, settings

    judge: str | None = given["judge"] or judge_name(settings())
    return judge


def _assess(data: str, plan: "GenerationPlan | None", given: dict[str, Any]) -> "Quality":
    from proctor_judging.generation.quality import Wish, assess

    assert plan is not None
    wish = Wish(
        data=data,
        generator=plan.generator,
        reference=plan.reference,
        judge=_judge(given),
        judge_options=options.judge_options(_judge(given), given["judge_options"]),
        rubric=given["rubric"],
        comparisons=given["comparisons"],
        solver=given["solver"],
        solver_options=given["solver_options"],
        votes=given["votes"],
        verifications=given["labels"],
        meaning=plan.meaning,
        seed=plan.seed,
    )
    with output.judging(quiet=given["quiet"]) as progress:
        return assess(
            wish,
            tell=output.tell,
            progress=progress,
            **{name: given[name] for name in ("store", "budget", "concurrency")},
        )


def _write(found: "Quality", out: str | None) -> list[Path]:
    from proctor_judging.generation.files import stamp
    from proctor_judging.generation.report import write_report

    return write_report(out or Path(REPORT_FOLDER) / stamp(), found, lang())


def _tell_generated(made: "Generated") -> None:
    for path in (made.path, made.report):
        if path is not None:
            output.message(t("Wrote {path}.", path=path))
    output.message(t("{made} of {planned} items.", made=len(made.items), planned=made.plan.count))
    output.look_closer(made.run)


def _show(found: "Quality") -> None:
    from proctor.reports.tables import styled
    from proctor_judging.generation import advice
    from proctor_judging.generation.report import checks_table

    table = checks_table(found)
    output.print_table([t(title) for title in table.columns], [[t(cell) for cell in row] for row in table.rows])
    console = output.console()
    for check in found.checks:
        if check.why is not None:
            console.print(styled(t(advice.reason(check))))
    console.print(styled(t(advice.conclusion(found)), "bold"))
    for caveat in advice.caveats(found):
        console.print(styled(t(caveat)))


def _summary(made: "Generated | None", found: "Quality | None", files: list[Path]) -> dict[str, object]:
    from proctor_judging.generation import advice

    told: dict[str, object] = {"files": [str(path) for path in files]}
    if made is not None:
        told |= {
            "run": made.run.id,
            "agent": made.run.record.agent,
            "data": str(made.path) if made.path is not None else None,
            "generated": len(made.items),
            "planned": made.plan.count,
            "missing": [{"id": gap.id, "kind": gap.kind, "reason": str(gap.reason)} for gap in made.missing],
            "outcomes": dict(made.run.outcomes),
            "usage": made.run.usage,
        }
    if found is not None:
        told |= {
            "data": found.data,
            "verdict": found.verdict,
            "conclusion": str(advice.conclusion(found)),
            "checks": [
                {
                    "name": str(check.name),
                    "threshold": check.threshold,
                    "verdict": check.verdict,
                    "number": check.number,
                    "why": None if check.why is None else str(check.why),
                }
                for check in found.checks
            ],
            "uncalibrated": found.is_uncalibrated,
            "failures": {part: str(reason) for part, reason in found.failures.items()},
        }
    return told


def _show_plan(plan: "GenerationPlan | None") -> None:
    from proctor_judging.generation.problems import task

    if plan is None:
        raise BadInput("--dry-run goes with the name of a generator, not with a stored run.")
    loaded_task = task(plan)
    first = next(iter(loaded_task.samples() if callable(loaded_task.samples) else loaded_task.samples))
    output.line(t("{count} items of {generator}; the first prompt:", count=plan.count, generator=loaded_task.name))
    output.line()
    output.line(first.question)


def _exit(made: "Generated | None", found: "Quality | None") -> int:
    if made is not None and made.run.record.state == "inconclusive":
        return 3
    if made is not None and not made.items:
        return 1
    return EXITS[found.verdict] if found is not None else 0
