"""What reads a reply takes linear time: a text of four times the length costs some four times the work, not sixteen."""

import time
from collections.abc import Callable

import pytest
import simulated

from proctor.chat.prompted_tools import read_calls
from proctor.chat.thinking import parted
from proctor.core.sample import Message, Tool
from proctor.core.score import short_reason
from proctor.core.sentence import say
from proctor.transport.headers import asked_seconds, used_up_seconds
from proctor.transport.redact import redact
from proctor_judging.replies.loose_json import read
from proctor_judging.scorers import answer, blanks, choice, number, refusal
from proctor_judging.tasks.pairs import MARKS

LENGTH = 15_000
ENDS = ("", "\0")
PUMPS = (
    "a", "0", "1.", "0,", " ", "\n", "\t", " \n", "\r\n", "-", "- ", "1. ", "*", "**a", "_", "#", "`", "```", "```a", "(", "[", "{", "[[", "{}", "\\", "\\(", "\\[", "$", "\\boxed{", "\\frac{", '"', "'", '\\"', "“", "<", "</", "<think>", "</think>", "<think></think>", "<tool_call>", "答案：", "一", "中", "the answer is ", "FINAL ANSWER:", "A. ", "(A", "=", "==", "a=", "sk-", "key=", "://a:", "bearer ", "|", ";", "and ", "，", "999", "2 of 3, ", "between 1 and ", "so 3 = ", "第3题",
)  # fmt: skip


def headers(text: str) -> None:
    used_up_seconds({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": text})
    asked_seconds({"retry-after": text})


def marks(text: str) -> None:
    for mark in MARKS.values():
        mark.findall(text)


def json(text: str) -> None:
    try:
        read(text)
    except ValueError:
        return


READERS: dict[str, Callable[[str], object]] = {
    "headers": headers,
    "style": marks,
    "thinking": parted,
    "calls in words": lambda text: read_calls(Message.of("assistant", text), [Tool(name="f")]),
    "redact": redact,
    "amounts": lambda text: number.read_claims(text, "How many apples are left?"),
    "answers": lambda text: answer.read_claims(text, "Which port does it use?"),
    "Chinese answers": lambda text: answer.read_claims(f"是22。{text}好", "它用哪个端口？"),
    "after an answer": lambda text: answer.read_claims(f"It is 22.{text}x", "Which port does it use?"),
    "blanks": lambda text: blanks.read_claims(f"It is 22.{text}x", "It uses port ____."),
    "options": lambda text: choice.read_claims(text, "Which?\nA. 22\nB. 23"),
    "refusals": lambda text: refusal.read_claims(text, "Which port is it?"),
    "reason": lambda text: short_reason(say("Got {answer}.", answer=text)),
}


def seconds(read: Callable[[str], object], text: str) -> float:
    started = time.process_time()
    read(text)
    return time.process_time() - started


def assert_linear(name: str, read: Callable[[str], object]) -> None:
    """Ask with each end of the text; without `--torture`, with each in turn."""
    read("x")  # imports and caches
    for index, pump in enumerate(PUMPS):
        for end in ENDS if simulated.long else ENDS[index % 2 :][:1]:
            short, long = (pump * (length // len(pump)) + end for length in (LENGTH // 4, LENGTH))
            if (took := seconds(read, long)) > 0.1:  # less is not worth a second look
                ratio = min(seconds(read, long) for _ in range(2)) / min(seconds(read, short) for _ in range(3))
                assert ratio < 10, (
                    f"{name} takes {took:.2f} s for {len(long)} characters of {pump!r}, {ratio:.0f} times that of a quarter"
                )


@pytest.mark.parametrize("name", READERS)
def test_reading_a_reply_is_linear(name: str) -> None:
    assert_linear(name, READERS[name])
