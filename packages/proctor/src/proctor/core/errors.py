"""Define the errors, grouped by who can do something about them.

ProctorError
├── BadInput              the user can fix it; commands exit with 2
│   ├── MissingExtra      an optional dependency is not installed; says how to install it
│   ├── MissingScale      a scorer's values have no known range; says how to give one
│   ├── Refused           the endpoint does not accept the key, the model or the address
│   └── StoreUnreadable   the file of a store was removed or replaced under an open store
├── BudgetSpent           a request that the budget does not hold any more; the sample is skipped
└── PartFailed            something around the model broke; engine/trial.py turns it into an outcome
    ├── AgentFailed       the system under test raised, gave nothing, or gave too much
    ├── ProviderFailed    the endpoint failed after all retries
    ├── Undecided         a request of the agent failed, and nothing shows whether its model or a tool was asked
    ├── EnvironmentFailed a stateful tool broke
    │   └── EnvironmentDied  it ended or hung in a call of the agent, which is the agent's failure if a fresh one is sound
    ├── UserFailed        the simulated user broke
    └── JudgeFailed       a judge refused, was unreachable or could not be parsed
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from proctor.core.sentence import Sentence

if TYPE_CHECKING:
    from proctor.core.sample import ToolResult


class ProctorError(Exception):
    """An error with a sentence for users: English as `str(error)`; the CLI and the pages translate it."""

    def __init__(self, text: str | Sentence, /, **values: object) -> None:
        self.sentence = text if isinstance(text, Sentence) else Sentence(text, values)
        super().__init__(str(self.sentence))


class BadInput(ProctorError):
    """The user can fix it: a name, a file, an option, a key.

    Attributes:
        run_id: the run that this interrupted; it can be resumed.
    """

    run_id: str | None = None


class StoreUnreadable(BadInput):
    """What an open store keeps its runs in is not there any more."""


class Stopped(KeyboardInterrupt):
    """A signal stopped the run; what was finished is kept, and the run `run_id` can be resumed."""

    def __init__(self, run_id: str) -> None:
        super().__init__(run_id)
        self.run_id = run_id


class MissingExtra(BadInput):
    """A part needs an optional dependency that is not installed."""

    def __init__(self, extra: str, needed_for: str) -> None:
        from proctor.core.installing import install_command  # slow to import, and seldom needed

        super().__init__(
            "{needed_for} needs the extra '{extra}'. Install it with: {command}",
            needed_for=needed_for,
            extra=extra,
            command=install_command(extra),
        )


class MissingScale(BadInput):
    """The values of a scorer have no known range, so none of them is a score; the run stops before more is spent."""


@contextmanager
def needs(extra: str, needed_for: str) -> Iterator[None]:
    """Import here what an extra brings.

    Raises:
        MissingExtra: it is not installed.
    """
    try:
        yield
    except ImportError:
        raise MissingExtra(extra, needed_for) from None


class EndpointRefused(BadInput):
    """The endpoint refuses the key, the model or the address (401, 403, 404); asking again cannot help.

    Attributes:
        kind: a short name to count by: `http_` and the status, else "refused".
    """

    def __init__(self, text: str | Sentence, /, *, status: int = 0, kind: str = "", **values: object) -> None:
        super().__init__(text, **({"status": status} if status else {}), **values)
        self.kind = kind or (f"http_{status}" if status else "refused")


class BudgetSpent(ProctorError):
    """The budget of the run does not hold the request that was about to leave."""


class EpisodeOver(Exception):
    """A rule of the task ends the conversation, and what was done until then is scored: raised by an environment or a user.

    Attributes:
        results: those of the calls that were still made, which belong to the conversation.
    """

    def __init__(self, *reason: str, results: "Sequence[ToolResult]" = ()) -> None:
        super().__init__(*reason)
        self.results = results


class PartFailed(ProctorError):
    """A part under test, or one it needs, broke."""

    kind = "part"

    def __init__(self, text: str | Sentence, /, *, kind: str | None = None, **values: object) -> None:
        super().__init__(text, **values)
        if kind is not None:
            self.kind = kind


class AgentFailed(PartFailed):
    """The system under test raised, returned nothing, or returned more than the limit."""

    kind = "agent"


class ProviderFailed(PartFailed):
    """The endpoint failed after all retries; no fault of the system under test."""

    kind = "provider"


class Undecided(PartFailed):
    """A request of the agent's own code failed, and nothing shows whether it asked its model or a tool."""

    kind = "undecided"


class EnvironmentFailed(PartFailed):
    """A stateful tool of the environment broke."""

    kind = "environment"


class EnvironmentDied(EnvironmentFailed):
    """The environment ended, hung or wrote garbage after a call: the agent's failure if a fresh environment works."""


class UserFailed(PartFailed):
    """The simulated user broke."""

    kind = "user"


class JudgeFailed(PartFailed):
    """A judge refused, was unreachable, or its reply could not be read."""

    kind = "judge"
