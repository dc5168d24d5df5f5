"""Look into a folder for what can be evaluated there: an agent in the code, data, traces, an endpoint; nothing is imported or run."""

import ast
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

MOST_FILES = 200  # of a kind that are looked at
FUNCTIONS = ("answer", "agent", "run", "ask", "chat", "reply", "respond", "invoke", "predict", "generate")
OBJECTS = ("agent", "root_agent", "graph", "app", "chain", "assistant", "bot")
FRAMEWORKS = {
    "langgraph",
    "langchain",
    "langchain_core",
    "agents",
    "pydantic_ai",
    "smolagents",
    "veadk",
    "hello_agents",
}
DATA = (".jsonl", ".csv", ".tsv", ".xlsx", ".parquet", ".evalset.json")
LIKELY = ("question", "eval", "cases", "samples", "题")  # in the name of a file of questions
ENDPOINTS = ("OPENAI_BASE_URL", "LLM_BASE_URL", "LLM_MODEL_ID")  # a key alone names no model
OURS = ("task.py", "checks.py")  # which `proctor init` writes


class FolderContents(msgspec.Struct, frozen=True, kw_only=True):
    """What a folder has of each kind, as a run takes it; '' where there is none. `endpoint` is the variable that names one."""

    function: str = ""
    framework: str = ""
    traces: str = ""
    data: str = ""
    endpoint: str = ""

    @property
    def agent(self) -> str:
        """The agent in the code of the folder."""
        return self.framework or self.function


def look_into(folder: Path) -> FolderContents:
    """Return what is there; of several of one kind the one with the likeliest name."""
    from proctor.api.replies import kind_of_replies

    names = sorted(path.name for path in folder.iterdir() if not path.name.startswith((".", "_")))[: MOST_FILES * 5]
    objects = [*_objects(folder, [name for name in names if name.endswith(".py")][:MOST_FILES])]
    spans = [
        name
        for name in names
        if name.endswith((".json", ".jsonl", ".ndjson", ".pb", ".gz")) or ("trace" in name and (folder / name).is_dir())
    ]
    traces = [name for name in spans[:MOST_FILES] if kind_of_replies(folder / name) is not None]
    data = [name for name in names if name.endswith(DATA) and name not in traces and (folder / name).stat().st_size]
    return FolderContents(
        function=_likeliest(objects, FUNCTIONS, is_object=False),
        framework=_likeliest(objects, OBJECTS, is_object=True),
        traces=next(iter(traces), ""),
        data=min(data, key=lambda name: (not any(word in name for word in LIKELY), name), default=""),
        endpoint=next((name for name in ENDPOINTS if os.environ.get(name)), ""),
    )


def _objects(folder: Path, files: Iterable[str]) -> Iterator[tuple[str, str, bool]]:
    """Yield file, name, and whether it is an object of a framework, for all that could be an agent."""
    for name in files:
        if name in OURS or name.startswith("test_"):
            continue
        with suppress(OSError, SyntaxError, ValueError, RecursionError):
            body = ast.parse((folder / name).read_bytes()).body
            is_of_framework = any(map(_imports_framework, body))
            for node in body:
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _takes_one(node):
                    yield name, node.name, False
                elif is_of_framework and isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
                    yield from ((name, target.id, True) for target in node.targets if isinstance(target, ast.Name))


def _imports_framework(node: ast.stmt) -> bool:
    modules: list[str] = []
    if isinstance(node, ast.Import):
        modules = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        modules = [node.module or ""]
    return any(module.partition(".")[0] in FRAMEWORKS or module.startswith("google.adk") for module in modules)


def _takes_one(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    taken = [*node.args.posonlyargs, *node.args.args]
    return len(taken) - len(node.args.defaults) <= 1 <= len(taken) and None not in node.args.kw_defaults


def _likeliest(objects: Iterable[tuple[str, str, bool]], names: tuple[str, ...], *, is_object: bool) -> str:
    """Return `./file.py:name` of the likeliest, or ''; only what is called as agents are may be run without being asked for."""
    fitting = [(file, name) for file, name, of_framework in objects if of_framework == is_object and name in names]
    if not fitting:
        return ""
    file, name = min(fitting, key=lambda one: ("agent" not in one[0], names.index(one[1]), one[0]))
    return f"./{file}:{name}"
