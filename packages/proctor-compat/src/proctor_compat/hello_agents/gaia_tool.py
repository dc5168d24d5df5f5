"""`GAIAEvaluationTool`: evaluate, write the leaderboard's file with a guide, and a report."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from proctor.core.errors import BadInput
from proctor.core.sample import JsonObject
from proctor.core.sentence import say
from proctor_compat.hello_agents._playing import agent_or_model, name_of
from proctor_compat.hello_agents._tool import EvaluationTool, ToolParameter
from proctor_compat.hello_agents._words import NOTHING, headline, percent, tell
from proctor_compat.hello_agents.gaia_dataset import GAIADataset, level_of
from proctor_compat.hello_agents.gaia_evaluator import GAIAEvaluator
from proctor_judging.generation.files import stamp, unused

EXPORTS = Path("evaluation_results", "gaia_official")
LEADERBOARD = "https://huggingface.co/spaces/gaia-benchmark/leaderboard"
MOST_BYTES = 10_000_000  # of a file for the leaderboard


class GAIAEvaluationTool(EvaluationTool):
    """One call for everything; also a tool that an agent calls with a dict and that answers with JSON text."""

    name = "gaia_evaluation"
    description = "Evaluate how well an agent answers the questions for general assistants (GAIA)."
    benchmark = "GAIA"
    empty: ClassVar[JsonObject] = {
        "strict_mode": True,
        "level_filter": None,
        "exact_matches": 0,
        "partial_matches": 0,
        "exact_match_rate": NOTHING,
        "partial_match_rate": NOTHING,
        "level_metrics": {},
    }
    parameters = (
        ToolParameter(name="level", type="integer", description="level 1, 2 or 3; all when not given"),
        ToolParameter(name="max_samples", type="integer", description="questions to ask; all when not given"),
        ToolParameter(name="local_data_dir", type="string", description="folder with the questions"),
        ToolParameter(name="export_results", type="boolean", description="write the leaderboard's file", default=True),
        ToolParameter(name="generate_report", type="boolean", description="write a report", default=True),
        ToolParameter(name="agent", type="object", description="agent to evaluate; LLM_MODEL_ID when not given"),
    )

    def __init__(
        self,
        local_data_path: str | Path | None = None,
        *,
        local_data_dir: str | Path | None = None,
        agent: object = None,
    ) -> None:
        self.local_data_path = local_data_path or local_data_dir
        self._agent = agent

    def run(
        self,
        agent: object = None,
        level: int | str | None = None,
        max_samples: int | None = None,
        local_data_dir: str | Path | None = None,
        export_results: bool = True,
        generate_report: bool = True,
    ) -> Any:
        """Evaluate an agent; the results as a dict, with `error` and rates of NaN where nothing was scored.

        With a dict of parameters alone, as agents call tools, the results are JSON text.
        """
        if isinstance(agent, Mapping):
            return self.called(agent)
        headline(say("GAIA evaluation: level {level}", level="-" if level is None else level))
        try:
            given = agent_or_model(agent if agent is not None else self._agent)
            dataset = GAIADataset(level=level, local_data_dir=local_data_dir or self.local_data_path)
            evaluator = GAIAEvaluator(dataset, level)
            results = evaluator.evaluate(given, max_samples)
        except BadInput as error:
            tell(error.sentence)
            return self.nothing(str(error), name_of(agent), level_filter=level)
        if export_results:
            headline(say("Results in the leaderboard's form"))
            self._export(evaluator, results)
        if generate_report:
            self.generate_report(results)
        tell(say("🎯 Exact match: {exact}", exact=percent(results["exact_match_rate"])))
        tell(
            say("Correct: {correct}/{total}", correct=results["exact_matches"], total=results["total_samples"]),
            indent=3,
        )
        return results

    def get_dataset_info(self, level: int | str | None = None) -> dict[str, Any]:
        """Return a summary of the data; `error` if there is none."""
        try:
            dataset = GAIADataset(level=level, local_data_dir=self.local_data_path)
            items = dataset.load()
        except BadInput as error:
            return {"error": str(error)}
        return {
            "level": level_of(level),
            "total_samples": len(items),
            "level_distribution": dataset.get_level_distribution(),
            "statistics": dataset.get_statistics(),
            "sample_keys": list(items[0]) if items else [],
            "levels_available": sorted({item["level"] for item in items}),
        }

    def validate_agent(self, agent: object) -> bool:
        """Return True if it can be evaluated: it has `run`, or is a function."""
        return callable(getattr(agent, "run", None)) or callable(agent)

    def _export(self, evaluator: GAIAEvaluator, results: Mapping[str, object]) -> None:
        level = results["level_filter"] if results["level_filter"] is not None else "_all"
        path = evaluator.export_to_gaia_format(results, unused(EXPORTS / f"gaia_level{level}_result_{stamp()}.jsonl"))
        too_large = path.stat().st_size > MOST_BYTES
        self.write_guide(EXPORTS, results=results, file=path.name, too_large=too_large, address=LEADERBOARD)
