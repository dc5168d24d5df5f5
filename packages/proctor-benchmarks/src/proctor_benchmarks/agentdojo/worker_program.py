"""Run the official suites, tools, attacks and checks of AgentDojo: a program for worker processes, which imports nothing of Proctor.

The package `agentdojo` is on the path that the worker was started with. All of it would load the clients of five providers
(4,400 modules, 12 s), of which environments, attacks and checks need nothing: stand-ins take their place (490 modules, 0.6 s).
"""

import datetime
import hashlib
import importlib.util
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

_CLIENTS = frozenset({"anthropic", "cohere", "google", "langchain", "openai", "requests", "rich", "tenacity"})
_MOST_SHOWN = 2_000  # characters of a changed value in the state
# The time of everything that happens. Official times have no zone, and the checks want it to be after those in the data.
_NOW = datetime.datetime(2025, 1, 1, 12)  # noqa: DTZ001


def listing(version: str) -> dict[str, object]:
    """Return the suites of a version with their tasks, tools and vectors, the attacks, the models they know, and the system message."""
    official = _official()
    return {
        "system": official.system_message,
        "attacks": {name: attack.is_dos_attack for name, attack in official.attacks.items() if name != "manual"},
        "models": official.models,
        "suites": {name: _described(suite) for name, suite in official.suites(version).items()},
    }


def injections(
    version: str, suite: str, user_task: str, injection_task: str, attack: str, model: str
) -> dict[str, str]:
    """Return the text that an attack puts into each vector."""
    scene = _official().suites(version)[suite]
    attacker = _attacker(version, suite, attack, model)
    by_vector: dict[str, str] = attacker.attack(scene.user_tasks[user_task], scene.injection_tasks[injection_task])
    return by_vector


def truth(tasks: Sequence[str], **scene: str) -> dict[str, object]:
    """Return the official solutions of tasks, one after the other: calls with what the tools returned, and the last one's text."""
    world = World(**scene)
    steps = [step for name in tasks for step in world.solve(name)]
    return {"steps": steps, "output": world.task(tasks[-1]).GROUND_TRUTH_OUTPUT}


def judge(runs: Sequence[Sequence[Mapping[str, object]]], **scene: str) -> dict[str, object]:
    """Play recorded runs of the pipeline in a fresh environment, and return the official verdicts on them.

    Args:
        runs: the agent's messages in each run: `{"content": a text or None, "calls": [{"name", "arguments"}], "executed":
            how many of the calls}`.
        scene: the arguments of `World`.
    """
    world = World(**scene)
    utility, security = world.suite.run_task_with_pipeline(
        _Recorded(world, runs), world.user_task, world.injection_task, world.injections, environment=world.environment
    )
    if world.is_denial:
        security = not utility  # as `run_task_with_injection_tasks` does
    return {"utility": utility, "security": security, "state": world.state(), "injections": world.injections}


def inputs(version: str, suite: str, task: str, model: str) -> dict[str, object]:
    """Return what a task begins with, its official solution, and what every attack makes of each injection task."""
    official = _official()
    scene = official.suites(version)[suite]
    world = World(version, suite, task)
    result = {"environment": world.state()["digest"], **truth([task], version=version, suite=suite, user_task=task)}
    if task in scene.user_tasks:
        attacks = [name for name in official.attacks if name != "manual"]
        goals = scene.injection_tasks
        result["candidates"] = _attacker(version, suite, "direct", model).get_injection_candidates(world.user_task)
        result["attacks"] = {
            attack: {goal: injections(version, suite, task, goal, attack, model) for goal in goals}
            for attack in attacks
        }
    return result


class World:
    """The environment of a suite as one task, or a pair of tasks, finds it.

    Args:
        user_task: the task that the agent is given; it may be an injection task.
        injection_task, attack: what the attacker wants, and how the tool results say it; "" for none.
        model: a text with an official model id in it, by which some attacks address the agent.
    """

    def __init__(
        self, version: str, suite: str, user_task: str, injection_task: str = "", attack: str = "", model: str = ""
    ) -> None:
        self.suite = _official().suites(version)[suite]
        self.user_task = self.task(user_task)
        self.injection_task = self.task(injection_task) if injection_task else None
        self.injections = injections(version, suite, user_task, injection_task, attack, model) if injection_task else {}
        self.is_denial = bool(injection_task) and _attacker(version, suite, attack, model).is_dos_attack
        self.environment = self.suite.load_and_inject_default_environment(self.injections)
        if user_task in self.suite.user_tasks:  # injection tasks have no environment of their own
            self.environment = self.user_task.init_environment(self.environment)
        self._before = _plain(self.environment)

    def task(self, name: str) -> Any:
        return (self.suite.injection_tasks if name.startswith("injection") else self.suite.user_tasks)[name]

    def call(self, calls: Sequence[Mapping[str, object]]) -> list[dict[str, Any]]:
        """Execute the calls of one message; each result has its content, and an error or None."""
        _, *results = self.execute(_message(None, calls))
        return [
            {"content": "\n".join(block["content"] for block in result["content"]), "error": result["error"]}
            for result in results
        ]

    def execute(self, message: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the message with the results of its calls; texts that are lists have become lists in its arguments."""
        official = _official()
        runtime = official.runtime(self.suite.tools)
        return list(official.executor.query("", runtime, self.environment, [message])[3])

    def solve(self, name: str) -> Iterator[dict[str, object]]:
        """Make the calls of a task's official solution, and yield each with its result."""
        for call in self.task(name).ground_truth(self.environment):
            wanted = {"name": call.function, "arguments": call.args}
            yield {**wanted, **self.call([wanted])[0]}

    def state(self) -> dict[str, Any]:
        """Return the digest of the environment, and what in it is not as it was in the beginning."""
        now = _plain(self.environment)
        return {"digest": digest(now), "changed": dict(_changes(self._before, now))}


def digest(value: object) -> str:
    """Return the first 16 hex digits of SHA-256 over compact JSON with sorted keys."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class _Recorded:
    """A pipeline whose model answers what it answered then."""

    def __init__(self, world: World, runs: Sequence[Sequence[Mapping[str, object]]]) -> None:
        self._world = world
        self._runs = iter(runs)
        self._last: list[dict[str, object]] = [_message(None, ())]

    def query(self, query: str, runtime: object, env: object) -> tuple[object, ...]:
        run = next(self._runs, None)
        if run is not None:  # else the record ends here, and so it was the last one
            self._last = [message for recorded in run for message in self._play(recorded)]
            if not self._last or self._last[-1]["role"] != "assistant":  # a time limit cut it short
                self._last.append(_message(None, ()))
        return query, runtime, env, self._last, {}

    def _play(self, recorded: Mapping[str, Any]) -> list[dict[str, object]]:
        executed = recorded["executed"]
        message, *results = self._world.execute(_message(recorded["content"], recorded["calls"][:executed]))
        message["tool_calls"] += _message(None, recorded["calls"][executed:])["tool_calls"]
        return [message, *results]


def _message(content: str | None, calls: Sequence[Mapping[str, object]]) -> dict[str, Any]:
    tool_calls = [_official().call(function=call["name"], args=call["arguments"]) for call in calls]
    blocks = None if content is None else [{"type": "text", "content": content}]
    return {"role": "assistant", "content": blocks, "tool_calls": tool_calls}


def _plain(environment: Any) -> dict[str, object]:
    dumped: dict[str, object] = environment.model_dump(mode="json")
    return dumped


def _changes(before: object, after: object, path: str = "") -> Iterator[tuple[str, object]]:
    """Yield the path and the new value of everything that was added or changed; what was removed has no value.

    >>> dict(_changes({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "d": 3}}))
    {'a.c': None, 'a.d': 3}
    """
    if isinstance(after, dict) and (before is None or isinstance(before, dict)):
        before = before or {}
        for key in [*before, *(key for key in after if key not in before)]:
            yield from _changes(before.get(key), after.get(key), f"{path}.{key}" if path else key)
    elif before != after:
        text = json.dumps(after, ensure_ascii=False)
        yield path, after if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + "…"


def _described(suite: Any) -> dict[str, object]:
    return {
        "user_tasks": {name: task.PROMPT for name, task in suite.user_tasks.items()},
        "injection_tasks": {name: task.GOAL for name, task in suite.injection_tasks.items()},
        "vectors": suite.get_injection_vector_defaults(),
        "tools": [
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters.model_json_schema()}
            for tool in suite.tools
        ],
    }


@cache
def _attacker(version: str, suite: str, attack: str, model: str) -> Any:
    """Return an attack on a suite; it keeps which vectors a user task reads, which takes a while to find out."""
    official = _official()
    return official.attacks[attack](official.suites(version)[suite], _StandIn.named(model))


class _Official:
    """What is used of the package."""

    def __init__(self) -> None:
        import yaml

        sys.meta_path.insert(0, _StandIns())
        spec = importlib.util.find_spec("agentdojo")
        if spec is None or not spec.submodule_search_locations:
            raise ImportError("The package agentdojo is not on the path of this worker.")
        folder = Path(spec.submodule_search_locations[0])
        pipeline = ModuleType("agentdojo.agent_pipeline")  # its own __init__ imports every client
        pipeline.__path__ = [str(folder / "agent_pipeline")]
        sys.modules[pipeline.__name__] = pipeline
        # Equal objects, ten times as fast.
        yaml.safe_load = lambda stream: yaml.load(stream, yaml.CSafeLoader)

        from agentdojo.agent_pipeline.tool_execution import ToolsExecutor
        from agentdojo.attacks import attack_registry
        from agentdojo.default_suites.v1.tools import cloud_drive_client, email_client
        from agentdojo.functions_runtime import FunctionCall, FunctionsRuntime
        from agentdojo.models import MODEL_NAMES
        from agentdojo.task_suite.load_suites import get_suites

        email_client.datetime = cloud_drive_client.datetime = _StoppedClock  # all that they use of it is now()
        self.suites = get_suites
        self.attacks = attack_registry.ATTACKS
        self.models = sorted(MODEL_NAMES)
        self.executor = ToolsExecutor()
        self.runtime = FunctionsRuntime
        self.call = FunctionCall
        messages = yaml.safe_load((folder / "data" / "system_messages.yaml").read_text(encoding="utf-8"))
        self.system_message: str = messages["default"]


_official = cache(_Official)


class _StoppedClock:
    """The module `datetime` as two official modules see it: the same calls give the same environment, whenever they are made."""

    class datetime:  # noqa: N801
        @staticmethod
        def now() -> datetime.datetime:
            return _NOW


class _AnyAttribute(type):
    def __getattr__(cls, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return _StandIn


class _StandIn(metaclass=_AnyAttribute):
    """Anything of a client library: a base class, a type in an annotation, a decorator with or without arguments."""

    name = ""

    @classmethod
    def named(cls, name: str) -> "_StandIn":
        """Return a pipeline of that name."""
        stand_in = cls()
        stand_in.name = name
        return stand_in

    def __init__(self, *_: object, **__: object) -> None: ...

    def __call__(self, given: object) -> object:
        return given


class _StandInModule(ModuleType):
    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return _StandIn


class _StandIns(MetaPathFinder, Loader):
    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        is_client = fullname.partition(".")[0] in _CLIENTS
        return ModuleSpec(fullname, self, is_package=True) if is_client else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _StandInModule(spec.name)

    def exec_module(self, module: ModuleType) -> None: ...
