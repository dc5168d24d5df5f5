"""Define a stored attempt at a sample: how it ended, and the verdicts of scorers."""

from collections.abc import Mapping
from typing import Any, Literal, get_args

import msgspec

from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import Sentence
from proctor.core.trajectory import Trajectory, Usage

Outcome = Literal[
    "scored",
    "agent_failed",
    "provider_failed",
    "environment_failed",
    "user_failed",
    "awaiting_approval",
    "undecided",
    "skipped",
    "cancelled",
]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
# agent_failed counts as 0, and is counted apart
IN_THE_MEAN: frozenset[Outcome] = frozenset({"scored", "agent_failed"})
INFRASTRUCTURE: frozenset[Outcome] = frozenset(
    {"provider_failed", "environment_failed", "user_failed", "awaiting_approval", "undecided"}
)
RETRYABLE: frozenset[Outcome] = INFRASTRUCTURE | {"skipped", "cancelled"}


class TrialFailure(msgspec.Struct, frozen=True, kw_only=True):
    """The reason why an attempt was not scored; `kind` is a short name to count by, `detail` a clipped trace."""

    kind: str
    reason: str | Sentence
    detail: str = ""


class FailedRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One request that was sent again or failed: status (0 without a reply), cause, and the wait after it."""

    cause: str
    status: int = 0
    waited_seconds: float = 0.0


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt at one sample. The key is (run_id, sample_id, attempt); attempts count from 0."""

    run_id: str
    sample_id: str
    attempt: int = 0
    outcome: Outcome
    trajectory: Trajectory = Trajectory()
    failure: TrialFailure | None = None
    started: float = 0.0
    seconds: float = 0.0
    usage: Usage = Usage()
    retries: tuple[FailedRequest, ...] = ()
    digests: Mapping[str, str] = {}
    notes: Mapping[str, Any] = {}


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict of one scorer, at one version, on one trial. Rows are only added; the newest counts.

    `usage` is that of the models that the scorer asked, and `seconds` is how long it took; None and 0 where it asked none.
    """

    run_id: str
    sample_id: str
    attempt: int = 0
    scorer: str
    scorer_version: str = ""
    result: Score | Unscored
    usage: Usage | None = None
    seconds: float = 0.0


class Value(msgspec.Struct, frozen=True, kw_only=True):
    """The value of one attempt, from the narrow table: enough for statistics, without the record.

    `value` is in 0..1, and None where the attempt is not in the mean; `why` is then the outcome or the reason
    it is unscored.
    """

    sample_id: str
    attempt: int
    cluster: str
    tags: Mapping[str, str] = {}
    value: float | None = None
    why: str = ""


class StoredTrial(msgspec.Struct, frozen=True, kw_only=True):
    """A trial as a store holds it: its position in the plan, its sample, and the verdicts that count.

    `mark` is the same for all that are read at one go; what is stored later comes after it.
    """

    mark: int
    position: int
    sample: Sample
    trial: Trial
    verdicts: tuple[Verdict, ...] = ()
