"""How far a conversation has come by the rules of the official orchestrator, and what ends it.

One step is one message, or the execution of all calls of a message. The limits are looked at after every step, unless
calls wait to be run, and they overwrite the reason: a user who stops in the last step has reached the limit.

Source: sierra-research/tau2-bench, commit a2c024725189, `src/tau2/orchestrator/orchestrator.py`.
"""

from collections.abc import Iterable
from typing import Annotated, Literal

import msgspec

from proctor.core.sample import Sample
from proctor_benchmarks.tau2.messages import STOP, OfficialMessage
from proctor_benchmarks.tau2.wording import DONE

Reason = Literal["user_stop", "agent_stop", "max_steps", "too_many_errors", "agent_error", "user_error", "timeout"]
STOPS = (STOP, "###TRANSFER###", "###OUT-OF-SCOPE###")
Count = Annotated[int, msgspec.Meta(ge=1)]


class EndRules(msgspec.Struct, frozen=True, kw_only=True):
    """What ends a conversation.

    Attributes:
        max_steps, max_errors: of the whole conversation.
        enforce_protocol: a message with both text and calls ends it.
        solo: there is no user; the call of `done` ends it.
    """

    max_steps: Count = 200
    max_errors: Count = 10
    enforce_protocol: bool = False
    solo: bool = False


def rules_of(sample: Sample) -> EndRules:
    return msgspec.convert(sample.meta.get("rules", {}), EndRules)


class ConversationProgress:
    """The counts of one conversation.

    Attributes:
        reason: what ended it; None while it goes on.
        steps, errors: so far; errors over the whole conversation, also those of the user's calls.
    """

    def __init__(self, rules: EndRules) -> None:
        self.reason: Reason | None = None
        self.errors = 0
        self.steps = -1 if rules.solo else 0  # the first message of an agent without a user is no step
        self._rules = rules

    def note_message(self, role: str, text: str, calls: Iterable[str]) -> None:
        """Count a message of the agent ("assistant") or the user with the names of its calls."""
        names = [*calls]
        if self._rules.solo and (DONE in names or (not names and STOP in text)):
            names, self.reason = [], "agent_stop"  # the other calls of that message are not run
        elif role == "user" and not names and any(stop in text for stop in STOPS):
            self.reason = "user_stop"
        if self._rules.enforce_protocol and names and text.strip():
            self.reason = "agent_error" if role == "assistant" else "user_error"
        self._count(waits=bool(names))

    def note_results(self, errors: int) -> None:
        """Count the execution of the calls of a message."""
        self.errors += errors
        self._count(waits=False)

    def _count(self, *, waits: bool) -> None:
        self.steps += 1
        if waits or not self.steps:
            return
        if self.steps >= self._rules.max_steps:
            self.reason = "max_steps"
        if self.errors >= self._rules.max_errors:
            self.reason = "too_many_errors"


def read_progress(messages: Iterable[OfficialMessage], rules: EndRules) -> ConversationProgress:
    """Return the counts of a conversation that is over; one that no rule ended was cut off, which counts as a timeout."""
    progress = ConversationProgress(rules)
    waiting = errors = 0
    for message in messages:
        if message["role"] != "tool":
            calls = [call["name"] for call in message.get("tool_calls") or ()]
            progress.note_message(message["role"], message.get("content") or "", calls)
            waiting, errors = len(calls), 0
        else:
            waiting, errors = waiting - 1, errors + bool(message.get("error"))
            if not waiting:
                progress.note_results(errors)
    progress.reason = progress.reason or "timeout"
    return progress
