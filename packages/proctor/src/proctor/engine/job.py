"""Define a run with its parts resolved, and list its unfinished trials."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

import msgspec

from proctor.core.run import Price, RunRecord
from proctor.core.sample import Sample
from proctor.core.task import Agent, Store, Task
from proctor.engine.looking import LookWatch
from proctor.engine.recorded import Replies
from proctor.engine.saving import Stored
from proctor.engine.scoring import BoundScorer
from proctor.engine.trial import Work


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A run with its parts resolved.

    Attributes:
        samples: reads the chosen samples in the order of the task, as often as it is called.
        visits: reads them in the order in which they are run.
        conclude: is given the record as the run ended; what it returns is kept.
        at_once: how many trials are under way, in all processes together.
        processes: how many processes play trials.
        on: the cluster on whose machines they are; None for this machine.
        worker: the command that starts one of them.
        concurrency: requests in flight at each endpoint; None leaves that to its pace.
        cache: the agent's model takes replies from the reply cache; judges do so anyway.
        replies: recorded replies, which are scored in place of calling the agent.
        watch: looks at the run while it goes on, and may end it early.
        stored: is given each trial that is on disk, and must not wait.
    """

    record: RunRecord
    task: Task
    agent: Agent
    scorers: Sequence[BoundScorer]
    samples: Callable[[], Iterable[Sample]]
    visits: Callable[[], Iterable[Sample]]
    conclude: Callable[[RunRecord, Store], RunRecord] = lambda record, _: record
    at_once: int
    processes: int = 1
    on: str | None = None
    worker: Sequence[str] = ()
    concurrency: int | None = None
    retry_failed: bool = False
    cache: bool = False
    price: Price | None = None
    replies: Replies | None = None
    watch: LookWatch | None = None
    stored: Stored | None = None

    def work(self) -> Work:
        """Return what every trial of the run shares."""
        return Work(
            run_id=self.record.id,
            created=self.record.created,
            task=self.task,
            agent=self.agent,
            scorers=self.scorers,
            limits=self.record.spec.limits,
            price=self.price,
            seed=self.record.spec.seed,
            perturb=self.record.spec.perturb,
            approve=self.record.spec.approve,
            on_agent_error=self.record.spec.on_agent_error,
        )

    def total(self, planned: int) -> int:
        """Return how many trials the run has: those planned, or as many as there are replies."""
        return planned if self.replies is None else sum(map(len, self.replies.values()))

    def todo(self, finished: Collection[tuple[str, int]]) -> Iterator[tuple[Sample, int]]:
        """Yield each sample and attempt that is not finished; those that were refused come last, lest they stop the others again."""
        refused = set(self.record.refused)
        for is_last in (False, True) if refused else (False,):
            for sample in self.visits():
                attempts = self.record.spec.attempts if self.replies is None else len(self.replies.get(sample.id, ()))
                for attempt in range(attempts):
                    key = (sample.id, attempt)
                    if key not in finished and (key in refused) is is_last:
                        yield sample, attempt
