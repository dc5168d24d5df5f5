"""Observe a run: a display reads its status as often as it likes, so that the engine never waits for it."""

import logging
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from proctor.core.sentence import Sentence
from proctor.core.trial import Trial, Verdict
from proctor.engine.status import RunStatus

MOVED = (  # to `RunStatus`, since the version before
    *("total", "done", "here", "in_flight", "outcomes", "points", "scored", "judge_failed"),
    *("warnings", "rate", "seconds_left", "forecast"),
)


def _log(sentence: Sentence) -> None:
    logging.getLogger("proctor").warning("%s", sentence)


class Progress:
    """Observes a run for a display. Subclasses that show each trial override `added`.

    Args:
        tell: is given each warning at once, from any thread; by default it is logged, which shows it on standard error.

    Attributes:
        status: how the run stands; empty counts before it begins.
    """

    def __init__(self, tell: Callable[[Sentence], None] = _log) -> None:
        self._tell = tell
        self.status = RunStatus(self)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            if name not in MOVED:
                raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
            warnings.warn(f"Progress.{name} is now Progress.status.{name}", DeprecationWarning, stacklevel=2)
            return getattr(self.status, name)

    def begin(self, status: RunStatus) -> None:
        """Note the status of the run that begins."""
        self.status = status

    def added(self, trial: Trial, verdicts: Sequence[Verdict]) -> None:
        """Observe a trial that is on disk."""

    def tell(self, sentence: Sentence) -> None:
        """Show the user a sentence."""
        self._tell(sentence)
