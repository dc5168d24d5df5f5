"""Define the request for a run, as the browser sends it, and the command of the terminal that is the same."""

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec.structs import asdict

from proctor.api.options import blamed_of
from proctor.core.errors import BadInput
from proctor.core.run import Budget, Limits, Order, RunRecord, RunSpec, Selection, Target

AtLeastOne = Annotated[int, msgspec.Meta(ge=1)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Seconds = Annotated[float, msgspec.Meta(gt=0)]
OPTION = re.compile(r"[A-Za-z_][\w-]*")
NAME = re.compile(r"[\w-]+(?:[:/@][\w,.@+-]+)*")  # of a scorer, a benchmark, a model


class RunRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A run to start; what is None or empty has its usual value, or that of proctor.toml.

    Attributes:
        task: a benchmark such as `bfcl/simple_python`, or a file of the given folders.
        agent: `openai:MODEL`, `a2a:URL`, `http:URL`, `local:NAME`, `baseline:NAME`, or one of the given folder.
        run: the name of the run; one is made when empty.
        store: the store to write, where several are open.
        seconds: the time limit of one sample.
    """

    task: str
    agent: str
    run: str = ""
    store: str = ""
    task_options: Mapping[str, Any] = {}
    agent_options: Mapping[str, Any] = {}
    environment: tuple[str, ...] = ()
    environment_options: Mapping[str, Any] = {}
    approve: str = ""
    on_agent_error: Literal["", "agent", "provider", "ask"] = ""
    limit: AtLeastOne | None = None
    first: AtLeastOne | None = None
    ids: tuple[str, ...] = ()
    tags: Mapping[str, str] = {}
    attempts: AtLeastOne | None = None
    concurrency: AtLeastOne | None = None
    workers: AtLeastOne | None = None
    seed: int | None = None
    order: Order | None = None
    target: Target | None = None
    scorers: tuple[str, ...] = ()
    judge: str = ""
    judge_options: Mapping[str, Any] = {}
    user: str = ""
    user_options: Mapping[str, Any] = {}
    seconds: Seconds | None = None
    budget: Budget = Budget()
    max_failed: Share | None = None
    cache: bool = False

    def spec(self) -> RunSpec:
        """Return what would be stored of it, for the check of what is permitted."""
        return RunSpec(
            task=self.task,
            agent=self.agent,
            task_options=self.task_options,
            agent_options=self.agent_options,
            environment=self.environment,
            environment_options=self.environment_options,
            approve=self.approve or None,
            on_agent_error=blamed_of(self.on_agent_error or None),
            scorers=self.scorers,
            judge=self.judge or None,
            judge_options=self.judge_options,
            user=self.user or None,
            user_options=self.user_options,
        )


def again(record: RunRecord) -> RunRequest:
    """Return the request that makes another run with the options of a stored one.

    Raises:
        BadInput: it was made from Python objects, which only Python can give again.
    """
    if record.is_imported:
        raise BadInput("The run '{run}' was imported, so it cannot be made again.", run=record.id)
    if record.fork is not None:
        raise BadInput("The run '{run}' is a fork, so it cannot be made again by proctor run.", run=record.id)
    if "continue_from" in record.provenance:
        raise BadInput(
            "The run '{run}' was made from Python objects, so it can only be made again from Python.", run=record.id
        )
    spec, usual = record.spec, RunSpec(task="", agent="")
    same = {name: getattr(spec, name) for name in spec.__struct_fields__ if name in RunRequest.__struct_fields__}
    moved = {name: value for name, value in same.items() if value != getattr(usual, name)}
    selection = {name: value for name, value in asdict(spec.selection).items() if value != getattr(Selection(), name)}
    seconds = {"seconds": spec.limits.seconds} if spec.limits.seconds != Limits().seconds else {}
    named = tuple(name for name in spec.scorers if NAME.fullmatch(name))  # another is an object of the task's own
    return RunRequest(**{**moved, **selection, **seconds, "scorers": named if len(named) == len(spec.scorers) else ()})


def words_of(request: RunRequest, *, run: str, store: str) -> list[str]:
    """Return the words after `proctor` that start the run.

    Raises:
        BadInput: an option's name that the command line could not tell from several.
    """
    budget = {name: value for name, value in asdict(request.budget).items() if value is not None}
    flags: dict[str, object] = {
        "agent": request.agent,
        "environment": request.environment,
        "approve": request.approve,
        "on-agent-error": request.on_agent_error,
        "limit": request.limit,
        "first": request.first,
        "id": request.ids,
        "tag": [f"{key}={value}" for key, value in request.tags.items()],
        "attempts": request.attempts,
        "concurrency": request.concurrency,
        "workers": request.workers,
        "seed": request.seed,
        "order": request.order,
        "target": request.target,
        "scorer": request.scorers,
        "judge": request.judge,
        "user": request.user,
        "time-limit": request.seconds,
        "budget": [f"{key}={value}" for key, value in budget.items()],
        "max-failed": request.max_failed,
        "set": _pairs(request.task_options),
        "agent-set": _pairs(request.agent_options),
        "environment-set": _pairs(request.environment_options),
        "judge-set": _pairs(request.judge_options),
        "user-set": _pairs(request.user_options),
        "run": run,
        "store": store,
    }
    return ["run", *_flags(flags), *(["--cache"] if request.cache else []), "--", request.task]


def words_to_resume(run: str, store: str, *, retry_failed: bool, accept_changes: bool) -> list[str]:
    """Return the words after `proctor` that resume a stored run."""
    more = [*(["--retry-failed"] if retry_failed else []), *(["--accept-changes"] if accept_changes else [])]
    return ["run", f"--run={run}", f"--store={store}", *more]


def shown(words: Sequence[str]) -> str:
    """Return the command as a person types it."""
    return shlex.join(["proctor", *words])


def _flags(flags: Mapping[str, object]) -> list[str]:
    """Return flags with their values in one word each, so that no value is read as a flag."""
    arguments: list[str] = []
    for name, value in flags.items():
        values = value if isinstance(value, list | tuple) else [] if value in (None, "") else [value]
        arguments += [f"--{name}={one}" for one in values]
    return arguments


def _pairs(options: Mapping[str, object]) -> list[str]:
    for name in options:
        if not OPTION.fullmatch(name):
            raise BadInput("'{name}' is no name of an option.", name=name)
    return [f"{name}={msgspec.json.encode(value).decode()}" for name, value in options.items()]
