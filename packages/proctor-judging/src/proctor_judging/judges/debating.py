"""Let several referees talk in turns about two texts until each gives its scores, as ChatEval does.

A referee is sent its question, what it has heard so far, and in the last rounds the request for scores. Who speaks is the
`order`, who hears it the `visibility`; with a summary, each round is heard as what another model makes of it.

Source: ChatEval, commit 56b320c04f31 (`environments/llm_eval.py`, `agents/llm_eval_multi_agent.py`, `output_parser.py`);
the summary is that of the paper (arXiv 2308.07201, section 3.3), which that code does not have.
"""

import random
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Literal

import msgspec

from proctor.core.sample import Message
from proctor.runtime.concurrent import run_together

Order = Literal["sequential", "concurrent", "random"]
Visibility = Literal["all", "oneself", "blind_judge"]
SCORES = ("The score of Assistant 1:", "The score of Assistant 2:")
SILENCE = "[Silence]"
SUMMARIZER = "Summarizer"
MOST_DIGITS = 400  # of a score, which Python reads in any length
_NEWLINES = re.compile(r"\n+")


class DebateRules(msgspec.Struct, frozen=True, kw_only=True):
    """How a debate goes.

    Attributes:
        order: one referee after the other, all at once in each round, or one drawn by lot.
        visibility: who hears a referee: all; only itself from the second turn on; or only itself in the last rounds.
        turns: speeches where one speaks at a time, rounds where all do.
        summary: all hear a summary of each round in place of its speeches.
        tries: for a last speech, until it ends in two scores.
    """

    order: Order = "sequential"
    visibility: Visibility = "all"
    turns: Annotated[int, msgspec.Meta(ge=1, le=100)] = 4
    summary: bool = False
    tries: Annotated[int, msgspec.Meta(ge=1, le=20)] = 3


class DebateSeat(msgspec.Struct, frozen=True, kw_only=True):
    """A referee's place in a debate: its name, and what it is sent first, without and with the request for scores."""

    name: str
    opening: str
    last_opening: str
    closing: str


class Assignment(msgspec.Struct, frozen=True, kw_only=True):
    """A debate that is to be played; a sample holds it as `meta["debate"]`."""

    seats: tuple[DebateSeat, ...]
    rules: DebateRules = DebateRules()


class Speech(msgspec.Struct, frozen=True, kw_only=True):
    """What a referee said; '' if none of its last speeches could be used."""

    role: str
    text: str


class Referee(msgspec.Struct):
    """A referee during a debate.

    Attributes:
        asked: True once it was asked for scores, as it then is until the end.
        alone: True once nobody else hears it.
        memory: what it has heard.
        verdict: its own last speech with scores.
    """

    seat: DebateSeat
    asked: bool = False
    alone: bool = False
    memory: list[Speech] = []
    verdict: Speech | None = None


Ask = Callable[[int, Sequence[Message]], Awaitable[str | None]]
"""Asks the model of a referee, by its number; None is a try that failed."""


class Debated(msgspec.Struct, frozen=True, kw_only=True):
    """How a debate ended.

    Attributes:
        evaluation: the last speeches that the first referee heard, as many as there are referees: what officially counts.
        complete: True if these are all referees' own last speeches with scores.
    """

    evaluation: tuple[Speech, ...]
    complete: bool


async def debate(
    referees: Sequence[Referee],
    rules: DebateRules,
    ask: Ask,
    *,
    summarise: Callable[[Sequence[Speech]], Awaitable[str]] | None = None,
) -> Debated:
    """Play a debate to its end; the memories of the referees begin empty."""
    draw = random.Random(0)  # noqa: S311 - no secret
    for referee in referees:
        referee.memory, referee.verdict, referee.asked = [], None, False
    for turn in range(rules.turns):
        speaking = _speaking(rules.order, turn, len(referees), draw)
        is_last = turn >= rules.turns - len(referees)
        said = await run_together(*(_speak(referees[index], index, rules, ask, is_last=is_last) for index in speaking))
        spoken = [(index, speech) for index, speech in zip(speaking, said, strict=True) if speech.text]
        if spoken and rules.summary and summarise is not None and not is_last:
            summary = Speech(role=SUMMARIZER, text=await summarise([speech for _, speech in spoken]))
            for referee in referees:
                referee.memory.append(summary)
        else:
            _hear(referees, spoken)
        if rules.visibility == "oneself" or (rules.visibility == "blind_judge" and is_last):
            for referee in referees:
                referee.alone = True
    evaluation = tuple(referees[0].memory[-len(referees) :])
    own = [referee.verdict for referee in referees]
    return Debated(evaluation=evaluation, complete=all(any(one is other for other in evaluation) for one in own))


def summary_request(said: Sequence[Speech]) -> list[Message]:
    """Return what a model is sent to sum up a round."""
    spoken = "\n\n".join(f"{speech.role}: {speech.text}" for speech in said)
    return [
        Message.of("user", f"Summarize what these referees said, each in a sentence, without adding anything.\n\n{spoken}")
    ]  # fmt: skip


def has_scores(text: str, *, is_last: bool) -> bool:
    """True if a speech can be used: one of the last rounds ends in two lines with scores.

    >>> has_scores("Good.\\nThe score of Assistant 1: 8\\n\\nThe score of Assistant 2: 7\\n", is_last=True)
    True
    """
    lines = _NEWLINES.sub("\n", text.strip()).split("\n")
    return not is_last or (len(lines) > 1 and lines[-2].startswith(SCORES[0]) and lines[-1].startswith(SCORES[1]))


def scores_of(text: str) -> tuple[float, float]:
    """Return the two scores at the end of a speech.

    >>> scores_of("Fine.\\nThe score of Assistant 1: 8\\nThe score of Assistant 2: 7.5")
    (8.0, 7.5)

    Raises:
        ValueError: the last two lines do not end in numbers.
    """
    lines = text.split("\n")
    if len(lines) < 2:
        raise ValueError("there is one line only")
    first, second = (line.split(mark)[-1] for line, mark in zip(lines[-2:], SCORES, strict=True))
    if len(first) > MOST_DIGITS or len(second) > MOST_DIGITS:
        raise ValueError("a score is too long")
    return float(first), float(second)


def _speaking(order: Order, turn: int, count: int, drawn: random.Random) -> list[int]:
    if order == "concurrent":
        return list(range(count))
    return [turn % count if order == "sequential" else drawn.randrange(count)]


async def _speak(referee: Referee, number: int, rules: DebateRules, ask: Ask, *, is_last: bool) -> Speech:
    seat = referee.seat
    referee.asked = referee.asked or is_last
    messages = [
        Message.of("user", seat.last_opening if referee.asked else seat.opening),
        *(Message.of("assistant", f"{one.role}: {one.text}") for one in referee.memory),
        Message.of("user", seat.closing if referee.asked else ""),
    ]
    for _ in range(rules.tries):
        text = await ask(number, messages)
        if text is not None and has_scores(text, is_last=is_last):
            speech = Speech(role=seat.name, text=text)
            if is_last and text:
                referee.verdict = speech
            return speech
    return Speech(role=seat.name, text="")


def _hear(referees: Sequence[Referee], spoken: Sequence[tuple[int, Speech]]) -> None:
    for number, speech in spoken:
        for other, referee in enumerate(referees):
            if not referees[number].alone or other == number:
                referee.memory.append(speech)
    if not spoken:
        for referee in referees:
            referee.memory.append(Speech(role="", text=SILENCE))
