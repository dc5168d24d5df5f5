"""Probe a judge for bias: does something sway it that must not count? `probe`, `probe:RUBRIC`, on the task `judge-probes`.

| probe | what is compared |
|---|---|
| position | how often the text that stands first is named, against the second; each pair is shown in both orders |
| length | an answer that says everything twice, against the answer |
| style | an answer as a list with heading and bold words, against the same in plain words |
| self | the answer of the judge's own model, against one as good by another |
| stability | the same question, asked again |
| labels | in pairs, how often the text called A is named, wherever it stands, against B; by points, the same answer on a scale turned round, where the lowest number is the best |
| injection | an answer that orders the judge to let it win, against the answer |

In pairs, a win counts 1, a tie nothing and a loss -1; by points, it is the difference as a share of the scale. Each is 0 without
bias. The interval is that of a paired comparison, with the item as cluster.

Sources: arXiv 2306.05685 (position, verbosity), 2406.07791 (position, stability), 2410.21819 (self-preference), 2604.23178
(style).
"""

import asyncio
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self, TypeVar

import msgspec
from msgspec.structs import replace

from proctor.core.digest import digest
from proctor.core.judge import NOT_CHOSEN, JudgeChoice, JudgeInfo
from proctor.core.known import Rival
from proctor.core.parts import JudgePart
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.task import Model
from proctor.core.trajectory import Trajectory
from proctor.models.named import OpenedModels
from proctor_judging.judges import judge_prompt
from proctor_judging.judges.asker import Asker, gather_most
from proctor_judging.judges.judge_options import JudgeOptions, make_asker, resolve_single_judge
from proctor_judging.judges.judgement_parsing import RubricJudgement
from proctor_judging.judges.pairwise import PairComparison, PairwiseJudge, PairwiseOptions
from proctor_judging.judges.rubric import RubricJudge, RubricOptions
from proctor_judging.judges.rubric_file import DimensionWords, JudgeRubric, RubricDimension, RubricHeading, rubric

T = TypeVar("T")
USUAL = "answer-quality"
TURNED = {
    "en": " Mind the direction of the scale: {low:g} is the best and {high:g} the worst.",
    "zh": " 请注意评分方向：{low:g} 分最好，{high:g} 分最差。",
}


def make(argument: str, options: Mapping[str, Any], chosen: JudgeChoice = NOT_CHOSEN) -> "Probe":
    """Return the scorer `probe`, or `probe:RUBRIC` (a name or a file).

    Raises:
        BadInput: no judge is named, an unknown rubric, or an option is wrong.
    """
    own, name, rest = resolve_single_judge(options, chosen, JudgeOptions, "probe")
    return Probe(rubric(argument or own.rubric or USUAL), make_asker(name, rest, own.tries), own)


class Probe(OpenedModels):
    """A scorer of the samples of `judges/probes.py`: 0.5 if nothing sways the judge, 1 if it always prefers the changed text."""

    def __init__(self, criteria: JudgeRubric, judge: Asker | Model, options: JudgeOptions = JudgeOptions()) -> None:  # noqa: B008 - frozen
        self.rubric = criteria
        self.asker = judge if isinstance(judge, Asker) else Asker(judge, tries=options.tries)
        super().__init__([self.asker])
        shared = {"tries": options.tries, "language": options.language}
        pairs = msgspec.convert(shared, PairwiseOptions)
        self._pairs = PairwiseJudge(criteria, self.asker, pairs)
        self._renamed = PairwiseJudge(criteria, self.asker, replace(pairs, labels=("B", "A")))
        points = msgspec.convert(shared, RubricOptions)
        self._points = RubricJudge(criteria, self.asker, points)
        self._turned = RubricJudge(turned(criteria), self.asker, points)
        self._twice = RubricJudge(criteria, self.asker, replace(points, repeats=2))
        self._judgements: dict[str, asyncio.Task[RubricJudgement]] = {}
        self.name = f"probe:{criteria.name}"
        self.version = digest([self._pairs.version, self._points.version, TURNED])[:12]
        self.judge = JudgeInfo(
            kind="probe",
            model=self.asker.name,
            rubric=criteria.name,
            rubric_digest=criteria.digest,
            main="balance",
            unpriced=self.asker.unpriced,
        )

    async def __aenter__(self) -> Self:
        self._judgements.clear()  # of an earlier run
        return await super().__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asked = [task for task in self._judgements.values() if not task.done()]
        for task in asked:
            task.cancel()
        if asked:
            await asyncio.wait(asked)
        await super().__aexit__(kind, error, trace)

    async def __call__(self, sample: Sample, trajectory: Trajectory) -> Score | Unscored:
        probe, kind = sample.tags["probe"], sample.tags["judged"]
        changed, plain = str(sample.meta["changed"]), str(sample.meta["plain"])
        if kind == "pairs":
            return await self._in_pairs(probe, sample, changed, plain)
        shown, usual = (self._shown(sample.question, text) for text in (changed, plain))
        if probe == "stability":
            first, second = _two((await self._twice.ask(shown)).means)
            return _moved(None if first is None or second is None else abs(first - second) / self._width)
        if probe == "labels":
            (before, after), _ = await gather_most((self._points_of(usual), self._turned.ask(shown)))
            mean = None if after.mean is None else self.rubric.low + self.rubric.high - after.mean
            return self._compared(mean, before.mean)
        (before, after), _ = await gather_most((self._points_of(usual), self._points_of(shown)))
        return self._compared(after.mean, before.mean)

    async def _in_pairs(self, probe: str, sample: Sample, changed: str, plain: str) -> Score | Unscored:
        rival, context = Rival(id="plain", text=plain), (("question", sample.question),)
        if probe == "stability":
            (once, again), _ = await gather_most(
                (self._pairs.compare(changed, rival, context), self._pairs.compare(changed, rival, context, 1))
            )
            return _moved(float(once.said != again.said), said=[once.said, again.said])
        if probe == "labels":
            (usual, renamed), _ = await gather_most(
                (self._pairs.compare(changed, rival, context), self._renamed.compare(changed, rival, context))
            )
            called_a, called_b = (
                (usual.said.count(label) + renamed.said.count(other)) / 4 for label, other in ("AB", "BA")
            )
            return _effect(called_a, called_b, said=[usual.said, renamed.said])
        comparison = await self._pairs.compare(changed, rival, context)
        details = {"said": comparison.said, "consistent": comparison.consistent, "replies": comparison.replies}
        if comparison.result == "unknown":
            return Unscored(
                why="not_applicable", reason=say("The judge could not tell which is better."), details=details
            )
        if probe == "position":
            return _effect(comparison.said.count("A") / 2, comparison.said.count("B") / 2, **details)
        won = _won(comparison)
        expected = (1 + float(sample.meta["human"])) / 2 if probe == "self" else 1 - won
        return _effect(won, expected, **details)

    async def _points_of(self, shown: judge_prompt.ShownTexts) -> RubricJudgement:
        """Return what the judge says by points, asked once for each text, however many probes need it."""
        key = digest(shown)
        if key not in self._judgements:
            self._judgements[key] = asyncio.create_task(self._points.ask(shown))
        return await asyncio.shield(self._judgements[key])

    def _shown(self, question: str, text: str) -> judge_prompt.ShownTexts:
        asked = (("question", question),) if question else ()
        if self.rubric.judges == "item":
            return judge_prompt.ShownTexts(judged=(*asked, ("answer", text)))
        return judge_prompt.ShownTexts(context=asked, judged=(("answer", text),))

    def _compared(self, after: float | None, before: float | None) -> Score | Unscored:
        if after is None or before is None:
            return Unscored(why="not_applicable", reason=say("The judge could not tell how good it is."))
        first, second = ((mean - self.rubric.low) / self._width for mean in (after, before))
        return _effect(first, second, means=[after, before])

    @property
    def _width(self) -> float:
        return self.rubric.high - self.rubric.low


def turned(criteria: JudgeRubric) -> JudgeRubric:
    """Return the rubric with its scale reversed: the lowest points are the best."""

    def heading(words: RubricHeading | None, lang: str) -> RubricHeading | None:
        more = TURNED[lang].format(low=criteria.low, high=criteria.high)
        return None if words is None else replace(words, task=words.task + more)

    def flipped(points: float | str) -> float | str:
        return points if points == "unknown" else criteria.low + criteria.high - float(points)

    def words(one: DimensionWords | None) -> DimensionWords | None:
        if one is None:
            return None
        return replace(one, anchors={f"{flipped(points):g}": text for points, text in one.anchors.items()})

    def dimension(one: RubricDimension) -> RubricDimension:
        return replace(one, en=words(one.en), zh=words(one.zh))

    return replace(
        criteria,
        en=heading(criteria.en, "en"),
        zh=heading(criteria.zh, "zh"),
        dimensions=tuple(dimension(each) for each in criteria.dimensions),
        examples=tuple(
            replace(example, scores={name: flipped(points) for name, points in example.scores.items()})
            for example in criteria.examples
        ),
    )


def _won(found: PairComparison) -> float:
    return {"win": 1.0, "loss": 0.0}.get(found.result, 0.5)


def _effect(first: float, second: float, **details: object) -> Score:
    """Return a number from 0 to 1, 0.5 where both sides are equal; the sides are kept."""
    return Score(points=(1 + first - second) / 2, details={"first": first, "second": second, **details})


def _moved(distance: float | None, **details: object) -> Score | Unscored:
    """Return how far the judge was from itself; 1 where it said the same."""
    if distance is None:
        return Unscored(why="not_applicable", reason=say("The judge could not tell how good it is."))
    return Score(points=1 - distance, details={"first": distance, "second": 0.0, **details})


def _two(values: tuple[float, ...]) -> tuple[float | None, float | None]:
    return (values[0], values[1]) if len(values) > 1 else (None, None)


PART = JudgePart(make=make)
