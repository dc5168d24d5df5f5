"""`BFCLEvaluationTool`: evaluate, export, call the official tool where it is there, and write a report."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from proctor.core.errors import BadInput
from proctor.core.sample import JsonObject
from proctor.core.sentence import say
from proctor_benchmarks.bfcl.dataset import CATEGORIES as OFFICIAL
from proctor_compat.hello_agents._playing import agent_or_model, name_of
from proctor_compat.hello_agents._tool import EvaluationTool, ToolParameter
from proctor_compat.hello_agents._words import NOTHING, headline, percent, tell
from proctor_compat.hello_agents.bfcl_dataset import CATEGORIES, OLDER, BFCLDataset
from proctor_compat.hello_agents.bfcl_evaluator import BFCLEvaluator
from proctor_compat.hello_agents.bfcl_integration import BFCLIntegration

EXPORTS = Path("evaluation_results", "bfcl_official")
REPOSITORY = "https://github.com/ShishirPatil/gorilla"


class BFCLEvaluationTool(EvaluationTool):
    """One call for everything; also a tool that an agent calls with a dict and that answers with JSON text."""

    name = "bfcl_evaluation"
    description = "Evaluate how well an agent calls functions, on the Berkeley Function Calling Leaderboard (BFCL)."
    benchmark = "BFCL"
    empty: ClassVar[JsonObject] = {
        "evaluation_mode": "ast",
        "category": "",
        "correct_samples": 0,
        "overall_accuracy": NOTHING,
        "category_metrics": {},
    }
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
        agent: object = None,
    ) -> None:
        self.bfcl_data_dir = bfcl_data_dir or local_data_path or local_data_dir
        self.integration = BFCLIntegration(project_root)
        self._agent = agent

    def run(
        self,
        agent: object = None,
        category: str = "simple_python",
        max_samples: int | None = 5,
        run_official_eval: bool = True,
        model_name: str | None = None,
    ) -> Any:
        """Evaluate an agent; the results as a dict, with `error` and rates of NaN where nothing was scored.

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
            return self.nothing(str(error), name_of(agent), category=category)
        headline(say("Results in the official form"))
        path = evaluator.export_to_bfcl_format(results, EXPORTS / f"BFCL_v4_{category}_result.json")
        counts = [(name, _exported(name), OFFICIAL[name].size if name in OFFICIAL else None) for name in CATEGORIES]
        self.write_guide(EXPORTS, results=results, rows=counts, repository=REPOSITORY)
        if run_official_eval:
            self._official(results, path, model_name or results["agent_name"])
        self.generate_report(results)
        correct, total = results["correct_samples"], results["total_samples"]
        tell(say("🎯 Accuracy: {accuracy}", accuracy=percent(results["overall_accuracy"])))
        tell(say("Correct: {correct}/{total}", correct=correct, total=total), indent=3)
        return results

    def _official(self, results: dict[str, Any], path: Path, model: str) -> None:
        """Add the verdict of the official tool; without the tool only print a hint."""
        headline(say("Official evaluation"))
        if not self.integration.install():
            return
        official = self.integration.run_evaluation(model, results["category"], path)
        if official is not None:
            results["official"] = official
            self.integration.print_summary(model, results["category"])
            tell(say("🎯 Official accuracy: {accuracy}", accuracy=percent(official.get("accuracy"))))


def _exported(category: str) -> int:
    """Return how many questions of a category the exported results hold, under its name or an older one."""
    names = [category, *(older for older, name in OLDER.items() if name == category)]
    files = [EXPORTS / f"BFCL_v4_{name}_result.json" for name in names]
    return max((file.read_bytes().count(b"\n") for file in files if file.is_file()), default=0)
