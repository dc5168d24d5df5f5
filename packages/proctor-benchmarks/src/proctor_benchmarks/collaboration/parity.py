"""Our figures against figures that were worked out by hand: there is no official code for these measures.

    {"id": "dropped", "transcript": {"messages": […]}, "scenario": {"goals": […], "team": […]}, "figures": {"messages": 4, "balance": 0.918}}

Only the figures that a line names are compared, numbers to three decimals.
"""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from proctor.core.errors import BadInput
from proctor.core.parity import Checked
from proctor.core.sample import Sample
from proctor.core.score import Score
from proctor.runtime.json_file import read_json_lines
from proctor_benchmarks.collaboration.scorer import KEY, balance, collaboration, handoffs, novelty, recovery
from proctor_benchmarks.collaboration.transcripts import transcript

DECIMALS = 3


class CollaborationLine(msgspec.Struct, frozen=True, kw_only=True):
    """A transcript with the figures that are right for it."""

    id: str
    transcript: object
    scenario: dict[str, object] = {}
    figures: dict[str, object]


def check_corpus(path: Path, data: str | None = None) -> Iterator[Checked]:  # noqa: ARG001 - a line has all it needs
    """Check every line.

    Raises:
        BadInput: a line that cannot be read, or a figure that does not exist; names file and line.
    """
    for number, line in read_json_lines(path, CollaborationLine):
        ours = figures(line)
        if strange := next((name for name in line.figures if name not in ours), None):
            raise BadInput("{path}, line {line}: there is no figure '{name}'.", path=path, line=number, name=strange)
        wrong = {name: ours[name] for name, value in line.figures.items() if ours[name] != value}
        official = str({name: line.figures[name] for name in wrong or line.figures})
        yield Checked(id=line.id, agrees=not wrong, ours=str(wrong or line.figures), official=official, rule=", ".join(wrong))  # fmt: skip


def figures(line: CollaborationLine) -> dict[str, object]:
    _, trajectory = transcript(line.transcript)
    sample = Sample(id=line.id, turns=(), meta={KEY: line.scenario})
    whole = collaboration(sample, trajectory)
    work = dict(whole.details[KEY])
    ours: dict[str, object] = {
        "completion": _value(whole),
        **{function.__name__: _value(function(sample, trajectory)) for function in (balance, novelty, recovery)},
        "taken": _value(handoffs(sample, trajectory)),
        "turns": {name: share["turns"] for name, share in work["agents"].items()},
        "endings": [handoff["ending"] for handoff in work["handoffs"]],
        **{name: work[name] for name in ("messages", "calls", "repeated", "tokens", "failures", "recovered")},
    }
    return ours


def _value(result: object) -> float | None:
    return round(result.value, DECIMALS) if isinstance(result, Score) else None
