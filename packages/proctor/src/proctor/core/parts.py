"""Define what a module of a plural package declares: `PART = AgentPart(make=make)`; without it, it is a helper, not a part.

An installed entry point names such a declaration, the module that has it, or the one function that its kind requires.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Protocol

import msgspec

from proctor.core.judge import JudgeChoice, JudgeInfo
from proctor.core.parity import Checked
from proctor.core.run import Estimate, KnownSamples, RunRecord, RunSpec, Until
from proctor.core.sample import Sample
from proctor.core.sentence import Sentence
from proctor.core.shard import Shard
from proctor.core.task import Agent, MakeEnvironment, Model, Scorer, Store, Summarise, Task, User
from proctor.core.trajectory import Trajectory
from proctor.core.trial import Trial, TrialFailure, Verdict

Options = type[msgspec.Struct]
Tell = Callable[[Sentence], None]


class AgentPart(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of agent, `KIND:ARGUMENT`.

    Attributes:
        make: the agent for what follows the colon, with the options of `--agent-set`.
        options: the type that reads those options, where there is one.
        wrap: turns an object of the library that the module supports into an agent: `wrap(target, name=...)`.
        is_internal: True if it is reached by a path or a command, so that it is not suggested by name.
    """

    make: Callable[[str, Mapping[str, Any]], Agent]
    options: Options | None = None
    wrap: Callable[..., Agent] | None = None
    is_internal: bool = False


class ModelPart(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of chat model, `KIND:ARGUMENT`.

    Attributes:
        make: the model for what follows the colon, with its options.
        options: the type that reads those options; defaults are given only for what it has.
        pull: fetches a model into the cache, from a file where one is given.
    """

    make: Callable[[str, Mapping[str, Any]], Model]
    options: Options | None = None
    pull: Callable[[str, Path | None, Tell], Path] | None = None


Find = Callable[[str], Scorer]
Concluded = Callable[
    [Sequence[Estimate], Callable[[], Iterable[Verdict]], JudgeInfo, str, Mapping[str, str]], list[Estimate]
]


class ScorerPart(msgspec.Struct, frozen=True, kw_only=True):
    """A file of scorers.

    Attributes:
        scorer: the function that the bare name of the file means, where there is one.
        others: further functions, `FILE:FUNCTION`.
        make: the scorer with options; without it, they are put into `sample.meta["FILE"]`, below what the sample says.
        combine: the same for a scorer made of others, which it finds by name.
        sides: the calls of each turn with those expected, as `FILE:FUNCTION` compares them: `sides(sample, trajectory, name)`.
        options: the type that reads the options.
    """

    scorer: Callable[..., Any] | None = None
    others: tuple[Callable[..., Any], ...] = ()
    make: Callable[[Mapping[str, Any]], Scorer] | None = None
    combine: Callable[[Mapping[str, Any], Find], Scorer] | None = None
    sides: Callable[[Sample, Trajectory, str], list[dict[str, object]]] | None = None
    options: Options | None = None


class JudgePart(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of scorer that asks a model, `KIND:ARGUMENT`.

    Attributes:
        make: the scorer for what follows the colon, with its own options and the judge that the run names.
        options: the type that reads its options; the others are those of the model.
        concluded: has the last word on its estimates, where it has one.
        wrap: turns a metric of the library that the module supports into a scorer.
    """

    make: Callable[[str, Mapping[str, Any], JudgeChoice], Scorer]
    options: Options | None = None
    concluded: Concluded | None = None
    wrap: Callable[..., Scorer] | None = None


class EnvironmentPart(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of environment, `KIND:ARGUMENT`.

    Attributes:
        make: what makes an environment for each sample, from what follows the colon and the options of `--environment-set`.
        options: the type that reads those options, where there is one.
    """

    make: Callable[[str, Mapping[str, Any]], MakeEnvironment]
    options: Options | None = None


class TaskFilesPart(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of files that are tasks by themselves, such as eval sets of ADK; they are found by their names.

    Attributes:
        is_mine: whether the name of a task means such a file, some cases of one, or a folder of them.
        task: makes the task of that name.
        plays_scenarios: True if `task` takes a simulated user as `user`.
        check_corpus: yields our verdicts with recorded official ones, for `proctor data parity`.
    """

    is_mine: Callable[[str], bool]
    task: Callable[..., Task]
    plays_scenarios: bool = False
    check_corpus: Callable[[Path, str | None], Iterator[Checked]] | None = None


class MatchedReplies(msgspec.Struct, frozen=True, kw_only=True):
    """The trajectory recorded for each sample, and notes on what was left out."""

    found: tuple[tuple[str, Trajectory], ...]
    notes: tuple[Sentence, ...] = ()


class ReplyFilesPart(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of files of recorded replies, such as traces; they are found by their content.

    Attributes:
        is_mine: True if a file, or the first one of a folder, is of this kind.
        replies: the replies that fit the samples: `replies(path, samples, attempts=…)`.
    """

    is_mine: Callable[[Path], bool]
    replies: Callable[..., MatchedReplies]


class TaskKindPart(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of task that is named with what it is made of, `KIND:ARGUMENT`.

    Attributes:
        task: makes the task of what follows the colon.
        summarise: the official aggregates by the options of a run, where they need neither data nor code of the user.
        check: yields how what follows the colon comes out here and where its own program plays it, for `proctor data parity`.
        pull: fetches the data of what follows the colon, with the options of a run, and returns what is here then, for `proctor data pull`.
    """

    task: Callable[..., Task]
    summarise: Callable[..., Summarise | None] | None = None
    check: Callable[[str], Iterator[Checked]] | None = None
    pull: Callable[..., Sentence] | None = None


class UserPart(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of simulated user, `KIND:ARGUMENT`.

    Attributes:
        make: the user for what follows the colon, with the options of `--user-set`.
        options: the type that reads its options; the others are those of its model.
        is_seeded: True if `make` takes the `seed` of the run too.
    """

    make: Callable[..., User]
    options: Options | None = None
    is_seeded: bool = False


class StorePart(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of store.

    Attributes:
        open: opens it by a path, or by an address that begins with its name: `NAME://…`.
        share: the open store as one of several processes sees it that write one run at a time, where that can be.
    """

    open: Callable[[str], Store]
    share: Callable[[Store, Shard], Store] | None = None


class ClusterPart(msgspec.Struct, frozen=True, kw_only=True):
    """Machines that run the processes of a run, `--on KIND[:ADDRESS]`.

    Attributes:
        check: the address, checked; '' for machines that it starts itself.
        crew: what hires workers there, in `async with`: `crew(address, size, spec, warn)`.
    """

    check: Callable[[str], str]
    crew: Callable[[str, int, RunSpec, Tell], AbstractAsyncContextManager[Any]]


class LooksPart(msgspec.Struct, frozen=True, kw_only=True):
    """How a run is looked at while it goes on, `--until RULE`, and what its numbers are then.

    Attributes:
        read: what a run is looked at for: `read(rule, against, error)`.
        know: what stored runs know of the samples of a new run that is compared with one of them.
        watch: what looks at a run: a `LookWatch`.
        intervals: the estimates of such a run with intervals that hold for any number of looks.
        decided: how the second of two runs was decided against the first, or the reverse.
    """

    read: Callable[[str, str, float | None], Until]
    know: Callable[[RunRecord, Store], KnownSamples | None]
    watch: Callable[[Until, RunRecord, Store], Any]
    intervals: Callable[..., list[Estimate]]
    decided: Callable[[tuple[RunRecord, Store], tuple[RunRecord, Store], str], Any]


class ExportPart(msgspec.Struct, frozen=True, kw_only=True):
    """A format that a run is written in.

    Attributes:
        write: writes files and says which.
        suffix: ends the name of the file where the user gives none; '' where a run is then sent to what the environment names.
        send: gives the run to a server, by its address, and says what it did.
        has_content: both take `options={"content": True}`, and leave out without it what was said.
        has_summary: both take `options={"summary": …}`: estimates, conditions and the report.
    """

    write: Callable[..., list[Path]]
    suffix: str = ""
    send: Callable[..., Sentence] | None = None
    has_content: bool = False
    has_summary: bool = False


class ImportPart(msgspec.Struct, frozen=True, kw_only=True):
    """A format of the logs of another program.

    Attributes:
        read: the runs that a file holds.
        knows: True if a file is of this format, by its content.
    """

    read: Callable[[Any, Any], Sequence[Any]]
    knows: Callable[[Any], bool]


class OwnSets(Protocol):
    """How a set of the user's own in the layout of a benchmark begins, and how it is checked."""

    def write_template(self, folder: Path) -> list[Path]: ...

    def check(self, root: Path) -> Any: ...


class BenchmarkPart(msgspec.Struct, frozen=True, kw_only=True):
    """A published task, `NAME` or `NAME/CATEGORY`; everything but `task` is there only where the benchmark has it.

    Attributes:
        options: the type that reads the options of a task that takes them as `**options`.
        summarise: the official aggregates, where they need neither data nor options.
        replies: reads recorded replies in the benchmark's own layout, by sample id.
        export: writes trials in the official layout under a model's name.
        evaluate: runs the official tool on such an export: the number of each category.
        check_corpus: compares our verdicts with recorded official ones.
        own: sets of the user's own in its layout.
        statistics: counts the contents of the samples.
        pull_package: fetches the pinned package, or takes it from a file.
        pull_folder: fetches the pinned data set of the hub.
        policy: the file with the rules of a gate for it.
    """

    task: Callable[..., Task]
    options: Options | None = None
    summarise: Summarise | None = None
    replies: Callable[[Path, Mapping[str, Any]], Iterator[tuple[str, Trajectory | TrialFailure]]] | None = None
    export: Callable[[Iterable[tuple[Sample, Trial]], Path, str], list[Path]] | None = None
    evaluate: Callable[[Path, str, Sequence[str]], Mapping[str, float]] | None = None
    check_corpus: Callable[[Path, str | None], Iterator[Checked]] | None = None
    own: OwnSets | None = None
    statistics: Callable[[Iterable[Sample]], Any] | None = None
    pull_package: Callable[[Path | None, Tell], Path] | None = None
    pull_folder: Callable[[], Path] | None = None
    policy: Path | None = None
