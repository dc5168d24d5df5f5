"""Resolve tasks, agents and scorers that are given as names, paths or objects."""

import inspect
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from pathlib import Path

import msgspec

from proctor import registry
from proctor.agents import function
from proctor.api.meant import agents_meant, tasks_elsewhere
from proctor.api.sources import files_of, is_file
from proctor.api.task_kinds import is_of_kind, is_plain_benchmark, kind_of, task_files
from proctor.config import unknown_option
from proctor.core.declared import ScorerInfo, checked, own_name
from proctor.core.digest import digest_file
from proctor.core.errors import BadInput
from proctor.core.judge import NOT_CHOSEN, JudgeChoice, JudgeInfo
from proctor.core.parts import BenchmarkPart, Find
from proctor.core.run import RunSpec
from proctor.core.sample import Sample
from proctor.core.task import (
    Agent,
    AgentChoice,
    Environment,
    Scorer,
    Session,
    Summarise,
    TakesJudge,
    TakesOracle,
    Task,
    User,
)
from proctor.core.trajectory import ToolStyle
from proctor.engine.rescore import JUDGED_AT_ONCE
from proctor.engine.scoring import BoundScorer
from proctor.environments import python, several
from proctor.scorers.composite import recorded_judge
from proctor.scorers.lookup import Make, find_scorer, is_inline
from proctor.scorers.prediction_functions import adapted, refuse_other_orders, takes_prediction
from proctor.users import function as users

TaskLike = str | Task | Callable[..., Task]
AgentLike = object  # a name, a function, an object with .run, or an Agent
UserLike = object  # a name, a function, or a User


class Named(msgspec.Struct, frozen=True, kw_only=True):
    """The record of a part: a name by which it can be found again, and a digest of its source.

    `again` is False for what lives in `__main__` or in a lambda: only the same Python object can continue it.
    `files` are the user's files it is made of, with their digests.
    """

    name: str
    source: str | None = None
    again: bool = True
    files: Mapping[str, str] = {}


def task(given: TaskLike, options: Mapping[str, object], *, user: User | None = None) -> tuple[Task, Named]:
    """Make the task from a name (`bfcl`, `bfcl/simple_python`), a path (`./mine.py:task`), a Task or a function.

    Args:
        user: who plays the scenarios of an eval set.
    """
    if isinstance(given, Task):
        if options:
            raise BadInput("A Task object takes no options; give its values where it is made.")
        return given, Named(name=given.name, again=False)
    if isinstance(given, str):
        loaded, arguments = _task_by_name(given)
        named = _named_users(given, loaded) if _is_users(given) else Named(name=given)
    else:
        loaded, arguments = given, ()
        named = _named(given)
    if isinstance(loaded, Task):
        return loaded, named
    if not callable(loaded):
        raise BadInput(
            "'{name}' is no task: expected a Task, a function that returns one, or a path. Of samples it is made by Task(name=..., samples=[...]).",
            name=named.name,
        )
    _check_options(loaded, arguments, options, named.name)
    if user is not None and _plays_scenarios(loaded):
        options = {**options, "user": user}
    result = loaded(*arguments, **options)
    if not isinstance(result, Task):
        raise BadInput("'{name}' returned {kind} instead of a Task.", name=named.name, kind=type(result).__name__)
    return result, named


def task_with_user(
    given: TaskLike,
    options: Mapping[str, object],
    user: UserLike = None,
    user_options: Mapping[str, object] = {},
    *,
    seed: int = 0,
    talked_with: bool = True,
) -> tuple[Task, Named, Named | None]:
    """Make the task and its simulated user: the one that is given, else that of the task.

    Args:
        talked_with: False where replies were recorded, so that nobody has to talk.

    Raises:
        BadInput: as `task`; no such user; a user for a task that has one of its own; options that nothing takes.
    """
    made_user, named_user = (None, None) if user is None else _user(user, user_options, seed)
    loaded, named = task(given, options, user=made_user)
    if isinstance(loaded.user, str):
        if made_user is None and talked_with:
            made_user, named_user = _user(loaded.user, user_options, seed)
        return msgspec.structs.replace(loaded, user=made_user), named, named_user
    if made_user is not None and loaded.user is not None and loaded.user is not made_user:
        raise BadInput("The task '{task}' has a simulated user of its own.", task=named.name)
    if user is None and user_options:
        raise BadInput("There is no simulated user that could take options. Name one with --user.")
    return msgspec.structs.replace(loaded, user=loaded.user or made_user), named, named_user


def _user(given: UserLike, options: Mapping[str, object], seed: int) -> tuple[User, Named]:
    """Make the user from a name (`model:openai:gpt-x`), a path (`./user.py:reply`), a function or an object."""
    if not isinstance(given, str):
        if options:
            raise BadInput(
                "Options go with a simulated user given by name; give an object its values where it is made."
            )
        return users.wrap(given, name=function.identity(given)), _named(given)
    kind, _, argument = given.partition(":")
    if registry.USERS.knows(kind):
        part = registry.USERS.find(kind)
        user = part.make(argument, options, **({"seed": seed} if part.is_seeded else {}))
        return user, Named(name=given, files=files_of(argument))
    is_model = registry.MODELS.knows(kind)  # which may be the name of a package too
    if registry.names_object(given) and not is_model:
        value = registry.load_object(given, "user")
        return users.wrap(value, name=given, options=options), _named_users(given, value)
    meant = [f"model:{given}"] if is_model else []
    raise registry.unknown("simulated user", given, [f"{name}:" for name in registry.USERS.names()], meant=meant)


def environment(
    task: Task, names: Sequence[str], options: Mapping[str, object], *, acted_in: bool = True
) -> tuple[Task, Named]:
    """Return the task with what makes its environment: the one of these names, else its own, which may be a name too.

    One that is named is left out where nobody acts in it (`acted_in`), as when replies were recorded elsewhere.

    Raises:
        BadInput: there is no such environment, or the task has one of its own that no other can stand in for.
    """
    own = task.environment
    named = (own,) if isinstance(own, str) else tuple(own) if isinstance(own, list | tuple) else ()
    if names and own is not None and not named:
        raise BadInput("The task '{task}' has an environment of its own, so it takes no other.", task=task.name)
    if not names and not named:
        if options:
            raise BadInput("--environment-set goes with an environment that is given by name.")
        is_environment = isinstance(own, type) and issubclass(own, Environment)  # made of a sample
        is_plain = own is not None and (not callable(own) or (isinstance(own, type) and not is_environment))
        made = python.wrap(own) if is_plain else own
        return msgspec.structs.replace(task, environment=made), Named(name="", files=files_of(None, own) if own else {})
    chosen = names or named
    make = several.environment_of(chosen, options) if acted_in else None
    files = [files_of(name) for name in chosen]
    together = {file: digest for digests in files for file, digest in digests.items()}
    return msgspec.structs.replace(task, environment=make), Named(name=", ".join(chosen), files=together)


def agent(given: AgentLike, options: Mapping[str, object]) -> tuple[Agent, Named]:
    """Make the agent from a name (`openai:gpt-x`), a path (`./agent.py:answer`), a function or an object."""
    if isinstance(given, RecordedReplies):
        return given, Named(name=given.name, source=given.source, files=files_of(given.name))
    if not isinstance(given, str):
        if options:
            raise BadInput("Options go with an agent given by name; give an object its values where it is made.")
        return function.wrap(given), _named(given)
    kind, colon, argument = given.partition(":")
    room = kind.replace("-", "_")  # `openai-agents:` is `openai_agents:`
    if colon and registry.AGENTS.knows(room):
        return registry.AGENTS.find(room).make(argument, options), Named(name=given, files=files_of(argument))
    if colon:
        registry.AGENTS.check_installed(room)
    if registry.names_object(given):
        value = registry.load_object(given, "agent")
        if "batch" in options:
            raise BadInput(
                "{agent} sends its requests itself, so --batch is not for it; it is for openai:MODEL and anthropic:MODEL.",
                agent=given,
            )
        if options:
            raise BadInput("Options go with an agent given by name; give an object its values where it is made.")
        return function.wrap(value, name=given), _named_users(given, value)
    if is_plain_benchmark(given):
        raise BadInput("{name} is a task: proctor run {name} --agent AGENT, such as --agent openai:MODEL.", name=given)
    if kind.endswith(".ipynb"):
        raise BadInput(
            "{name}: a notebook cannot be imported. Begin the cell of the function with %%writefile agent.py, and name ./agent.py:FUNCTION; or in the notebook: proctor.evaluate(TASK, agent=FUNCTION).",
            name=given,
        )
    known: list[str] = []
    with suppress(BadInput):  # a package that cannot be loaded, which nobody named
        known += [f"{name}:" for name, part in registry.AGENTS.each() if not part.is_internal]
    raise registry.unknown("agent", given, sorted(known), meant=agents_meant(given, known))


class RecordedReplies:
    """Represents the agent whose replies were recorded elsewhere; it is never called."""

    tools: ToolStyle = "text"
    concurrency = JUDGED_AT_ONCE
    reports_cost = True  # what it cost is in the replies, or over

    def __init__(self, path: Path) -> None:
        self.name = f"replay:{path}"
        self.source = digest_file(path) if path.is_file() else None

    def open(self, sample: Sample, environment: Environment | None) -> AbstractAsyncContextManager[Session]:
        raise BadInput("The replies of '{name}' were recorded; there is no agent to call.", name=self.name)


def scorers(given: Sequence[str | Scorer], judge: JudgeChoice = NOT_CHOSEN) -> list[BoundScorer]:
    """Resolve scorers by name (`exact`, `exact:contains`), path, file of scorers or object; duplicates count once.

    Raises:
        BadInput: there is no such scorer, or two that differ have one name.
    """
    by_name: dict[str, BoundScorer] = {}
    given = [one.with_judge(judge) if isinstance(one, TakesJudge) else one for one in given]
    make = _maker(judge)
    for scorer in (scorer for one in given for scorer in _scorers(one, make)):
        before = by_name.setdefault(scorer.name, scorer)
        if before.function is not scorer.function and before.reference != scorer.reference:
            raise BadInput("Two scorers are called '{name}'.", name=scorer.name)
    return [*by_name.values()]


def scorers_of(task: Task, given: Sequence[str | Scorer], judge: JudgeChoice = NOT_CHOSEN) -> list[BoundScorer]:
    """Resolve the scorers of a run; a reference to one of the task's own objects (of a stored run) is that object."""
    own = {
        name: scorer
        for scorer in task.scorers
        if not isinstance(scorer, str)
        for name in (
            function.identity(scorer),
            function.qualified_name(scorer),
        )  # the latter in runs of earlier releases
    }
    return scorers([own.get(one, one) if isinstance(one, str) else one for one in given], judge)


def judges_of(bound: Sequence[BoundScorer]) -> dict[str, JudgeInfo]:
    """Return what is recorded of the models that scorers ask, by the name of the scorer."""
    by_scorer = {scorer.name: recorded_judge(scorer.function) for scorer in bound}
    return {name: about for name, about in by_scorer.items() if about is not None}


def files_of_scorers(bound: Sequence[BoundScorer]) -> dict[str, str]:
    """Return the user's files that scorers use, such as code and rubrics, with their digests."""
    digests: dict[str, str] = {}
    for scorer in bound:
        is_path = registry.is_path(scorer.reference) or "." in scorer.reference.partition(":")[0]
        digests |= files_of(scorer.reference if is_path else _files_in([scorer.reference]), scorer.function)
    return digests


def files_of_judges(options: Mapping[str, object], judges: Mapping[str, JudgeInfo]) -> dict[str, str]:
    """Return the user's files of the models that scorers ask, and those that the options of judges name."""
    return files_of(_files_in([*(about.model for about in judges.values()), *map(str, options.values())]))


def _files_in(texts: Iterable[str]) -> str | None:
    """Return the files in names such as `rubric:./mine.toml` or `./judge.py:model, openai:x`."""
    words = (word.strip() for text in texts for word in text.split(","))
    found = [path for word in words for path in (word, word.partition(":")[2]) if _names_file(path)]
    return shlex.join(found) or None


def _names_file(text: str) -> bool:
    return registry.is_path(text) or (bool(Path(text).suffix) and is_file(Path(text).expanduser()))


def with_oracle(agent: Agent, task: Task) -> Agent:
    """Give an agent that asks for it (`baseline:oracle`) the function by which the task makes right answers, or who gives them."""
    oracle = task.oracle_agent or task.oracle
    return agent.with_oracle(oracle) if oracle is not None and isinstance(agent, TakesOracle) else agent


def played(agent: Agent, task: Task, choice: AgentChoice) -> Agent:
    """Return what plays the samples of a task: the agent, or what the task puts between itself and the agent."""
    if task.host is None or isinstance(agent, RecordedReplies):
        return with_oracle(agent, task)
    return task.host(with_oracle(agent, task), choice)


def benchmark(name: str) -> BenchmarkPart | None:
    """Return the declaration of the benchmark that the name of a task begins with; None if there is none."""
    folder = name.partition("/")[0]
    return registry.BENCHMARKS.find(folder) if registry.BENCHMARKS.knows(folder) else None


def benchmarks() -> Iterator[tuple[str, BenchmarkPart]]:
    """Yield every benchmark by name; those of installed packages that cannot be loaded are left out; naming one says why."""
    with suppress(BadInput):
        yield from registry.BENCHMARKS.each()


def summarise_of(spec: RunSpec) -> Summarise | None:
    """Return what makes the official aggregates of a task, where that needs neither its data nor code of the user."""
    kind = spec.task.partition(":")[0]
    if registry.TASK_KINDS.knows(kind):
        summary = registry.TASK_KINDS.find(kind).summarise
        return None if summary is None else summary(**spec.task_options)
    part = benchmark(spec.task) if kind_of(spec.task) == "benchmark" else None
    return None if part is None else part.summarise


def needs_task(spec: RunSpec) -> bool:
    """True if only the task itself, made by code of the user, can say what its official aggregates are."""
    kind = kind_of(spec.task)
    if kind == "kind":
        return not registry.TASK_KINDS.knows(spec.task.partition(":")[0])  # its package is not installed
    return kind == "code" or (kind == "benchmark" and not registry.BENCHMARKS.knows(spec.task.partition("/")[0]))


def _task_by_name(name: str) -> tuple[object, tuple[str, ...]]:
    if (elsewhere := tasks_elsewhere(name)) is not None:
        raise elsewhere
    kind = kind_of(name)
    room, _, rest = name.partition(":")
    if kind == "data":
        from proctor.datasets.files import task_from_file

        return task_from_file, (name,)
    if kind == "files" and (part := task_files(name)) is not None:
        return part.task, (name,)
    if kind == "kind":
        return registry.TASK_KINDS.find(room).task, (rest,)
    if not is_plain_benchmark(name):
        from proctor.datasets.files import check_kind

        registry.TASK_FILES.check_installed("adk" if room.endswith(".json") else room)
        check_kind(name)
    if rest and registry.AGENTS.knows(room.replace("-", "_")) and not Path(f"{room}.py").is_file():
        raise BadInput(
            "{name} is an agent, and a task comes first: proctor run TASK --agent {name}. `proctor list tasks` shows what there is.",
            name=name,
        )
    if kind == "code":
        return registry.load_object(name, "task"), ()
    folder, slash, rest = name.partition("/")
    return registry.BENCHMARKS.find(folder).task, (rest,) if slash else ()


def _plays_scenarios(made: object) -> bool:
    files = sys.modules.get("proctor.datasets.files")  # if it is not loaded it made no task
    makers: list[object] = []
    with suppress(BadInput):  # a package that cannot be loaded, which nobody named
        makers += (part.task for _, part in registry.TASK_FILES.each() if part.plays_scenarios)
    return made in makers or (files is not None and made == files.task_from_file)


def _check_options(
    made: Callable[..., object], arguments: tuple[str, ...], options: Mapping[str, object], name: str
) -> None:
    signature = inspect.signature(made)
    known = [
        key
        for key, parameter in signature.parameters.items()
        if parameter.kind in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in signature.parameters.values())
    for option in options:
        if option not in known and not takes_all:
            raise unknown_option(name, option, known)
    try:
        signature.bind(*arguments, **options)
    except TypeError as error:
        raise BadInput("The task '{name}' cannot be made: {error}.", name=name, error=error) from None


def _scorers(given: str | Scorer, make: Make) -> list[BoundScorer]:
    kind = given.partition(":")[0] if isinstance(given, str) else ""
    for room in (registry.SCORERS, registry.JUDGES):
        room.check_installed(kind)
    if isinstance(given, str) and "." in given and not _is_judge(kind):
        from proctor.scorers import scorer_file

        if scorer_file.is_file(given):
            return [_bound(one, one.reference, one.name) for one in scorer_file.load(given, make)]
    return [_scorer(given, make)]


def _scorer(given: str | Scorer, make: Make) -> BoundScorer:
    if not isinstance(given, str):
        given = _wrap_metric(given)
        reference = function.identity(given)
        return _bound(given, reference, own_name(given) or reference.rpartition(":")[2])
    kind = given.partition(":")[0]
    if registry.SCORERS.knows(kind) or _is_judge(kind):
        return _bound(make(given), given, given)
    if registry.is_path(given) or ":" in given:
        value = registry.load_object(given, "scorer")
        return _bound(value, given, own_name(value) or getattr(value, "__name__", given))
    known = [name for name in registry.JUDGES.names() if _is_judge(name)]
    raise registry.unknown("scorer", given, [*registry.SCORERS.names(), *known])


def _maker(judge: JudgeChoice) -> Make:
    """Return what makes a scorer by name, also deep in one that is made of others; those that ask a model ask this judge."""

    def make(name: str, options: Mapping[str, object] | None = None, *, find: Find | None = None) -> Scorer:
        kind, _, argument = name.partition(":")
        if _is_judge(kind):
            return registry.JUDGES.find(kind).make(argument, options or {}, judge)
        return find_scorer(name, options, find=find or make)

    return make


def _is_judge(kind: str) -> bool:
    """Return True if a name is that of a scorer that asks a model; a scorer of the same name that asks none goes before it."""
    return not registry.SCORERS.knows(kind) and registry.JUDGES.knows(kind)


def _wrap_metric(given: Scorer) -> Scorer:
    """Return a metric of DeepEval as a scorer, and anything else unchanged; the class is known by where it comes from."""
    is_metric = any(kind.__module__ == "deepeval.metrics.base_metric" for kind in type(given).__mro__)
    wrap = registry.JUDGES.find("deepeval").wrap if is_metric else None
    return given if wrap is None else wrap(given)


def _bound(found: object, reference: str, name: str) -> BoundScorer:
    if not callable(found):
        raise BadInput("'{name}' is no scorer: expected a function (sample, trajectory) -> Score.", name=reference)
    version = checked(ScorerInfo, found, reference).version or _source(found) or "1"
    refuse_other_orders(found, name)
    scorer = adapted(found) if takes_prediction(found) else found
    return BoundScorer(name=name, reference=reference, version=str(version), function=scorer, inline=is_inline(scorer))


def _named(given: object) -> Named:
    name, again = function.identity(given), function.continuable(given)
    return Named(name=name, source=_source(given), again=again, files=files_of(None, given))


def _named_users(name: str, found: object) -> Named:
    """Return what is recorded of a part of the user's that was given by name."""
    return Named(name=name, source=_source(found), files=files_of(name, found))


def _source(given: object) -> str | None:
    return function.source_digest(given)


def _is_users(name: str) -> bool:
    return registry.is_path(name) or (":" in name and not is_of_kind(name))
