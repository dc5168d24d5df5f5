"""`blanks` on the grid of generated replies: lists, sentences and quotes, with a remark or without. The bounds may only rise."""

from collections import defaultdict

import pytest
from bench.blank_replies import BlankReply, replies

from proctor.core.sample import Sample
from proctor.core.score import Score
from proctor.core.trajectory import Trajectory
from proctor_judging.matching.filled_blanks import is_phrase, read_settled
from proctor_judging.scorers.blanks import blanks, read_claims

EVERY = 3  # of the replies
PART = list(replies())[::EVERY]


def _accepts(reply: BlankReply, target: tuple[str, ...]) -> bool:
    score = blanks(Sample.ask("grid", reply.question, target=list(target)), Trajectory.of(reply.text))
    return isinstance(score, Score) and score.points == score.out_of


def test_nearly_all_replies_of_the_grid_are_right_in_every_form() -> None:
    of_form: dict[str, list[bool]] = defaultdict(list)
    for reply in PART:
        of_form[reply.form].append(_accepts(reply, reply.right))
    assert {form for form, rights in of_form.items() if sum(rights) / len(rights) < 0.97} == set()


def test_no_reply_of_the_grid_is_right_for_what_it_only_mentions() -> None:
    assert [(reply.text, target) for reply in PART for target in reply.wrong if _accepts(reply, target)] == []


@pytest.mark.parametrize(
    ("question", "reply", "answers"),
    [
        ("I look forward to ____ (hear) from you.", 'hearing. After "look forward to" we use the -ing form.', ("hearing",)),
        ("A leap year has ____ days; February has ____.", "366 and 29. (A normal year has 365 days.)", ("366", "29")),
        ("The Great Gatsby was written by ____.", "The blank should be filled with F. Scott Fitzgerald, who was born in 1896.", ("F. Scott Fitzgerald",)),
        ("面积最大的洲是____，最小的洲是____。", "最大的是亚洲，最小的是大洋洲。", ("亚洲", "大洋洲")),
        ("李白字____，号____居士。", "李白，字太白，号青莲居士。", ("太白", "青莲")),
        ("人体正常体温约为____摄氏度，水的沸点为____摄氏度。", "约37摄氏度；100摄氏度", ("37", "100")),
        ("人体有____对染色体。", "23对", ("23",)),
        ("海内存知己，____。", "下一句是“天涯若比邻”，出自王勃的诗。", ("天涯若比邻",)),
    ],
)  # fmt: skip
def test_a_sentence_that_fills_all_blanks_settles_them(question: str, reply: str, answers: tuple[str, ...]) -> None:
    assert read_claims(reply, question, len(answers)).bare == answers


def test_what_is_contrasted_or_numbered_is_not_settled() -> None:
    assert read_settled("Not red but blue.", "The sky is ____.", 1) is None
    assert read_settled("(1) east (2) west", "From ____ to ____.", 2) is None
    assert is_phrase("New York")
    assert not is_phrase("Japan, about 100 km from Tokyo")
