"""The jury: how several judges become one, who is left out, and how far they agree."""

import itertools
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from judged import estimated, item, said
from msgspec.structs import replace

from proctor.api import resolve
from proctor.core.errors import BadInput
from proctor.core.judge import JudgeChoice
from proctor.core.run import Estimate
from proctor.core.sample import Message, Sample
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Step, Trajectory, Usage
from proctor.models.scripted import Reply, ScriptedModel
from proctor_judging.judges import _jury_votes, jury
from proctor_judging.judges._jury_controls import Control
from proctor_judging.judges._jury_votes import JuryVote
from proctor_judging.judges.jury import Jury, JuryOptions
from proctor_judging.judges.rubric import JudgeRubric, RubricJudge, RubricOptions, made

WORDS = {"en": {"text": "?"}}
ONE: JudgeRubric = made(
    name="one", en={"task": "Judge."}, dimensions=[{"name": "right", **WORDS}], passing=3.5, excellent=4.5
)


def panel(*scripts: Sequence[Reply], arbitrator: Sequence[Reply] | None = None, **options: Any) -> Jury:
    """A jury whose judges say these things, one after the other."""
    weights = options.pop("weights", ())
    once = RubricOptions(tries=1)
    members = [RubricJudge(ONE, ScriptedModel(said, name=f"j{place}"), once) for place, said in enumerate(scripts)]
    last = RubricJudge(ONE, ScriptedModel(arbitrator, name="last"), once) if arbitrator is not None else None
    return Jury(members, JuryOptions(**options), weights=weights, arbitrator=last)


def points(*values: object) -> list[str]:
    return [said(right=value) for value in values]


async def judged(*values: object, **options: Any) -> Score | Unscored:
    """The verdict of judges that give one item these points."""
    scripts = [["no"] if value == "fails" else points(value) for value in values]
    return await panel(*scripts, **options)(item(1), Trajectory.of("1"))


@pytest.mark.parametrize(
    ("rule", "given", "mean"),
    [
        ("mean", (1, 4, 5), 10 / 3),
        ("median", (1, 4, 5), 4),
        ("trimmed", (1, 4, 5), 4),
        ("trimmed", (1, 4, 5, 5, 5), 14 / 3),
        ("median", (1, 2, 4, 5), 3),
    ],
)
async def test_the_points_of_the_judges_become_one(rule: str, given: tuple[int, ...], mean: float) -> None:
    score = await judged(*given, combine=rule)
    assert isinstance(score, Score)
    assert score.details["mean"] == pytest.approx(mean)
    assert score.details["dimensions"]["right"] == pytest.approx(mean)


async def test_weights_count_in_mean_median_and_vote() -> None:
    heavy = {"weights": (3, 1, 1)}
    assert (await judged(1, 5, 5, combine="mean", **heavy)).details["mean"] == pytest.approx(13 / 5)
    assert (await judged(1, 5, 5, combine="median", **heavy)).details["mean"] == 1
    vote = await judged(1, 5, 5, combine="majority", **heavy)
    assert isinstance(vote, Score)
    assert vote.value == 0


async def test_a_majority_votes_on_passing_and_an_even_vote_is_no_score() -> None:
    passed = await judged(1, 4, 4, combine="majority")
    assert isinstance(passed, Score)
    assert (passed.points, passed.out_of, passed.details["figures"]["pass_rate"]) == (1, 1, 1)
    even = await judged(1, 1, 5, 5, combine="majority")
    assert isinstance(even, Unscored)
    assert even.why == "no_evidence"


@pytest.mark.parametrize(
    ("given", "band", "confidence"),
    [((4, 4, 5), "low", 0.75), ((3, 4, 5), "moderate", 0.5), ((1, 4, 5), "severe", 0), ((3, 3, 3), "low", 1)],
)
async def test_disagreement_has_bands_and_confidence_falls_with_it(
    given: tuple[int, ...], band: str, confidence: float
) -> None:
    details = (await judged(*given)).details
    assert (details["disagreement"], details["confidence"]) == (band, confidence)


async def test_a_judge_that_fails_or_abstains_is_counted_and_the_others_decide() -> None:
    score = await judged(4, 4, "fails")
    assert isinstance(score, Score)
    assert (score.details["mean"], score.details["votes"]) == (4, 2)
    assert score.details["judges"]["j2"]["failed"] == "unreadable"
    score = await judged(4, 4, "unknown")
    assert score.details["abstained"] == ["j2"]


async def test_without_more_than_half_of_the_judges_there_is_no_verdict() -> None:
    failed = await judged(4, "fails", "fails")
    assert isinstance(failed, Unscored)
    assert (failed.why, failed.details["kind"]) == ("judge_failed", "no_quorum")
    assert "j1 (unreadable)" in str(failed.reason)
    unsure = await judged(4, "unknown", "unknown")
    assert isinstance(unsure, Unscored)
    assert unsure.why == "no_evidence"


async def test_those_who_disagree_hear_each_other_once_and_judge_again() -> None:
    scripts = [points(1, 4), points(5, 4), points(5, 4)]
    one = panel(*scripts, discuss="severe")
    score = await one(item(1), Trajectory.of("1"))
    assert (score.details["before_discussion"], score.details["mean"]) == ([1, 5, 5], 4)
    asked = one._members["j0"].asker._model.asked  # type: ignore[attr-defined]  # a scripted model
    again = asked[1][-1].text
    assert again.count("right 5") == 2
    assert "right 1" not in again  # not its own
    assert "j1" not in again  # nor who said it


async def test_those_who_agree_do_not_discuss() -> None:
    score = await judged(4, 4, 5, discuss="moderate")
    assert "before_discussion" not in score.details


async def test_an_arbitrator_decides_where_judges_disagree_severely_or_a_vote_is_even() -> None:
    score = await judged(1, 5, 5, arbitrator=points(2))
    assert (score.details["mean"], score.details["arbitrated"]) == (2, True)
    assert "arbitrated" not in (await judged(4, 5, 5, arbitrator=[])).details
    even = await judged(2, 2, 4, 4, combine="majority", arbitrator=points(5))
    assert isinstance(even, Score)
    assert even.value == 1


async def test_an_arbitrator_that_fails_leaves_the_verdict_to_the_jury() -> None:
    score = await judged(1, 5, 5, arbitrator=["no"])
    assert score.details["mean"] == pytest.approx(11 / 3)


async def test_a_judge_that_gets_a_control_wrong_is_left_out_and_named() -> None:
    wrong = Control(question="7 times 8?", answer="54", expect="fail")
    right = Control(question="7 times 8?", answer="56", expect={"right": 5}, within=1)
    scripts = [points(1, 4, 3), points(5, 5, 5), points(2, 5, 4)]
    one = panel(*scripts, controls=(wrong, right))
    score = await one(item(1), Trajectory.of("1"))
    assert one.excluded == ["j1"]
    assert score.details["excluded"] == ["j1"]
    assert (score.details["mean"], list(score.details["judges"])) == (3.5, ["j0", "j2"])
    found = await estimated(_Again(one, [score]), [item(1)], str)
    assert "j1" in str(found["alpha"].note)


async def test_a_jury_whose_judges_all_fail_the_controls_gives_no_verdict() -> None:
    control = Control(answer="54", expect="fail")
    result = await panel(*[points(5, 5)] * 3, controls=(control,))(item(1), Trajectory.of("1"))
    assert isinstance(result, Unscored)
    assert result.why == "judge_failed"
    assert "j0, j1, j2" in str(result.reason)


async def test_one_judge_that_the_controls_leave_of_three_is_no_jury() -> None:
    control = Control(answer="54", expect="fail")
    one = panel(points(1, 4), points(5, 5), points(5, 5), controls=(control,))
    result = await one(item(1), Trajectory.of("1"))
    assert isinstance(result, Unscored)
    assert result.why == "judge_failed"
    assert result.details["excluded"] == ["j1", "j2"]


async def test_what_each_judge_used_is_told() -> None:
    def step(value: int, tokens: int) -> Step:
        return Step(message=Message.of("assistant", said(right=value)), usage=Usage(requests=1, output_tokens=tokens))

    score = await panel([step(4, 10)], [step(4, 20)], [step(4, 30)])(item(1), Trajectory.of("1"))
    assert [one["tokens"] for one in score.details["judges"].values()] == [10, 20, 30]


class _Again:
    """A jury whose verdicts are there already."""

    def __init__(self, one: Jury, results: Sequence[Score | Unscored]) -> None:
        self.name, self.judge = one.name, one.judge
        self._results = iter(results)

    async def __call__(self, sample: Sample, trajectory: Trajectory) -> Score | Unscored:
        return next(self._results)


def biased(bias: int, source: random.Random, *, odd: Mapping[str, int] | None = None) -> list[Reply] | ScriptedModel:
    def reply(messages: Sequence[Message], _: object) -> str:
        number = messages[-1].text.partition("Problem ")[2].split()[0]
        value = (odd or {}).get(number, int(number) % 3 + 2 + bias + source.choice((0, 0, 0, 1)))
        return said(right=min(max(value, 1), 5))

    return ScriptedModel(reply)


async def numbers_of(*models: Any, items: int = 60) -> tuple[dict[str, Estimate], list[Score | Unscored], Jury]:
    members = [RubricJudge(ONE, model) for model in models]
    for place, member in enumerate(members):
        member.asker.name = f"j{place}"
    one = Jury(members)
    samples = [item(number) for number in range(items)]
    results = [await one(sample, Trajectory.of("x")) for sample in samples]
    return await estimated(_Again(one, results), samples, str), results, one


async def test_agreement_and_the_leaning_of_each_judge_are_found() -> None:
    source = random.Random(11)
    found, _, _ = await numbers_of(biased(0, source), biased(0, source), biased(1, source))
    alpha = found["alpha"]
    assert alpha.value is not None
    assert alpha.low is not None
    assert alpha.low < alpha.value < 1
    leaning = found["leaning judge=j2"]
    assert leaning.value == pytest.approx(1, abs=0.3)
    assert "outlier among the judges" in str(leaning.note)
    assert "outlier among the judges" not in str(found["leaning judge=j0"].note)
    assert found["kappa judges=j0 · j1"].value is not None
    assert found["severe_disagreement_rate"].value == 0
    assert found["abstained_rate judge=j0"].value == 0
    assert all("uncalibrated" in str(one.note) for one in found.values())


async def test_figures_of_judges_are_as_sure_as_their_clusters() -> None:
    source = random.Random(3)
    models = [biased(0, source), biased(0, source), biased(1, source)]
    alone, results, one = await numbers_of(*models)
    samples = [replace(item(number), cluster=f"c{number // 20}") for number in range(60)]
    together = await estimated(_Again(one, results), samples, str)
    for name in ("leaning judge=j2", "tokens judge=j2"):
        assert (alone[name].method, alone[name].clusters) == ("t over samples", 60)
        assert (together[name].method, together[name].clusters) == ("t over clusters", 3)
        assert together[name].value == pytest.approx(alone[name].value)
        assert together[name].degrees == pytest.approx(2)
    assert together["abstained_rate judge=j0"].clusters == together["outlier_rate judge=j0"].clusters == 3
    assert together["alpha"].clusters == together["kappa judges=j0 · j1"].clusters == 3
    assert together["outlier_rate judge=j2"].value == pytest.approx(alone["outlier_rate judge=j2"].value)


async def test_judges_that_say_the_same_agree_wholly() -> None:
    source = random.Random(1)
    same = [min(max(number % 3 + 2, 1), 5) for number in range(60)]
    models = [ScriptedModel(points(*same)) for _ in range(3)]
    found, _, _ = await numbers_of(*models)
    assert found["alpha"].value == pytest.approx(1)
    assert source.random() is not None


async def test_a_score_far_from_the_others_is_an_outlier() -> None:
    source = random.Random(2)
    odd = {"8": 1, "20": 1, "30": 5}
    found, _, _ = await numbers_of(biased(0, source), biased(0, source), biased(0, source, odd=odd))
    outlying = found["outlier_rate judge=j2"]
    named = str(outlying.note).partition("first of all ")[2].split(", ")
    assert {"8", "20"} <= {*named}
    assert (outlying.value or 0) >= 2 / 60


def test_bands_scale_with_the_scale() -> None:
    assert [_jury_votes.band(apart, 10) for apart in (2.5, 2.6, 5, 5.1)] == ["low", "moderate", "moderate", "severe"]


def test_one_vote_is_its_own_combination_by_every_rule() -> None:
    for rule in ("mean", "median", "trimmed", "majority"):
        assert _jury_votes.combine([JuryVote(points=3)], rule) == 3


def test_the_order_of_the_judges_does_not_matter() -> None:
    source = random.Random(4)
    for _ in range(200):
        votes = [
            JuryVote(points=source.randint(1, 5), weight=source.randint(0, 3)) for _ in range(source.randint(3, 6))
        ]
        for rule in ("mean", "median", "trimmed"):
            found = [
                _jury_votes.combine(list(mixed), rule) for mixed in itertools.islice(itertools.permutations(votes), 24)
            ]
            if not any(vote.weight for vote in votes):
                continue
            low, high = min(vote.points for vote in votes), max(vote.points for vote in votes)
            assert all(low - 1e-9 <= one <= high + 1e-9 for one in found)
            if rule == "median":
                assert max(found) - min(found) < 1e-9


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"judge": "openai:a,openai:b"}, "at least 3"),
        ({"judges": [{"model": "openai:a"}] * 2}, "at least 3"),
        ({"judges": [{"model": "openai:a", "weight": 0}] * 3}, "weights"),
        ({"judges": [{"model": "openai:a", "weight": -1}] * 3}, "weight"),
        ({"judges": [{"modell": "openai:a"}] * 3}, "modell"),
        ({"judge": "openai:a,openai:b,openai:c", "combine": "best"}, "combine"),
        ({"judge": "openai:a,openai:b,openai:c", "controls": [{"answer": "x", "expect": {"colour": 1}}]}, "dimensions"),
        ({"judge": "openai:a,openai:b,openai:c", "controls": [{"answer": "x", "expect": "maybe"}]}, "expect"),
        ({"judge": "openai:a,openai:b,nobody:c"}, "nobody:c"),
    ],
)
def test_a_jury_that_cannot_sit_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput) as error:
        jury.make("code", options)
    assert words in str(error.value)


def test_a_jury_of_the_run_has_the_judges_that_the_run_names() -> None:
    run = JudgeChoice(model="openai:a, openai:b,openai:a", options={"temperature": 0.3, "repeats": 2})
    one = jury.make("code", {}, run)
    assert one.judge.model == "openai:a, openai:b, openai:a#2"
    assert one.options.repeats == 2


def test_a_jury_is_a_small_file(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(
        'pass = 3\n[en]\ntask = "Judge."\n[[dimensions]]\nname = "right"\n[dimensions.en]\ntext = "?"\n',
        encoding="utf-8",
    )
    replies = tmp_path / "replies.jsonl"
    replies.write_text('{"right": 4}\n', encoding="utf-8")
    seats = "".join(f'[[scorers.panel.judges]]\nmodel = "scripted:{replies}"\n' for _ in range(3))
    path = tmp_path / "scorers.toml"
    path.write_text(
        f'[scorers.panel]\nkind = "jury"\nrubric = "mine.toml"\ncombine = "median"\n{seats}', encoding="utf-8"
    )
    [found] = resolve.scorers([str(path)])
    assert found.name == "panel"
    assert resolve.judges_of([found])["panel"].kind == "jury"
    other = path.with_name("other.toml")
    other.write_text(path.read_text().replace("median", "mean"), encoding="utf-8")
    assert resolve.scorers([str(other)])[0].version != found.version
