"""`LLMJudgeTool` and `WinRateTool`: read the data, judge it, write results and a report, answer with JSON text."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from proctor.compat.hello_agents._judged import Dict, Problem, now
from proctor.compat.hello_agents._tool import Tool, ToolParameter, as_json
from proctor.compat.hello_agents._words import headline, percent
from proctor.compat.hello_agents.ai_dataset import AIDataset
from proctor.compat.hello_agents.llm_judge import EXCELLENT, PASS, LLMJudgeEvaluator
from proctor.compat.hello_agents.win_rate import WinRateEvaluator
from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence, say
from proctor.generation.files import stamp, unused, write
from proctor.i18n import language
from proctor.reports.pages import Block, Page, Paragraph, Phrase, Section, Table, markdown
from proctor.reports.visible import one_line

SHOWN = 10
RATINGS = (
    (4.5, say("excellent ⭐⭐⭐⭐⭐")),
    (4.0, say("good ⭐⭐⭐⭐")),
    (3.5, say("passing ⭐⭐⭐")),
    (3.0, say("fair ⭐⭐")),
)
WIN_BANDS = (
    (
        0.55,
        say("The generated problems win more often than they lose: better than the reference set, or a biased judge."),
    ),
    (0.45, say("The generated problems are close to the reference set.")),
    (0.35, say("The generated problems are somewhat behind the reference set.")),
)
DATA = (
    ToolParameter(
        name="generated_data_path", type="string", description="file of the generated problems", required=True
    ),
    ToolParameter(name="reference_data_path", type="string", description="file of real problems"),
    ToolParameter(name="reference_year", type="integer", description="year of real problems of the AIME, from the hub"),
)
PLACES = (
    ToolParameter(name="output_dir", type="string", description="folder for results and report"),
    ToolParameter(name="judge_model", type="string", description="model that judges; LLM_MODEL_ID when not given"),
)


class _JudgingTool(Tool):
    """What both tools do alike.

    Attributes:
        evaluator: the one of the last call, with its run.
    """

    def __init__(self, llm: Any = None) -> None:
        self.llm = llm
        self.evaluator: Any = None

    def run(self, params: Mapping[str, Any]) -> str:
        """Judge, and answer with JSON text: status, metrics, result_file, report_file.

        Raises:
            BadInput: a parameter is missing or unknown, or the data cannot be read.
        """
        return self.called(params)

    def called(self, parameters: Mapping[str, Any]) -> str:
        """The same, for an agent that calls the tool."""
        given = self.checked(parameters)
        if not given.get("generated_data_path"):
            raise BadInput("The tool '{tool}' needs 'generated_data_path'.", tool=self.name)
        headline(say("Judging {path}", path=given["generated_data_path"]))
        return as_json(self._judge(given))

    def _judge(self, given: Mapping[str, Any]) -> Dict:
        raise NotImplementedError

    def _problems(self, given: Mapping[str, Any]) -> list[Dict]:
        return AIDataset("generated", given["generated_data_path"]).load()

    def _references(self, given: Mapping[str, Any]) -> list[Dict] | None:
        if given.get("reference_data_path"):
            return AIDataset("generated", given["reference_data_path"]).load()
        if given.get("reference_year"):
            return AIDataset("real", year=given["reference_year"]).load()
        return None

    def _written(self, given: Mapping[str, Any], results: Mapping[str, Any], kind: str, page: Page) -> Dict:
        """The results and the report on disk."""
        folder, moment = Path(given.get("output_dir") or f"evaluation_results/{kind}"), stamp()
        file = unused(folder / f"{kind}_results_{moment}.json")
        self.evaluator.export_results(results, file)
        report = write(folder / f"{kind}_report_{moment}.md", markdown(page, language()))
        return {
            "status": "success" if results["metrics"]["judge_failed"] < len(results[_LISTS[kind]]) else "failed",
            "metrics": results["metrics"],
            "result_file": str(file),
            "report_file": str(report),
            "run_id": self.evaluator.run.id if self.evaluator.run is not None else None,
        }


_LISTS = {"llm_judge": "results", "win_rate": "comparisons"}


class LLMJudgeTool(_JudgingTool):
    """Judges generated problems in four dimensions."""

    name = "llm_judge_evaluation"
    description = "Judge the quality of generated problems with a language model."
    parameters = (
        *DATA,
        ToolParameter(name="max_samples", type="integer", description="problems to judge; all when not given"),
        *PLACES,
    )

    def _judge(self, given: Mapping[str, Any]) -> Dict:
        self.evaluator = LLMJudgeEvaluator(self.llm, given.get("judge_model"))
        results = self.evaluator.evaluate_batch(
            self._problems(given), self._references(given), max_samples=given.get("max_samples")
        )
        told = self._written(given, results, "llm_judge", _judge_page(results))
        return {**told, "num_problems": results["num_problems"]}


class WinRateTool(_JudgingTool):
    """Compares generated problems with real ones."""

    name = "win_rate_evaluation"
    description = "Compare generated problems with real ones, in pairs, and count who wins."
    parameters = (
        *DATA,
        ToolParameter(
            name="num_comparisons",
            type="integer",
            description="pairs to compare; as many as there are problems on the smaller side when not given",
        ),
        *PLACES,
    )

    def _judge(self, given: Mapping[str, Any]) -> Dict:
        problems, references = self._problems(given), self._references(given)
        if references is None:
            raise BadInput("Name what to compare with: 'reference_data_path' or 'reference_year'.")
        count = given.get("num_comparisons") or min(len(problems), len(references))
        self.evaluator = WinRateEvaluator(self.llm, given.get("judge_model"))
        results = self.evaluator.evaluate_win_rate(problems, references, count)
        return self._written(given, results, "win_rate", _win_page(results))


def _judge_page(results: Mapping[str, Any]) -> Page:
    metrics = results["metrics"]
    intervals = metrics["intervals"]
    rows: list[list[Phrase]] = [
        [say("Average total score"), _points(metrics["average_total_score"]), _span(intervals["average_total_score"])],
        [say("Pass rate (at least {bar})", bar=PASS), percent(metrics["pass_rate"]), _shares(intervals["pass_rate"])],
        [
            say("Excellent rate (at least {bar})", bar=EXCELLENT),
            percent(metrics["excellent_rate"]),
            _shares(intervals["excellent_rate"]),
        ],
    ]
    dimensions: list[list[Phrase]] = [
        [name.replace("_", " "), _points(value), _span(intervals[name]), _rating(value)]
        for name, value in metrics["dimension_averages"].items()
    ]
    details: list[list[Phrase]] = [
        [one_line(one["problem_id"], 60), _points(one["total_score"]), _scores(one)]
        for one in results["results"][:SHOWN]
    ]
    return Page(
        title=say("LLM judge: evaluation report"),
        facts=_facts(results, len(results["results"])),
        notes=[say("The judge was not checked against people: its figures are uncalibrated.")],
        sections=[
            Section(
                say("Overall score"),
                [Table([say("Figure"), say("Value"), say("95% interval")], rows, right=(1, 2)), *_failures(metrics)],
            ),
            Section(
                say("Dimension scores"),
                [Table([say("Dimension"), say("Mean"), say("95% interval"), say("Rating")], dimensions, right=(1, 2))],
            ),
            Section(say("The first items"), [Table(["id", say("Mean"), say("Points")], details, right=(1,))]),
            Section(say("Conclusion"), [Paragraph(_judge_verdict(metrics["average_total_score"]), strong=True)]),
        ],
    )


def _win_page(results: Mapping[str, Any]) -> Page:
    metrics = results["metrics"]
    names = (
        (say("Generated problems win"), "wins", "win_rate"),
        (say("Real problems win"), "losses", "loss_rate"),
        (say("Tie"), "ties", "tie_rate"),
    )
    rows: list[list[Phrase]] = [
        [name, f"{metrics[count]:,}", percent(metrics[rate]), _shares(metrics["intervals"][rate])]
        for name, count, rate in names
    ]
    details: list[list[Phrase]] = [
        [
            one_line(one["problem_a_id"], 40),
            one_line(one["problem_b_id"], 40),
            one["actual_winner"] or say("no verdict"),
            one_line(one["reason"], 200),
        ]
        for one in results["comparisons"][:SHOWN]
    ]
    consistency = say("The same verdict in both orders: {share}.", share=percent(metrics["consistency"]))
    blocks: list[Block] = [
        Table([say("Figure"), say("Count"), say("Share"), say("95% interval")], rows, right=(1, 2, 3)),
        Paragraph(consistency),
        *_failures(metrics),
    ]
    return Page(
        title=say("Win rate: evaluation report"),
        facts=_facts(results, metrics["total_comparisons"]),
        notes=[say("The judge was not checked against people: its figures are uncalibrated.")],
        sections=[
            Section(say("Win rate"), blocks),
            Section(
                say("The first comparisons"),
                [Table([say("Generated"), say("Real"), say("Winner"), say("Reason")], details)],
            ),
            Section(say("Conclusion"), [Paragraph(_win_verdict(metrics), strong=True)]),
        ],
    )


def _facts(results: Mapping[str, Any], count: int) -> dict[str, Phrase]:
    return {
        say("Date").text: str(results.get("evaluation_date", now()))[:19],
        say("Judge").text: results["judge_model"],
        say("Items").text: f"{count:,}",
    }


def _failures(metrics: Mapping[str, Any]) -> list[Block]:
    if not metrics["judge_failed"]:
        return []
    return [Paragraph(say("{count} could not be judged, and are in no number.", count=metrics["judge_failed"]))]


def _judge_verdict(mean: float | None) -> Sentence:
    if mean is None:
        return say("Nothing could be judged.")
    if mean >= EXCELLENT:
        return say("By this judge the generated data is excellent.")
    return (
        say("By this judge the generated data is good.")
        if mean >= PASS
        else say("By this judge the generated data needs work.")
    )


def _win_verdict(metrics: Mapping[str, Any]) -> Sentence:
    rate, consistency = metrics["win_rate"], metrics["consistency"]
    if rate is None:
        return say("Nothing could be judged.")
    if consistency is not None and consistency <= 0.5:
        return say("The judge's verdict follows the order, not the texts: the win rate says nothing.")
    return next(
        (text for bar, text in WIN_BANDS if rate >= bar),
        say("The generated problems are clearly behind the reference set."),
    )


def _rating(value: float | None) -> Phrase:
    if value is None:
        return "–"
    return next((text for bar, text in RATINGS if value >= bar), say("needs work ⭐"))


def _points(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}/5.0"


def _span(ends: Sequence[float | None]) -> str:
    return "–" if None in ends else f"{ends[0]:.2f}–{ends[1]:.2f}"


def _shares(ends: Sequence[float | None]) -> str:
    return "–" if None in ends else f"{percent(ends[0])}–{percent(ends[1])}"


def _scores(result: Problem) -> Phrase:
    if result["total_score"] is None:
        return one_line(str(result.get("error", "")), 120)
    return ", ".join(f"{name} {points:g}" for name, points in result["scores"].items())
