"""Show a trial around what a finding judges: the steps it names with their neighbours, and the words in them marked."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from proctor_audit.inspector.inspecting import step_text
from proctor_audit.inspector.view import InspectedTrial, TrialAuthor
from proctor_web.inspecting.findings import InspectedEvent

MOST_STEPS = 24  # that a finding names, and are shown
CHARACTERS = 3_000  # of one step
NEIGHBOUR_CHARACTERS = 600


class TextPart(NamedTuple):
    """A part of a step's text, and whether a finding is about just these words."""

    text: str
    marked: bool = False


class StepExcerpt(NamedTuple):
    """One step of a trial; `gap` is how many steps between the one before and it are left out."""

    number: int
    author: TrialAuthor
    parts: Sequence[TextPart]
    is_named: bool
    gap: int


def excerpts_of(trial: InspectedTrial, events: Sequence[InspectedEvent]) -> Iterator[StepExcerpt]:
    """Yield the steps that events name, those next to them, and the first one of the user."""
    named = [*dict.fromkeys(step for event in events for step in event.steps)][:MOST_STEPS]
    first = next((step.index for step in trial.steps if step.author == "user"), 0)
    near = {first, *(step + by for step in named for by in (-1, 0, 1))}
    last = -1
    for index in sorted(near):
        if not 0 <= index < len(trial.steps):
            continue
        spans = [event.span for event in events if index in event.steps and event.span]
        yield StepExcerpt(
            index,
            trial.steps[index].author,
            mark_spans(step_text(trial, index), spans, CHARACTERS if index in named else NEIGHBOUR_CHARACTERS),
            index in named,
            index - last - 1,
        )
        last = index


def mark_spans(text: str, spans: Sequence[str], most: int) -> Sequence[TextPart]:
    """Split a text at the first occurrence of each span; of a long text, the part around the first of them.

    >>> mark_spans("I have cancelled it.", ["have cancelled"], 100)
    [TextPart(text='I ', marked=False), TextPart(text='have cancelled', marked=True), TextPart(text=' it.', marked=False)]
    """
    places = sorted((at, at + len(span)) for span in spans if (at := text.find(span)) >= 0)
    begin = max(0, places[0][0] - most // 4) if places and len(text) > most else 0
    end = min(len(text), begin + most)
    parts = [TextPart("… ")] if begin else []
    at = begin
    for left, right in places:
        if left < at or left >= end:
            continue
        parts += [TextPart(text[at:left]), TextPart(text[left : min(right, end)], marked=True)]
        at = min(right, end)
    return [part for part in [*parts, TextPart(text[at:end] + (" …" if end < len(text) else ""))] if part.text]
