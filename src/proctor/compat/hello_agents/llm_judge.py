"""`LLMJudgeEvaluator`, on the rubric judge of Proctor.

What a judge does not say becomes no number: an item without a usable judgement has `total_score` None, and `error` says why.
"""

import random
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from proctor.api.loop import run_in_loop
from proctor.api.run import Run
from proctor.compat.hello_agents._judged import (
    Dict,
    Problem,
    Timed,
    export,
    from_cache,
    id_of,
    item,
    items,
    mean,
    now,
    play,
)
from proctor.compat.hello_agents._llm import model_of, name_of
from proctor.compat.hello_agents._playing import first_of
from proctor.compat.hello_agents._settings import judge_model as usual_judge
from proctor.compat.hello_agents._words import tell
from proctor.core.errors import JudgeFailed
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.trajectory import Trajectory
from proctor.judges._ask import Asker
from proctor.judges.rubric import Options, Rubric, RubricJudge, rubric
from proctor.judging.fields import Item
from proctor.judging.items import EXAMPLES
from proctor.judging.items import sample as item_sample

RUBRIC = "math-problem"
SCALE = 5
PASS, EXCELLENT = 3.5, 4.5  # of 5; on another scale the same share of it


class LLMJudgeEvaluator:
    """Judges problems by a rubric: correctness, clarity, difficulty match and completeness, from 1 to 5.

    Attributes:
        run: the stored run behind the last `evaluate_batch`; None before, and where rubrics of several scales were used.
    """

    EVALUATION_DIMENSIONS = ("correctness", "clarity", "difficulty_match", "completeness")

    def __init__(self, llm: Any = None, judge_model: str | None = None, *, rubrics: Sequence[Rubric] = ()) -> None:
        self.llm = llm
        self.judge_model = usual_judge(judge_model) if llm is None else name_of(llm)
        self.run: Run | None = None
        self._rubrics = tuple(rubrics) or (rubric(RUBRIC),)
        self._model = model_of(llm, self.judge_model)

    @property
    def dimensions(self) -> list[str]:
        """What is judged."""
        return [one.name for each in self._rubrics for one in each.dimensions]

    def evaluate_single(self, problem: Problem, reference: Problem | None = None) -> Dict:
        """One problem: problem_id, scores, total_score (their mean), evaluation_text, execution_time.

        Without a usable judgement `scores` is empty, `total_score` None, and `error` says why.
        """
        started = time.perf_counter()
        made = item(problem, id_of(problem, "unknown"))
        examples = [item(reference, "reference").text()] if reference else []
        judged = run_in_loop(lambda _: self._judged(made, examples))
        return self._result(made.id, judged, time.perf_counter() - started)

    def evaluate_batch(
        self,
        problems: Sequence[Problem],
        references: Sequence[Problem] | None = None,
        *,
        max_samples: int | None = None,
    ) -> Dict:
        """Every problem, with `metrics`; `references` are shown as examples, drawn anew for each problem."""
        chosen = first_of(problems, max_samples)
        made = items(chosen)
        shown = [item(one, "reference").text() for one in references or ()]
        tell(say("🎯 Judge: {model}, {count} problems", model=self.judge_model, count=len(made)))
        by_rubric = [self._run(made, shown, one) for one in self._rubrics] if made else []
        self.run = by_rubric[0][0] if len(by_rubric) == 1 else None
        results = []
        for one, problem in zip(made, chosen, strict=True):
            judged = [verdicts[one.id] for _, verdicts, _ in by_rubric]
            seconds = sum(times.get(one.id, 0.0) for _, _, times in by_rubric)
            results.append(self._result(id_of(problem, one.id), judged, seconds))
        cached = from_cache(run for run, _, _ in by_rubric)
        return {
            "results": results,
            "metrics": {**self._metrics(results), "replies_from_cache": cached},
            "evaluation_date": now(),
            "judge_model": self.judge_model,
            "dimensions": self.dimensions,
            "num_problems": len(made),
        }

    def export_results(self, results: Mapping[str, Any], output_path: str | Path) -> None:
        """Write results as JSON."""
        export(results, output_path)

    async def _judged(self, made: Item, examples: Sequence[str]) -> list[Score | Unscored]:
        sample = item_sample(made, **({"examples": list(examples)} if examples else {}))
        found: list[Score | Unscored] = []
        for one in self._rubrics:
            async with self._judge(one) as judge:
                try:
                    found.append(await judge(sample, Trajectory.of(made.text())))
                except JudgeFailed as error:
                    found.append(Unscored(why="judge_failed", reason=error.sentence))
        return found

    def _judge(self, one: Rubric) -> RubricJudge:
        return RubricJudge(one, Asker(self._model, name=self.judge_model), Options(rubric=one.name))

    def _run(
        self, made: Sequence[Item], examples: Sequence[str], one: Rubric
    ) -> tuple[Run, dict[str, Score | Unscored], Mapping[str, float]]:
        samples = []
        for each in made:
            draw = random.Random(f"0:{each.id}")  # noqa: S311 - the same again
            drawn = draw.sample(list(examples), min(EXAMPLES, len(examples)))
            samples.append(item_sample(each, **({"examples": drawn} if drawn else {})))
        timed = Timed(self._judge(one), lambda name, result: _tell_score(name, result, one))
        run = play("llm-judge", samples, timed)
        return run, {verdict.sample_id: verdict.result for verdict in run.verdicts()}, timed.seconds

    def _result(self, problem_id: str, judged: Sequence[Score | Unscored], seconds: float) -> Dict:
        told = {
            name: points for one in judged if isinstance(one, Score) for name, points in one.known.dimensions.items()
        }
        scores = {name: points for name in self.dimensions if (points := told.get(name)) is not None}
        unjudged = any(told.get(name, 0) is None for name in self.dimensions)
        whole = all(isinstance(one, Score) for one in judged) and not unjudged
        result: Dict = {
            "problem_id": problem_id,
            "scores": scores if whole else {},
            "total_score": self._total(scores) if whole and scores else None,
            "evaluation_text": "\n".join(reply for one in judged for reply in one.known.replies),
            "execution_time": seconds,
        }
        failed = next((one for one in judged if isinstance(one, Unscored)), None)
        if failed is not None:
            result["error"] = str(failed.reason)
        return result

    @property
    def _top(self) -> float:
        """The highest total: that of the one scale, or 5 where dimensions of several scales have to be made comparable."""
        highs = {each.high for each in self._rubrics}
        return highs.pop() if len(highs) == 1 else SCALE

    def _total(self, scores: Mapping[str, float]) -> float:
        """Return the mean of the points, each as the same share of the highest total."""
        highs = {one.name: each.high for each in self._rubrics for one in each.dimensions}
        return sum(points * self._top / highs[name] for name, points in scores.items()) / len(scores)

    def _metrics(self, results: Sequence[Dict]) -> Dict:
        """Means over what was judged, their intervals, and how many could not be judged."""
        highs = {one.name: each.high for each in self._rubrics for one in each.dimensions}
        lows = {one.name: each.low for each in self._rubrics for one in each.dimensions}
        high = self._top
        low = min(lows[name] * high / highs[name] for name in highs)
        told = [one for one in results if one["total_score"] is not None]
        bars = {name: bar * high / SCALE for name, bar in (("pass_rate", PASS), ("excellent_rate", EXCELLENT))}
        numbers = {
            "average_total_score": mean([one["total_score"] for one in told], len(results), low, high),
            **{
                name: mean([float(one["total_score"] >= bar - 1e-9) for one in told], len(results))
                for name, bar in bars.items()
            },
        }
        by_dimension = {
            name: mean([one["scores"][name] for one in told], len(results), lows[name], highs[name]) for name in highs
        }
        return {
            **{name: one.value for name, one in numbers.items()},
            "dimension_averages": {name: one.value for name, one in by_dimension.items()},
            "intervals": {name: [one.low, one.high] for name, one in {**numbers, **by_dimension}.items()},
            "judged": len(told),
            "judge_failed": len(results) - len(told),
            "uncalibrated": True,
        }


def _tell_score(id: str, result: Score | Unscored, one: Rubric) -> None:
    if isinstance(result, Score):
        mean = result.details["mean"]
        tell(say("✓ {id}: {mean} of {high}", id=id, mean=f"{mean:.2f}", high=f"{one.high:g}"), indent=3)
    else:
        tell(say("✗ {id}: {reason}", id=id, reason=result.reason), indent=3)
