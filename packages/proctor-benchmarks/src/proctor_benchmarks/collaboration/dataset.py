"""Read scenarios from a TOML file, or make one of each transcript where there is none.

[[scenario]]
id = "launch"
task = "Prepare the launch of our kettle: …"
team = ["planner", "analyst"]
goals = [{ name = "price reported", answer = ["49"] }, { name = "checked", said = ["approved"], by = "reviewer" }]
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sample import Message, Sample, Turn
from proctor.runtime.toml_file import read_toml
from proctor_adapters.traces import is_trace
from proctor_adapters.traces import read as read_traces
from proctor_benchmarks.collaboration import transcripts
from proctor_benchmarks.collaboration.goals import Goal
from proctor_benchmarks.collaboration.scorer import KEY

BUNDLED = Path(__file__).with_name("scenarios.toml")
MOST_BYTES = 20_000_000
Language = Literal["all", "en", "zh"]


class TeamScenario(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a team is asked, and what it has to reach.

    Attributes:
        team: the agents there are; a sample without them counts those that act.
        handoffs: tools of this team that hand over, besides the usual ones.
        facts: what the files of the office say by topic; with them there are its tools.
        solution: calls, as names with arguments, by which a good team reaches its goals; those that the goals name when empty.
        cluster: scenarios that are not independent have the same; the part of the id before a slash when empty.
    """

    id: str
    task: str
    goals: tuple[Goal, ...]
    language: str = ""
    team: tuple[str, ...] = ()
    handoffs: tuple[str, ...] = ()
    facts: Mapping[str, str] = {}
    solution: tuple[tuple[str, dict[str, object]], ...] = ()
    cluster: str = ""
    tags: Mapping[str, str] = {}


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    scenario: tuple[TeamScenario, ...]


def samples(path: Path, language: Language, steps: int) -> list[Sample]:
    """Return the samples of a file of scenarios, or of transcripts, which name no goals.

    Raises:
        BadInput: the file cannot be read, or something in it is wrong.
    """
    if path.suffix != ".toml":
        return list(_of_transcripts(path))
    scenarios = read_scenarios(path)
    return [
        _sample(scenario, steps) for scenario in scenarios if language == "all" or scenario.language in ("", language)
    ]


def read_scenarios(path: Path) -> Sequence[TeamScenario]:
    """Return the scenarios of a file.

    Raises:
        BadInput: it cannot be read, or a scenario is wrong; names it.
    """
    scenarios = read_toml(path, _File, most_bytes=MOST_BYTES).scenario
    for scenario in scenarios:
        names = [goal.name for goal in scenario.goals]
        if len(set(names)) < max(1, len(names)):
            raise BadInput(
                "{path}: the scenario '{id}' needs goals, each with a name of its own.", path=path, id=scenario.id
            )
        if strange := next(
            (goal.by for goal in scenario.goals if goal.by and scenario.team and goal.by not in scenario.team),
            "",
        ):
            raise BadInput("{path}: a goal of the scenario '{id}' is by '{agent}', who is not in its team.", path=path, id=scenario.id, agent=strange)  # fmt: skip
    return scenarios


def _sample(one: TeamScenario, steps: int) -> Sample:
    options: dict[str, object] = {"goals": msgspec.to_builtins(one.goals), "team": list(one.team), "handoffs": list(one.handoffs)}  # fmt: skip
    solution = one.solution or [(goal.call, goal.arguments) for goal in one.goals if goal.call]
    meta: dict[str, object] = {KEY: options, "max_steps": steps, "solution": msgspec.to_builtins(solution)}
    if one.facts:
        meta["environment"] = {"facts": dict(one.facts)}
    return Sample(
        id=one.id,
        turns=(Turn(messages=(Message.of("user", one.task),)),),
        cluster=one.cluster or one.id.partition("/")[0],
        tags={**({"language": one.language} if one.language else {}), **one.tags},
        meta=meta,
    )


def _of_transcripts(path: Path) -> Iterator[Sample]:
    if not path.exists():
        raise BadInput("{path} cannot be read: {error}.", path=path, error="no such file")
    if is_trace(path):
        for conversation in read_traces([path]).whole:
            yield Sample(id=conversation.id, turns=tuple(Turn(messages=(said,)) for said in conversation.turns))
        return
    for transcript in transcripts.read(path):
        yield Sample(id=transcript.ids[0], turns=(Turn(messages=(Message.of("user", transcript.question),)),))
