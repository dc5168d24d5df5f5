"""Read generators, one TOML file each: a prompt, the schema of its reply, and the properties that matter.

main = ["problem"]                 # the text that has to be new
answer = "answer"                  # what a solver's answer is compared with; left out where nothing can be solved
topic = "topic"                    # the property with the topic
topics = ["Algebra", "Geometry"]   # asked for in turn
rubric = "math-problem"            # what judges it
prompt = '''... {{ topic }} ... {% if example %}{{ example.problem }}{% endif %} ... {{ form }}'''
[schema]                           # a JSON schema
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from proctor import registry
from proctor.config import converted
from proctor.core.digest import digest
from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence, say
from proctor.runtime.pattern_search import TooSlow
from proctor.runtime.toml_file import read_toml
from proctor_judging.matching import json_schema
from proctor_judging.replies import loose_json

MOST_BYTES = 1_000_000
OWN_KEYS = ("id", "generated_at", "generation")  # of an item, written by us


class Generator(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of a generator file.

    Attributes:
        ids: how items are called; `{number}` counts from 1.
        solve: how a solver is asked; `{{ problem }}` and the other fields are those of the item.
    """

    name: str = ""
    title: str = ""
    ids: str = "gen_{name}_{number}"
    main: tuple[str, ...]
    answer: str | None = None
    topic: str | None = None
    topics: tuple[str, ...] = ()
    rubric: str = "answer-quality"
    prompt: str
    solve: str = ""
    schema: Mapping[str, Any]

    @property
    def digest(self) -> str:
        return digest(self)

    def id(self, number: int) -> str:
        return self.ids.format(name=self.name, number=number)

    def asked(self, *, topic: str, example: Mapping[str, Any] | None) -> str:
        """Return the prompt for one item."""
        return rendered(self.prompt, topic=topic, topics=self.topics, example=example, form=self.form)

    @property
    def form(self) -> str:
        """The form of the reply, as an example in JSON."""
        shown = {name: _sample(part) for name, part in self.schema.get("properties", {}).items()}
        return json.dumps(shown, ensure_ascii=False, indent=4)

    def text(self, item: Mapping[str, object]) -> str:
        """Return what of an item has to be new."""
        return "\n\n".join(as_text(item[name]) for name in self.main if name in item)

    def read(self, reply: str) -> dict[str, object]:
        """Return the item in a reply.

        Raises:
            Rejected: there is none, or it does not fit the schema.
        """
        try:
            value = loose_json.read(reply)
        except loose_json.Unreadable as error:
            raise RejectedRecord("unreadable", error.reason) from None
        if not isinstance(value, dict):
            raise RejectedRecord("unreadable", say("The reply is no JSON object."))
        item = self.checked({name: entry for name, entry in value.items() if name not in OWN_KEYS})
        for name in self.main:
            if item.get(name) == _sample(self.schema["properties"][name]):
                raise RejectedRecord("placeholder", say("'{name}' only repeats the form that was shown.", name=name))
        return item

    def checked(self, item: Mapping[str, object]) -> dict[str, object]:
        """Return an item that fits the schema, with whole numbers as such even if they were text.

        Raises:
            Rejected: it does not fit.
        """
        parts = self.schema.get("properties", {})
        fields = {name: _whole(value) if _wants_integer(parts.get(name)) else value for name, value in item.items()}
        try:
            fault = json_schema.fault(self.schema, fields)
        except TooSlow as error:
            raise RejectedRecord("schema", say("The reply cannot be checked: {error}.", error=error)) from None
        if fault is not None:
            raise RejectedRecord("schema", say("The item does not fit the schema. {fault}", fault=fault))
        return fields


class RejectedRecord(Exception):
    """An item that cannot be accepted: a short kind to count by, and the reason that the model is given."""

    def __init__(self, kind: str, reason: Sentence) -> None:
        super().__init__(str(reason))
        self.kind = kind
        self.reason = reason


def generator(name: str) -> Generator:
    """Return a bundled generator by its name, or the one in a TOML file.

    Raises:
        BadInput: there is none, or the file is wrong; names the place.
    """
    if name.endswith(".toml"):
        return _read(Path(name).expanduser())
    if name not in known():
        raise BadInput(
            "{error} A path works too, for example ./mine.toml.",
            error=registry.unknown("generator", name, known(), paths=False).sentence,
        )
    return _read(_FOLDER / f"{name}.toml")


def known() -> list[str]:
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))


def rendered(template: str, **values: object) -> str:
    """Render a prompt. A user's template can call nothing of Python's.

    Raises:
        BadInput: it is no template.
    """
    from jinja2 import TemplateError

    from proctor_judging.generation.template_sandbox import BoundedEnvironment

    try:
        made = BoundedEnvironment(trim_blocks=True, lstrip_blocks=True).from_string(template)
        return str(made.render(**values)).strip()
    except (TemplateError, ArithmeticError, ValueError, TypeError, MemoryError, RecursionError) as error:
        raise BadInput(
            "The prompt is no valid template: {error}.", error=str(error)[:300] or type(error).__name__
        ) from None


def as_text(value: object) -> str:
    """Return a field as text; lists line by line."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(as_text(item) for item in value)
    return json.dumps(value, ensure_ascii=False)


_FOLDER = Path(__file__).with_name("generators")


def _read(path: Path) -> Generator:
    values = read_toml(path, dict[str, Any], most_bytes=MOST_BYTES)
    try:
        found = converted({"name": path.stem, **values}, Generator, path.name)
        _check(found)
    except BadInput as error:
        raise BadInput("{path}: {error}", path=path, error=error.sentence) from None
    return found


def _check(found: Generator) -> None:
    json_schema.check(found.schema, "schema")
    if found.schema.get("type") != "object" or not isinstance(found.schema.get("properties"), Mapping):
        raise BadInput("The schema has to describe an object with properties.")
    named = [*found.main, *(name for name in (found.answer, found.topic) if name is not None)]
    for name in named:
        if name not in found.schema["properties"]:
            raise BadInput("'{name}' is named, but the schema has no such property.", name=name)
    for name in OWN_KEYS:
        if name in found.schema["properties"]:
            raise BadInput("The property '{name}' is written by Proctor; call it otherwise.", name=name)
    if not found.main:
        raise BadInput("'main' names no property; name the text that has to be new.")
    try:
        numbered = {found.id(1), found.id(2)}
    except (KeyError, IndexError, ValueError):
        numbered = set()
    if len(numbered) < 2:
        raise BadInput("'ids' needs the place {number}, and knows {name} besides.", number="{number}", name="{name}")
    found.asked(topic="", example=None)
    if found.solve:
        rendered(found.solve, **dict.fromkeys(found.schema["properties"], ""))


def _wants_integer(part: object) -> bool:
    return isinstance(part, Mapping) and part.get("type") == "integer"


def _whole(value: object) -> object:
    """Return an integer for text of digits and for 5.0; other values unchanged.

    >>> _whole("042"), _whole(5.0), _whole("4.5"), _whole(True)
    (42, 5, '4.5', True)
    """
    if (
        isinstance(value, str)
        and (text := value.strip().strip("$").strip()).isascii()
        and text.isdigit()
        and len(text) < 20
    ):
        return int(text)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _sample(part: object) -> Any:
    """Return the placeholder of a property in the example of the reply."""
    if not isinstance(part, Mapping):
        return "..."
    if "enum" in part:
        return part["enum"][0]
    match part.get("type"):
        case "integer":
            return min(max(123, part.get("minimum", 123)), part.get("maximum", 123))
        case "number":
            return 1.5
        case "boolean":
            return True
        case "array":
            return [_sample(part.get("items"))]
        case "object":
            return {name: _sample(value) for name, value in part.get("properties", {}).items()}
    return part.get("description", "...")
