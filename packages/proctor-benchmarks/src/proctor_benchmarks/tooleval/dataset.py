"""Find queries, prompts and recorded answers in the user's clone of StableToolBench, and turn queries into samples.

A query of `solvable_queries/test_instruction/G1_instruction.json`:

    {"query_id": 588, "query": "…", "relevant APIs": […], "api_list": [{"category_name": "Data", "tool_name": "TheClique",
     "api_name": "Songkick artist", "api_description": "Artist info", "required_parameters": [{"name": "artist_id",
     "type": "string", "description": "", "default": "520117"}], "optional_parameters": [], "method": "GET"}]}

Source: StableToolBench aa4ed9f4737a, `toolbench/inference/Downstream_tasks/rapidapi.py`, `toolbench/utils.py`, and the
prompts of `toolbench/inference/Prompts/ReAct_prompts.py`; they are read from the clone.
"""

import ast
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sample import Message, Sample, Tool, Turn
from proctor.core.validation import in_words
from proctor.runtime.json_file import read_json
from proctor_benchmarks.tooleval.judging import Evaluator, JudgeWording
from proctor_judging.replies.python_source import literal, parse

COMMIT = "aa4ed9f4737ad98bd706663f01d63623c3427812"
SETS = ("G1_instruction", "G1_category", "G1_tool", "G2_instruction", "G2_category", "G3_instruction")
VARIABLE = "PROCTOR_TOOLEVAL_DATA"
EXAMPLE, EXAMPLE_SETS = "example", SETS[:1]  # three queries that come with Proctor, in the layout of a clone
_TYPES = {"NUMBER": "integer", "STRING": "string", "BOOLEAN": "boolean"}
_RESERVED = ("from", "class", "return", "false", "true", "id", "and")
_DESCRIPTION, _TOOL_DESCRIPTION = 256, 512  # characters
_NAME = 64
_QUERIES = ("solvable_queries", "data", ".", "solvable_queries_example")


class ApiParameter(msgspec.Struct, frozen=True):
    """A parameter of an API."""

    name: str
    type: str = "STRING"
    description: str | None = ""
    default: object = ""


class Api(msgspec.Struct, frozen=True):
    """An API as a query lists it."""

    category_name: str
    tool_name: str
    api_name: str
    api_description: str | None = ""
    required_parameters: tuple[ApiParameter, ...] = ()
    optional_parameters: tuple[ApiParameter, ...] = ()


class Query(msgspec.Struct, frozen=True):
    """A query with the APIs that are offered for it; those of the example have calls that solve it, each with its arguments."""

    query_id: int | str
    query: str
    api_list: tuple[Api, ...]
    solution: tuple[tuple[str, Mapping[str, object]], ...] = ()


class Clone:
    """The user's clone, or a folder with the same files."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def wording(self, evaluator: Evaluator = "default") -> JudgeWording:
        return _wording(self.root / "toolbench/tooleval/evaluators" / f"tooleval_gpt-3.5-turbo_{evaluator}")

    def correctness_prompt(self) -> str:
        """Return the prompt for the judge of final answers."""
        return str(self._literal("toolbench/tooleval/fac_eval.py", "PROMPT"))

    def simulator_prompt(self) -> str:
        """Return the prompt for the model that imitates APIs."""
        return str(self._literal("server/main.py", "system_prompt"))

    def system(self, tools: Mapping[str, str]) -> str:
        """Return the agent's prompt with the descriptions of whole tools; one without a description has None, as officially."""
        task = self._literal("toolbench/inference/Downstream_tasks/rapidapi.py", "task_description")
        for number, (tool, said) in enumerate(tools.items(), start=1):
            task += f"{number}.{tool}: {said[:_TOOL_DESCRIPTION].replace(chr(10), '').strip() or None}\n"
        template = self._literal("toolbench/inference/Prompts/ReAct_prompts.py", "FORMAT_INSTRUCTIONS_SYSTEM_FUNCTION")
        return str(template).replace("{task_description}", task)

    def user(self, query: str) -> str:
        """Return the agent's request."""
        template = self._literal("toolbench/inference/Prompts/ReAct_prompts.py", "FORMAT_INSTRUCTIONS_USER_FUNCTION")
        return str(template).replace("{input_description}", query)

    def finish(self) -> Tool:
        """Return the tool that ends a task."""
        schema = self._literal("toolbench/inference/Downstream_tasks/rapidapi.py", "finish_func")
        return Tool(**schema.get("function", schema))

    def queries(self, name: str) -> list[Query]:
        """Return the queries of a set that are in its list of ids.

        Raises:
            BadInput: a file is missing or has another layout.
        """
        path = self.query_file(name)
        try:
            found = msgspec.convert(read_json(path), list[Query])
        except msgspec.ValidationError as error:
            raise BadInput("{path}: {error}.", path=path, error=in_words(error)) from None
        wanted = self.ids(name)
        return [query for query in found if str(query.query_id) in wanted]

    def ids(self, name: str) -> list[str]:
        ids = read_json(self.query_file(name).parents[1] / "test_query_ids" / f"{name}.json")
        return [str(id) for id in ids]

    def query_file(self, name: str) -> Path:
        for below in _QUERIES:
            path = self.root / below / "test_instruction" / f"{name}.json"
            if path.is_file():
                return path
        raise BadInput("{path} has no queries of the set {name}.", path=self.root, name=name)

    def _literal(self, file: str, name: str) -> Any:
        literals = _literals(self.root / file)
        if name not in literals:
            raise BadInput("{path} does not set {name}, which holds an official text.", path=self.root / file, name=name)  # fmt: skip
        return literals[name]


def locate(data: str | None) -> Clone:
    """Return the clone that the user names, or that PROCTOR_TOOLEVAL_DATA does; `example` comes with Proctor.

    Raises:
        BadInput: none is named, or the folder is none.
    """
    given = data or os.environ.get(VARIABLE)
    if not given:
        raise BadInput(
            "Name a clone of StableToolBench: --set data=FOLDER, or the variable {variable}. It comes with git clone https://github.com/THUNLP-MT/StableToolBench (11 MB; Apache-2.0). data=example are three queries that come with Proctor.",
            variable=VARIABLE,
        )
    root = Path(__file__).with_name(EXAMPLE) if given == EXAMPLE else Path(given).expanduser()
    if not (root / "toolbench/tooleval/evaluators").is_dir():
        raise BadInput("{path} is no clone of StableToolBench or ToolBench: it has no toolbench/tooleval/evaluators.", path=root)  # fmt: skip
    return Clone(root)


_wording = lru_cache(maxsize=8)(JudgeWording)


@lru_cache(maxsize=32)
def _literals(path: Path) -> Mapping[str, object]:
    """Return what a source file sets to a literal, the first of each name; nothing in it is run."""
    literals: dict[str, object] = {}
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name | ast.Attribute):
            target = node.targets[0]
            name = target.id if isinstance(target, ast.Name) else target.attr
            with suppress(ValueError):
                literals.setdefault(name, literal(node.value))
    return literals


def sets_of(category: str | Sequence[str] | None) -> list[str]:
    """Return the sets that the user names, in the official order; all when None.

    Raises:
        BadInput: there is no such set.
    """
    named = [*SETS] if category is None else category.split(",") if isinstance(category, str) else [*category]
    if unknown := [name for name in named if name not in SETS]:
        raise BadInput("ToolEval has no set '{name}'. Known: {known}.", name=unknown[0], known=", ".join(SETS))
    return [name for name in SETS if name in named]


def samples(clone: Clone, names: Sequence[str], folder: Path | None = None) -> Iterator[Sample]:
    """Yield the queries of some sets.

    Args:
        folder: what is known of whole tools, `<category>/<tool>.json`; it comes with the recorded responses.
    """
    finish = clone.finish()
    for name in names:
        for query in clone.queries(name):
            pairs = [(api, function_of(api)) for api in query.api_list]
            first = {tool.name: tool for _, tool in reversed(pairs)}  # the server takes the first of a name
            tools = [tool for _, tool in pairs if first[tool.name] is tool]
            places = [_place(api, tool, folder) for api, tool in pairs]
            system = clone.system({each["tool"]: each["tool_description"] for each in places})
            yield Sample(
                id=f"{name}/{query.query_id}",
                turns=(
                    Turn(
                        messages=(Message.of("system", system), Message.of("user", clone.user(query.query))),
                        tools=(*tools, finish),
                    ),
                ),
                tags={"set": name},
                meta={"query": query.query, "apis": places, **({"solution": query.solution} if query.solution else {})},
            )  # fmt: skip


def _place(api: Api, tool: Tool, folder: Path | None) -> dict[str, str]:
    """Return where the tool server finds an API, and what it knows of it."""
    category, standard = standard_category(api.category_name), standard_name(api.tool_name)
    path = folder / category / f"{standard}.json" if folder is not None else None
    return {
        "function": tool.name,
        "category": category,
        "tool": standard,
        "tool_description": _tool_description(path) if path is not None and path.is_file() else "",
        "api": _api_name(api),
        "name": api.api_name,
        "description": api.api_description or "",
    }


@lru_cache(maxsize=4096)
def _tool_description(path: Path) -> str:
    tool = read_json(path)
    if not isinstance(tool, dict):
        raise BadInput("{path} describes no tool.", path=path)
    return str(tool.get("tool_description") or "")


def function_of(api: Api) -> Tool:
    """Return an API as a function of chat completions."""
    standard = standard_name(api.tool_name)
    name = f"{_api_name(api)}_for_{standard}"[-_NAME:]
    description = f'This is the subfunction for tool "{standard}", you can use this tool.'
    if (said := (api.api_description or "").strip()) != "":
        description += f'The description of this function is: "{said.replace(api.api_name, name)[:_DESCRIPTION]}"'
    properties: dict[str, object] = {}
    required: list[str] = []
    optional: list[str] = []
    if api.required_parameters:  # officially an API without any has no optional ones either
        for names, parameters in ((required, api.required_parameters), (optional, api.optional_parameters)):
            for parameter in parameters:
                key = _renamed(standard_name(parameter.name))
                schema = {
                    "type": _TYPES.get(parameter.type, "string"),
                    "description": (parameter.description or "")[:_DESCRIPTION],
                }
                properties[key] = (
                    schema if str(parameter.default) == "" else {**schema, "example_value": parameter.default}
                )
                names.append(key)
    return Tool(name=name, description=description, parameters={"type": "object", "properties": properties, "required": required, "optional": optional})  # fmt: skip


def standard_name(text: str) -> str:
    """Return a name as the tool server writes it.

    >>> standard_name("Songkick artist!"), standard_name("2Gis")
    ('songkick_artist', 'get_2gis')
    """
    name = re.sub(r"_+", "_", re.sub(r"[^\u4e00-\u9fa5a-zA-Z0-9_^]", "_", text)).lower().strip("_")
    return f"get_{name}" if name[:1].isdigit() else name


def standard_category(text: str) -> str:
    """Return a category as the tool server names its folder."""
    return re.sub(r"[ ,/]", "_", text).replace("__", "_").replace("..", "_")  # stays below the cache


def _api_name(api: Api) -> str:
    return _renamed(standard_name(api.api_name))


def _renamed(name: str) -> str:
    return f"is_{name}" if name in _RESERVED else name
