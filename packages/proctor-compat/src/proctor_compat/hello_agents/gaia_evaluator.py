"""`GAIAEvaluator`: ask an agent the questions, and judge its answers by the official rule."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from proctor.core.declared import scorer
from proctor.core.sample import JsonObject, Sample
from proctor.core.score import Score
from proctor.core.sentence import say
from proctor.core.task import Task
from proctor.core.trajectory import Trajectory
from proctor_benchmarks.gaia.answer import final_answer
from proctor_benchmarks.gaia.scorer import VERSION, gaia, partial
from proctor_compat.hello_agents._playing import PlayedSample, QuestionEvaluator, name_of, play, write_lines
from proctor_compat.hello_agents._words import percent, tell
from proctor_compat.hello_agents.gaia_dataset import GAIADataset, level_of
from proctor_compat.hello_agents.gaia_metrics import rates
from proctor_judging.scorers.answer import match

NOTE = "\n\nNote: this question comes with a file: {path}"
OFFICIAL, LENIENT = VERSION, "answer"


class GAIAEvaluator(QuestionEvaluator):
    """Asks an agent the questions of GAIA; see `evaluate`.

    Args:
        dataset: the questions; if None those of `level` in `local_data_dir`.
        strict_mode: the official rule; else an answer that means the same counts too (`forty-two` for 42).
    """

    dataset: GAIADataset

    def __init__(
        self,
        dataset: GAIADataset | None = None,
        level: int | str | None = None,
        local_data_dir: str | Path | None = None,
        strict_mode: bool = True,
        *,
        concurrency: int = 1,
    ) -> None:
        self.level = level_of(level)
        self.dataset = dataset if dataset is not None else GAIADataset(level=level, local_data_dir=local_data_dir)
        self.strict_mode = strict_mode
        self.concurrency = concurrency

    def export_to_gaia_format(
        self, results: JsonObject, output_path: str | Path, include_reasoning: bool = True
    ) -> Path:
        """Write the leaderboard's lines; a question without an answer has an empty one."""
        lines = []
        for row in results.get("detailed_results", ()):
            line = {"task_id": row["task_id"], "model_answer": row.get("predicted") or ""}
            lines.append({**line, "reasoning_trace": row.get("response") or ""} if include_reasoning else line)
        path = write_lines(output_path, lines)
        tell(say("✅ Results in the leaderboard's form: {path} ({count} lines)", path=path, count=len(lines)))
        return path

    def _questions(self) -> Iterable[Mapping[str, object]]:
        return (item for item in self.dataset if self.level in (None, item["level"]))

    def _evaluate_items(self, agent: object, items: Sequence[Mapping[str, object]]) -> dict[str, object]:
        samples = [sample_of(item) for item in items]
        scorer = hello_gaia if self.strict_mode else hello_lenient
        task = Task(name="gaia", version="2023", samples=samples, scorers=(scorer, hello_partial))
        run, played = play(task, agent, concurrency=self.concurrency)
        rows = [_row(item, sample, scorer.__name__) for item, sample in zip(items, played, strict=True)]
        levels = sorted({row["level"] for row in rows})
        whole = rates(rows)
        interval = next(
            (estimate for estimate in run.estimates if estimate.name.endswith(".accuracy") and not estimate.slice), None
        )
        tell(
            say(
                "📊 Exact match: {exact}, partial match: {partial}",
                exact=percent(whole["exact_match_rate"]),
                partial=percent(whole["partial_match_rate"]),
            )
        )
        return {
            "benchmark": "GAIA",
            "agent_name": name_of(agent),
            "strict_mode": self.strict_mode,
            "level_filter": self.level if self.level is not None else self.dataset.level,
            "total_samples": whole.pop("total"),
            **whole,
            "level_metrics": {
                f"Level_{level}": rates([row for row in rows if row["level"] == level]) for level in levels
            },
            "detailed_results": rows,
            "exact_match_interval": [interval.low, interval.high] if interval is not None else None,
            "failed_samples": sum(row["exact_match"] is None for row in rows),
            "scorer": OFFICIAL if self.strict_mode else LENIENT,
            "run_id": run.id,
        }


@scorer(version=VERSION)
def hello_gaia(sample: Sample, trajectory: Trajectory) -> Any:
    """Return the official verdict on the final answer."""
    return gaia(sample, trajectory)


@scorer(version=VERSION)
def hello_lenient(sample: Sample, trajectory: Trajectory) -> Any:
    """Return the official verdict, or that of the matcher that understands numbers, units and names."""
    official = gaia(sample, trajectory)
    if not isinstance(official, Score) or official.points:
        return official
    answer_match = match(official.answer or "", str(sample.target))
    return Score(points=1, answer=official.answer, reason=answer_match.reason) if answer_match.right else official


@scorer(version=VERSION)
def hello_partial(sample: Sample, trajectory: Trajectory) -> Any:
    """Return the course's partial match."""
    return partial(sample, trajectory)


def sample_of(item: Mapping[str, object]) -> Sample:
    """Return a question as a sample; an attachment is named in it, for the agent's own tools to open."""
    path = item.get("file_path") or item.get("file_name")
    text = str(item["question"]) + (NOTE.format(path=path) if path else "")
    truth = item.get("final_answer")
    meta = {"fallback": "last_line", "steps": item.get("steps")}
    tags = {"level": str(item["level"])}
    return Sample.ask(str(item["task_id"]), text, target=None if truth is None else str(truth), tags=tags, meta=meta)


def _row(item: Mapping[str, object], played: PlayedSample, scorer: str) -> dict[str, Any]:
    trial = played.trial
    reply = trial.trajectory.answer
    row: dict[str, object] = {
        "task_id": item["task_id"],
        "level": item["level"],
        "exact_match": None,
        "partial_match": None,
        "score": None,
        "predicted": final_answer(reply, fallback="last_line") or "",
        "expected": item.get("final_answer"),
        "response": reply,
        "execution_time": trial.seconds,
        "steps": item.get("steps"),
    }
    exact, half = played.scores.get(scorer), played.scores.get(hello_partial.__name__)
    if exact is not None and half is not None:
        value = max(exact.value, half.value)
        return row | {
            "exact_match": exact.value == 1,
            "partial_match": value > 0,
            "score": value,
            "reason": str(exact.reason),
        }
    if played.error is not None:
        row["error"] = played.error
        if played.counts and item.get("final_answer") is not None:
            row |= {"exact_match": False, "partial_match": False, "score": 0.0}
    return row
