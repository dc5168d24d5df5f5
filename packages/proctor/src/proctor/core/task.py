"""Define what packages expect of each other: tasks, agents, environments, users, scorers, stores."""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, runtime_checkable

import msgspec

from proctor.core.annotation import Annotation, AnnotationKind
from proctor.core.judge import JudgeChoice
from proctor.core.run import Estimate, RunRecord
from proctor.core.sample import Message, Sample, Tool, ToolCall, ToolResult, Turn
from proctor.core.score import Score, Unscored
from proctor.core.sentence import Sentence
from proctor.core.tally import Tally
from proctor.core.trajectory import Approval, Step, ToolStyle, Trajectory, Usage
from proctor.core.trial import Outcome, StoredTrial, Trial, Value, Verdict


@runtime_checkable
class Environment(Protocol):
    """Stateful tools that an agent acts on; one is made for each attempt at a sample.

    One that holds something, such as a process, is an async context manager: it is entered before the first turn and left
    after the last. Optional attributes: `declared.EnvironmentInfo`.
    """

    async def call(self, call: ToolCall) -> ToolResult:
        """Run a call and return its result; what the tool itself raised is a result with `is_error`.

        Raises:
            EpisodeOver: a rule of the task ends the conversation here.
            Exception: anything else means that the environment is broken: the sample ends as "environment_failed".
        """
        ...

    def state(self) -> Mapping[str, object] | Awaitable[Mapping[str, object]]:
        """Return the state as JSON values, for scorers and for showing what a turn changed."""
        ...


@runtime_checkable
class ListsTools(Protocol):
    """What makes environments that all have the same tools, as a tuple, so that none is made to find out."""

    tools: Sequence[Tool]


@runtime_checkable
class CallsTogether(Protocol):
    """An environment that runs all calls of one message at once."""

    async def call_all(self, calls: Sequence[ToolCall]) -> Sequence[ToolResult] | None:
        """Return the results in the order of the calls; None if the calls may not be run, which ends the turn."""
        ...


class ToolWording(Protocol):
    """How calls and results are worded for agents without native tool calls, in benchmarks with rules for that."""

    def read_calls(self, message: Message) -> Message:
        """Return the message with the calls that its text makes, if any."""
        ...

    def results(self, calls: Sequence[ToolCall], results: Sequence[ToolResult]) -> Sequence[Message]:
        """Return the messages that tell the agent the results of its calls."""
        ...


class Session(Protocol):
    """One open conversation with an agent."""

    async def send(self, turn: Turn) -> Sequence[Step]:
        """Send the agent one turn and return its steps in order. `Step.turn` is set by the engine."""
        ...


@runtime_checkable
class Resumes(Protocol):
    """A session that can begin with what was said in an earlier one."""

    def resume(self, messages: Sequence[Message]) -> None:
        """Take the messages of both sides as those of this session, before the first turn."""
        ...


@runtime_checkable
class WaitsForApproval(Protocol):
    """A session whose turn may stop where calls wait for approval.

    Attributes:
        waiting: the calls that wait now; none when the turn is over.
    """

    waiting: Sequence[Approval]

    async def decide(self, approvals: Sequence[Approval]) -> Sequence[Step]:
        """Resume the turn with a decision for each call that waits, and return the steps that follow."""
        ...


@runtime_checkable
class Agent(Protocol):
    """A system under test. `tools` says whether it takes tools natively or as text.

    Optional attributes are those of `declared.AgentInfo`, and for its session those of `declared.SessionInfo`.
    """

    name: str
    tools: ToolStyle

    def open(self, sample: Sample, environment: Environment | None) -> AbstractAsyncContextManager[Session]: ...


@runtime_checkable
class TakesOracle(Protocol):
    """An agent that is given, before it is opened, the function by which the task makes right answers, or who gives them."""

    def with_oracle(self, oracle: Callable[[Sample], Trajectory] | Agent | None) -> Agent: ...


@runtime_checkable
class Model(Protocol):
    """A chat model; one that holds a server is an async context manager. Optional attributes: `declared.ModelInfo`."""

    name: str

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool] = (),
        *,
        response_format: Mapping[str, object] | None = None,
    ) -> Step:
        """Return the model's next message; `response_format` is that of chat completions (a JSON schema)."""
        ...


@runtime_checkable
class User(Protocol):
    """A simulated user. Optional attributes: `declared.UserInfo`."""

    async def reply(self, sample: Sample, trajectory: Trajectory) -> Turn | None:
        """Return the next turn, or None when the conversation is over.

        Raises:
            EpisodeOver: a rule of the task ends the conversation here.
        """
        ...


@runtime_checkable
class TakesSample(Protocol):
    """A user with a state of its own (what it said, or what it did in the environment), so that each attempt gets a new one."""

    def open(self, sample: Sample, environment: Environment | None) -> User: ...


@runtime_checkable
class ActsAsExpected(Protocol):
    """A simulated user that can also do what a sample expects of it, so that the sample is played without a model."""

    def as_expected(self) -> User: ...


class Scorer(Protocol):
    """A function (sample, trajectory) -> Score or Unscored; may be async. Optional attributes: `declared.ScorerInfo`."""

    def __call__(self, sample: Sample, trajectory: Trajectory, /) -> Score | Unscored | Awaitable[Score | Unscored]: ...


@runtime_checkable
class TakesJudge(Protocol):
    """A scorer of a task that asks the judge of the run where one is named."""

    def with_judge(self, judge: JudgeChoice) -> Scorer: ...


class AgentChoice(msgspec.Struct, frozen=True, kw_only=True):
    """The agent that a run names (`--agent`, `--agent-set`); without a name it is an object."""

    name: str | None = None
    options: Mapping[str, Any] = {}


Samples = Iterable[Sample] | Callable[[], Iterable[Sample]]
Judged = Callable[[], Iterable[tuple[Sample, Verdict]]]
MakeEnvironment = Callable[[Sample], Environment | None]
Summarise = Callable[[Sequence[Estimate], Judged], Sequence[Estimate]]
Host = Callable[[Agent, AgentChoice], Agent]


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """Samples with scorers.

    Attributes:
        samples: any iterable that can be read again, or a function that returns one (lazy).
        scorers: names, paths, or functions.
        present: what the agent is shown, made from the sample when its turn comes; for benchmarks whose
            official prompts are costly to build or to keep.
        environment: makes a fresh environment for a sample; also a name such as `python:./shop.py:Shop`, or several. What makes
            them is entered with the run if it is an async context manager.
        user: speaks after the turns of the sample; entered with the run if it is an async context manager.
        oracle: a right answer as an agent would give it, where the target is no text.
        oracle_agent: an agent that does what is right, where that depends on what the environment shows.
        host: returns what plays the samples in place of the agent, which answers the requests of that; for tasks whose
            solver is code of another program.
        summarise: the estimates of the run (whole and by slice) to official aggregates, only where the
            official number is no mean. It is called when the run ends, and what it returns is kept with the run. What no estimate tells can be read from the verdicts that count, each with
            its sample: the second argument gives them when it is called.
        provenance: where the data came from: versions, digests, licences.
        spread_by: the tag whose values are the strata of a draw (`--limit`) and of the order in which samples are
            visited, as a rule the category.
        planned: how many samples there are, when that is known without reading them all.
        notes: what the user reads before the run begins, such as how a data file was read.
    """

    name: str
    samples: Samples
    version: str = "1"
    scorers: Sequence[str | Scorer] = ()
    present: Callable[[Sample], Sample] | None = None
    environment: MakeEnvironment | str | Sequence[str] | None = None
    user: User | str | None = None
    oracle: Callable[[Sample], Trajectory] | None = None
    oracle_agent: Agent | None = None
    host: Host | None = None
    summarise: Summarise | None = None
    provenance: Mapping[str, Any] = {}
    spread_by: str | None = None
    planned: int | None = None
    notes: Sequence[Sentence] = ()


class Store(Protocol):
    """Keeps runs. Reading is synchronous; writing is awaited and returns when the data is on disk.

    Runs are named by id; different runs share a store, and one run is open for writing in one process at a
    time. Unknown run ids raise `BadInput` with the nearest match.
    """

    url: str

    async def begin(self, record: RunRecord) -> None:
        """Create the run, or reopen it, and lock it for this process; `BadInput` when it is open elsewhere."""
        ...

    async def plan(self, run_id: str, samples: Iterable[Sample]) -> int:
        """Store id, cluster and tags of every sample that will be run, and return how many there are.

        Raises:
            BadInput: the same id twice.
        """
        ...

    def add(self, trial: Trial, verdicts: Sequence[Verdict] = (), sample: Sample | None = None) -> Awaitable[None]:
        """Accept a trial with its verdicts, once for each (run, sample, attempt).

        A second trial of the same key is ignored when a final one is there, and replaces one whose outcome
        can be retried; the old one is kept as superseded. `sample` is kept once for each digest.
        """
        ...

    async def judge(self, verdicts: Sequence[Verdict]) -> None:
        """Append verdicts to stored trials; the newest of each scorer counts."""
        ...

    async def save(self, record: RunRecord) -> None:
        """Save the record; the run stays open."""
        ...

    async def end(self, record: RunRecord) -> None:
        """Save the record, and unlock the run."""
        ...

    def runs(self) -> list[RunRecord]: ...

    def run(self, run_id: str) -> RunRecord: ...

    def finished(
        self, run_id: str, *, failed_too: bool = False, samples: Iterable[str] | None = None
    ) -> set[tuple[str, int]]:
        """Return the (sample id, attempt) pairs with a final outcome, of all samples or of some.

        `failed_too` adds infrastructure failures.
        """
        ...

    def outcomes(self, run_id: str) -> Mapping[Outcome, int]: ...

    def usage(self, run_id: str) -> Usage:
        """Return the tokens, requests and money spent on a run: by all its trials, superseded ones too, and by its judges."""
        ...

    def trials(
        self,
        run_id: str,
        *,
        outcome: Outcome | None = None,
        sample_id: str | None = None,
        scorer: str | None = None,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> Iterator[Trial]:
        """Yield trials in the order of the plan, filtered in the store; values are those of the scorer (or any)."""
        ...

    def verdicts(self, run_id: str, *, scorer: str | None = None, sample_id: str | None = None) -> Iterator[Verdict]:
        """Yield the verdict that counts of each scorer and trial, in the order of the plan."""
        ...

    def sample(self, run_id: str, sample_id: str) -> Sample | None: ...

    def tallies(self, run_id: str, scorer: str) -> Mapping[str, Tally]:
        """Return the sums of a scorer's values by slice: '' is the whole run, the others 'key=value' for each tag."""
        ...

    def strata(self, run_id: str, scorer: str, tag: str) -> Mapping[str, Mapping[str, Tally]]:
        """Return the sums of each slice by the value of a tag; '' is the value of samples without that tag."""
        ...

    def values(self, run_id: str, scorer: str) -> Iterator[Value]:
        """Yield what every stored attempt earned from a scorer, in the order of the plan; quick, as no record is read."""
        ...

    def planned(self, run_id: str) -> Iterator[Sample]:
        """Yield the samples of the plan, in order; one that was not stored has its id, cluster and tags only."""
        ...

    def history(self, run_id: str) -> Iterator[Trial | Verdict]:
        """Yield all that was ever accepted, with retried trials and earlier verdicts: of each trial, the oldest first."""
        ...

    def stored(self, run_id: str, *, after: int = 0, start: int = 0) -> Iterator[StoredTrial]:
        """Yield what was stored after a mark: trials that are new or have a new verdict, in the order of the plan.

        Args:
            after: the mark of an earlier reading; 0 is all.
            start: the position in the plan to begin with.
        """
        ...

    def version(self, run_id: str) -> str:
        """Return a text that is another one whenever the trials or verdicts of the run are; quick, whatever its size."""
        ...

    def annotate(self, added: Sequence[Annotation], removed: Sequence[Annotation] = ()) -> None:
        """Keep what people say about runs and trials, also while a run is written elsewhere; return when it is on disk.

        One with the key of an earlier one replaces it; of those `removed` only the key counts.

        Raises:
            BadInput: there is no such run, or the plan has no such sample.
        """
        ...

    def annotations(
        self, run_id: str | None = None, *, kind: AnnotationKind | None = None, sample_id: str | None = None
    ) -> list[Annotation]:
        """Return what was said about a run, or about all, the oldest first; of a sample, or with '' of the run itself."""
        ...

    def writer(self, run_id: str) -> int | None:
        """Return the process of this machine that has the run open for writing, 0 if it cannot be seen; None if none has."""
        ...

    def delete(self, run_id: str) -> None: ...

    def close(self) -> None: ...


@runtime_checkable
class ShardedStore(Store, Protocol):
    """A store as one shard of a run sees it: record, outcomes and costs are those of the shard, the plan that of the whole run.

    `whole` is the store as it is for others, `read` reads the samples of the shard, and `check` refuses, when the shard begins
    for the first time, a run that others began (its record comes first) under other conditions.
    """

    whole: Store
    read: Callable[[], Iterable[Sample]]
    check: Callable[[RunRecord, RunRecord], object]
