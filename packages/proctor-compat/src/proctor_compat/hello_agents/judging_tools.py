"""`LLMJudgeTool` and `WinRateTool`: read the data, judge it, write results and a report, answer with JSON text."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from proctor.core.errors import BadInput
from proctor.core.sample import JsonObject
from proctor.core.sentence import Sentence, say
from proctor.i18n import language
from proctor.reports.pages import Block, Paragraph, Phrase, ReportPage, SectionBlock, TableBlock, markdown
from proctor.runtime.visible import one_line
from proctor_compat.hello_agents._judged import Dict, Problem
from proctor_compat.hello_agents._tool import Tool, ToolParameter, as_json
from proctor_compat.hello_agents._words import headline, percent
from proctor_compat.hello_agents.ai_dataset import AIDataset
from proctor_compat.hello_agents.llm_judge import EXCELLENT, PASS, LLMJudgeEvaluator
from proctor_compat.hello_agents.win_rate import WinRateEvaluator
from proctor_judging.generation.files import stamp, unused, write

SHOWN = 10
Bands = Sequence[tuple[float, Sentence]]  # the least value of each, and what is said of it
NOTHING = say("Nothing could be judged.")
RATINGS: Bands = (
    (4.5, say("excellent ⭐⭐⭐⭐⭐")),
    (4.0, say("good ⭐⭐⭐⭐")),
    (3.5, say("passing ⭐⭐⭐")),
    (3.0, say("fair ⭐⭐")),
)
WIN_BANDS: Bands = (
    (
        0.55,
        say("The generated problems win more often than they lose: better than the reference set, or a biased judge."),
    ),
    (0.45, say("The generated problems are close to the reference set.")),
    (0.35, say("The generated problems are somewhat behind the reference set.")),
)
JUDGE_BANDS: Bands = (
    (EXCELLENT, say("By this judge the generated data is excellent.")),
    (PASS, say("By this judge the generated data is good.")),
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
    """Judges the problems of a file, and writes results and a report.

    Attributes:
        evaluator: the one of the last call, with its run.
        kind: what the files are called by.
        main: the metric that there is when anything could be judged.
    """

    kind = main = ""

    def __init__(self, llm: object = None) -> None:
        self.llm = llm
        self.evaluator: Any = None

    def run(self, params: Mapping[str, object]) -> str:
        """Judge, and answer with JSON text: status, metrics, result_file, report_file.

        Raises:
            BadInput: a parameter is missing or unknown, or the data cannot be read.
        """
        return self.called(params)

    def called(self, parameters: Mapping[str, object]) -> str:
        given = self.checked(parameters)
        if not given.get("generated_data_path"):
            raise BadInput("The tool '{tool}' needs 'generated_data_path'.", tool=self.name)
        headline(say("Judging {path}", path=given["generated_data_path"]))
        results, page = self._judge(given, AIDataset("generated", given["generated_data_path"]).load())
        folder, moment = Path(given.get("output_dir") or f"evaluation_results/{self.kind}"), stamp()
        file = unused(folder / f"{self.kind}_results_{moment}.json")
        self.evaluator.export_results(results, file)
        report = write(folder / f"{self.kind}_report_{moment}.md", markdown(page, language()))
        metrics = results["metrics"]
        return as_json(
            {
                "status": "failed" if metrics[self.main] is None else "success",
                "metrics": metrics,
                "result_file": str(file),
                "report_file": str(report),
                "run_id": self.evaluator.run.id if self.evaluator.run is not None else None,
                **({"num_problems": results["num_problems"]} if "num_problems" in results else {}),
            }
        )

    @abstractmethod
    def _judge(self, given: Mapping[str, object], problems: list[Dict]) -> tuple[Dict, ReportPage]: ...

    def _references(self, given: JsonObject) -> list[Dict] | None:
        if given.get("reference_data_path"):
            return AIDataset("generated", given["reference_data_path"]).load()
        if given.get("reference_year"):
            return AIDataset("real", year=given["reference_year"]).load()
        return None


class LLMJudgeTool(_JudgingTool):
    """Judges generated problems in four dimensions."""

    kind, main = "llm_judge", "average_total_score"
    name = "llm_judge_evaluation"
    description = "Judge the quality of generated problems with a language model."
    parameters = (
        *DATA,
        ToolParameter(name="max_samples", type="integer", description="problems to judge; all when not given"),
        *PLACES,
    )

    def _judge(self, given: JsonObject, problems: list[Dict]) -> tuple[Dict, ReportPage]:
        self.evaluator = LLMJudgeEvaluator(self.llm, given.get("judge_model"))
        results = self.evaluator.evaluate_batch(problems, self._references(given), max_samples=given.get("max_samples"))
        return results, _judge_page(results)


class WinRateTool(_JudgingTool):
    """Compares generated problems with real ones."""

    kind, main = "win_rate", "win_rate"
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

    def _judge(self, given: JsonObject, problems: list[Dict]) -> tuple[Dict, ReportPage]:
        references = self._references(given)
        if references is None:
            raise BadInput("Name what to compare with: 'reference_data_path' or 'reference_year'.")
        count = given.get("num_comparisons") or min(len(problems), len(references))
        self.evaluator = WinRateEvaluator(self.llm, given.get("judge_model"))
        results = self.evaluator.evaluate_win_rate(problems, references, count)
        return results, _win_page(results)


def _judge_page(results: JsonObject) -> ReportPage:
    metrics = results["metrics"]
    spans = metrics["intervals"]
    mean = metrics["average_total_score"]
    rates = (
        (say("Pass rate (at least {bar})", bar=PASS), "pass_rate"),
        (say("Excellent rate (at least {bar})", bar=EXCELLENT), "excellent_rate"),
    )
    figures: list[list[Phrase]] = [
        [say("Average total score"), _points(mean), _span(spans["average_total_score"])],
    ]
    figures += [[title, percent(metrics[name]), _shares(spans[name])] for title, name in rates]
    dimensions = [
        [name.replace("_", " "), _points(value), _span(spans[name]), _band(RATINGS, value, say("needs work ⭐"), "–")]
        for name, value in metrics["dimension_averages"].items()
    ]
    details = [
        [one_line(result["problem_id"], 60), _points(result["total_score"]), _scores(result)]
        for result in results["results"][:SHOWN]
    ]
    verdict = _band(JUDGE_BANDS, mean, say("By this judge the generated data needs work."))
    return _page(
        say("LLM judge: evaluation report"),
        results,
        len(results["results"]),
        SectionBlock(
            say("Overall score"),
            [
                TableBlock([say("Figure"), say("Value"), say("95% interval")], figures, right=(1, 2)),
                *_failures(metrics),
            ],
        ),
        SectionBlock(
            say("Dimension scores"),
            [TableBlock([say("Dimension"), say("Mean"), say("95% interval"), say("Rating")], dimensions, right=(1, 2))],
        ),
        SectionBlock(say("The first items"), [TableBlock(["id", say("Mean"), say("Points")], details, right=(1,))]),
        SectionBlock(say("Conclusion"), [Paragraph(verdict, strong=True)]),
    )


def _win_page(results: JsonObject) -> ReportPage:
    metrics = results["metrics"]
    names = (
        (say("Generated problems win"), "wins", "win_rate"),
        (say("Real problems win"), "losses", "loss_rate"),
        (say("Tie"), "ties", "tie_rate"),
    )
    figures: list[list[Phrase]] = [
        [name, f"{metrics[count]:,}", percent(metrics[rate]), _shares(metrics["intervals"][rate])]
        for name, count, rate in names
    ]
    details: list[list[Phrase]] = [
        [
            one_line(comparison["problem_a_id"], 40),
            one_line(comparison["problem_b_id"], 40),
            comparison["actual_winner"] or say("no verdict"),
            one_line(comparison["reason"], 200),
        ]
        for comparison in results["comparisons"][:SHOWN]
    ]
    consistency = metrics["consistency"]
    verdict = _band(WIN_BANDS, metrics["win_rate"], say("The generated problems are clearly behind the reference set."))
    if metrics["win_rate"] is not None and consistency is not None and consistency <= 0.5:
        verdict = say("The judge's verdict follows the order, not the texts: the win rate says nothing.")
    return _page(
        say("Win rate: evaluation report"),
        results,
        metrics["total_comparisons"],
        SectionBlock(
            say("Win rate"),
            [
                TableBlock([say("Figure"), say("Count"), say("Share"), say("95% interval")], figures, right=(1, 2, 3)),
                Paragraph(say("The same verdict in both orders: {share}.", share=percent(consistency))),
                *_failures(metrics),
            ],
        ),
        SectionBlock(
            say("The first comparisons"),
            [TableBlock([say("Generated"), say("Real"), say("Winner"), say("Reason")], details)],
        ),
        SectionBlock(say("Conclusion"), [Paragraph(verdict, strong=True)]),
    )


def _page(title: Sentence, results: JsonObject, count: int, *sections: SectionBlock) -> ReportPage:
    return ReportPage(
        title=title,
        facts={
            say("Date").text: results["evaluation_date"][:19],
            say("Judge").text: results["judge_model"],
            say("Items").text: f"{count:,}",
        },
        notes=[say("The judge was not checked against people: its figures are uncalibrated.")],
        sections=sections,
    )


def _failures(metrics: Mapping[str, object]) -> list[Block]:
    if not metrics["judge_failed"]:
        return []
    return [Paragraph(say("{count} could not be judged, and are in no number.", count=metrics["judge_failed"]))]


def _band(bands: Bands, value: float | None, below: Sentence, nothing: Phrase = NOTHING) -> Phrase:
    """Return what is said of a value: the text of the first band that it reaches."""
    if value is None:
        return nothing
    return next((text for least, text in bands if value >= least), below)


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
