"""Chinese replies of the grid: what of each kind of question and each form of reply is read, and that nothing else is accepted.

The bounds are a little below what was measured; they may only rise.
"""

from collections import defaultdict

import pytest
import simulated
from bench.answers import rates, read_corpus
from bench.han_replies import GridReply, grid

from proctor.core.sample import Sample
from proctor.core.score import Score
from proctor.core.trajectory import Trajectory
from proctor_judging.scorers.answer import answer

pytestmark = pytest.mark.usefixtures("replies_read_once")

EVERY = 7  # of the replies; three under `--torture`, and the whole grid takes three times as long as that


def _accepts(reply: GridReply, target: str) -> bool:
    score = answer(Sample.ask("s", reply.question, target=target), Trajectory.of(reply.reply))
    return isinstance(score, Score) and score.points == 1


def test_most_chinese_replies_of_every_kind_and_form_are_read_and_none_for_something_else() -> None:
    right: dict[str, list[bool]] = defaultdict(list)
    flattered = []
    for reply in list(grid())[:: 3 if simulated.long else EVERY]:
        accepted = [_accepts(reply, target) for target in reply.right]
        for cell in (f"kind {reply.kind}", f"form {reply.form}", "all"):
            right[cell] += accepted
        flattered += [(reply.reply, target) for target in reply.wrong if _accepts(reply, target)]
    recall = {cell: sum(accepted) / len(accepted) for cell, accepted in right.items()}
    assert len(flattered) * 100 <= sum(right["all"]), flattered
    assert recall["all"] >= 0.98
    assert {cell: share for cell, share in recall.items() if share < 0.65} == {}


def test_replies_of_developers_help_desks_and_teachers_are_read() -> None:
    figures = rates(read_corpus("registers", "answer_zh"))
    assert figures.precision >= 0.99
    assert figures.recall >= 0.93
