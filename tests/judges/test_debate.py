"""A debate as a scorer: both orders, the sums of the referees, and what cannot be read."""

from collections.abc import Sequence

import pytest

from proctor.core.errors import BadInput, JudgeFailed
from proctor.core.judge import JudgeChoice
from proctor.core.sample import Message, Sample
from proctor.core.score import Score
from proctor.core.trajectory import Trajectory
from proctor.models.scripted import ScriptedModel
from proctor_judging.judges import debate
from proctor_judging.judges.asker import Asker
from proctor_judging.judges.debate import DebateJudge, DebateOptions
from proctor_judging.judges.rubric import rubric

QUESTION = Sample.ask("fr", "Capital of France?", target="It is Lyon.")
CHINESE = Sample.ask("zh", "法国的首都是哪里？", target="里昂。")


def likes(text: str) -> ScriptedModel:
    """A referee that gives the text with these words two points more."""

    def reply(messages: Sequence[Message], _: object) -> str:
        if not messages[-1].text:
            return "Let us see."
        first = messages[0].text.index(text) < messages[0].text.index("Assistant 2\n")
        return f"So.\nThe score of Assistant 1: {7 if first else 5}\nThe score of Assistant 2: {5 if first else 7}"

    return ScriptedModel(reply)


@pytest.mark.parametrize(
    ("sample", "liked", "points"), [(QUESTION, "Paris", 1), (QUESTION, "Lyon", 0), (CHINESE, "巴黎", 1)]
)
async def test_the_sums_of_both_orders_decide(sample: Sample, liked: str, points: int) -> None:
    judge = DebateJudge(rubric("answer-quality"), [Asker(likes(liked))], DebateOptions())
    answer = "巴黎。" if sample is CHINESE else "It is Paris."
    found = await judge(sample, Trajectory.of(answer))
    assert isinstance(found, Score)
    assert found.points == points
    assert found.details["figures"]["consistency"] == 1


async def test_scores_that_cannot_be_read_fail_the_judge() -> None:
    judge = DebateJudge(rubric("answer-quality"), [Asker(ScriptedModel(lambda *_: "no idea"))], DebateOptions())
    with pytest.raises(JudgeFailed, match="no scores that can be read"):
        await judge(QUESTION, Trajectory.of("It is Paris."))


async def test_two_models_sit_down_in_turn() -> None:
    models = [likes("Paris"), likes("Lyon")]
    judge = DebateJudge(
        rubric("answer-quality"), [Asker(one) for one in models], DebateOptions(order="concurrent", turns=2)
    )
    found = await judge(QUESTION, Trajectory.of("It is Paris."))
    assert isinstance(found, Score)
    assert found.details["figures"]["tie_rate"] == 1
    assert all(one.asked for one in models)


def test_a_summary_needs_a_round_in_which_all_speak() -> None:
    with pytest.raises(BadInput, match="order = concurrent"):
        debate.make("", {"summary": True}, JudgeChoice(model="scripted:x", options={}))
