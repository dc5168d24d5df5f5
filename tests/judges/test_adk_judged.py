"""Criteria of ADK that a judge decides: which properties it is shown, and how its judgements are counted."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from proctor import Sample, Score, Trajectory, Unscored
from proctor.core.errors import BadInput, JudgeFailed
from proctor.core.sample import Message, Text, Tool, ToolCall, ToolResult, Turn
from proctor.core.trajectory import Step
from proctor_judging.judges import adk_judged
from proctor_judging.judges.asker import Asker

Says = Callable[[str, int], dict[str, Any]]


class Judge:
    """A model that answers by a function of what it is asked, and of how often it was asked."""

    name = "judge"

    def __init__(self, says: Says) -> None:
        self.asked: list[str] = []
        self._says = says

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool] = (),
        *,
        response_format: Mapping[str, Any] | None = None,
    ) -> Step:
        text = "\n".join(message.text for message in messages)
        self.asked.append(text)
        return Step(message=Message.of("assistant", json.dumps({"comment": "", **self._says(text, len(self.asked))})))


def scorer(metric: str, says: Says) -> tuple[adk_judged.AdkJudged, Judge]:
    made = adk_judged.make(metric, {"judge": "openai:judge"})
    judge = Judge(says)
    made._asker = Asker(judge)
    return made, judge


def sample(metric: str, *turns: tuple[str, str | None], **more: Any) -> Sample:
    criterion = {"threshold": 0.5, "num_samples": 1, **more.pop("criterion", {})}
    return Sample(
        id="s",
        turns=tuple(
            Turn(messages=(Message.of("user", asked),), reference={"calls": None, "response": response})
            for asked, response in turns
        ),
        meta={adk_judged.KEY: {metric: criterion}, **more},
    )


def answers(*texts: str) -> Trajectory:
    steps = (Step(message=Message.of("assistant", text), turn=place) for place, text in enumerate(texts))
    return Trajectory(steps=tuple(steps))


async def test_the_turns_are_averaged_and_each_is_what_most_judgements_say() -> None:
    made, judge = scorer("final_response_match_v2", lambda text, count: {"p1": int("right" in text and count % 3 > 0)})
    asked = sample("final_response_match_v2", ("q", "a"), ("r", "b"), criterion={"num_samples": 3, "threshold": 0.6})
    score = await made(asked, answers("right", "bad"))
    assert isinstance(score, Score)
    assert (score.points, score.details["turns"]) == (0.5, [1.0, 0.0])
    assert (score.details["threshold"], score.details["passed"]) == (0.6, False)
    assert len(judge.asked) == 6


async def test_properties_come_from_the_set_the_case_and_the_turn() -> None:
    metric = "rubric_based_final_response_quality_v1"
    made, judge = scorer(metric, lambda text, count: {"p1": 1, "p2": 0, "p3": 1})
    rubrics = [
        {"rubric_id": "short", "rubric_content": {"text_property": "It is short."}},
        {"rubric_id": "t", "rubric_content": {"text_property": "Tools are few."}, "type": "TOOL_USE_QUALITY"},
    ]
    of_turn = {
        "rubric_id": "kind",
        "rubric_content": {"text_property": "It is kind."},
        "type": "final_response_quality",
    }
    asked = sample(
        metric,
        ("q", None),
        criterion={"rubrics": {"polite": "It is polite."}},
        rubrics=rubrics,
        invocations=[{"rubrics": [of_turn]}],
    )
    score = await made(asked, answers("a"))
    assert isinstance(score, Score)
    assert score.points == pytest.approx(2 / 3)
    for text in ("It is polite.", "It is short.", "It is kind."):
        assert text in judge.asked[0]
    assert "Tools are few." not in judge.asked[0]
    assert "polite 1, short 0, kind 1" in str(score.reason)


async def test_tool_use_is_judged_by_the_calls() -> None:
    metric = "rubric_based_tool_use_quality_v1"
    made, judge = scorer(metric, lambda text, count: {"p1": 1})
    asked = sample(metric, ("q", None), criterion={"rubrics": {"r": "It looks the price up."}})
    call = ToolCall(name="price", arguments={"m": "A"}, id="1")
    made_calls = Trajectory(steps=(Step(message=Message(role="assistant", parts=(call,))),))
    assert isinstance(await made(asked, made_calls), Score)
    assert 'price({"m": "A"})' in judge.asked[0]


async def test_what_cannot_be_judged_is_no_zero() -> None:
    metric = "final_response_match_v2"
    made, judge = scorer(metric, lambda text, count: {"p1": 1})
    without_metric = Sample.ask("s", "q", target="a")
    for asked in (without_metric, sample(metric, ("q", None))):
        result = await made(asked, answers("a"))
        assert isinstance(result, Unscored)
        assert result.why == "not_applicable"
    rubric_based, _ = scorer("rubric_based_tool_use_quality_v1", lambda text, count: {"p1": 1})
    assert isinstance(
        await rubric_based(sample("rubric_based_tool_use_quality_v1", ("q", None)), answers("a")), Unscored
    )
    assert judge.asked == []
    broken, _ = scorer(metric, lambda text, count: {"other": 1})
    with pytest.raises(JudgeFailed):
        await broken(sample(metric, ("q", "a")), answers("a"))


def test_a_metric_and_a_judge_have_to_be_named() -> None:
    with pytest.raises(BadInput, match="final_response_match_v2"):
        adk_judged.make("final_response_match", {"judge": "openai:m"})
    with pytest.raises(BadInput, match="judge"):
        adk_judged.make("final_response_match_v2", {})


def turn(place: int, *said: Any) -> tuple[Step, ...]:
    """What the agent said and called in a turn, with the result of each call."""
    steps: list[Step] = []
    for one in said:
        parts = (Text(text=one),) if isinstance(one, str) else (one,)
        steps.append(Step(message=Message(role="assistant", parts=parts), turn=place))
        if isinstance(one, ToolCall):
            result = ToolResult(name=one.name, content="100", id=one.id)
            steps.append(Step(message=Message(role="tool", parts=(result,)), turn=place))
    return tuple(steps)


PRICE = ToolCall(name="price", arguments={"m": "A"}, id="1")


async def test_sentences_of_the_answer_are_judged_by_what_the_tools_gave() -> None:
    metric = "hallucinations_v1"
    made, judge = scorer(metric, lambda text, count: {"p1": 1, "p2": 0})
    said = "A costs 100. B costs 7.5! \n---\n"
    trajectory = Trajectory(steps=(*turn(0, "One moment.", PRICE, said), *turn(1, PRICE)))
    score = await made(sample(metric, ("What does A cost?", None), ("And?", None)), trajectory)
    assert isinstance(score, Score)
    assert (score.points, score.details["turns"]) == (0.5, {"1": 0.5})  # the second turn says nothing
    [asked] = judge.asked
    for text in (
        "[1] A costs 100.\n[2] B costs 7.5!",
        'agent calls price({"m": "A"})',
        "price gives 100",
        "Sentence [2]",
    ):
        assert text in asked
    assert "[3]" not in asked


async def test_what_was_said_on_the_way_is_judged_by_what_was_known_by_then() -> None:
    metric = "hallucinations_v1"
    made, judge = scorer(metric, lambda text, count: {"p1": int("price gives" in text)})
    criterion = {"evaluate_intermediate_nl_responses": True}
    trajectory = Trajectory(steps=turn(0, "It is 100.", PRICE, "A costs 100."))
    score = await made(sample(metric, ("?", None), criterion=criterion), trajectory)
    assert isinstance(score, Score)
    assert (score.points, len(judge.asked)) == (0.5, 2)


async def test_a_long_answer_is_judged_in_parts_that_count_together() -> None:
    made, judge = scorer("hallucinations_v1", lambda text, count: {f"p{n}": int(count == 1) for n in range(1, 21)})
    score = await made(sample("hallucinations_v1", ("?", None)), answers("\n".join(f"Fact {n}" for n in range(40))))
    assert isinstance(score, Score)
    assert (score.points, len(judge.asked)) == (0.5, 2)


async def test_the_whole_conversation_is_judged_once() -> None:
    metric = "rubric_based_multi_turn_trajectory_quality_v1"
    made, judge = scorer(metric, lambda text, count: {"p1": 1, "p2": 0})
    rubric = {"rubric_id": "r", "rubric_content": {"text_property": "It books."}, "type": "TRAJECTORY_QUALITY"}
    asked = sample(metric, ("Hi", None), ("Book", None), criterion={"rubrics": {"s": "It is short."}}, rubrics=[rubric])
    score = await made(asked, Trajectory(steps=(*turn(0, "Hello"), *turn(1, PRICE, "Done"))))
    assert isinstance(score, Score)
    assert (score.points, score.details["turns"], len(judge.asked)) == (0.5, [0.5], 1)
    assert score.details["rubrics"] == [{"s": 1.0, "r": 0.0}]
    for text in ("user: Hi\nagent: Hello\nuser: Book", "price gives 100", "It books."):
        assert text in judge.asked[0]


async def test_the_simulated_user_is_judged_turn_by_turn_and_by_its_end() -> None:
    metric = "per_turn_user_simulator_quality_v1"
    made, judge = scorer(metric, lambda text, count: {"p1": int("</stop>" not in text.partition("'</stop>'")[0])})
    scenario = {"starting_prompt": "Hi", "conversation_plan": "Ask for the price."}
    asked = sample(metric, ("Hi ", None), ("The price?", None), criterion={"stop_signal": "</stop>"}, scenario=scenario)
    score = await made(asked, answers("Hello", "100"))
    assert isinstance(score, Score)
    assert len(judge.asked) == 2
    assert "Ask for the price." in judge.asked[0]
    assert score.details["turns"][0] == 1.0
    without = await made(sample(metric, ("Hi", None)), answers("Hello"))
    assert isinstance(without, Unscored)


async def test_texts_before_the_answer_are_shown_where_the_criterion_says_so() -> None:
    metric = "final_response_match_v2"
    made, judge = scorer(metric, lambda text, count: {"p1": int("Booked" in text)})
    for wanted in (True, False):
        criterion = {"include_intermediate_responses_in_final": wanted}
        trajectory = Trajectory(steps=turn(0, "Booked.", PRICE, "Anything else?"))
        score = await made(sample(metric, ("?", "It is settled"), criterion=criterion), trajectory)
        assert isinstance(score, Score)
        assert score.points == wanted
    assert len(judge.asked) == 2
