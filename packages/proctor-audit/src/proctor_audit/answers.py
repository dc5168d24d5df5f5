"""Scripted answers that are sent through the whole path of a task, and the verdicts on them, as JSON."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from msgspec.structs import replace

from proctor.core.sample import Message, Part, Sample, Text, ToolCall, Turn
from proctor.core.sentence import Sentence, clip
from proctor.core.task import Environment, Session
from proctor.core.trajectory import Step, ToolStyle
from proctor_audit.playing import PlayedCall

PROBE = "proctor_audit_probe"  # a name that means something in the worker only
SHOWN = 2_000  # characters of a witness in reports


class AuditAnswer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An answer to a sample: a text, calls, or both, in each of its turns.

    Attributes:
        oracle: the right answer instead, as the task or the target has it.
        oracle_of: the right answer to the sample of this id instead.
        canary: the text is put in place of the target, and searched for by an agent that reads all that it is given.
        gone: names in calls that reach the environment as others, as if what they name were not there.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    oracle: bool = False
    oracle_of: str = ""
    canary: bool = False
    gone: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        """Return the answer as a person reads it."""
        calls = [f"{call.name}({call.arguments_text()})" for call in self.calls]
        return clip("\n".join([*([self.text] if self.text or not calls else []), *calls]), SHOWN)


ORACLE = AuditAnswer(oracle=True)
IDLE = AuditAnswer(text="I have looked into it.")  # of an agent that answers, and makes no call


class ScorerVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What one scorer said of an answer.

    Attributes:
        value: its share of the points; None without a score.
        passed: full points, or the scorer's own pass mark; None without a score.
        why: of an answer without a score: the reason's kind, or how the trial ended.
        details: those that a check reads, such as the kind of error.
    """

    scorer: str
    value: float | None = None
    passed: bool | None = None
    why: str = ""
    reason: str | Sentence = ""
    details: Mapping[str, Any] = {}


class AnswerVerdicts(msgspec.Struct, frozen=True, kw_only=True):
    """What all scorers said of one answer.

    Attributes:
        fault: the kind of what kept them from it, such as `worker_hung`.
        ran: True if a scorer ran a call of `PROBE` that the answer held.
        saw: what showed the agent a canary.
        searched: the places that a shell of the agent searched for it.
        opened: the files below this folder that a scorer of the user opened.
        calls: those that the environment carried out.
    """

    verdicts: tuple[ScorerVerdict, ...] = ()
    fault: str = ""
    ran: bool = False
    opened: tuple[str, ...] = ()
    saw: str = ""
    searched: tuple[str, ...] = ()
    calls: tuple[PlayedCall, ...] = ()

    @property
    def passed(self) -> tuple[ScorerVerdict, ...]:
        """Return the verdicts with full points."""
        return tuple(verdict for verdict in self.verdicts if verdict.passed is True)

    @property
    def failed(self) -> tuple[ScorerVerdict, ...]:
        """Return the verdicts with less than full points."""
        return tuple(verdict for verdict in self.verdicts if verdict.passed is False)

    def without(self, kinds: Collection[str]) -> "AnswerVerdicts":
        """Return them without those of scorers of these kinds, such as `limits`."""
        kept = tuple(verdict for verdict in self.verdicts if verdict.scorer.partition(":")[0] not in kinds)
        return replace(self, verdicts=kept)

    @property
    def is_full(self) -> bool:
        """True if some scorer scored it, and all that did gave full points."""
        return bool(self.passed) and not self.failed


class ScriptedAgent:
    """Says the same in every turn, and makes the calls in the last one."""

    name = "audit:scripted"
    reports_cost = True  # it costs nothing

    def __init__(self, answer: AuditAnswer) -> None:
        self.tools: ToolStyle = "native"
        self._answer = answer

    @asynccontextmanager
    async def open(self, sample: Sample, environment: Environment | None) -> AsyncIterator[Session]:
        yield _Scripted(self._answer, len(sample.turns))


class _Scripted:
    def __init__(self, answer: AuditAnswer, turns: int) -> None:
        self._answer = answer
        self._left = turns

    async def send(self, turn: Turn) -> Sequence[Step]:
        self._left -= 1
        return [step_of(self._answer, with_calls=self._left <= 0)]


def step_of(answer: AuditAnswer, *, with_calls: bool = True) -> Step:
    """Return the message of an answer."""
    parts: tuple[Part, ...] = (Text(text=answer.text),) if answer.text else ()
    return Step(message=Message(role="assistant", parts=(*parts, *(answer.calls if with_calls else ()))))
