"""The judge of pairs: both orders, rates by item, and what gives a judge away that follows the order."""

import itertools
import json
import random
from collections.abc import Sequence
from typing import Any

import pytest
from judged import estimated, names
from msgspec.structs import replace
from simulated import chance, rounds

from proctor.core.errors import BadInput, JudgeFailed
from proctor.core.run import Estimate
from proctor.core.sample import File, Message, Sample
from proctor.core.score import Score, Unscored
from proctor.core.tally import Case, tally
from proctor.core.trajectory import Trajectory
from proctor.models.scripted import Reply, ScriptedModel
from proctor.stats.estimate import estimate
from proctor_judging.judges import pairwise
from proctor_judging.judges.pairwise import PairwiseJudge, PairwiseOptions, is_unsteady, warnings
from proctor_judging.judges.rubric import rubric

CRITERIA = rubric("answer-quality")
QUESTION = Sample.ask("fr", "Capital of France?", target="Paris")


def pair(number: int, rivals: int = 1) -> Sample:
    """An item with texts to compare it with."""
    texts = [{"id": f"r{place}", "text": f"theirs {number}.{place}"} for place in range(rivals)]
    return Sample(id=str(number), turns=(), meta={"item": {}, "rivals": texts})


def mine(sample: Sample) -> str:
    return f"mine {sample.id}"


async def judged(*replies: Reply, sample: Sample = QUESTION, answer: str = "mine", **options: Any) -> Any:
    """The verdict of a judge that says this."""
    judge = PairwiseJudge(CRITERIA, ScriptedModel(replies), PairwiseOptions(**options))
    return await judge(sample, Trajectory.of(answer))


def prefers(share: float, source: random.Random, *, first: float = 0.0) -> ScriptedModel:
    """A judge that prefers mine in that share of its verdicts, and names whatever comes first in the share `first`."""

    def reply(messages: Sequence[Message], _: object) -> str:
        if source.random() < first:
            return names("A")
        mine_first = messages[-1].text.index("mine ") < messages[-1].text.index("theirs ")
        return names("A" if (source.random() < share) == mine_first else "B")

    return ScriptedModel(reply)


async def test_of_a_question_with_a_file_a_judge_is_shown_no_answer_besides_the_two() -> None:
    chart = File(name="chart.png", media_type="image/png", data=b"1")
    rivals = {"rivals": [{"id": "r", "text": "theirs"}]}
    asked: list[str] = []

    def reply(messages: Sequence[Message], _: object) -> str:
        asked.append(messages[-1].text)
        return names("A")

    sample = Sample.ask("s", "What is in it?", files=(chart,), meta=rivals)
    await PairwiseJudge(CRITERIA, ScriptedModel(reply), PairwiseOptions())(sample, Trajectory.of("my answer"))
    assert [text.count("my answer") for text in asked] == [1, 1]
    assert all("[file] chart.png (image/png), not shown to you" in text for text in asked)


@pytest.mark.parametrize(
    ("as_a", "as_b", "result", "consistent"),
    [
        ("A", "B", "win", True),
        ("B", "A", "loss", True),
        ("tie", "tie", "tie", True),
        ("A", "A", "tie", False),
        ("B", "B", "tie", False),
        ("A", "tie", "tie", False),
        ("tie", "A", "tie", False),
    ],
)
async def test_only_who_is_named_in_both_orders_wins(as_a: str, as_b: str, result: str, consistent: bool) -> None:
    score = await judged(names(as_a), names(as_b))
    [comparison] = score.details["comparisons"]
    assert (comparison["result"], comparison["consistent"], list(comparison["said"])) == (
        result,
        consistent,
        [as_a, as_b],
    )
    rates = [score.details["figures"][f"{name}_rate"] for name in ("win", "tie", "loss")]
    assert sum(rates) == 1
    assert score.value == (result == "win")


async def test_both_texts_are_seen_in_both_places_without_their_names() -> None:
    judge = ScriptedModel([names("A"), names("B")])
    sample = Sample(id="s", turns=QUESTION.turns, meta={"rivals": [{"id": "secret-set:9", "text": "theirs to be"}]})
    await PairwiseJudge(CRITERIA, judge)(sample, Trajectory.of("mine"))
    first, second = (asked[-1].text for asked in judge.asked)
    assert first.index("mine") < first.index("theirs")
    assert second.index("theirs") < second.index("mine")
    assert "Capital of France?" in first
    assert "secret-set" not in first + second


async def test_every_comparison_is_kept_with_both_replies() -> None:
    score = await judged(names("A"), names("A"))
    [comparison] = score.details["comparisons"]
    assert [json.loads(reply)["winner"] for reply in comparison["replies"]] == ["A", "A"]
    assert comparison["rival"] == "fr:reference"


@pytest.mark.parametrize(
    "said", ["A", "a", "Problem A", "problem a", "Answer A.", "**A**", "回答 A", "Response_A", '"A"', "Option A"]
)
async def test_a_winner_is_read_however_it_is_written(said: str) -> None:
    score = await judged(names(said), names("B"))
    assert score.value == 1


@pytest.mark.parametrize("said", ["Tie", "draw", "平局", "TIE", "both"])
async def test_a_tie_is_read_however_it_is_written(said: str) -> None:
    score = await judged(names(said), names("tie"))
    assert score.details["figures"]["tie_rate"] == 1


@pytest.mark.parametrize(
    "reply",
    [
        "A is better.",
        names("C"),
        names("A and B"),
        names(""),
        json.dumps({"winner": None}),
        json.dumps({"winner": ["A"]}),
        json.dumps({"reason": "A"}),
        '{"winner": "A", "Winner": "B"}',
        "[]",
    ],
)
async def test_a_reply_that_names_nobody_is_no_tie_but_a_judge_that_failed(reply: str) -> None:
    with pytest.raises(JudgeFailed):
        await judged(*[reply] * 9, tries=3)


async def test_one_order_without_a_verdict_is_no_comparison() -> None:
    with pytest.raises(JudgeFailed):
        await judged(names("A"), "no", tries=1)


async def test_unknown_is_counted_apart() -> None:
    result = await judged(names("unknown"), names("A"))
    assert isinstance(result, Unscored)
    assert (result.why, result.details["figures"]) == ("no_evidence", {"unknown_rate": 1})
    score = await judged(*map(names, ("A", "B", "unknown", "A")), sample=pair(1, rivals=2))
    assert (score.value, score.details["figures"]["unknown_rate"]) == (1, 0.5)


async def test_an_item_counts_once_however_many_references_it_has() -> None:
    said = map(names, ("A", "B", "B", "A", "A", "B", "A", "A"))
    score = await judged(*said, sample=pair(1, rivals=4))
    assert (score.points, score.out_of) == (2, 4)
    figures = score.details["figures"]
    assert (figures["win_rate"], figures["loss_rate"], figures["tie_rate"]) == (0.5, 0.25, 0.25)
    assert figures["decisive_win_rate"] == pytest.approx(2 / 3)
    assert figures["consistency"] == 0.75


@pytest.mark.parametrize(("answer", "result"), [("Paris", "tie"), (" Paris\n", "tie"), ("", "loss")])
async def test_the_same_text_and_an_empty_one_need_no_judge(answer: str, result: str) -> None:
    score = await judged(answer=answer)
    assert score.details["comparisons"][0]["result"] == result


async def test_nothing_to_compare_with_is_not_applicable() -> None:
    result = await judged(sample=Sample.ask("x", "?"))
    assert isinstance(result, Unscored)
    assert result.why == "not_applicable"


async def test_repeats_judge_each_pair_again_in_both_orders() -> None:
    said = map(names, ("A", "B", "A", "A", "A", "B"))
    score = await judged(*said, repeats=3)
    assert isinstance(score, Score)
    assert (score.points, score.out_of) == (2, 3)


async def test_a_judge_that_always_says_a_wins_nothing_and_is_warned_of() -> None:
    judge = PairwiseJudge(CRITERIA, ScriptedModel(itertools.repeat(names("A"))))
    found = await estimated(judge, [pair(number) for number in range(200)], mine)
    assert [found[name].value for name in ("win_rate", "tie_rate", "loss_rate")] == [0, 1, 0]
    decided = found["decisive_win_rate"]
    assert (decided.value, decided.low, decided.high, decided.scored, decided.planned) == (0, 0, 1, 0, 200)
    assert found["consistency"].value == 0
    assert found["first_place_rate"].value == 1
    for name in ("win_rate", "decisive_win_rate", "consistency"):
        assert "warning" in str(found[name].note)
        assert "uncalibrated" in str(found[name].note)
    assert "warning" in str(found["decisive_win_rate"].note)


async def test_a_judge_that_draws_lots_is_warned_of_and_a_steady_one_is_not() -> None:
    samples = [pair(number) for number in range(300)]
    lots = await estimated(PairwiseJudge(CRITERIA, prefers(0.5, random.Random(3))), samples, mine)
    assert lots["consistency"].value == pytest.approx(0.5, abs=0.06)
    assert "hardly more than one that draws lots" in str(lots["win_rate"].note)
    steady = await estimated(PairwiseJudge(CRITERIA, prefers(0.95, random.Random(3))), samples, mine)
    assert "warning" not in str(steady["win_rate"].note)
    assert steady["win_rate"].value == pytest.approx(0.95**2, abs=0.05)


@pytest.mark.parametrize("count", [10, 20, 50])
def test_a_judge_that_is_right_three_times_in_five_is_rarely_said_to_draw_lots(count: int) -> None:
    """By the point value alone it was accused in 37, 24 and 10 % of runs."""
    source = random.Random(4)
    accused = 0
    for _ in range(300):
        cases = [Case(cluster=str(i), values=(float(source.random() < 0.6),), planned=1) for i in range(count)]
        accused += is_unsteady(estimate("consistency", tally(cases)))
    assert accused / 300 <= 0.05


def test_the_place_is_blamed_when_it_moves_the_judge_much_and_clearly() -> None:
    def first(value: float, half: float) -> Estimate:
        return Estimate(name="first_place_rate", value=value, low=value - half, high=value + half)

    assert not warnings([first(0.56, 0.05)])  # clear, but small
    assert not warnings([first(0.8, 0.25)])  # large, but unclear
    assert warnings([first(0.8, 0.17)])
    assert warnings([first(0.2, 0.17)])
    assert not warnings([first(0.8, 0.17)], pairs=10)  # as one of ten pairs of systems


async def test_a_rate_against_drawn_references_is_one_against_this_set() -> None:
    def judge() -> PairwiseJudge:
        return PairwiseJudge(CRITERIA, prefers(0.95, random.Random(3)))

    drawn = [
        replace(pair(number), meta={"rivals": [{"id": f"r{number % 3}", "text": "theirs to be"}]})
        for number in range(30)
    ]
    found = await estimated(judge(), drawn, mine)
    assert "against this set of 3 references" in str(found["win_rate"].note)
    paired = [replace(one, meta={"rivals": [{"id": one.id, "text": "theirs to be"}]}) for one in drawn]
    own = await estimated(judge(), paired, mine)
    assert "against this set" not in str(own["win_rate"].note)


async def test_nothing_judged_is_no_decisive_win_rate_of_zero() -> None:
    class Failing(PairwiseJudge):
        async def __call__(self, sample: Sample, trajectory: Trajectory) -> Score | Unscored:
            return Unscored(why="judge_failed", reason="down", details={"kind": "timeout"})

    found = await estimated(Failing(CRITERIA, ScriptedModel([])), [pair(1), pair(2)], mine)
    assert found["decisive_win_rate"].value is None
    assert (found["win_rate"].value, found["win_rate"].floor, found["win_rate"].ceiling) == (None, 0, 1)


async def test_intervals_cover_the_rates_of_a_judge_with_noise_and_a_leaning_to_the_first_place() -> None:
    """Mine is preferred in 70 % of the verdicts that follow the text; 20 % follow the place."""
    source, runs, leaning, share = random.Random(6), rounds(500), 0.2, 0.7
    as_a = leaning + (1 - leaning) * share  # the item is named when it comes first
    as_b = (1 - leaning) * share  # and when it comes second
    truth = {
        "win_rate": as_a * as_b,
        "loss_rate": (1 - as_a) * (1 - as_b),
        "consistency": as_a * as_b + (1 - as_a) * (1 - as_b),
        "first_place_rate": (as_a + 1 - as_b) / 2,
    }
    judge = PairwiseJudge(CRITERIA, prefers(share, source, first=leaning))
    covered = dict.fromkeys(truth, 0)
    for _ in range(runs):
        found = await estimated(judge, [pair(number) for number in range(source.randint(20, 40))], mine)
        assert sum(found[f"{name}_rate"].value or 0 for name in ("win", "tie", "loss")) == pytest.approx(1)
        for name, value in truth.items():
            low, high = found[name].low, found[name].high
            assert low is not None
            assert high is not None
            covered[name] += low <= value <= high
    more = chance(0.95, 500)
    assert all(0.93 - more <= count / runs <= 0.97 + more for count in covered.values()), covered


def test_several_judges_and_unknown_options_are_refused() -> None:
    with pytest.raises(BadInput, match="several judges"):
        pairwise.make("", {"judge": "openai:a,openai:b"})
    with pytest.raises(BadInput, match="Did you mean 'code'"):
        pairwise.make("codes", {"judge": "openai:a"})
    with pytest.raises(BadInput, match="each"):
        pairwise.make("", {"judge": "openai:a", "each": True})
