"""Declining to answer, in Chinese and English."""

import time

import pytest

from proctor.core.sample import Sample
from proctor.core.trajectory import Trajectory
from proctor.scorers.refusal import answered, refusal

SAMPLE = Sample.ask("q", "?")


@pytest.mark.parametrize(
    "reply",
    [
        "缺少图片信息",
        "无法回答",
        "信息不足，请补充。",
        "需要更多信息",
        "抱歉，我无法回答这个问题。",
        "Lack of image information",
        "I’m sorry, but I can’t help with that.",
        "There is not enough information to answer.",
        "I cannot determine the answer from the text.",
        "As an AI language model, I have no eyes.",
    ],
)
def test_a_refusal_is_found(reply: str) -> None:
    assert (refusal(SAMPLE, Trajectory.of(reply)).points, answered(SAMPLE, Trajectory.of(reply)).points) == (1, 0)


@pytest.mark.parametrize(
    "reply",
    ["B", "", "信息充足，答案是B", "It is 4.", "They could not agree on a king.", "x" * 500 + "I cannot answer"],
)
def test_an_answer_is_none(reply: str) -> None:
    assert (refusal(SAMPLE, Trajectory.of(reply)).points, answered(SAMPLE, Trajectory.of(reply)).points) == (0, 1)


def test_a_reply_that_the_endpoint_refused_counts_as_one() -> None:
    assert refusal(SAMPLE, Trajectory(stop="filtered")).points == 1


@pytest.mark.parametrize("piece", ["我不", "i not ", "sorry, i ", "no a ", "this that which violates ", "の"])
def test_a_hostile_reply_is_read_quickly(piece: str) -> None:
    started = time.thread_time()
    refusal(Sample.ask("q", "?"), Trajectory.of(piece * 20_000))
    assert time.thread_time() - started < 2
