"""`WinRateEvaluator`, on the judge of pairs of Proctor: blind, both orders, a draw with a seed, intervals by problem."""

import random
import time
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from proctor.api.loop import run_in_loop
from proctor.api.run import Run
from proctor.core.errors import BadInput, JudgeFailed
from proctor.core.known import Rival
from proctor.core.sample import Sample
from proctor.core.sentence import Sentence, say
from proctor_compat.hello_agents._judged import Dict, Judging, JudgingEvaluator, Problem, from_cache, items, now, play
from proctor_compat.hello_agents._tool import whole
from proctor_compat.hello_agents._words import percent, tell
from proctor_compat.hello_agents.llm_judge import RUBRIC
from proctor_judging.judges.asker import Asker
from proctor_judging.judges.pairwise import PairComparison, PairwiseJudge, PairwiseOptions
from proctor_judging.judges.rubric import JudgeRubric, rubric
from proctor_judging.replies import loose_json
from proctor_judging.tasks.fields import JUDGED, JudgedItem
from proctor_judging.tasks.items import sample as item_sample

LABELS = ("Problem A", "Problem B")


class WinRateEvaluator(JudgingEvaluator):
    """Compares generated problems with real ones, blind and in both orders; only who wins both times has won."""

    def __init__(
        self,
        llm: object = None,
        judge_model: str | None = None,
        *,
        criteria: JudgeRubric | None = None,
        seed: int = 0,
        field_mapping: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(llm, judge_model, field_mapping)
        self._criteria = criteria or rubric(RUBRIC)
        self._seed = seed

    def compare_pair(
        self,
        problem_a: Problem,
        problem_b: Problem,
        label_a: str = "A",
        label_b: str = "B",
    ) -> Dict:
        """Judge which of two is better; `winner` is a label or "Tie", None with `error` without a verdict."""
        started = time.perf_counter()
        item, other = self._item(problem_a), self._item(problem_b)
        roles = _shared_roles([item], [other])
        rival = Rival(id=other.id, text=other.text(roles))

        async def compared() -> PairComparison:
            async with self._judge() as judge:
                return await judge.compare(item.text(roles), rival)

        try:
            outcome: PairComparison | Sentence = run_in_loop(lambda _: compared())
        except JudgeFailed as error:
            outcome = error.sentence
        return _record(item.id, other.id, outcome, (label_a, label_b), time.perf_counter() - started)

    def evaluate_win_rate(
        self,
        generated_problems: Sequence[Problem],
        reference_problems: Sequence[Problem],
        num_comparisons: int | None = None,
    ) -> Dict:
        """Return the win, loss and tie rates, which sum to 1, with every comparison.

        Args:
            num_comparisons: how many pairs are drawn (with a seed); every problem once before any comes again. All
                pairs when None.

        Raises:
            BadInput: nothing to compare, or a number below 1.
        """
        generated, references = (
            items(self._rename_all(problems)) for problems in (generated_problems, reference_problems)
        )
        pairs = _draw_pairs(generated, references, num_comparisons, self._seed)
        tell(say("🏆 Judge of pairs: {model}, {count} comparisons", model=self.judge_model, count=len(pairs)))
        roles = _shared_roles(generated, references)
        samples = []
        for mine in generated:
            rivals = [{"id": other.id, "text": other.text(roles)} for item, other in pairs if item is mine]
            if rivals:
                meta = {"item": {}, "recorded": mine.text(roles), "rivals": rivals}
                samples.append(msgspec.structs.replace(item_sample(mine), meta=meta))
        progress = Judging()
        self.run = play("win-rate", samples, self._judge(), progress)
        comparisons = list(_comparisons(self.run, samples, progress.seconds))
        metrics = {**self._metrics(comparisons), "replies_from_cache": from_cache([self.run])}
        tell(say("🏆 Win rate: {rate}", rate=percent(metrics["win_rate"])))
        return {
            "comparisons": comparisons,
            "metrics": metrics,
            "evaluation_date": now(),
            "judge_model": self.judge_model,
        }

    def _judge(self) -> PairwiseJudge:
        return PairwiseJudge(
            self._criteria, Asker(self._model, name=self.judge_model), PairwiseOptions(rubric=self._criteria.name)
        )

    def _metrics(self, comparisons: Sequence[Dict]) -> Dict:
        decided = [comparison for comparison in comparisons if comparison["actual_winner"] is not None]
        counts = {
            name: sum(comparison["actual_winner"] == winner for comparison in decided)
            for name, winner in (("wins", "Generated"), ("losses", "Reference"), ("ties", "Tie"))
        }
        run = self.run
        assert run is not None
        estimates = {estimate.name: estimate for estimate in run.estimates if not estimate.slice}
        intervals = {
            name: [estimates[name].low, estimates[name].high] for name in ("win_rate", "loss_rate", "tie_rate")
        }
        consistency = estimates["consistency"].value
        rates = {
            rate: counts[count] / len(decided) if decided else None
            for rate, count in (("win_rate", "wins"), ("loss_rate", "losses"), ("tie_rate", "ties"))
        }
        return {
            **rates,
            **counts,
            "total_comparisons": len(decided),
            "judge_failed": len(comparisons) - len(decided),
            "consistency": consistency,
            "intervals": intervals,
            "uncalibrated": True,
        }


def _shared_roles(some: Sequence[JudgedItem], others: Sequence[JudgedItem]) -> list[str]:
    """Return what all of them have; a solution that one side lacks is not shown of the other."""
    return [role for role in JUDGED if all(role in item.texts for item in (*some, *others))] or list(JUDGED)


def _draw_pairs(
    generated: Sequence[JudgedItem], references: Sequence[JudgedItem], count: int | None, seed: int
) -> list[tuple[JudgedItem, JudgedItem]]:
    if not generated or not references:
        raise BadInput(
            "There is nothing to compare: {generated} generated and {references} reference problems.",
            generated=len(generated),
            references=len(references),
        )
    count = None if count is None else whole("num_comparisons", count)
    if count is not None and count < 1:
        raise BadInput("num_comparisons has to be 1 or more, not {number}.", number=count)
    draw = random.Random(seed)  # noqa: S311 - the same again
    order = draw.sample(range(len(generated)), len(generated))
    rounds = {index: draw.sample(range(len(references)), len(references)) for index in order}
    pairs = [(generated[index], references[rounds[index][turn]]) for turn in range(len(references)) for index in order]
    return pairs if count is None else pairs[:count]


def _comparisons(run: Run, samples: Sequence[Sample], seconds: Mapping[str, float]) -> Iterable[Dict]:
    verdict_by_id = {verdict.sample_id: verdict.result for verdict in run.verdicts()}
    for sample in samples:
        result = verdict_by_id.get(sample.id)
        rivals = [rival.id for rival in sample.known.rivals or ()]
        by_rival = {
            comparison["rival"]: comparison
            for comparison in (result.details.get("comparisons", ()) if result is not None else ())
        }
        each = seconds.get(sample.id, 0.0) / len(rivals)
        for rival in rivals:
            outcome: PairComparison | Sentence
            if rival in by_rival:
                comparison = by_rival[rival]
                outcome = PairComparison(
                    rival=rival,
                    result=comparison["result"],
                    consistent=comparison["consistent"],
                    said=tuple(comparison["said"]),
                    replies=tuple(comparison["replies"]),
                )
            else:
                reason = result.reason if result is not None else ""
                outcome = reason if isinstance(reason, Sentence) else say("The judge gave no verdict.")
            record = _record(sample.id, rival, outcome, LABELS, each)
            won = {LABELS[0]: "Generated", LABELS[1]: "Reference", "Tie": "Tie"}
            yield record | {
                "actual_order": {"A": "Generated", "B": "Reference"},
                "actual_winner": won.get(record["winner"]) if record["winner"] is not None else None,
            }


def _record(one: str, other: str, found: PairComparison | Sentence, labels: tuple[str, str], seconds: float) -> Dict:
    if isinstance(found, Sentence):
        failed = {"winner": None, "reason": str(found), "comparison_text": "", "consistent": None, "error": str(found)}
        return {"problem_a_id": one, "problem_b_id": other, **failed, "execution_time": seconds}
    winner = {"win": labels[0], "loss": labels[1], "tie": "Tie"}.get(found.result)
    record: Dict = {
        "problem_a_id": one,
        "problem_b_id": other,
        "winner": winner,
        "reason": "\n".join(reason for reply in found.replies if (reason := _reason(reply))),
        "comparison_text": "\n".join(reply for reply in found.replies if reply),
        "execution_time": seconds,
        "consistent": found.consistent,
        "said": list(found.said),
    }
    if winner is None:
        record["error"] = str(say("The judge could not tell which is better."))
    return record


def _reason(reply: str) -> str:
    try:
        value = loose_json.read(reply)
    except loose_json.Unreadable:
        return ""
    return str(value.get("reason", "")) if isinstance(value, dict) else ""
