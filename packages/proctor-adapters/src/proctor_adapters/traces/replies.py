"""Match conversations of traces to the samples of a task, as recorded replies; no agent is called."""

from collections.abc import Iterable
from pathlib import Path

from proctor.core.errors import BadInput
from proctor.core.parts import MatchedReplies, ReplyFilesPart
from proctor.core.sample import Message, Sample
from proctor.core.sentence import Sentence, say
from proctor.core.trajectory import Trajectory
from proctor_adapters.traces import TracedConversation, is_trace, read

LISTED = 10


def replies(path: Path, samples: Iterable[Sample], *, attempts: int = 1) -> MatchedReplies:
    """Return the conversations of a trace file that fit a sample: by the id of the conversation, else by the words of the user.

    Where more fit a sample than there are attempts, the last ones count.

    Raises:
        BadInput: as `read`; two samples ask the same, so that words cannot tell them apart; or nothing fits any sample.
    """
    traces = read([path])
    by_id: dict[str, Sample] = {}
    by_words: dict[tuple[str, ...], list[Sample]] = {}
    for sample in samples:
        about = sample.known
        for name in (sample.id, about.eval_id, about.session.get("session_id")):
            if name:
                by_id.setdefault(str(name), sample)
        by_words.setdefault(_words([_last(turn.messages) for turn in sample.turns]), []).append(sample)
    trajectories: dict[str, list[Trajectory]] = {}
    strangers = 0
    for conversation in traces.whole:
        fitting = _fitting(conversation, by_id, by_words)
        if fitting is None:
            strangers += 1
            continue
        trajectories.setdefault(fitting.id, []).append(conversation.trajectory)
    earlier = sum(max(0, len(had) - attempts) for had in trajectories.values())
    notes = tuple(
        _notes(
            strangers,
            earlier,
            [say("{id}: {problem}.", id=conversation.id, problem=why) for conversation, why in traces.broken],
        )
    )
    if not trajectories:
        raise BadInput(
            "None of the {count} conversations of {path} fits a sample: neither its id nor the words of its user. {notes}",
            count=len(traces.whole) + len(traces.broken),
            path=path,
            notes=" ".join(map(str, notes)),
        )
    last = tuple((sample_id, trajectory) for sample_id, had in trajectories.items() for trajectory in had[-attempts:])
    return MatchedReplies(found=last, notes=notes)


def _fitting(
    one: TracedConversation, by_id: dict[str, Sample], by_words: dict[tuple[str, ...], list[Sample]]
) -> Sample | None:
    sample = by_id.get(one.sample or one.id)
    if sample is not None and len(sample.turns) == len(one.turns):
        return sample
    fitting = by_words.get(_words(one.turns), [])
    if len(fitting) > 1:
        raise BadInput(
            "The conversation '{id}' fits several samples, which ask the same: {samples}. Give it the id of one of them.",
            id=one.id,
            samples=", ".join(sample.id for sample in fitting[:5]),
        )
    return fitting[0] if fitting else None


def _last(messages: Iterable[Message]) -> Message:
    asked = [message for message in messages if message.role == "user"]
    return Message(role="user", parts=tuple(part for message in asked for part in message.parts))


def _words(turns: Iterable[Message]) -> tuple[str, ...]:
    return tuple("".join(turn.text.split()) for turn in turns)


def _notes(strangers: int, earlier: int, broken: list[Sentence]) -> Iterable[Sentence]:
    if broken:
        yield say("Conversations in the trace that are not whole, so they are not scored: {count}.", count=len(broken))
        yield from broken[:LISTED]
    if strangers:
        yield say("Conversations in the trace that fit no sample: {count}.", count=strangers)
    if earlier:
        yield say(
            "Conversations in the trace that were had again later, so the last ones count: {count}.", count=earlier
        )


PART = ReplyFilesPart(is_mine=is_trace, replies=replies)
