"""What the judge is asked, word for word as officially, and how its replies are read.

The texts are those of WebArena, Copyright 2023 WebArena authors, Apache-2.0 (`evaluation_harness/helper_functions.py`, commit
f62e0b99bc7d): `llm_fuzzy_match`, `llm_ua_match`.
"""

from collections.abc import Sequence

from proctor.core.sample import Message
from proctor_benchmarks.webarena.rules import Broken

MODEL = "gpt-4-1106-preview"
DEFAULTS = {"temperature": 0.0, "max_tokens": 768}
_SYSTEM = "You are a helpful assistant"
_SAME_ANSWER = """\
Help a teacher to grade the answer of a student given a question. Keep in mind that the student may use different phrasing or wording to answer the question. The goal is to evaluate whether the answer is semantically equivalent to the reference answer.
question: {question}
reference answer: {reference}
all the string 'N/A' that you see is a special sequence that means 'not achievable'
student answer: {answer}
Conclude the judgement by correct/incorrect/partially correct."""
_SAME_REASON = """\
task: {question}
actual unachievable reason: {reference}
reported unachievable reason: {answer}
The task described above is inherently unachievable due to the reason specified under 'actual unachievable reason'. An individual previously attempted this task and was unable to complete it. They provided a reason for their failure, which is listed under 'reported unachievable reason'. Your role is to review both the actual and reported reasons. Determine if the reported reason aligns with the actual reason, even if implicitly. If the stated reason is in line with the actual reason, respond with 'same'. Otherwise, respond with 'different'."""


def ask_for_answer(answer: str, reference: str, question: str) -> Sequence[Message]:
    """Return the request whether an answer means the same as the reference."""
    return _request(_SAME_ANSWER.format(answer=answer, reference=reference, question=question))


def ask_for_reason(answer: str, reference: str, question: str) -> Sequence[Message]:
    """Return the request whether an answer has the reason why the task cannot be done."""
    return _request(_SAME_REASON.format(answer=answer, reference=reference, question=question))


def _request(text: str) -> Sequence[Message]:
    return (Message.of("system", _SYSTEM), Message.of("user", text))


def is_same_answer(reply: str) -> bool:
    """Read the reply on an answer; `not correct` counts as correct, as officially.

    >>> is_same_answer("Correct."), is_same_answer("It is partially correct")
    (True, False)

    Raises:
        Broken: it says neither.
    """
    return _read(reply, "correct", ("partially correct", "incorrect"))


def is_same_reason(reply: str) -> bool:
    """Read the reply on a reason.

    Raises:
        Broken: it says neither.
    """
    return _read(reply, "same", ("different",))


def _read(reply: str, right: str, wrong: Sequence[str]) -> bool:
    reply = reply.lower()
    if any(word in reply for word in wrong):
        return False
    if right not in reply:
        raise Broken("AssertionError", reply[:200])
    return True
