"""Define what a log of another program holds, in our nouns."""

from collections.abc import Callable, Iterator, Mapping

import msgspec

from proctor.core.errors import BadInput
from proctor.core.run import RunState
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import Sentence
from proctor.core.trajectory import Trajectory, Usage
from proctor.core.trial import Outcome, TrialFailure

LEAST = -1e307  # of the numbers of a range, so that its length is finite


class LogReading(msgspec.Struct, frozen=True, kw_only=True):
    """How a log is read.

    Attributes:
        tags: the metadata of a sample that become its tags.
        scales: the lowest and highest value of a score that is not from 0 to 1.
        task, agent: names in place of those of the log.
        id: the metadata that names each sample in place of its id in the log, such as a number.

    Raises:
        BadInput: a highest value is not above the lowest.
    """

    tags: tuple[str, ...] = ()
    scales: Mapping[str, tuple[float, float]] = {}
    task: str | None = None
    agent: str | None = None
    id: str | None = None

    def __post_init__(self) -> None:
        for name, (low, high) in self.scales.items():
            if not LEAST < low < high < -LEAST:
                raise BadInput("A range goes from one number to a higher one; that of '{name}' does not.", name=name)


class ForeignTrial(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt at a sample, with what the log's own scorers said of it.

    `again` is True for more scores of an attempt that came earlier.
    """

    sample: Sample
    attempt: int = 0
    outcome: Outcome = "scored"
    trajectory: Trajectory = Trajectory()
    failure: TrialFailure | None = None
    started: float = 0.0
    seconds: float = 0.0
    usage: Usage = Usage()
    scores: Mapping[str, Score | Unscored] = {}
    notes: Mapping[str, object] = {}
    again: bool = False


class Reported(msgspec.Struct, frozen=True, kw_only=True):
    """A figure that the log itself states: a mean over the samples that a scorer scored."""

    scorer: str
    metric: str
    value: float


class ForeignRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run of another program.

    Attributes:
        format: the name of the program; `version` is the one that wrote the log, where it says so.
        trials: reads the trials, each time from the start.
        planned: the ids of samples that were to be run; those without a trial were not.
        attempts: how many attempts each sample was to have; counted where it is None.
        state: how the run ended; `note` says why where it did not finish.
        provenance: what the log says of data, code and options.
        notes: what the user has to know of how it was read.
    """

    format: str
    task: str
    agent: str
    trials: Callable[[], Iterator[ForeignTrial]]
    version: str = ""
    task_version: str = "1"
    created: float = 0.0
    seconds: float = 0.0
    planned: tuple[str, ...] = ()
    attempts: int | None = None
    reported: tuple[Reported, ...] = ()
    state: RunState = "finished"
    note: Sentence | None = None
    provenance: Mapping[str, object] = {}
    notes: tuple[Sentence, ...] = ()
