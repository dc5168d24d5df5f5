"""Run the official domains of τ²-bench in a worker process: tools, databases, replay and assertions, in JSON.

This file imports the standard library and the official code only. Logging, printed differences and `.env` files, which
the official modules load for themselves, are switched off; the command line, the model library and the voice parts are
never imported.
"""

import copy
import hashlib
import json
import pickle
import sys
import types
from collections import OrderedDict
from importlib import import_module
from pathlib import Path
from typing import Any

JSON = dict[str, Any]
DATABASES = {"airline": "FlightDB", "retail": "RetailDB", "telecom": "TelecomDB", "mock": "MockDB"}
KINDS = {"assistant": "AssistantMessage", "user": "UserMessage", "tool": "ToolMessage"}
MOST_KEPT = 256
MOST_CHARACTERS = 500  # of what was raised


class _Silent:
    def __getattr__(self, name: str) -> object:
        return _do_nothing


def _do_nothing(*_: object, **__: object) -> None:
    pass


def _stand_in(name: str, **members: object) -> None:
    module = types.ModuleType(name)
    vars(module).update(members)
    sys.modules[name] = module


def _load() -> None:
    """Make `tau2` a package whose own `__init__`, which imports everything, is not run."""
    if "tau2" in sys.modules:
        return
    source = next(Path(path, "tau2") for path in sys.path if Path(path, "tau2", "domains").is_dir())
    _stand_in("loguru", logger=_Silent())
    _stand_in("deepdiff", DeepDiff=None)
    _stand_in("dotenv", load_dotenv=_do_nothing)
    _stand_in("tau2", __path__=[str(source)])


_databases: dict[str, bytes] = {}


def _environment(domain: str, solo: bool) -> Any:
    """Return a fresh official environment; databases are read and checked once."""
    _load()
    kind = domain.partition("-")[0]
    package = f"tau2.domains.{kind}"
    if kind not in _databases:
        database = getattr(import_module(f"{package}.data_model"), DATABASES[kind])
        path = getattr(import_module(f"{package}.utils"), f"{kind.upper()}_DB_PATH")
        _databases[kind] = pickle.dumps(database.load(path))
    wording = {"policy_type": "workflow" if domain.endswith("-workflow") else "manual"} if kind == "telecom" else {}
    make = import_module(f"{package}.environment").get_environment
    return make(db=pickle.loads(_databases[kind]), solo_mode=solo, **wording)  # noqa: S301 (made above)


def _started(domain: str, task: JSON, solo: bool, messages: list[JSON], strict: bool = True) -> Any:
    """Return an environment in the start state of a task, after the calls of some messages."""
    environment = _environment(domain, solo)
    start = _task(task).initial_state
    environment.set_state(
        initialization_data=start.initialization_data if start else None,
        initialization_actions=start.initialization_actions if start else None,
        message_history=[_official("message", KINDS[message["role"]], message) for message in messages],
        strict=strict,
    )
    return environment


def _task(task: JSON) -> Any:
    return _official("tasks", "Task", task)


def _official(module: str, kind: str, value: JSON) -> Any:
    return getattr(import_module(f"tau2.data_model.{module}"), kind).model_validate(value)


def _hashes(environment: Any) -> list[str | None]:
    return [environment.get_db_hash(), environment.get_user_db_hash()]


def _history(task: JSON) -> list[JSON]:
    return (task.get("initial_state") or {}).get("message_history") or []


class KeptStates:
    """The end states of gold actions and start states by task: the same for every trajectory."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, JSON] = OrderedDict()

    def gold(self, domain: str, task: JSON) -> JSON:
        key = f"{domain} {json.dumps(task, sort_keys=True)}"
        if key not in self._kept:
            self._kept[key] = self._made(domain, task)
            if len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return self._kept[key]

    def _made(self, domain: str, task: JSON) -> JSON:
        # The start without any messages: that is where a replay ends in which nothing is executed.
        start = _hashes(_started(domain, task, False, []))
        environment = _started(domain, task, False, _history(task))
        errors = []
        criteria = _task(task).evaluation_criteria
        for action in (criteria.actions if criteria else None) or []:
            try:
                environment.make_tool_call(tool_name=action.name, requestor=action.requestor, **action.arguments)
            except Exception as error:  # noqa: BLE001 (logged and skipped by the official evaluation)
                errors.append([action.name, str(error)])
        return {"start": start, "hashes": _hashes(environment), "errors": errors}


_kept = KeptStates()


def describe(domain: str, solo: bool) -> JSON:
    """Return the policy of a domain, its tool lists as the models get them, and the kind of every tool."""
    environment = _environment(domain, solo)
    get_tool_types = import_module("tau2.environment.toolkit").get_tool_types
    types_by_tool = {name: kind.value for name, kind in get_tool_types(environment.tools).items()}
    user_tools: list[Any] = []
    if environment.user_tools is not None:
        user_tools = environment.get_user_tools()
        types_by_tool |= {name: kind.value for name, kind in get_tool_types(environment.user_tools).items()}
    return {
        "policy": environment.get_policy(),
        "tools": [tool.openai_schema for tool in environment.get_tools()],
        "user_tools": [tool.openai_schema for tool in user_tools],
        "types": types_by_tool,
    }


def gold(domain: str, task: JSON) -> JSON:
    """Return the hashes of the start and of what the expected actions make of it, and which of them fail."""
    history = _history(task)
    kept = _kept.gold(domain, task)
    return {**kept, "start": _hashes(_started(domain, task, False, history)) if history else kept["start"]}


def evaluate(domain: str, task: JSON, messages: list[JSON], solo: bool, strict: bool) -> JSON:
    """Replay a trajectory and compare it with the expected actions; what the official evaluation raises is in `raised`."""
    criteria = _load_criteria(task)
    if criteria is None or (criteria.actions is None and criteria.env_assertions is None):
        return {"hashes": None, "gold": None, "assertions": None, "raised": None}
    try:
        environment = _started(domain, task, solo, messages, strict)
    except Exception as error:  # noqa: BLE001 (part of the official verdict)
        return {"hashes": None, "gold": None, "assertions": None, "raised": _raised(error)}
    expected = _kept.gold(domain, task)
    calls = [call for message in messages for call in message.get("tool_calls") or []]
    hashes = _hashes(environment) if _mutates(environment, calls) else expected["start"]
    result = {"hashes": hashes, "gold": expected["hashes"], "assertions": [], "raised": None}
    for assertion in criteria.env_assertions or []:
        try:
            met = environment.run_env_assertion(assertion, raise_assertion_error=False)
        except Exception as error:  # noqa: BLE001 (part of the official verdict)
            return {**result, "raised": _raised(error)}
        result["assertions"].append(met)
    return result


def _raised(error: Exception) -> list[str]:
    return [type(error).__name__, str(error)[:MOST_CHARACTERS]]


def _load_criteria(task: JSON) -> Any:
    _load()
    return _task(task).evaluation_criteria


def _mutates(environment: Any, calls: list[JSON]) -> bool:
    return any(environment._has_tool(call["name"]) and environment._is_mutating_tool(call["name"]) for call in calls)


def complete(domain: str, task: JSON, messages: list[JSON]) -> JSON:
    """Make the calls of a conversation, fill in the results that are only a digest, and return where that ends.

    Raises:
        ValueError: a result is not the one that was recorded.
    """
    environment = _started(domain, task, False, _history(task))
    filled = [dict(message) for message in messages]
    results: dict[str, str] = {}
    for message in filled[len(_history(task)) :]:
        for call in message.get("tool_calls") or []:
            call.setdefault("requestor", message["role"])
            results[call["id"]] = environment.get_response(_official("message", "ToolCall", call)).content
        if "content_sha256" in message:
            content = results[message["id"]]
            if not hashlib.sha256(content.encode()).hexdigest().startswith(message.pop("content_sha256")):
                raise ValueError(f"the result of {message['id']} is not the recorded one: {content[:200]}")
            message["content"] = content
    environment.sync_tools()
    return {"messages": filled, "hashes": _hashes(environment)}


class Opened:
    """An environment that a conversation acts on."""

    def __init__(self, environment: Any) -> None:
        self._environment = environment
        self._hashes: list[str | None] | None = None

    def run(self, calls: list[JSON]) -> list[JSON]:
        """Run the calls of a message in order, as the official environment does, and bring both databases in line."""
        if _mutates(self._environment, calls):
            self._hashes = None
        results = [self._environment.get_response(_official("message", "ToolCall", call)) for call in calls]
        self._environment.sync_tools()
        return [{"content": result.content, "error": result.error} for result in results]

    def hashes(self) -> list[str | None]:
        """Return the digests of the agent's database and of the user's."""
        self._hashes = self._hashes or _hashes(self._environment)
        return self._hashes


def start(domain: str, task: JSON, solo: bool) -> Opened:
    """Return the environment of a task in its start state."""
    return Opened(_started(domain, task, solo, copy.deepcopy(_history(task))))
