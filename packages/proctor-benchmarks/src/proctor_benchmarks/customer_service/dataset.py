"""Read scenarios, and make the samples: each scenario in each language, without a fault and with each of its faults."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sample import Message, Sample, ToolCall, Turn
from proctor.runtime.toml_file import read_toml
from proctor_benchmarks.customer_service.backend import Backend, Fault, Intent

BUNDLED = Path(__file__).with_name("scenarios.toml")
MOST_BYTES = 5_000_000
Language = Literal["en", "zh"]
Call = tuple[str, dict[str, object]]
NO_FAULT = "none"


class CustomerScenario(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a customer wants, and what is right; a customer without words in a language does not speak it.

    Attributes:
        orders: by number, as they are at the beginning.
        en, zh: what the customer says, turn by turn.
        reads: calls that have to be made.
        writes: calls that change something: exactly these have to take effect.
        says: what the last answer has to name.
        values: by language, what takes the place of `{name}` in arguments.
        faults: pairs of a tool and its fault, each for a sample of its own.
    """

    id: str
    intent: Intent
    orders: Mapping[str, Mapping[str, object]] = {}
    en: tuple[str, ...] = ()
    zh: tuple[str, ...] = ()
    reads: tuple[Call, ...] = ()
    writes: tuple[Call, ...] = ()
    says: tuple[str, ...] = ()
    values: Mapping[Language, Mapping[str, str]] = {}
    faults: tuple[tuple[str, Fault], ...] = ()

    def words(self, language: Language) -> tuple[str, ...]:
        return self.zh if language == "zh" else self.en


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    rules: Mapping[Language, str]
    scenario: tuple[CustomerScenario, ...]


def read_scenarios(path: Path) -> _File:
    """Return the scenarios of a file, and the rules that the agent is given.

    Raises:
        BadInput: the file cannot be read, or a scenario is wrong or cannot be solved; names it.
    """
    file = read_toml(path, _File, most_bytes=MOST_BYTES)
    for scenario in file.scenario:
        for language in file.rules:
            _solve(scenario, language, path)
        for tool, _ in scenario.faults:
            if not any(tool == name for name, _ in (*scenario.reads, *scenario.writes)):
                raise BadInput("{path}: the scenario '{id}' has a fault of '{tool}', which it does not need.", path=path, id=scenario.id, tool=tool)  # fmt: skip
    return file


def samples_of(
    found: _File, languages: Sequence[Language], path: Path, *, with_faults: bool, steps: int
) -> Iterator[Sample]:
    """Yield the samples of all scenarios; those of one scenario are one cluster."""
    for scenario in found.scenario:
        for language in languages:
            if not scenario.words(language) or language not in found.rules:
                continue
            for fault in ((), *((pair,) for pair in scenario.faults if with_faults)):
                yield _sample(scenario, language, fault, found.rules[language], path, steps)


def _sample(
    scenario: CustomerScenario,
    language: Language,
    faults: tuple[tuple[str, Fault], ...],
    rules: str,
    path: Path,
    steps: int,
) -> Sample:
    tool, kind = faults[0] if faults else ("", NO_FAULT)
    is_down = kind == "down"
    reads, writes = (_calls(calls, scenario, language) for calls in (scenario.reads, scenario.writes))
    tried = [call for call in (*reads, *writes) if call[0] == tool]  # who hands over without a try is not robust
    begun = Backend(scenario.orders).state() | {"handed_over": True}
    solved = _solve(scenario, language, path)
    state = {name: value for name, value in (begun if is_down else solved).items() if name != "intent"}
    first, *rest = (Message.of("user", text) for text in scenario.words(language))
    return Sample(
        id="/".join(filter(None, (scenario.id, language, tool and f"{tool}-{kind}"))),
        turns=(Turn(messages=(Message.of("system", rules), first)), *(Turn(messages=(said,)) for said in rest)),
        target={
            "intent": scenario.intent,
            "state": state,
            "reads": tried if is_down else reads,
            "says": [] if is_down else list(scenario.says),
        },
        cluster=scenario.id,
        tags={"intent": scenario.intent, "language": language, "fault": kind},
        meta={
            "environment": {"orders": scenario.orders, "faults": dict(faults)},
            "max_steps": steps,
            "writes": writes,
            "reads": reads,
        },
    )


def _calls(calls: Sequence[Call], scenario: CustomerScenario, language: Language) -> list[list[Any]]:
    values = scenario.values.get(language, {})
    return [
        [name, {key: value.format_map(values) if isinstance(value, str) else value for key, value in arguments.items()}]
        for name, arguments in calls
    ]


def _solve(scenario: CustomerScenario, language: Language, path: Path) -> dict[str, object]:
    """Return the state after all that has to be done, which shows that it can be."""
    backend = Backend(scenario.orders)
    try:
        for name, arguments in _calls(scenario.writes, scenario, language):
            vars(Backend)[name](backend, **arguments)
    except Exception as error:
        raise BadInput("{path}: the scenario '{id}' cannot be solved: {error}.", path=path, id=scenario.id, error=f"{type(error).__name__}: {error}") from error  # fmt: skip
    return backend.state()


def call_of(pair: Sequence[Any]) -> ToolCall:
    """Return a call of a sample's target as a tool call."""
    name, arguments = pair
    return ToolCall(name=name, arguments=arguments)
