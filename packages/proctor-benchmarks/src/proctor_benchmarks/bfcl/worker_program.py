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
import pickle
import re
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
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
MOST_KEPT = 64  # samples of which the way of the answer is kept
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


class Refused(Exception):
    """The call is more than a call of a known function with literal arguments, and is not run."""


class Instances:
    """The instances of the classes of one sample, as one side of it acts on them.

    Args:
        memory: what a class of memory begins with: its `scenario`, and the snapshot at its `start`, None where there is none.
        config: how the classes begin, as JSON text.
        side: part of the names that instances have inside calls, as upstream names them by model, sample and class.
        exact: hand calls to `eval` as upstream does; for calls that are trusted, such as those of a test.
    """

    def __init__(
        self,
        classes: Sequence[str],
        config: str,
        sample_id: str,
        side: str = "model",
        *,
        memory: Mapping[str, Json] | None = None,
        exact: bool = False,
    ) -> None:
        self._exact = exact
        self._files = tempfile.TemporaryDirectory() if memory is not None else None  # removed with the instances
        self.by_class: dict[str, Any]
        if memory is None:
            self.by_class = pickle.loads(_loaded(tuple(classes), config, sample_id))  # noqa: S301
        else:
            [name] = classes
            self.by_class = {name: _class(name)[0]()}
            self.by_class[name]._load_scenario(self._memory_config(name, sample_id, **memory))
        self._by_name: dict[str, object] = {}
        self._owners: dict[str, str] = {}  # by method; the later class has the word
        for name, instance in self.by_class.items():
            owner = _NOT_IN_A_NAME.sub("_", f"{side}_{sample_id}_{name}_instance")
            self._by_name[owner] = instance
            self._owners.update(dict.fromkeys(_class(name)[1], owner))

    def run(self, calls: Sequence[str]) -> list[str]:
        """Return the result of each call, in order, as text; what a call raises is a result too."""
        _listen()
        return [self._result(call) for call in calls]

    def attributes(self) -> dict[str, dict[str, Any]]:
        """Return the public attributes of each instance."""
        return {
            name: {key: value for key, value in vars(instance).items() if not key.startswith("_")}
            for name, instance in self.by_class.items()
        }

    def state(self) -> dict[str, Json]:
        """Return the public attributes of each instance as JSON values, with long texts cut; a memory as its whole snapshot."""
        if any(name.startswith(MEMORY) for name in self.by_class):
            return {name: _snapshot(instance) for name, instance in self.by_class.items()}
        return {name: shown(public(held)) for name, held in self.attributes().items() if name not in STATELESS}

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
            with _IN_TIME:
                plain = not self._exact and _is_plain(call, self._owners)
                return _as_text(self._plain(call) if plain else self._odd(call))
        except MemoryError:
            raise  # the worker ends, as nobody knows what it left undone
        except Exception as error:  # noqa: BLE001 - every error is a result, as upstream
            return f"Error during execution: {error!s}"

    def _plain(self, call: str) -> object:
        """Evaluate such a call without the name of its instance, so that it is parsed once for both sides."""
        try:
            node = _parse(call)
        except SyntaxError:
            return self._odd(call)
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            return self._odd(call)
        owner = self._by_name[self._owners[node.func.id]]
        try:
            return self._called(node, getattr(owner, node.func.id))
        except Refused:
            return self._odd(call)  # perhaps an error of syntax comes first

    def _odd(self, call: str) -> object:
        text = _CALLED.sub(self._with_owner, call)
        function = text.split("(")[0]
        function = function.split(".")[1] if "." in function else function
        if function in REFUSED:
            raise Refused(f"Function call {function} is not allowed.")
        if self._exact:  # for calls that a test wrote, to compare ours with
            return eval(text, dict(self._by_name))  # noqa: S307
        source = text.lstrip(" \t")  # as eval does
        compile(source, "<string>", "eval")  # some errors of syntax are found only here, and come before all others
        return self._value(_parse(source))

    def _with_owner(self, match: re.Match[str]) -> str:
        # also inside texts, as upstream
        name = match[1]
        return f"{self._owners[name]}.{name}" if name in self._owners else name

    def _value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Call():
                return self._called(node, self._value(node.func))
            case ast.List(elts=items):
                return [self._value(item) for item in items]
            case ast.Dict(keys=keys, values=values) if None not in keys:
                return {self._value(key): self._value(value) for key, value in zip(keys, values, strict=True) if key}
            case ast.Tuple(elts=items):
                return tuple([self._value(item) for item in items])
            case ast.Set(elts=items):
                return {self._value(item) for item in items}
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._value(operand)
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

    def _named(self, name: str) -> object:
        if name in _HARMLESS:
            return getattr(builtins, name)
        if name in self._by_name or name in _OFFICIAL_NAMES or hasattr(builtins, name):
            raise Refused(f"{name!r} is no function of this sample.")
        raise NameError(f"name {name!r} is not defined")

    def _called(self, node: ast.Call, function: Any) -> object:
        if any(isinstance(argument, ast.Starred) for argument in node.args) or len(
            {keyword.arg for keyword in node.keywords} - {None}
        ) < len(node.keywords):
            raise Refused("arguments may not be unpacked or given twice.")
        given = [self._value(argument) for argument in node.args]
        return function(*given, **{str(keyword.arg): self._value(keyword.value) for keyword in node.keywords})


def begin(sample: Mapping[str, Json], exact: bool = False) -> Instances:
    """Return fresh instances of the classes of a sample, which stay in the worker."""
    _reset_precision()
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
    by_turn = [[call for step in turn for call in step] for turn in steps]
    methods = frozenset(method for name in sample["classes"] for method in _class(name)[1])
    pairs = list(zip(by_turn, sample["answers"], strict=True))
    same = next((turn for turn, pair in enumerate(pairs) if exact or not _same(*pair, methods)), len(pairs))
    if same == len(pairs):
        return {"error_type": None}
    _reset_precision()
    own = Instances(sample["classes"], sample["config"], sample["id"], exact=exact)
    pool: list[str] = []
    for turn, ((calls, answers), (expected, right)) in enumerate(zip(pairs, _expected(sample, exact), strict=True)):
        results = own.run(calls)
        pool += results
        if turn < same or not answers:
            continue  # whatever is called in a turn without an answer is not checked, as upstream
        differences: list[dict[str, Json]] = []
        missing: list[str] = []
        if not calls:
            error_type = "empty_turn_model_response"
        elif differing := [name for name in own.by_class if _differ(own.by_class[name], right[name])]:
            error_type = "instance_state_mismatch"
            for name in differing:
                differences += _differences(name, public(own.by_class[name]), public(right[name]))
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


def _same(calls: Sequence[str], answers: Sequence[str], methods: frozenset[str]) -> bool:
    """True if a turn makes the calls of its answer, so that it leads to the same state and results without being run."""
    return len(calls) == len(answers) and all(
        _is_plain(call, methods) and _is_plain(answer, methods) and _tree(call) == _tree(answer)
        for call, answer in zip(calls, answers, strict=True)
    )


Expected = tuple[list[str], dict[str, dict[str, object]]]
_kept: dict[str, tuple[object, list[Expected] | None]] = {}


def _expected(sample: Mapping[str, Json], exact: bool) -> Iterator[Expected]:
    """Yield, for each turn, the results of the answer's calls and the public attributes of each class after them.

    They are kept from the second time on that a sample is checked; once is not worth the copies.
    """
    of = (sample["config"], sample["answers"], exact)
    known, turns = _kept.pop(sample["id"], (None, None))
    again = known == of
    if not again or turns is None:
        right = Instances(sample["classes"], sample["config"], sample["id"], "ground_truth", exact=exact)
        played = ((right.run(answers), right.attributes()) for answers in sample["answers"])
        turns = [(results, pickle.loads(pickle.dumps(after))) for results, after in played] if again else None  # noqa: S301
    _kept[sample["id"]] = (of, turns)
    if len(_kept) > MOST_KEPT:
        del _kept[next(iter(_kept))]
    yield from played if turns is None else turns


def check_all(
    samples: Mapping[str, Mapping[str, Json]], items: Sequence[tuple[str, Sequence[Sequence[Sequence[str]]]]]
) -> list[dict[str, Json]]:
    """Check several results at once, each with the id of its sample, which spares the way there and back for each."""
    return [check(samples[id], steps) for id, steps in items]


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


@lru_cache(maxsize=256)
def _loaded(classes: Sequence[str], config: str, sample_id: str) -> bytes:
    """Return fresh instances of the classes as bytes, of which copies are made quickly."""
    instances = {}
    configs, long_context = json.loads(config), "long_context" in sample_id.rpartition("_")[0]
    for name in classes:
        instances[name] = _class(name)[0]()
        if name not in STATELESS:
            instances[name]._load_scenario(configs.get(name, {}), long_context=long_context)
    return pickle.dumps(instances, pickle.HIGHEST_PROTOCOL)


@cache
def _class(name: str) -> tuple[Callable[[], Any], tuple[str, ...]]:
    """Return a class with the names of its public methods, in the order of the official code."""
    root = os.environ.get("BFCL_PROJECT_ROOT")
    # the package makes folders there when it is imported
    os.environ["BFCL_PROJECT_ROOT"] = root or tempfile.gettempdir()
    try:
        module = importlib.import_module(f"{CLASSES}.{MODULE_BY_CLASS[name]}")
    finally:
        if root is None:
            del os.environ["BFCL_PROJECT_ROOT"]
    kind = getattr(module, name)
    members = inspect.getmembers(kind, inspect.isfunction) + inspect.getmembers(kind, inspect.ismethod)
    return kind, tuple(method for method, _ in members if not method.startswith("_"))


def _snapshot(instance: Any) -> Json:
    instance._flush_memory_to_local_file()
    return json.loads(Path(instance.latest_snapshot_file).read_text(encoding="utf-8"))


@lru_cache(maxsize=10_000)
def _tree(call: str) -> str:
    """Return what two texts have in common that are the same call but for whitespace and quotes; the text where it is none."""
    try:
        return ast.dump(_parse(call))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return call


def _as_text(value: object) -> str:
    if type(value) is str:
        return value
    if type(value) is dict:
        try:
            return json.dumps(value)
        except Exception:  # noqa: BLE001 - as upstream
            return str(value)
    return str(value)


def _is_plain(call: str, methods: Container[str]) -> bool:
    """True for the usual call, which upstream's expression changes at its start only.

    It names instances before their methods, and takes away whitespace between any word and a parenthesis, also inside texts.
    """
    if call.partition("(")[0] not in methods:
        return False
    return all(
        match[0] == match[1] and (match.start() == 0 or match[1] not in methods) for match in _CALLED.finditer(call)
    )


class _InTime:
    """Stops a call that computes for ever, such as a huge power: it is the model's fault, not that of the machine."""

    def __enter__(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, CALL_SECONDS)

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)


@cache
def _listen() -> None:
    def stop(_: int, __: FrameType | None) -> None:
        raise TimeoutError(f"the call took longer than {CALL_SECONDS:g} seconds")

    signal.signal(signal.SIGALRM, stop)


_IN_TIME = _InTime()


@lru_cache(maxsize=10_000)
def _parse(source: str) -> ast.expr:
    """Return the tree of a call, which is only read; errors of syntax are those of `eval`."""
    return ast.parse(source, "<string>", "eval").body


def _reset_precision() -> None:
    """Undo what `MathAPI` may have set for the whole process."""
    decimal.setcontext(decimal.Context(prec=28))
    if (mpmath := sys.modules.get("mpmath")) is not None:
        mpmath.mp.dps = 15


def _differ(own: object, right: Mapping[str, object]) -> bool:
    """Compare the public attributes by `==`, as upstream; others, such as the current directory, do not count."""
    return any(getattr(own, key) != value for key, value in right.items())


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
