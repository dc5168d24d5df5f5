"""`BFCLEvaluationTool`: evaluate, export, call the official tool where it is there, and write a report."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from proctor.benchmarks.bfcl.dataset import CATEGORIES as OFFICIAL
from proctor.compat.hello_agents._playing import agent_or_model, name_of
from proctor.compat.hello_agents._tool import Tool, ToolParameter, as_json
from proctor.compat.hello_agents._words import headline, page, percent, saved, tell, unused
from proctor.compat.hello_agents.bfcl_dataset import CATEGORIES, OLDER, BFCLDataset
from proctor.compat.hello_agents.bfcl_evaluator import BFCLEvaluator
from proctor.compat.hello_agents.bfcl_integration import BFCLIntegration
from proctor.core.errors import BadInput
from proctor.core.sentence import say

EXPORTS = Path("evaluation_results", "bfcl_official")
REPORTS = Path("evaluation_reports")
REPOSITORY = "https://github.com/ShishirPatil/gorilla"
SHOWN = 10


class BFCLEvaluationTool(Tool):
    """One call for everything; also a tool that an agent calls with a dict and that answers with JSON text."""

    name = "bfcl_evaluation"
    description = "Evaluate how well an agent calls functions, on the Berkeley Function Calling Leaderboard (BFCL)."
    parameters = (
        ToolParameter(name="category", type="string", description="category of BFCL v4", default="simple_python"),
        ToolParameter(name="max_samples", type="integer", description="questions to ask; 0 is all", default=5),
        ToolParameter(name="run_official_eval", type="boolean", description="call the official tool too", default=True),
        ToolParameter(name="model_name", type="string", description="model name for the official tool"),
        ToolParameter(name="agent", type="object", description="agent to evaluate; LLM_MODEL_ID when not given"),
    )

    def __init__(
        self,
        bfcl_data_dir: str | Path | None = None,
        project_root: str | Path | None = None,
        *,
        local_data_path: str | Path | None = None,
        local_data_dir: str | Path | None = None,
        agent: Any = None,
    ) -> None:
        self.bfcl_data_dir = bfcl_data_dir or local_data_path or local_data_dir
        self.integration = BFCLIntegration(project_root)
        self._agent = agent

    def run(
        self,
        agent: Any = None,
        category: str = "simple_python",
        max_samples: int | None = 5,
        run_official_eval: bool = True,
        model_name: str | None = None,
    ) -> Any:
        """Evaluate an agent; the results as a dict, with `error` beside zeros where nothing could be evaluated.

        With a dict of parameters alone, as agents call tools, the results are JSON text.
        """
        if isinstance(agent, Mapping):
            return self.called(agent)
        headline(say("BFCL evaluation: {category}", category=category))
        try:
            given = agent_or_model(agent if agent is not None else self._agent)
            dataset = BFCLDataset(self.bfcl_data_dir, category)
            evaluator = BFCLEvaluator(dataset, category)
            results = evaluator.evaluate(given, max_samples)
        except BadInput as error:
            tell(error.sentence)
            return _nothing(str(error), agent, category)
        headline(say("Results in the official form"))
        path = evaluator.export_to_bfcl_format(results, EXPORTS / f"BFCL_v4_{category}_result.json")
        self._guide(results)
        if run_official_eval:
            self._official(results, path, model_name or results["agent_name"])
        self.generate_report(results)
        correct, total = results["correct_samples"], results["total_samples"]
        tell(say("🎯 Accuracy: {accuracy}", accuracy=percent(results["overall_accuracy"])))
        tell(say("Correct: {correct}/{total}", correct=correct, total=total), indent=3)
        return results

    def called(self, parameters: Mapping[str, Any]) -> str:
        """The same with the parameters in a dict, as JSON text."""
        try:
            return as_json(self.run(**self.checked(parameters)))
        except BadInput as error:
            return as_json(_nothing(str(error), None, str(parameters.get("category"))))

    def generate_report(self, results: Mapping[str, Any], output_file: str | Path | None = None) -> str:
        """The results as a page of Markdown, which is written to a file too."""
        now = datetime.now().astimezone()
        text = page(
            "bfcl_report.md.jinja",
            results={**_nothing("", None, ""), **results},
            rows=results.get("detailed_results", ())[:SHOWN],
            created=now.strftime("%Y-%m-%d %H:%M:%S"),
        )
        path = saved(text, Path(output_file or unused(REPORTS / f"bfcl_report_{now:%Y%m%d_%H%M%S}.md")))
        tell(say("📄 Report: {path}", path=path))
        return text

    def _official(self, results: dict[str, Any], path: Path, model: str) -> None:
        """The verdict of the official tool beside ours; without the tool only a hint."""
        headline(say("Official evaluation"))
        if not self.integration.install():
            return
        found = self.integration.run_evaluation(model, results["category"], path)
        if found is not None:
            results["official"] = found
            self.integration.print_summary(model, results["category"])
            tell(say("🎯 Official accuracy: {accuracy}", accuracy=percent(found.get("accuracy"))))

    def _guide(self, results: Mapping[str, Any]) -> None:
        """Write how to submit to the leaderboard, and how much of each category is there."""
        now = f"{datetime.now().astimezone():%Y%m%d_%H%M%S}"
        guide = page(
            "bfcl_guide.md.jinja",
            results=results,
            rows=[(name, _exported(name), OFFICIAL[name].size if name in OFFICIAL else None) for name in CATEGORIES],
            repository=REPOSITORY,
            created=now,
        )
        tell(say("📄 Guide for submitting: {path}", path=saved(guide, unused(EXPORTS / f"SUBMISSION_GUIDE_{now}.md"))))


def _exported(category: str) -> int:
    """Return how many questions of a category the exported results hold, under its name or an older one."""
    names = [category, *(older for older, name in OLDER.items() if name == category)]
    files = [EXPORTS / f"BFCL_v4_{name}_result.json" for name in names]
    return max((file.read_bytes().count(b"\n") for file in files if file.is_file()), default=0)


def _nothing(error: str, agent: Any, category: str) -> dict[str, Any]:
    return {
        "error": error,
        "benchmark": "BFCL",
        "agent_name": name_of(agent) if agent is not None else "Unknown",
        "evaluation_mode": "ast",
        "category": category,
        "total_samples": 0,
        "correct_samples": 0,
        "overall_accuracy": 0.0,
        "category_metrics": {},
        "detailed_results": [],
    }
