"""Run calls on the official classes of BFCL, and compare the states they lead to; runs in a worker of `proctor.isolation`.

The classes are those of the user's own package (`bfcl_eval/eval_checker/multi_turn_eval/func_source_code`), which is on
the path. The official code hands each call, as text, to `eval`; here the text is parsed, and only calls of public methods of the sample's own
instances, and of a few harmless builtins, with literal or such called arguments are run. Anything else has the result that
`eval` would have where that is an error of syntax or of a name, and a refusal where it would run code.

Source: bfcl-eval 2026.3.23 (Apache-2.0), `multi_turn_eval/multi_turn_utils.py` and `multi_turn_eval/multi_turn_checker.py`.
"""

import ast
import builtins
import decimal
import importlib
import inspect
import json
import math
import os
import re
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from types import FrameType
from typing import Any

CLASSES = "bfcl_eval.eval_checker.multi_turn_eval.func_source_code"
MODULE_BY_CLASS = {
    "GorillaFileSystem": "gorilla_file_system",
    "MathAPI": "math_api",
    "MessageAPI": "message_api",
    "TwitterAPI": "posting_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "VehicleControlAPI": "vehicle_control",
    "MemoryAPI_kv": "memory_kv",
    "MemoryAPI_vector": "memory_vector",
    "MemoryAPI_rec_sum": "memory_rec_sum",
}
STATELESS = ("MathAPI",)
MEMORY = "MemoryAPI_"
REFUSED = ("kill", "exit", "quit", "remove", "unlink", "popen", "Popen", "run")
CALL_SECONDS = 10.0
MOST_DIFFERENCES = 20
MOST_PARSED = 4_096
SHOWN_CHARACTERS = 2_000  # of one text in a state or a result that is shown to people

_HARMLESS = frozenset(
    {
        "abs",
        "all",
        "any",
        "bool",
        "dict",
        "float",
        "int",
        "len",
        "list",
        "max",
        "min",
        "print",
        "round",
        "set",
        "sorted",
    }
    | {"str", "sum", "tuple"}
)
_CALLED = re.compile(r"\b([a-zA-Z_]\w*)\s*(?=\()")
_NOT_IN_A_NAME = re.compile(r"[-./:]")

Json = Any
warnings.simplefilter("ignore")  # calls may hold texts such as "\d", which Python warns of


class _NotPlain(Exception):
    """The call is to be read in the usual way."""


class Refused(Exception):
    """The call is more than a call of a known function with literal arguments, and is not run."""


class Instances:
    """The instances of the classes of one sample, as one side of it acts on them.

    Args:
        memory: what a class of memory begins with: its `scenario`, and the snapshot at its `start`, None where there is none.
        side: part of the names that instances have inside calls, as upstream names them by model, sample and class.
        exact: hand calls to `eval` as upstream does; for calls that are trusted, such as those of a test.
    """

    def __init__(
        self,
        classes: Sequence[str],
        config: Mapping[str, Json],
        sample_id: str,
        side: str = "model",
        *,
        memory: Mapping[str, Json] | None = None,
        exact: bool = False,
    ) -> None:
        self._exact = exact
        self._files = tempfile.TemporaryDirectory() if memory is not None else None  # removed with the instances
        self.by_class: dict[str, Any] = {}
        self._by_name: dict[str, Any] = {}
        self._owners: dict[str, str] = {}  # by method; the later class has the word
        long_context = "long_context" in sample_id.rpartition("_")[0]
        for name in classes:
            kind, methods = _class(name)
            instance = kind()
            if memory is not None:
                instance._load_scenario(self._memory_config(name, sample_id, **memory))
            elif name not in STATELESS:
                instance._load_scenario(json.loads(json.dumps(config.get(name, {}))), long_context=long_context)
            owner = _NOT_IN_A_NAME.sub("_", f"{side}_{sample_id}_{name}_instance")
            self.by_class[name] = self._by_name[owner] = instance
            self._owners.update(dict.fromkeys(methods, owner))

    def run(self, calls: Sequence[str]) -> list[str]:
        """Return the result of each call, in order, as text; what a call raises is a result too."""
        _listen()
        try:
            return [self._result(call) for call in calls]
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def state(self) -> dict[str, Json]:
        """Return the public attributes of each instance as JSON values, long texts cut; of memory its whole snapshot."""
        if any(name.startswith(MEMORY) for name in self.by_class):
            return {name: _snapshot(instance) for name, instance in self.by_class.items()}
        return {name: shown(public(instance)) for name, instance in self.by_class.items() if name not in STATELESS}

    def _memory_config(self, name: str, sample_id: str, scenario: str, start: Json) -> dict[str, Json]:
        """Lay a snapshot where the class looks for it, in a folder of these instances alone."""
        assert self._files is not None
        root = Path(self._files.name)
        folder = root / "agentic" / "memory" / name.removeprefix(MEMORY) / "memory_snapshot"
        if start is not None:
            folder.mkdir(parents=True)
            (folder / f"{scenario}_final.json").write_text(json.dumps(start), encoding="utf-8")
        return {"model_result_dir": root, "test_id": sample_id, "scenario": scenario}

    def _result(self, call: str) -> str:
        try:
            signal.setitimer(signal.ITIMER_REAL, CALL_SECONDS)
            return _as_text(self._quickly(call))
        except _NotPlain:
            pass
        except MemoryError:
            raise  # the worker ends
        except Exception as error:  # noqa: BLE001 - every error is a result, as upstream
            return f"Error during execution: {error!s}"
        text = _CALLED.sub(self._with_owner, call)
        try:
            function = text.split("(")[0]
            function = function.split(".")[1] if "." in function else function
            if function in REFUSED:
                raise Refused(f"Function call {function} is not allowed.")
            # the exact mode is for calls that a test wrote, to compare ours with
            value = eval(text, dict(self._by_name)) if self._exact else self._evaluated(text)  # noqa: S307
            return _as_text(value)
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 - every error is a result, as upstream
            return f"Error during execution: {error!s}"

    def _quickly(self, call: str) -> object:
        """Run a text that is one call with plain arguments; nearly all are, and many come again.

        Raises:
            _NotPlain: it is not, or not known here.
        """
        name = call.partition("(")[0]
        if self._exact or name not in self._owners or name in REFUSED:
            raise _NotPlain
        node = _parsed_call(call)
        if node is None:
            raise _NotPlain
        try:
            given = [self._value(argument) for argument in node.args]
            named = {str(keyword.arg): self._value(keyword.value) for keyword in node.keywords}
        except Refused:
            raise _NotPlain from None
        return getattr(self._by_name[self._owners[name]], name)(*given, **named)

    def _with_owner(self, match: re.Match[str]) -> str:
        # also inside texts, as upstream
        name = match[1]
        return f"{self._owners[name]}.{name}" if name in self._owners else name

    def _evaluated(self, text: str) -> object:
        source = text.lstrip(" \t")  # as eval does
        body = compile(source, "<string>", "eval", ast.PyCF_ONLY_AST).body  # type: ignore[attr-defined]  # an Expression
        try:
            return self._value(body)
        except Refused:
            compile(source, "<string>", "eval")  # some errors of syntax are found only here, and would come first
            raise

    def _value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Call():
                return self._called(node)
            case ast.List(elts=items):
                return [self._value(item) for item in items]
            case ast.Dict(keys=keys, values=values) if None not in keys:
                return {self._value(key): self._value(value) for key, value in zip(keys, values, strict=True) if key}
            case ast.Tuple(elts=items):
                return tuple([self._value(item) for item in items])
            case ast.Set(elts=items):
                return {self._value(item) for item in items}
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() | complex() as number)):
                return -number
            case ast.BinOp(op=ast.Add() | ast.Sub(), left=left, right=ast.Constant(value=complex() as imaginary)):
                real = self._value(left)
                if isinstance(real, int | float):
                    return real + imaginary if isinstance(node.op, ast.Add) else real - imaginary
            case ast.Name(id=name):
                return self._named(name)
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner in self._by_name:
                if self._owners.get(name) == owner:
                    return getattr(self._by_name[owner], name)
            case ast.Attribute(value=ast.Name() | ast.Attribute() as owned):
                self._value(owned)  # the name that it begins with is looked up first
        raise Refused(f"{ast.unparse(node)[:80]!r} is no call of a function of this sample with plain arguments.")

    def _named(self, name: str) -> Any:
        if name in _HARMLESS:
            return getattr(builtins, name)
        if name in self._by_name or name in _OFFICIAL_NAMES or hasattr(builtins, name):
            raise Refused(f"{name!r} is no function of this sample.")
        raise NameError(f"name {name!r} is not defined")

    def _called(self, node: ast.Call) -> Any:
        function = self._value(node.func)
        if any(isinstance(argument, ast.Starred) for argument in node.args) or len(
            {keyword.arg for keyword in node.keywords} - {None}
        ) < len(node.keywords):
            raise Refused("arguments may not be unpacked or given twice.")
        given = [self._value(argument) for argument in node.args]
        return function(*given, **{str(keyword.arg): self._value(keyword.value) for keyword in node.keywords})


def begin(sample: Mapping[str, Json], exact: bool = False) -> Instances:
    """Return fresh instances of the classes of a sample, which stay in the worker."""
    _fresh_precision()
    return Instances(sample["classes"], sample["config"], sample["id"], memory=sample.get("memory"), exact=exact)


def load(name: str) -> None:
    """Import a class, so that what it lacks is known before it is needed."""
    _class(name)


def check(sample: Mapping[str, Json], steps: Sequence[Sequence[Sequence[str]]], exact: bool = False) -> dict[str, Json]:
    """Compare, turn by turn, what the model's calls lead to with what those of the answer lead to.

    Args:
        sample: its `id`, `classes`, `config` and `answers`, a list of calls for each turn.
        steps: the model's calls, by turn and step; as many turns as there are answers.

    Returns:
        `error_type`, None if all turns pass, else with the `turn`, the `differences` of the states by class and path, the
        `missing` results, and what both sides called in that turn with the results.
    """
    _fresh_precision()
    own = Instances(sample["classes"], sample["config"], sample["id"], exact=exact)
    right = Instances(sample["classes"], sample["config"], sample["id"], "ground_truth", exact=exact)
    pool: list[str] = []
    for turn, answers in enumerate(sample["answers"]):
        calls = [call for step in steps[turn] for call in step]
        results = own.run(calls)
        expected = right.run(answers)
        pool += results
        if not answers:
            continue  # whatever is called in such a turn is not checked, as upstream
        differences: list[dict[str, Json]] = []
        missing: list[str] = []
        if not calls:
            error_type = "empty_turn_model_response"
        elif differing := [name for name in own.by_class if _differ(own.by_class[name], right.by_class[name])]:
            error_type = "instance_state_mismatch"
            for name in differing:
                differences += _differences(name, public(own.by_class[name]), public(right.by_class[name]))
        elif missing := _missing(expected, pool):
            error_type = "execution_response_mismatch"
        else:
            continue
        return {
            "error_type": f"multi_turn:{error_type}",
            "turn": turn,
            "differences": shown(differences[:MOST_DIFFERENCES]),
            "missing": shown(missing),
            "made": shown(list(zip(calls, results, strict=True))),
            "expected": shown(list(zip(answers, expected, strict=True))),
        }
    return {"error_type": None}


def check_all(samples: Sequence[tuple[Mapping[str, Json], Sequence[Sequence[Sequence[str]]]]]) -> list[dict[str, Json]]:
    """Check several samples at once, which spares the way there and back for each."""
    return [check(sample, steps) for sample, steps in samples]


def public(value: object) -> Json:
    """Return a value as JSON values: of an object its public attributes; an object inside itself is left out."""
    return _public(value, ())


def shown(value: Json) -> Json:
    """Return JSON values with long texts cut."""
    if isinstance(value, str):
        return value if len(value) <= SHOWN_CHARACTERS else f"{value[:SHOWN_CHARACTERS]}… ({len(value)})"
    if isinstance(value, Mapping):
        return {key: shown(item) for key, item in value.items()}
    return [shown(item) for item in value] if isinstance(value, list | tuple) else value


@lru_cache(maxsize=MOST_PARSED)
def _parsed_call(text: str) -> ast.Call | None:
    """Return a text that is one call of a name with arguments given once; None for all others."""
    if text.count("(") != 1:  # also in arguments: what looks like a call there is rewritten, as upstream
        return None
    try:
        compile(text, "<string>", "eval")  # finds errors that parsing does not, such as arguments given twice
        node = ast.parse(text, mode="eval").body
    except Exception:  # noqa: BLE001 - said where it is evaluated
        return None
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return None
    unpacked = [argument for argument in node.args if isinstance(argument, ast.Starred)]
    return None if unpacked or any(keyword.arg is None for keyword in node.keywords) else node


@cache
def _class(name: str) -> tuple[Callable[[], Any], tuple[str, ...]]:
    """Return a class with the names of its public methods, in the order of the official code."""
    os.environ.setdefault(
        "BFCL_PROJECT_ROOT", tempfile.gettempdir()
    )  # the package makes folders there when it is imported
    kind = getattr(importlib.import_module(f"{CLASSES}.{MODULE_BY_CLASS[name]}"), name)
    members = inspect.getmembers(kind, inspect.isfunction) + inspect.getmembers(kind, inspect.ismethod)
    return kind, tuple(method for method, _ in members if not method.startswith("_"))


def _snapshot(instance: Any) -> Json:
    instance._flush_memory_to_local_file()
    return json.loads(Path(instance.latest_snapshot_file).read_text(encoding="utf-8"))


def _as_text(value: object) -> str:
    if type(value) is str:
        return value
    if type(value) is dict:
        try:
            return json.dumps(value)
        except Exception:  # noqa: BLE001 - as upstream
            return str(value)
    return str(value)


@cache
def _listen() -> None:
    """Stop a call that computes for ever, such as a huge power: it is the model's fault, not that of the machine."""

    def stop(_: int, __: FrameType | None) -> None:
        raise TimeoutError(f"the call took longer than {CALL_SECONDS:g} seconds")

    signal.signal(signal.SIGALRM, stop)


def _fresh_precision() -> None:
    """Undo what calls of `MathAPI` of other samples may have set for the whole process."""
    decimal.setcontext(decimal.Context(prec=28))
    if (mpmath := sys.modules.get("mpmath")) is not None:
        mpmath.mp.dps = 15


def _differ(own: object, right: object) -> bool:
    """Compare public attributes by `==`; what starts with an underscore, such as the current directory, is ignored."""
    return any(getattr(own, key) != value for key, value in vars(right).items() if not key.startswith("_"))


def _differences(path: str, own: Json, right: Json) -> list[dict[str, Json]]:
    if own == right:
        return []
    if isinstance(own, dict) and isinstance(right, dict):
        keys = dict.fromkeys((*right, *own))
        pairs = [(f"{path}.{key}", own.get(key), right.get(key)) for key in keys]
    elif isinstance(own, list) and isinstance(right, list) and len(own) == len(right):
        pairs = [(f"{path}[{index}]", *pair) for index, pair in enumerate(zip(own, right, strict=True))]
    else:
        return [{"path": path, "got": own, "expected": right}]
    return [difference for key, *pair in pairs for difference in _differences(key, *pair)]


def _missing(expected: Sequence[str], pool: Sequence[str]) -> list[str]:
    """Return the expected results that are not in the pool, each result of which is used once."""
    free = list(pool)
    missing = []
    for result in expected:
        try:
            free.remove(result)
        except ValueError:
            missing.append(result)
    return missing


def _public(value: object, inside: tuple[int, ...]) -> Json:
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if id(value) in inside:
        return None
    inside = (*inside, id(value))
    if isinstance(value, Mapping):
        return {str(key): _public(item, inside) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_public(item, inside) for item in value]
    if not hasattr(value, "__dict__"):
        return str(value)
    kept = {key: item for key, item in vars(value).items() if not key.startswith("_") and id(item) not in inside}
    return {key: _public(item, inside) for key, item in kept.items()}


# What calls could name in the official module, besides builtins: its imports, functions, arguments and variables.
_OFFICIAL_NAMES = frozenset(
    {"copy", "importlib", "inspect", "json", "re", "CLASS_FILE_PATH_MAPPING", "STATELESS_CLASSES"}
    | {"execute_multi_turn_func_call", "is_empty_execute_response", "_process_method_calls"}
    | {"func_call_list", "initial_config", "involved_classes", "model_name", "test_entry_id", "long_context"}
    | {"is_evaL_run", "class_method_name_mapping", "involved_instances", "class_name", "module_name", "instance_name"}
    | {"module", "class_", "class_instance", "class_initial_config", "method_name", "method", "execution_results"}
    | {"func_call", "func_call_copy", "func_call_result"}
)
