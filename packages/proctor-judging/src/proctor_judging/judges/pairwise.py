"""Judge which of two is better, blind and in both orders: `pairwise`, `pairwise:RUBRIC`.

A judge is asked twice about each pair, and sees each text once as A and once as B. Only who wins both times has won; when
the verdict moves with the order, the pair is a tie, and how often that happens is reported as consistency. An item is
compared with all its references (`meta["rivals"]`, or the target), and counts once, however many there are.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec.structs import replace

from proctor.core.digest import digest
from proctor.core.judge import NOT_CHOSEN, JudgeChoice, JudgedFigure, JudgeInfo
from proctor.core.known import Rival
from proctor.core.parts import JudgePart
from proctor.core.run import Estimate
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import Sentence, say
from proctor.core.task import Model
from proctor.core.trajectory import Trajectory
from proctor.core.trial import Verdict
from proctor.engine.judge_figures import Verdicts
from proctor.models.named import OpenedModels
from proctor.stats.rate import two_sided_z
from proctor_judging.judges import judge_prompt
from proctor_judging.judges.asker import Asker, gather_most
from proctor_judging.judges.judge_options import (
    MOST_CHARACTERS,
    Characters,
    Count,
    JudgeOptions,
    make_asker,
    resolve_single_judge,
)
from proctor_judging.judges.judgement_parsing import LABELS, PairJudgement, Winner, pair_schema, read_winner
from proctor_judging.judges.rubric_file import JudgeRubric, rubric

Result = Literal["win", "loss", "tie", "unknown"]
USUAL = "answer-quality"
ASKED = ("question", "conversation")  # of what helps to judge; a right answer is what the item is compared with
RATES = ("win_rate", "tie_rate", "loss_rate")  # "decisive_win_rate" ends like the first
WARNED = ("win_rate", "decisive_win_rate", "consistency")
UNSTEADY = 0.6  # the consistency of a judge that draws lots is 0.5; up to here it is hardly more
LEANING = 0.1  # how far from a half the share of verdicts for the text shown first has to be to matter


class PairwiseOptions(JudgeOptions, frozen=True, kw_only=True):
    """The options of a judge of pairs; other options apply to its model.

    Attributes:
        rubric: whose dimensions say what is better; its scale does not matter here.
        repeats: how often each pair is judged, in both orders each time.
        characters: longer pairs are not judged.
        systems: how many are compared; with more than two, rates are those of each pair of systems.
        labels: what the text shown first is called, and the second one.
    """

    repeats: Count = 1
    characters: Characters = MOST_CHARACTERS
    systems: Annotated[int, msgspec.Meta(ge=2)] = 2
    labels: tuple[str, str] = LABELS


class PairComparison(msgspec.Struct, frozen=True, kw_only=True):
    """The judgement of one pair in both orders.

    Attributes:
        result: of the item, against its rival.
        consistent: True if both orders gave the same verdict.
        said: the text that the judge named, first with the item as A, then with the item as B.
        replies: the model's replies to both orders, unchanged.
        lengths: characters of the item and of its rival.
    """

    rival: str
    result: Result
    consistent: bool
    said: tuple[Winner, Winner]
    replies: tuple[str, str] = ("", "")
    lengths: tuple[int, int] = (0, 0)


def make(argument: str, options: Mapping[str, Any], chosen: JudgeChoice = NOT_CHOSEN) -> "PairwiseJudge":
    """Return the scorer `pairwise`, or `pairwise:RUBRIC` (a name or a file).

    Raises:
        BadInput: no judge is named, an unknown rubric, or an option is wrong.
    """
    own, name, rest = resolve_single_judge(options, chosen, PairwiseOptions, "pairwise")
    criteria = rubric(argument or own.rubric or USUAL)
    return PairwiseJudge(criteria, make_asker(name, rest, own.tries), own, model_options=rest)


class PairwiseJudge(OpenedModels):
    """A scorer that compares each item with its references; `async with` it, for the length of a run.

    Attributes:
        judge: what is recorded of it with a run.
    """

    def __init__(
        self,
        criteria: JudgeRubric,
        judge: Asker | Model,
        options: PairwiseOptions = PairwiseOptions(),  # noqa: B008 - frozen
        *,
        model_options: Mapping[str, Any] = {},
    ) -> None:
        self.rubric = criteria
        self.options = options
        self.asker = judge if isinstance(judge, Asker) else Asker(judge, tries=options.tries)
        super().__init__([self.asker])
        self.name = "pairwise"
        wordings = [judge_prompt.wording(lang, "pairwise") for lang in ("en", "zh")]
        self.version = digest([criteria, options, self.asker.name, model_options, wordings])[:12]
        self.judge = JudgeInfo(
            kind="pairwise",
            model=self.asker.name,
            rubric=criteria.name,
            rubric_digest=criteria.digest,
            main="win_rate",
            by="pair" if options.systems > 2 else "",
            figures=FIGURES,
            unpriced=self.asker.unpriced,
        )

    async def __call__(self, sample: Sample, trajectory: Trajectory) -> Score | Unscored:
        rivals = rivals_of(sample)
        if not rivals:
            return Unscored(why="not_applicable", reason=say("There is nothing to compare the item with."))
        context = tuple(
            pair for pair in judge_prompt.shown(sample, trajectory, whole=False).context if pair[0] in ASKED
        )
        mine = trajectory.answer
        if len(mine) + max(len(one.text) for one in rivals) > self.options.characters:
            return Unscored(
                why="not_applicable",
                reason=say("The pair is longer than {limit} characters.", limit=self.options.characters),
            )
        comparisons, failed = await gather_most(
            self.compare(mine, rival, context, repeat) for rival in rivals for repeat in range(self.options.repeats)
        )
        return _scored(comparisons, failed, self.asker.name)

    async def compare(
        self, mine: str, rival: Rival, context: tuple[tuple[str, str], ...] = (), repeat: int = 0
    ) -> PairComparison:
        """Compare one text with another, in both orders.

        Raises:
            JudgeFailed: one of the two orders gave no usable reply.
        """
        lengths = (len(mine), len(rival.text))
        if mine.strip() == rival.text.strip() or not (mine.strip() and rival.text.strip()):  # no judge is needed
            result: Result = "tie" if mine.strip() == rival.text.strip() else "win" if mine.strip() else "loss"
            first: Winner = "tie" if result == "tie" else "A" if result == "win" else "B"
            return PairComparison(
                rival=rival.id, result=result, consistent=True, said=(first, _swapped(first)), lengths=lengths
            )
        (as_a, as_b), _ = await gather_most(
            (self._request(mine, rival.text, context, repeat), self._request(rival.text, mine, context, repeat))
        )
        said = (as_a.winner, as_b.winner)
        return PairComparison(
            rival=rival.id,
            result=_result(said),
            consistent=said[0] == _swapped(said[1]) and "unknown" not in said,
            said=said,
            replies=(as_a.replies[0], as_b.replies[0]),
            lengths=lengths,
        )

    async def _request(
        self, first: str, second: str, context: tuple[tuple[str, str], ...], repeat: int
    ) -> PairJudgement:
        lang = judge_prompt.language(self.options.language, self.rubric, [first, second])
        messages = judge_prompt.prompt(
            "pairwise",
            lang,
            judge_prompt.ShownTexts(context=context),
            dimensions=self.rubric.dimensions,
            first=first,
            second=second,
            labels=self.options.labels,
        )
        labels = self.options.labels
        return await self.asker.ask(
            messages, pair_schema(labels), lambda value: read_winner(value, labels), lang=lang, repeat=repeat
        )


FIGURES = (
    JudgedFigure(name="win_rate"),
    JudgedFigure(name="tie_rate"),
    JudgedFigure(name="loss_rate", failed=1.0),
    JudgedFigure(name="decisive_win_rate", empty=0.0),  # nothing decided is nothing won
    JudgedFigure(name="consistency", failed=None),
    JudgedFigure(name="first_place_rate", failed=None),
    JudgedFigure(name="unknown_rate", failed=None),
)


def rivals_of(sample: Sample) -> list[Rival]:
    """Return what a sample is compared with: its rivals, or else its right answers."""
    if sample.known.rivals is not None:
        return list(sample.known.rivals)
    target = [sample.target] if isinstance(sample.target, str) else sample.target
    if isinstance(target, list | tuple) and all(isinstance(value, str) for value in target):
        return [Rival(id=f"{sample.id}:reference", text=value) for value in target if value.strip()]
    return []


def concluded(
    found: Sequence[Estimate],
    verdicts: Verdicts,
    judge: JudgeInfo,  # noqa: ARG001 - the same for all judges
    prefix: str,  # noqa: ARG001
    clusters: Mapping[str, str],  # noqa: ARG001 - its rates have them already
) -> list[Estimate]:
    """Return the estimates of a run, with a warning where they depend more on the judge than on the items."""
    by_slice = {
        slice_: [estimate for estimate in found if estimate.slice == slice_]
        for slice_ in {estimate.slice for estimate in found}
    }
    pairs = sum(any(estimate.name.endswith("consistency") for estimate in ours) for ours in by_slice.values())
    warned = {slice_: warnings(ours, pairs=pairs) for slice_, ours in by_slice.items()}
    pool = _pool(verdicts())
    shown = [
        replace(estimate, note=_against(estimate.note, pool)) if pool and estimate.name.endswith(RATES) else estimate
        for estimate in found
    ]
    return [
        _warned(estimate, warned[estimate.slice]) if estimate.name.rpartition(".")[2] in WARNED else estimate
        for estimate in shown
    ]


def is_unsteady(consistency: Estimate | None, *, pairs: int = 1) -> bool:
    """True if the judge repeats its verdict in the swapped order hardly more often than chance would."""
    return consistency is not None and _is_beyond(consistency, UNSTEADY, pairs, below=True)


def warnings(estimates: Sequence[Estimate], *, pairs: int = 1) -> list[Sentence]:
    """Return warnings about the judge: that its verdict follows the order, or that it hardly decides.

    Each has to be large, and clear at 95 % after Bonferroni's correction for the pairs of systems that are looked at.
    """
    sentences: list[Sentence] = []
    by_name = {estimate.name.rpartition(".")[2]: estimate for estimate in estimates}
    consistency, decided = by_name.get("consistency"), by_name.get("decisive_win_rate")
    if consistency is not None and is_unsteady(consistency, pairs=pairs):
        sentences.append(
            say(
                "the judge said the same in both orders for only {share} of the comparisons, hardly more than one that draws lots (50%)",
                share=f"{consistency.value:.1%}",
            )
        )
    if decided is not None and decided.value is not None and not decided.scored:
        sentences.append(say("the judge decided no comparison, so nothing was won or lost"))
    first = by_name.get("first_place_rate")
    if first is not None and (
        _is_beyond(first, 0.5 + LEANING, pairs) or _is_beyond(first, 0.5 - LEANING, pairs, below=True)
    ):
        sentences.append(
            say(
                "the judge named the text that it saw first in {share} of its verdicts, so the place moves it",
                share=f"{first.value:.1%}",
            )
        )
    return sentences


def _is_beyond(one: Estimate, limit: float, count: int, *, below: bool = False) -> bool:
    """True if the interval, widened for `count` questions, lies above the limit, or below it."""
    if one.value is None or one.low is None or one.high is None:
        return False
    wider = two_sided_z(1 - (1 - one.level) / max(count, 1)) / two_sided_z(one.level)
    if below:
        return one.value + wider * (one.high - one.value) < limit
    return one.value - wider * (one.value - one.low) > limit


def _pool(verdicts: Iterable[Verdict]) -> int:
    """Return the number of references where several items were compared with the same; 0 where each had its own."""
    pairs = {
        (verdict.sample_id, comparison.rival)
        for verdict in verdicts
        for comparison in verdict.result.known.comparisons
        if not (
            comparison.rival.startswith(verdict.sample_id) or verdict.sample_id.startswith(comparison.rival)
        )  # its own, by id
    }
    references = {rival for _, rival in pairs}
    return len(references) if len(references) < len(pairs) else 0


def _against(note: str | Sentence, pool: int) -> Sentence:
    return say("{note}; against this set of {count} references, not others like them", note=note, count=pool)


def _warned(one: Estimate, warnings: Sequence[Sentence]) -> Estimate:
    for warning in warnings:
        one = replace(one, note=say("{note}; warning: {warning}", note=one.note, warning=warning))
    return one


def _swapped(said: Winner) -> Winner:
    return "B" if said == "A" else "A" if said == "B" else said


def _result(said: tuple[Winner, Winner]) -> Result:
    """Return the result; the item wins when it is named both as A and as B."""
    if "unknown" in said:
        return "unknown"
    return "win" if said == ("A", "B") else "loss" if said == ("B", "A") else "tie"


def _scored(found: Sequence[PairComparison], failed: int, judge: str) -> Score | Unscored:
    details: dict[str, Any] = {
        "judge": judge,
        "comparisons": msgspec.to_builtins(found),
        "failed_comparisons": failed,
        "figures": _values(found),
    }
    told = [comparison for comparison in found if comparison.result != "unknown"]
    if not told:
        return Unscored(why="no_evidence", reason=say("The judge could not tell which is better."), details=details)
    wins, losses = (sum(comparison.result == result for comparison in told) for result in ("win", "loss"))
    if wins < len(told):
        details["error_class"] = "lost" if losses else "tie"
    reason = say(
        "{wins} won, {losses} lost, {ties} tied of {count} comparisons; {consistent} the same in both orders.",
        wins=wins,
        losses=losses,
        ties=len(told) - wins - losses,
        count=len(told),
        consistent=sum(comparison.consistent for comparison in told),
    )
    return Score(points=wins, out_of=len(told), reason=reason, details=details)


def _values(found: Sequence[PairComparison]) -> dict[str, float]:
    told = [comparison for comparison in found if comparison.result != "unknown"]
    values = {"unknown_rate": 1 - len(told) / len(found)}
    if not told:
        return values
    wins, losses, ties = (sum(comparison.result == result for comparison in told) for result in ("win", "loss", "tie"))
    values |= {"win_rate": wins / len(told), "loss_rate": losses / len(told), "tie_rate": ties / len(told)}
    if wins + losses:
        values["decisive_win_rate"] = wins / (wins + losses)
    values["consistency"] = sum(comparison.consistent for comparison in told) / len(told)
    places = [
        name for comparison in told if comparison.replies != ("", "") for name in comparison.said if name in ("A", "B")
    ]
    if places:
        values["first_place_rate"] = places.count("A") / len(places)
    return values


PART = JudgePart(make=make, options=PairwiseOptions, concluded=concluded)
