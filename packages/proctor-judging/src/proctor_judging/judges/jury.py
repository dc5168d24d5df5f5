"""Several judges as one: `jury:RUBRIC` with `--judge A,B,C`, or in a file of scorers

[scorers.panel]
kind = "jury"
rubric = "answer-quality"
combine = "median"          # mean (weighted), median, trimmed, majority
discuss = "severe"          # those who disagree so much hear each other once
arbitrator = "openai:large" # decides where they still do

[[scorers.panel.judges]]
model = "openai:judge-1"
weight = 2

[[scorers.panel.judges]]
model = "openai:judge-2"
options = { temperature = 0.5 }

[[scorers.panel.judges]]
model = "openai:judge-3"

[[scorers.panel.controls]]  # known answers: who gets them wrong is left out, and named
question = "What is 7 times 8?"
answer = "54"
expect = "fail"
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec

from proctor.core.digest import digest
from proctor.core.errors import BadInput, JudgeFailed
from proctor.core.judge import NOT_CHOSEN, JudgeChoice, JudgedFigure, JudgeInfo
from proctor.core.parts import JudgePart
from proctor.core.run import Estimate
from proctor.core.sample import File, Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.trajectory import Trajectory, Usage
from proctor.engine.judge_figures import Verdicts
from proctor.models.named import OpenedModels
from proctor.runtime.concurrent import run_together
from proctor_judging.judges import _jury_votes, judge_prompt
from proctor_judging.judges._jury_controls import Control, check_controls, check_judge
from proctor_judging.judges._jury_votes import (
    Ballot,
    Band,
    JuryVote,
    Rule,
    add_figures,
    add_usage,
    decide_by_vote,
    join,
    no_quorum,
    to_record,
    to_text,
    votes_of,
)
from proctor_judging.judges.judge_options import make_asker, resolve_judge, split_options
from proctor_judging.judges.judgement_parsing import RubricJudgement
from proctor_judging.judges.rubric import RubricJudge, RubricOptions
from proctor_judging.judges.rubric_file import JudgeRubric, rubric
from proctor_judging.judges.rubric_score import figures, to_score, unjudged

LEAST = 3
BANDS: tuple[Band, ...] = ("low", "moderate", "severe")
Weight = Annotated[float, msgspec.Meta(ge=0)]


class JurySeat(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One judge of a jury: its model, how much it counts, and options of the model."""

    model: str
    weight: Weight = 1.0
    options: Mapping[str, Any] = {}


class JuryOptions(RubricOptions, frozen=True, kw_only=True):
    """The options of a jury; other options apply to all its models.

    Attributes:
        judges: at least three; else those that the run names, with commas between them.
        combine: how their points become one: weighted mean, median, mean without the lowest and highest, or a vote on
            passing.
        trim: the share left out at each end by "trimmed"; at least one judge.
        discuss: how much they must disagree to judge again after hearing each other, `rounds` times.
        arbitrator: a model that decides where they still disagree severely, or a vote is even.
        controls_right: the share of the controls that a judge has to get right.
    """

    judges: tuple[JurySeat, ...] = ()
    combine: Rule = "mean"
    trim: Annotated[float, msgspec.Meta(ge=0, lt=0.5)] = 0.2
    discuss: Literal["never", "moderate", "severe"] = "never"
    rounds: Annotated[int, msgspec.Meta(ge=1, le=5)] = 1
    arbitrator: str | None = None
    controls: tuple[Control, ...] = ()
    controls_right: Annotated[float, msgspec.Meta(ge=0, le=1)] = 1.0


def make(argument: str, options: Mapping[str, Any], chosen: JudgeChoice = NOT_CHOSEN) -> "Jury":
    """Return the scorer `jury:RUBRIC`.

    Raises:
        BadInput: fewer than three judges, no rubric, a control that does not fit it, or an option is wrong.
    """
    if options.get("judges"):
        own, rest = split_options(options, JuryOptions, "jury")
        seats: Sequence[JurySeat] = own.judges
    else:
        names, all_options = resolve_judge(options, chosen)
        own, rest = split_options(all_options, JuryOptions, "jury")
        seats = [JurySeat(model=name.strip()) for name in names.split(",") if name.strip()]
    if len(seats) < LEAST:
        raise BadInput(
            "A jury needs at least {least} judges, and has {count}. Name them with commas between: --judge openai:A,openai:B,openai:C",
            least=LEAST,
            count=len(seats),
        )
    criteria = rubric(argument or own.rubric or "answer-quality")
    members = [_member(criteria, seat.model, {**rest, **seat.options}, own) for seat in seats]
    arbitrator = _member(criteria, own.arbitrator, rest, own) if own.arbitrator else None
    return Jury(members, own, weights=[seat.weight for seat in seats], arbitrator=arbitrator)


class Jury(OpenedModels):
    """A scorer that asks several judges; `async with` it, for the length of a run.

    Attributes:
        judge: what is recorded of it with a run.
        excluded: judges that got controls wrong, once that is known.
    """

    def __init__(
        self,
        members: Sequence[RubricJudge],
        options: JuryOptions = JuryOptions(),  # noqa: B008 - frozen
        *,
        weights: Sequence[float] = (),
        arbitrator: RubricJudge | None = None,
    ) -> None:
        self.options = options
        self.rubric: JudgeRubric = members[0].rubric
        self.name = f"jury:{self.rubric.name}"
        self.excluded: list[str] = []
        self._members = dict(zip(_names([member.asker.name for member in members]), members, strict=True))
        self._weights = dict(zip(self._members, weights or [1.0] * len(members), strict=True))
        self._arbitrator = arbitrator
        self._checking = asyncio.Lock()  # the controls are judged once, however many items come first
        self._checked = not options.controls
        self._spent: dict[str, Usage] = {}
        everyone = [*members, *((arbitrator,) if arbitrator is not None else ())]
        super().__init__(everyone)
        self._everyone = everyone
        _check(options, self.rubric, list(self._weights.values()))
        self.version = digest([[member.version for member in everyone], options, list(self._weights.values())])[:12]
        self.judge = JudgeInfo(
            kind="jury",
            model=", ".join(self._members),
            rubric=self.rubric.name,
            rubric_digest=self.rubric.digest,
            weights=self.rubric.weights,
            passing=self.rubric.passing,
            main="score",
            figures=(*figures(self.rubric), *_more(arbitrator is not None)),
            unpriced=tuple(dict.fromkeys(model for member in everyone for model in member.asker.unpriced)),
        )

    async def __call__(self, sample: Sample, trajectory: Trajectory) -> Score | Unscored:
        shown = judge_prompt.shown(sample, trajectory, self.rubric.judges == "item", self._see)
        nothing = unjudged(shown, self.rubric, self.options.characters)
        if nothing is not None:
            return nothing
        await self._check_members()
        ballots = await self._all_ballots(shown)
        before = [ballot.vote.points for ballot in ballots if ballot.vote is not None]
        discussed = 0
        while discussed < self.options.rounds and self._should_discuss(ballots):
            ballots = await self._again(shown, ballots)
            discussed += 1
        return await self._verdict(shown, ballots, before if discussed else [])

    def _see(self, file: File) -> bool:
        """True if all judges are shown a file, if that is a picture."""
        return all(member.sees(file) for member in self._everyone)

    async def _check_members(self) -> None:
        async with self._checking:
            if self._checked:
                return
            controls, needed = self.options.controls, self.options.controls_right
            results = await run_together(*(check_judge(member, controls, needed) for member in self._members.values()))
            for name, (is_right, usage) in zip(self._members, results, strict=True):
                self._spent[name] = usage
                if not is_right:
                    self.excluded.append(name)
            self._checked = True

    async def _all_ballots(self, shown: judge_prompt.ShownTexts) -> list[Ballot]:
        names = [name for name in self._members if name not in self.excluded]
        return await run_together(*(self._ballot(name, shown) for name in names))

    async def _ballot(self, name: str, shown: judge_prompt.ShownTexts, others: Sequence[str] = ()) -> Ballot:
        try:
            judgement = await self._members[name].ask(shown, others)
        except JudgeFailed as error:
            return Ballot(name=name, weight=self._weights[name], failed=error.kind)
        return Ballot(name=name, weight=self._weights[name], judgement=judgement)

    def _should_discuss(self, ballots: Sequence[Ballot]) -> bool:
        apart = _jury_votes.spread(votes_of(ballots))
        if self.options.discuss == "never" or apart is None:
            return False
        return BANDS.index(_jury_votes.band(apart, self._width)) >= BANDS.index(self.options.discuss)

    async def _again(self, shown: judge_prompt.ShownTexts, ballots: Sequence[Ballot]) -> list[Ballot]:
        """Return each judge once more, after it has read the others; who fails now keeps what it said."""
        told = {ballot.name: to_text(ballot.judgement) for ballot in ballots if ballot.judgement is not None}
        new = await run_together(
            *(self._ballot(name, shown, [text for other, text in told.items() if other != name]) for name in told)
        )
        by_name = {one.name: one for one in new if one.judgement is not None}
        return [add_usage(by_name.get(ballot.name, ballot), ballot) for ballot in ballots]

    async def _verdict(
        self, shown: judge_prompt.ShownTexts, ballots: Sequence[Ballot], before: Sequence[float]
    ) -> Score | Unscored:
        votes = votes_of(ballots)
        apart = _jury_votes.spread(votes)
        details = self._details(ballots, votes, apart, before) | shown.details
        if len(votes) * 2 <= len(self._members):
            return no_quorum(ballots, details)
        judgement = join(ballots, self.rubric, self.options.combine, self.options.trim)
        vote = self._vote(votes)
        undecided = self.options.combine == "majority" and vote is None
        if self._arbitrator is not None and (undecided or details["disagreement"] == "severe"):
            decided = await self._arbitrated(shown, ballots)
            if decided is not None:
                details["arbitrated"] = True
                judgement, vote = (
                    decided,
                    self._vote([JuryVote(points=decided.mean)] if decided.mean is not None else []),
                )
                undecided = False
        if undecided:
            return Unscored(why="no_evidence", reason=say("The votes of the jury are even."), details=details)
        result = to_score(judgement, self.rubric, self.judge.model, **details)
        return add_figures(decide_by_vote(result, vote) if self.options.combine == "majority" else result, details)

    def _vote(self, votes: Sequence[JuryVote]) -> bool | None:
        if self.rubric.passing is None or not votes:
            return None
        return _jury_votes.majority(votes, self.rubric.passing)

    async def _arbitrated(self, shown: judge_prompt.ShownTexts, ballots: Sequence[Ballot]) -> RubricJudgement | None:
        assert self._arbitrator is not None
        try:
            judgement = await self._arbitrator.ask(
                shown, [to_text(ballot.judgement) for ballot in ballots if ballot.judgement is not None]
            )
        except JudgeFailed:
            return None
        return judgement if judgement.mean is not None else None

    def _details(
        self, ballots: Sequence[Ballot], votes: Sequence[JuryVote], apart: float | None, before: Sequence[float]
    ) -> dict[str, object]:
        spent, self._spent = self._spent, {}
        details: dict[str, object] = {
            "judges": {ballot.name: to_record(ballot, spent.get(ballot.name, Usage())) for ballot in ballots},
            "votes": len(votes),
            "abstained": [ballot.name for ballot in ballots if ballot.vote is None and not ballot.failed],
            "disagreement": None if apart is None else _jury_votes.band(apart, self._width),
            "spread": apart,
            "confidence": None if apart is None else 1 - apart / self._width,
        }
        if self.excluded:
            details["excluded"] = list(self.excluded)
        if before:
            details["before_discussion"] = list(before)
        return details

    @property
    def _width(self) -> float:
        return self.rubric.high - self.rubric.low


def concluded(
    found: Sequence[Estimate], verdicts: Verdicts, judge: JudgeInfo, prefix: str, clusters: Mapping[str, str]
) -> list[Estimate]:
    """Return the estimates of a run, and how far its judges agree, each judge's leaning, outliers and cost."""
    from proctor_judging.judges import jury_agreement

    return [*found, *jury_agreement.numbers(verdicts(), judge, prefix, clusters)]


def _member(criteria: JudgeRubric, name: str, model_options: Mapping[str, object], own: JuryOptions) -> RubricJudge:
    options = RubricOptions(**{field: getattr(own, field) for field in RubricOptions.__struct_fields__})
    return RubricJudge(criteria, make_asker(name, model_options, own.tries), options, model_options=model_options)


def _check(options: JuryOptions, criteria: JudgeRubric, weights: Sequence[float]) -> None:
    if not sum(weights) > 0:
        raise BadInput("jury: weights are 0 or more, and one of them more than 0.")
    if options.combine == "majority" and criteria.passing is None:
        raise BadInput("jury: a majority votes on passing, and the rubric '{name}' has no 'pass'.", name=criteria.name)
    check_controls(options.controls, criteria)


def _names(models: Sequence[str]) -> list[str]:
    """Names of judges that are different: the second of the same model is called `model#2`."""
    seen: Counter[str] = Counter()
    names = []
    for model in models:
        seen[model] += 1
        names.append(model if seen[model] == 1 else f"{model}#{seen[model]}")
    return names


def _more(has_arbitrator: bool) -> tuple[JudgedFigure, ...]:
    names = ["confidence", "moderate_disagreement_rate", "severe_disagreement_rate"]
    return tuple(
        JudgedFigure(name=name, failed=None) for name in [*names, *(["arbitrated_rate"] if has_arbitrator else [])]
    )


PART = JudgePart(make=make, options=JuryOptions, concluded=concluded)
