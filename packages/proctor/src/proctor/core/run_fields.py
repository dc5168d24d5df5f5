"""The fields of the options of a run, each with its help and its bounds: the one place that the command line, Python, pytest and
the settings of a project take them from.
"""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_type_hints

import msgspec

from proctor.core.errors import BadInput
from proctor.core.run import Budget, Limits, Order, Perturb, Target, Until
from proctor.core.sentence import Sentence, say
from proctor.core.shard import Shard
from proctor.core.task import Scorer, Store

OnAgentError = Literal["agent", "provider", "ask"]
LARGEST_SEED = 2**63 - 1  # the largest integer that a store keeps


class Flag(NamedTuple):
    """What a field means, and the option that gives it.

    Attributes:
        name: of the option without the two hyphens, where it is not the field's own name.
        several: the option may be given several times.
        short: the option of one letter, with its hyphen.
    """

    text: Sentence
    name: str = ""
    metavar: str | None = None
    several: bool = False
    short: str = ""


class Bounds(NamedTuple):
    """The range of a number; with `is_open` its ends are outside."""

    low: float
    high: float = math.inf
    is_open: bool = False


class RunFields(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a run that are named on the command line, or in another form there."""

    agent: Annotated[
        object,
        Flag(
            say(
                "The system under test: openai:MODEL, local:NAME, ./agent.py:object, adk:DIR, a2a:URL, http:URL, process:COMMAND, replay:FILE, baseline:NAME."
            )
        ),
    ] = None
    replies: Annotated[
        str | Path | None,
        Flag(
            say("The recorded replies: an official result file or folder, or JSON lines with id and answer."),
            metavar="FILE|DIR",
        ),
    ] = None
    options: Annotated[
        Mapping[str, Any] | None, Flag(say("An option of the task."), "set", "KEY=VALUE", several=True)
    ] = None
    agent_options: Annotated[
        Mapping[str, Any] | None,
        Flag(say("An option of the agent, such as temperature=0."), "agent-set", "KEY=VALUE", several=True),
    ] = None
    environment: Annotated[
        str | Sequence[str] | None,
        Flag(
            say("The tools that the agent acts on: python:./shop.py:Shop, mcp:COMMAND, mcp:URL, process:COMMAND."),
            metavar="KIND:NAME",
            several=True,
        ),
    ] = None
    environment_options: Annotated[
        Mapping[str, Any] | None,
        Flag(
            say("An option of the environment, such as reset=reset_state."),
            "environment-set",
            "KEY=VALUE",
            several=True,
        ),
    ] = None
    limit: Annotated[
        int | None, Bounds(1), Flag(say("Take N samples at random (with the seed), in proportion to the categories."))
    ] = None
    more: Annotated[
        int | None,
        Bounds(1),
        Flag(
            say(
                "Then take N further samples, most where outcomes are uncertain (with --limit, or for a stored run of some)."
            )
        ),
    ] = None
    first: Annotated[int | None, Bounds(1), Flag(say("Take the first N samples."))] = None
    ids: Annotated[Sequence[str], Flag(say("Take the sample with this id."), "id", several=True)] = ()
    tags: Annotated[
        Mapping[str, str] | None, Flag(say("Take the samples with this tag."), "tag", "KEY=VALUE", several=True)
    ] = None
    order: Annotated[
        Order | None,
        Flag(say("The order in which samples are visited: random (with the seed), or that of the task.")),
    ] = None
    target: Annotated[
        Target | None,
        Flag(say("What the intervals are about: samples like these (default), or this very suite.")),
    ] = None
    attempts: Annotated[int | None, Bounds(1), Flag(say("How often each sample is tried (default 1)."))] = None
    until: Annotated[
        str | Until | None,
        Flag(
            say(
                "End as soon as a rule is decided: 'accuracy >= 0.85', or with --against 'accuracy not worse by 0.05', 'accuracy better'; exit code 0 for GO, 1 for NO-GO, 3 else. 'end' runs the rest."
            ),
            metavar="RULE",
        ),
    ] = None
    against: Annotated[
        str | None,
        Flag(say("The stored run, or named baseline, that the rule of --until compares with."), metavar="RUN|NAME"),
    ] = None
    error: Annotated[
        float | None,
        Bounds(0, 0.5, is_open=True),
        Flag(say("The greatest chance of a wrong decision to one side (default 0.05).")),
    ] = None
    perturb: Annotated[
        Perturb | Mapping[str, object] | None,
        Flag(
            say(
                "Put faults into this share of the calls of tools: errors=0.1, lost=0.1 (carried out, without a result), delays=0.1 (seconds=2), cuts=0.1."
            ),
            metavar="KIND=SHARE",
            several=True,
        ),
    ] = None
    approve: Annotated[
        str | Sequence[str] | None,
        Flag(
            say(
                "Who approves calls of the agent that wait for it: ask (the simulated user), all, none, or the names of the tools that are approved, with commas between."
            ),
            metavar="ask|all|none|NAMES",
        ),
    ] = None
    on_agent_error: Annotated[
        OnAgentError | None,
        Flag(
            say(
                "Whose failure it is when a request of the agent's own code fails and nothing shows whether it asked its model or a tool: agent (counts as 0), provider (not counted), or ask, the default: such trials are counted apart, and this option settles them later."
            )
        ),
    ] = None
    shard: Annotated[
        str | Shard | None,
        Flag(
            say(
                "Play only part K of N of the samples, with the same --run in all parts; `proctor runs merge` puts them together."
            ),
            metavar="K/N",
        ),
    ] = None
    concurrency: Annotated[int | None, Bounds(1), Flag(say("How many samples at once."))] = None
    workers: Annotated[
        int | None, Bounds(1), Flag(say("In how many processes, for agents that need CPU (default 1)."))
    ] = None
    on: Annotated[
        str | None,
        Flag(
            say("Run these processes on a Ray cluster; ray alone starts one of this machine (default: without Ray)."),
            metavar="ray[:ADDRESS]",
        ),
    ] = None
    scorers: Annotated[
        Sequence[str | Scorer] | None,
        Flag(say("A scorer to use instead of the task's own."), "scorer", "NAME", several=True),
    ] = None
    judge: Annotated[
        str | None,
        Flag(
            say(
                "The model that judges: openai:MODEL, local:NAME, scripted:FILE (else PROCTOR_JUDGE); several for a jury, with commas between."
            ),
            metavar="MODEL",
        ),
    ] = None
    judge_options: Annotated[
        Mapping[str, Any] | None,
        Flag(
            say("An option of the judge or its model, such as repeats=3 or temperature=0.5."),
            "judge-set",
            "KEY=VALUE",
            several=True,
        ),
    ] = None
    user: Annotated[
        object,
        Flag(
            say(
                "The simulated user, where the task needs one: model:openai:MODEL, scripted:FILE, adk:openai:MODEL, ./user.py:object."
            )
        ),
    ] = None
    user_options: Annotated[
        Mapping[str, Any] | None,
        Flag(
            say("An option of the simulated user or its model, such as max_turns=10."),
            "user-set",
            "KEY=VALUE",
            several=True,
        ),
    ] = None
    seed: Annotated[
        int | None, Bounds(-LARGEST_SEED, LARGEST_SEED), Flag(say("The seed of every draw (default 0)."))
    ] = None
    store: Annotated[
        str | Store | None,
        Flag(
            say(
                "Where runs are kept: a file or an address (default: PROCTOR_STORE, else one file in your data folder)."
            ),
            metavar="URL",
        ),
    ] = None
    run_id: Annotated[str | None, Flag(say("The name of the run; that of a stored run resumes it."), "run", "ID")] = (
        None
    )
    budget: Annotated[
        Budget | Mapping[str, Any] | None,
        Flag(
            say("Stop when this is spent: money=5, tokens=1000000, requests=500, minutes=30."),
            metavar="KIND=AMOUNT",
            several=True,
        ),
    ] = None
    limits: Annotated[
        Limits | Mapping[str, Any] | None,
        Flag(
            say(
                "Time limit of one sample (default 600). Waiting to send a failed request again does not count, but for each request ends after as many seconds, unless the server names a time to come back."
            ),
            "time-limit",
            "SECONDS",
        ),
    ] = None
    max_failed: Annotated[
        float | None,
        Bounds(0, 1),
        Flag(say("The share of infrastructure failures above which the run is inconclusive (default 0.05).")),
    ] = None
    retry_failed: Annotated[bool, Flag(say("When resuming a run, run its infrastructure failures again."))] = False
    accept_changes: Annotated[
        bool, Flag(say("Resume a run although files of the agent, the task, a scorer or the judge changed."))
    ] = False
    cache: Annotated[
        bool,
        Flag(
            say(
                "Take the model's replies from the reply cache of this machine where it has them, and keep new ones there."
            )
        ),
    ] = False
    trace_to: Annotated[
        str | None,
        Flag(
            say("Send each trial to this OpenTelemetry collector; env: to that of the OTEL_ variables."), metavar="URL"
        ),
    ] = None
    trace_content: Annotated[
        bool | None,
        Flag(say("Send what was said, too, with the arguments and results of tools and the reasons of verdicts.")),
    ] = None


class DescribedField(NamedTuple):
    """A field: its type without annotations, its help, and its bounds."""

    kind: Any
    flag: Flag
    bounds: Bounds | None


@cache
def described_fields(kind: type[msgspec.Struct]) -> dict[str, DescribedField]:
    """Return the fields of a struct that have a `Flag`, by name."""
    fields = {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        notes = getattr(hint, "__metadata__", ())
        flag, bounds = (next((note for note in notes if isinstance(note, wanted)), None) for wanted in (Flag, Bounds))
        if isinstance(flag, Flag):
            fields[name] = DescribedField(hint.__origin__, flag, bounds if isinstance(bounds, Bounds) else None)
    return fields


def check_bounds(name: str, value: float | None, kind: type[msgspec.Struct] = RunFields) -> None:
    """Refuse a number out of the range of its field; the sentence is the same wherever the number comes from.

    Raises:
        BadInput: names the option.
    """
    described = described_fields(kind).get(name)
    if value is None or described is None or described.bounds is None:
        return
    low, high, is_open = described.bounds
    if low < value < high or (not is_open and value in (low, high)):
        return
    if high == math.inf:
        raise BadInput("{name} must be at least {low}, not {value}.", name=name, low=low, value=value)
    raise BadInput("{name} must be between {low} and {high}, not {value}.", name=name, low=low, high=high, value=value)
