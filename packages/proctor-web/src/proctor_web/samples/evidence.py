"""Put what scorers found next to the words they judge: at the call with the wrong argument, and at the last words of the agent."""

from collections.abc import Iterator, Sequence

import msgspec

from proctor.core.sample import ToolCall
from proctor.core.sentence import Sentence, say
from proctor.core.trajectory import Trajectory
from proctor.reports.pairs import CallRows
from proctor.reports.story import StoryFinding
from proctor_web.samples.conversation import Conversation

MOST_NOTES = 200


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """What was found in an entry of a conversation, by its number; `scorer` names who says so where it is one of them."""

    number: int
    text: str | Sentence
    scorer: str = ""
    is_good: bool = False


def notes_on(
    conversation: Conversation, trajectory: Trajectory, pairs: Sequence[CallRows], findings: Sequence[StoryFinding]
) -> tuple[Note, ...]:
    steps = sorted(trajectory.steps, key=lambda step: step.turn)  # stable, and as the entries are numbered
    numbered = list(zip(conversation.number_of_step, steps, strict=True))
    calls = [
        (number, part.name) for number, step in numbered for part in step.message.parts if isinstance(part, ToolCall)
    ]
    last = next((number for number, step in reversed(numbered) if step.message.role == "assistant"), None)
    notes = [*_on_calls(pairs, calls, last)]
    if last is not None:
        scored = (finding for finding in findings if finding.value is not None)
        notes += [
            Note(number=last, text=finding.reason, scorer=finding.scorer, is_good=finding.passed) for finding in scored
        ]
    return tuple(notes[:MOST_NOTES])


def _on_calls(pairs: Sequence[CallRows], calls: list[tuple[int, str]], last: int | None) -> Iterator[Note]:
    """Yield what is wrong with each call; each pair takes the first call of its name that no other one took."""
    for pair in pairs:
        number = last
        if pair.made is not None:
            name = pair.made.partition("(")[0]
            at = next((index for index, (_, called) in enumerate(calls) if called == name), None)
            number = calls.pop(at)[0] if at is not None else None
        if not pair.marked or number is None:
            continue
        wrong = [row for row in pair.rows if row.marked]
        for row in wrong:
            texts = {"parameter": row.parameter, "made": row.made or "–", "expected": row.expected or "–"}
            yield Note(number=number, text=say("{parameter}: {made}, expected {expected}", **texts))
        if not wrong and pair.expected is not None and pair.expected != pair.made:
            yield Note(number=number, text=say("expected {expected}", expected=pair.expected))
        elif not wrong and pair.expects_none:
            yield Note(number=number, text=say("no such call is expected"))
