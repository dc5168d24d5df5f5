"""`LLMJudgeEvaluator`, on the rubric judge of Proctor.

What a judge does not say becomes no number: an item without a usable judgement has `total_score` None, and `error` says why.
"""

import random
import time
from collections.abc import Mapping, Sequence

from proctor.api.loop import run_in_loop
from proctor.api.run import Run
from proctor.core.errors import JudgeFailed
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.trajectory import Trajectory
from proctor_compat.hello_agents._judged import (
    Dict,
    Judging,
    JudgingEvaluator,
    Problem,
    from_cache,
    id_of,
    items,
    mean,
    now,
    play,
)
from proctor_compat.hello_agents._playing import first_of
from proctor_compat.hello_agents._words import tell
from proctor_judging.judges.asker import Asker
from proctor_judging.judges.rubric import JudgeRubric, RubricJudge, RubricOptions, rubric
from proctor_judging.tasks.fields import JudgedItem
from proctor_judging.tasks.items import EXAMPLES
from proctor_judging.tasks.items import sample as item_sample

RUBRIC = "math-problem"
SCALE = 5
PASS, EXCELLENT = 3.5, 4.5  # of 5; on another scale the same share of it


class LLMJudgeEvaluator(JudgingEvaluator):
    """Judges problems by a rubric: correctness, clarity, difficulty match and completeness, from 1 to 5."""

    EVALUATION_DIMENSIONS = ("correctness", "clarity", "difficulty_match", "completeness")

    def __init__(
        self,
        llm: object = None,
        judge_model: str | None = None,
        *,
        rubrics: Sequence[JudgeRubric] = (),
        field_mapping: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(llm, judge_model, field_mapping)
        self._rubrics = tuple(rubrics) or (rubric(RUBRIC),)
        self._highs = {dimension.name: each.high for each in self._rubrics for dimension in each.dimensions}
        self._lows = {dimension.name: each.low for each in self._rubrics for dimension in each.dimensions}

    @property
    def dimensions(self) -> list[str]:
        return list(self._highs)

    def evaluate_single(self, problem: Problem, reference: Problem | None = None) -> Dict:
        """Judge one problem: problem_id, scores, total_score (their mean), evaluation_text, execution_time.

        Without a usable judgement `scores` is empty, `total_score` None, and `error` says why.
        """
        started = time.perf_counter()
        item = self._item(problem)
        examples = [self._item(reference).text()] if reference else []
        results = run_in_loop(lambda _: self._verdicts(item, examples))
        return self._result(item.id, results, time.perf_counter() - started)

    def evaluate_batch(
        self,
        problems: Sequence[Problem],
        references: Sequence[Problem] | None = None,
        *,
        max_samples: int | None = None,
    ) -> Dict:
        """Judge every problem, with `metrics`; `references` are shown as examples, drawn again for each problem."""
        chosen = self._rename_all(first_of(problems, max_samples))
        judged_items = items(chosen)
        shown = [self._item(reference).text() for reference in references or ()]
        tell(say("🎯 Judge: {model}, {count} problems", model=self.judge_model, count=len(judged_items)))
        by_rubric = [self._run(judged_items, shown, each) for each in self._rubrics] if judged_items else []
        self.run = by_rubric[0][0] if len(by_rubric) == 1 else None
        results = []
        for item, problem in zip(judged_items, chosen, strict=True):
            verdicts = [result_by_id[item.id] for _, result_by_id, _ in by_rubric]
            seconds = sum(times.get(item.id, 0.0) for _, _, times in by_rubric)
            results.append(self._result(id_of(problem, item.id), verdicts, seconds))
        cached = from_cache(run for run, _, _ in by_rubric)
        return {
            "results": results,
            "metrics": {**self._metrics(results), "replies_from_cache": cached},
            "evaluation_date": now(),
            "judge_model": self.judge_model,
            "dimensions": self.dimensions,
            "num_problems": len(judged_items),
        }

    async def _verdicts(self, made: JudgedItem, examples: Sequence[str]) -> list[Score | Unscored]:
        sample = item_sample(made, **({"examples": list(examples)} if examples else {}))
        found: list[Score | Unscored] = []
        for judge_rubric in self._rubrics:
            async with self._judge(judge_rubric) as judge:
                try:
                    found.append(await judge(sample, Trajectory.of(made.text())))
                except JudgeFailed as error:
                    found.append(Unscored(why="judge_failed", reason=error.sentence))
        return found

    def _judge(self, one: JudgeRubric) -> RubricJudge:
        return RubricJudge(one, Asker(self._model, name=self.judge_model), RubricOptions(rubric=one.name))

    def _run(
        self, made: Sequence[JudgedItem], examples: Sequence[str], one: JudgeRubric
    ) -> tuple[Run, dict[str, Score | Unscored], Mapping[str, float]]:
        samples = []
        for each in made:
            draw = random.Random(f"0:{each.id}")  # noqa: S311 - the same again
            drawn = draw.sample(list(examples), min(EXAMPLES, len(examples)))
            samples.append(item_sample(each, **({"examples": drawn} if drawn else {})))
        progress = Judging(lambda verdict: _tell_score(verdict.sample_id, verdict.result, one))
        run = play("llm-judge", samples, self._judge(one), progress)
        return run, {verdict.sample_id: verdict.result for verdict in run.verdicts()}, progress.seconds

    def _result(self, problem_id: str, verdicts: Sequence[Score | Unscored], seconds: float) -> Dict:
        points = {name: value for verdict in verdicts for name, value in verdict.known.dimensions.items()}
        scores = {name: value for name in self.dimensions if (value := points.get(name)) is not None}
        unjudged = any(points.get(name, 0) is None for name in self.dimensions)
        whole = all(isinstance(verdict, Score) for verdict in verdicts) and not unjudged
        result: Dict = {
            "problem_id": problem_id,
            "scores": scores if whole else {},
            "total_score": self._total(scores) if whole and scores else None,
            "evaluation_text": "\n".join(reply for verdict in verdicts for reply in verdict.known.replies),
            "execution_time": seconds,
        }
        failed = next((verdict for verdict in verdicts if isinstance(verdict, Unscored)), None)
        if failed is not None:
            result["error"] = str(failed.reason)
        return result

    @property
    def _top(self) -> float:
        """The highest total: that of the one scale, or 5 where dimensions of several scales have to be made comparable."""
        highs = set(self._highs.values())
        return highs.pop() if len(highs) == 1 else SCALE

    def _total(self, scores: Mapping[str, float]) -> float:
        """Return the mean of the points, each as the same share of the highest total."""
        return sum(points * self._top / self._highs[name] for name, points in scores.items()) / len(scores)

    def _metrics(self, results: Sequence[Dict]) -> Dict:
        """Means over what was judged, their intervals, and how many could not be judged."""
        lows, highs, high = self._lows, self._highs, self._top
        low = min(lows[name] * high / highs[name] for name in highs)
        judged = [result for result in results if result["total_score"] is not None]
        bars = {name: bar * high / SCALE for name, bar in (("pass_rate", PASS), ("excellent_rate", EXCELLENT))}
        numbers = {
            "average_total_score": mean([result["total_score"] for result in judged], len(results), low, high),
            **{
                name: mean([float(result["total_score"] >= bar - 1e-9) for result in judged], len(results))
                for name, bar in bars.items()
            },
        }
        by_dimension = {
            name: mean([result["scores"][name] for result in judged], len(results), lows[name], highs[name])
            for name in highs
        }
        return {
            **{name: estimate.value for name, estimate in numbers.items()},
            "dimension_averages": {name: estimate.value for name, estimate in by_dimension.items()},
            "intervals": {
                name: [estimate.low, estimate.high] for name, estimate in {**numbers, **by_dimension}.items()
            },
            "judged": len(judged),
            "judge_failed": len(results) - len(judged),
            "uncalibrated": True,
        }


def _tell_score(id: str, result: Score | Unscored, one: JudgeRubric) -> None:
    if isinstance(result, Score):
        mean = result.details["mean"]
        tell(say("✓ {id}: {mean} of {high}", id=id, mean=f"{mean:.2f}", high=f"{one.high:g}"), indent=3)
    else:
        tell(say("✗ {id}: {reason}", id=id, reason=result.reason), indent=3)
