"""Run the official tools of API-Bank: a program for worker processes, which imports nothing of Proctor.

The folder `api-bank` of the user's copy is on the path, and is the working directory: the official code opens its files by
relative paths. Stand-ins take the place of what reaches the network or a model; the reply says where one was called, as the tools
turn every exception into a result.
"""

import os
import pickle
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from math import sqrt
from types import ModuleType
from typing import Any

PLANNED = "lv3_apis"
_MOST_SHOWN = 2_000  # characters of a result
_WORDS = re.compile("[a-z]+")
sys.dont_write_bytecode = True  # the copy is the user's


def run(
    tools: str,
    name: str,
    params: dict[str, str],
    truth: Mapping[str, Any],
    wanted: str,
    searches: Sequence[Any] | None = None,
) -> dict[str, Any]:
    """Make a call, let the tool `wanted` check its result, and return the official status.

    That is CORRECT, the error class of levels 1 and 2, MISMATCH or WRONG of level 3, or RAISES where the official run ends.

    Args:
        tools: the folder of the tools, of level 3 or of the others.
        name, params: the call.
        truth: the recorded result.
        wanted: the tool of the truth.
        searches: the known result of the tool search, as a list of one or none; None to search by words.
    """
    is_planned = tools == PLANNED
    manager = _begin(tools, searches)
    result: Any = None
    raised = None
    is_called = False
    try:
        if is_planned and name == "ToolSearcher":
            params["keywords"] = _split(params["keywords"])
        result = manager.api_call(name, **params)
        is_called = True
        is_right = manager.init_tool(wanted).check_api_call_correctness(result, truth)
    except Exception as error:  # noqa: BLE001 - the official code looks at all of them
        raised = f"{type(error).__name__}: {error}"[:_MOST_SHOWN]
        status = (_planned_class if is_planned else _class)(error, is_called)
    else:
        status = "CORRECT" if is_right else "MISMATCH" if is_planned else _mismatch(result, truth)
    return {"status": status, "result": str(result)[:_MOST_SHOWN], "raised": raised, "missing": _now.missing}


def check(tools: str, name: str, response: Mapping[str, object], truth: Mapping[str, object]) -> object:
    """Return what a tool says of a result: true or false, or how it raises."""
    try:
        return bool(_begin(tools, None).init_tool(name).check_api_call_correctness(response, truth))
    except Exception as error:  # noqa: BLE001 - part of the official verdict
        return f"RAISES {type(error).__name__}: {error}"


def _mismatch(result: Any, truth: Mapping[str, object]) -> str:
    if result["exception"]:
        return "HAS_EXCEPTION"
    if result["output"] != truth["output"]:
        return "OUTPUT_MISMATCH"
    return "INPUT_MISMATCH" if result["input"] != truth["input"] else ""


def _class(error: Exception, is_called: bool) -> str:
    said = str(error)
    if is_called and isinstance(error, KeyError):
        return "KEY_ERROR"
    if isinstance(error, AssertionError):
        if "The API name is not correct." in said:
            return "API_NAME_MISMATCH"
        return "INVALID_INPUT_PARAMETER" if "invalid parameter name" in said else "RAISES"
    if "Parse API Call Error" in said:
        return "FAILED_PARSE_API_CALL"
    return "MISS_INPUT_ARGUMENT" if "missing" in said and "required positional argument" in said else "RAISES"


def _planned_class(error: Exception, is_called: bool) -> str:
    if is_called:
        return "MISMATCH" if isinstance(error, KeyError | AssertionError) else "RAISES"
    is_wrong = isinstance(error, TypeError | AssertionError) or str(error) == "invalid tool name."
    return "WRONG" if is_wrong else "RAISES"


def _split(text: str) -> str:
    return "".join(f" {one}" if one.isupper() else one for one in text).strip()


class _Now:
    """What belongs to the call that is being made: how tools are searched, and what it needed that is not here."""

    searches: Sequence[object] | None = None
    missing: str | None = None


_now = _Now


def _begin(tools: str, searches: Sequence[object] | None) -> Any:
    _now.searches, _now.missing = searches, None
    return _managers(tools)()


@cache
def _managers(tools: str) -> Callable[[], object]:
    """Return what makes a tool manager in which nothing was called; the official one, but it copies databases instead of reading all."""
    official = _official().ToolManager(f"./{tools}")
    states = {name: pickle.dumps(state) for name, state in official.init_databases.items()}
    infos = {info["name"]: info for info in reversed(official.apis)}  # the first of equal names wins
    for info in official.apis:
        info.pop("init_database", None)
    _know_searches(infos["ToolSearcher"]["class"])

    base: Any = _official().ToolManager

    class Manager(base):
        def __init__(self) -> None:
            self.apis = official.apis
            self.inited_tools: dict[str, object] = {}
            self._databases: dict[str, object] = {}  # tools that name the same one share it
            if "CheckToken" in infos:
                self.token_checker = self.init_tool("CheckToken")

        def get_api_by_name(self, name: str) -> object:
            info = infos.get(name) or super().get_api_by_name(name)
            database = vars(info["class"]).get("database_name")
            if database not in states:
                return info
            if database not in self._databases:
                self._databases[database] = pickle.loads(states[database])  # noqa: S301 - we wrote it
            return {**info, "init_database": self._databases[database]}

    return Manager


def _know_searches(searcher: Any) -> None:
    """Let the tool search return the known result of a call where there has to be one."""
    by_words = searcher.best_match_api

    def best_match(self: object, keywords: str) -> object:
        if _now.searches is None:
            return by_words(self, keywords)
        return _now.searches[0] if _now.searches else _refuse("embeddings")()

    searcher.best_match_api = best_match


@cache
def _official() -> Any:
    os.chdir(os.environ["APIBANK_FOLDER"])
    list_folder = os.listdir
    in_order: Any = lambda *path: sorted(list_folder(*path))  # noqa: E731 - untyped
    os.listdir = in_order  # the search prefers the first of equals
    _install_stand_ins()
    return import_module("tool_manager")


class _Missing(Exception):
    pass


def _refuse(what: str) -> Callable[..., object]:
    def refuse(*_: object, **__: object) -> object:
        _now.missing = what
        raise _Missing(f"{what} is not there.")

    return refuse


class _Words:
    """Stands in for sentence embeddings: a text is the set of its words."""

    def __init__(self, *_: object) -> None: ...

    def encode(self, text: str) -> frozenset[str]:
        return frozenset(_WORDS.findall(text.lower()))


class _Cosine:
    def __init__(self, one: frozenset[str], other: frozenset[str]) -> None:
        self._value = len(one & other) / sqrt(len(one) * len(other)) if one and other else 0.0

    def item(self) -> float:
        return self._value


class _Translator:
    """Says at once that the network is missing: without a table of languages, its tool would never come to ask for it."""

    def __init__(self) -> None:
        _now.missing = "network"


class _Anything:
    def __init__(self, *_: object, **__: object) -> None: ...


def _install_stand_ins() -> None:
    def module(name: str, **names: object) -> ModuleType:
        made = ModuleType(name)
        vars(made).update(names)
        sys.modules[name] = made
        return made

    util = module("sentence_transformers.util", cos_sim=_Cosine)
    module("sentence_transformers", SentenceTransformer=_Words, util=util)
    module("googletrans", Translator=_Translator, LANGUAGES={})
    tokenize = module("nltk.tokenize", word_tokenize=_refuse("tokenizer"))
    module("nltk", tokenize=tokenize, download=_Anything)
    module("rank_bm25", BM25Okapi=_Anything)
    module("numpy")
    exceptions = module("requests.exceptions", RequestException=type("RequestException", (OSError,), {}))
    module("requests", get=_refuse("network"), exceptions=exceptions)
