"""proctor adk eval: an agent on eval-set files, as `veadk eval` and `adk eval` do it; a case that fails is exit code 1."""

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from proctor.cli import options, output
from proctor.cli.long_help import long_command
from proctor.cli.words import lang, t
from proctor.core.errors import BadInput
from proctor_adapters.commands.adk_flags import adk_flags, follow

if TYPE_CHECKING:
    from proctor.api import Run
    from proctor_adapters.evalsets.outcomes import CaseOutcome
    from proctor_adapters.exports.prometheus import Gateway

JUDGE = "doubao-1-5-pro-256k-250115"
HISTORY = Path(".adk", "eval_history")
ENDS = (".evalset.json", ".test.json", ".json")
FILE = click.Path(path_type=Path)


class EvalPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What to evaluate: the agent by name, its folder, and eval set files or sets."""

    agent: str
    folder: Path
    sets: Sequence[str]


@long_command(
    "agent-dir evalset-file agent config-file-path evaluator judge tool-score-threshold response-match-score-threshold num-runs print-detailed-results results junit json",
    context_settings={"token_normalize_func": lambda name: name.replace("_", "-")},  # ADK writes --config_file_path
    help=t("Evaluate an agent on eval-set files, as veadk eval and adk eval do; exit code 1 when a case fails."),
)
@click.argument("places", metavar="[AGENT_DIR] [FILE[:CASE,...]]...", nargs=-1)
@click.option(
    "--agent-dir", metavar="DIR", help=t("The folder of the agent, with a root_agent in agent.py (default .).")
)
@click.option("--agent-a2a-url", metavar="URL", help=t("A remote agent that speaks A2A; it wins over the folder."))
@click.option("--agent", help=t("Any other agent, as in proctor run."))
@click.option(
    "--evalset-file",
    "files",
    metavar="FILE[:CASE,...]",
    multiple=True,
    help=t("An eval-set file, or a folder of them; may be given several times."),
)
@click.option(
    "--evaluator",
    type=click.Choice(["adk", "deepeval"], case_sensitive=False),
    default="adk",
    help=t("adk (default): tool trajectory and response match; deepeval: a judge's opinion and tool correctness."),
)
@click.option("--judge-model-name", metavar="MODEL", help=t("The judge of deepeval (default {model}).", model=JUDGE))
@click.option("--volcengine-access-key", help=t("Access key of Volcengine, else VOLCENGINE_ACCESS_KEY."))
@click.option("--volcengine-secret-key", help=t("Secret key of Volcengine, else VOLCENGINE_SECRET_KEY."))
@click.option(
    "--config-file-path",
    metavar="FILE",
    type=FILE,
    help=t("The criteria, in place of the test_config.json next to the file."),
)
@click.option("--allow-code", is_flag=True, help=t("Let functions run that the criteria name under custom_metrics."))
@click.option("--tool-score-threshold", type=float, help=t("The threshold of the tool trajectory (default 1.0)."))
@click.option(
    "--response-match-score-threshold", type=float, help=t("The threshold of the response match (default 0.8).")
)
@click.option(
    "--num-runs",
    type=options.AT_LEAST_ONE,
    default=1,
    help=t("How often each case is run; its scores are averaged (default 1)."),
)
@click.option("--print-detailed-results", is_flag=True, help=t("Print a grid for each case that did not pass."))
@click.option(
    "--results",
    metavar="DIR",
    type=FILE,
    help=t("Where the *.evalset_result.json go (default .adk/eval_history of the agent)."),
)
@click.option(
    "--csv", "csv_file", metavar="FILE", type=FILE, help=t("Add a row for each metric and turn to this CSV file.")
)
@click.option("--junit", "junit_file", metavar="FILE", type=FILE, help=t("Write JUnit XML, a test for each case."))
@click.option(
    "--push",
    "test_name",
    metavar="NAME",
    help=t("Push the results to the Prometheus gateway of the environment, under this test name."),
)
@options.of_run("options judge judge_options agent_options limits")
@adk_flags
@options.of_run("concurrency run_id accept_changes store")
@options.showing
@click.pass_context
def command(ctx: click.Context, /, places: tuple[str, ...], as_json: bool, quiet: bool, **given: Any) -> None:
    from proctor_adapters.evalsets.outcomes import outcomes
    from proctor_adapters.evalsets.results import write

    plan = _plan(places, given)
    _set_keys(given)
    follow(given)
    gateway = _gateway(given)  # found out before the agent is called
    pairs = [(run, list(outcomes(run.record, run.store))) for run in _runs(plan, given, quiet=quiet)]
    cases = [case for _, of_run in pairs for case in of_run]
    _show(cases, [run for run, _ in pairs], as_json=as_json, detailed=given["print_detailed_results"])
    app = plan.folder.resolve().name if plan.agent.startswith("adk:") else ""
    for run, of_run in pairs:
        for path in write(run.record, run.store, given["results"] or plan.folder / HISTORY, app, of_run):
            output.message(t("Wrote {path}.", path=path))
    _write_tables(cases, given)
    if gateway is not None:
        _push(cases, pairs[0][0], gateway, given)
    if any(case.status == "failed" for case in cases):
        ctx.exit(1)
    if any(case.status != "passed" for case in cases) or any(run.record.state == "inconclusive" for run, _ in pairs):
        ctx.exit(3)


def _plan(places: Sequence[str], given: Mapping[str, Any]) -> EvalPlan:
    """Find the agent and the files; of plain arguments the first is the agent's folder unless an option names an agent."""
    named = given["agent"] or given["agent_a2a_url"] or given["agent_dir"]
    folder = given["agent_dir"] or (places[0] if places and not named else ".")
    files = [*given["files"], *(places if named else places[1:])]
    if not files:
        raise BadInput(
            "Name an eval-set file, for example: proctor adk eval --agent-dir shop --evalset-file shop/simple.evalset.json"
        )
    if given["agent_a2a_url"]:
        agent = f"a2a:{given['agent_a2a_url']}"
        if given["agent_dir"]:
            output.message(t("--agent-a2a-url is used, not --agent-dir."))
    else:
        agent = given["agent"] or f"adk:{folder}"
        if not given["agent"] and not Path(folder).expanduser().is_dir():
            raise BadInput("There is no folder {path}.", path=folder)
    return EvalPlan(agent=agent, folder=Path(folder).expanduser(), sets=[_file(file, Path(folder)) for file in files])


def _file(name: str, folder: Path) -> str:
    """Return the path of a set: the name itself, or the file of that id in the agent's folder."""
    set_id, colon, ids = name.partition(":")
    path = folder.expanduser() / f"{set_id}.evalset.json"
    if not set_id.endswith(ENDS) and not Path(name).expanduser().exists() and path.is_file():
        return f"{path}{colon}{ids}"
    return name


def _set_keys(given: Mapping[str, Any]) -> None:
    """Put keys into the environment, for the agent and its libraries; they are stored nowhere."""
    for option in ("volcengine_access_key", "volcengine_secret_key"):
        if given[option]:
            os.environ[option.upper()] = given[option]


def _gateway(given: Mapping[str, object]) -> "Gateway | None":
    if given["test_name"] is None:
        return None
    from proctor_adapters.exports import prometheus

    prometheus.check_installed()
    return prometheus.from_environment()


def _push(cases: Sequence["CaseOutcome"], run: "Run", gateway: "Gateway", given: Mapping[str, Any]) -> None:
    from proctor_adapters.exports import prometheus

    judge = (given["judge_model_name"] or JUDGE) if given["evaluator"] == "deepeval" else ""
    models = {"tested_model": run.record.agent, "judge_model": judge}
    prometheus.push(prometheus.figures_of(given["test_name"], cases, models, lang()), gateway)
    output.message(t("Pushed the results as {name}.", name=given["test_name"]))


def _runs(plan: EvalPlan, given: Mapping[str, Any], *, quiet: bool) -> list["Run"]:
    from msgspec.structs import replace

    from proctor import api
    from proctor.api import resolve
    from proctor.config import settings
    from proctor.engine.progress import Progress

    chosen, scorers, usual = _criteria(given), _scorers(given), settings()
    if given["run_id"] is not None and len(plan.sets) > 1:
        raise BadInput("--run goes with one file, as each file is a run of its own.")
    tasks = [resolve.task(name, chosen)[0] for name in plan.sets]  # every file is read before the agent is called
    for note in (note for task in tasks for note in task.provenance["notes"]):
        output.message(note)
    flags = {name: given[name] for name in ("limits", "concurrency", "run_id", "accept_changes", "store")}
    how = api.RunOptions(
        agent=plan.agent,
        agent_options=given["agent_options"],
        options=chosen,
        attempts=given["num_runs"],
        scorers=scorers,
        judge=given["judge"],
        judge_options=options.judge_options(given["judge"], given["judge_options"]),
        limits=usual.limits,
        concurrency=usual.concurrency,
        budget=usual.budget,
    ).changed(flags)
    runs = []
    for name in plan.sets:
        progress = Progress(tell=output.tell)
        with output.watching(progress, quiet=quiet), redirect_stdout(sys.stderr):  # an agent may print
            run = api.run_task(name, replace(how, progress=progress))
        runs.append(run)
    return runs


def _criteria(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of the task."""
    options = dict(given["options"] or {})
    thresholds = {
        "tool_trajectory_avg_score": given["tool_score_threshold"],
        "response_match_score": given["response_match_score_threshold"],
    }
    if given["config_file_path"]:
        options["config"] = str(given["config_file_path"])
    if given["allow_code"]:
        options["allow_code"] = True
    if all(threshold is None for threshold in thresholds.values()):
        return options
    if {"config", "criteria"} & options.keys():
        raise BadInput("Give thresholds either as options or in a file of criteria, not both.")
    from proctor_adapters.evalsets.criteria import DEFAULT

    return {
        **options,
        "criteria": {name: DEFAULT[name] if threshold is None else threshold for name, threshold in thresholds.items()},
    }


def _scorers(given: Mapping[str, Any]) -> list[Any] | None:
    if given["evaluator"] == "adk":
        if given["judge_model_name"]:
            output.message(t("--judge-model-name goes with --evaluator deepeval; it is not used."))
        return None
    from proctor_judging.judges.veadk_deepeval import judge_model, usual_scorers

    return [*usual_scorers(judge_model(given["judge_model_name"] or JUDGE))]


def _show(cases: Sequence["CaseOutcome"], runs: Sequence["Run"], *, as_json: bool, detailed: bool) -> None:
    from proctor_adapters.evalsets.printed_cases import as_data, details, summary

    if as_json:
        output.print_json({"runs": [run.id for run in runs], **as_data(cases, lang())})
        return
    summary(cases, lang(), output.console())
    if detailed:
        details([case for case in cases if case.status != "passed"], lang(), output.console())
    for run in runs:
        output.look_closer(run)


def _write_tables(cases: Sequence["CaseOutcome"], given: Mapping[str, Any]) -> None:
    from proctor_adapters.exports import case_files

    if given["csv_file"] is not None:
        case_files.append_csv(cases, given["csv_file"])
    if given["junit_file"] is not None:
        case_files.write_junit(cases, given["junit_file"], lang())
