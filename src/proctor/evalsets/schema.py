"""The nouns of an eval-set file, with the keys ADK writes (snake_case), and how JSON becomes them and goes back.

Source: google/adk-python, src/google/adk/evaluation, eval_set.py, eval_case.py, eval_rubrics.py, release 2.7.1, and
google-genai 2.34 for contents and parts; what release 2.13 adds is known too. Below the top level every key may be in camelCase, which wins where both are.
"""

import base64
import json
from collections.abc import Iterator, Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Any, Self, Union, get_args, get_origin, get_type_hints

import msgspec

from proctor.core.json_path import Invalid, Path, shown
from proctor.core.sentence import Sentence, say

PERSONAS = ("EXPERT", "NOVICE", "EVALUATOR")  # those that ADK knows by name


class _Noun(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Members that say nothing new are left out when written, as ADK does; code made for ADK's classes finds their words."""

    @classmethod
    def model_validate(cls, value: object) -> Self:
        """Data with keys in either spelling, as a noun.

        Raises:
            ValueError: it is none; names the JSON path.
        """
        try:
            return msgspec.convert(normal(value, cls).value, cls)
        except Invalid as error:
            raise ValueError(f"{shown(error.path)}: {error.problem}") from None

    @classmethod
    def model_validate_json(cls, text: str | bytes) -> Self:
        """The same out of JSON text."""
        return cls.model_validate(json.loads(text))

    def model_dump(self, **_: object) -> dict[str, object]:
        """Plain data."""
        plain: dict[str, object] = builtins(self)
        return plain

    def model_dump_json(self, *, indent: int | None = None, **_: object) -> str:
        """JSON text."""
        return json.dumps(builtins(self), indent=indent, ensure_ascii=False)


class FunctionCall(_Noun, frozen=True, kw_only=True):
    """A call; `args` may be missing, which ADK does not take as empty. A call without a name is read, and none is like it."""

    name: str = ""
    args: dict[str, Any] | None = None
    id: str | None = None
    partial_args: Any = None
    will_continue: bool | None = None


class FunctionResponse(_Noun, frozen=True, kw_only=True):
    """What a tool gave back."""

    name: str | None = None
    response: dict[str, Any] | None = None
    id: str | None = None
    parts: Any = None
    scheduling: Any = None
    will_continue: bool | None = None


class Blob(_Noun, frozen=True, kw_only=True):
    """Bytes in base64."""

    data: str | None = None
    mime_type: str | None = None
    display_name: str | None = None


class FileData(_Noun, frozen=True, kw_only=True):
    """A file by its address."""

    file_uri: str | None = None
    mime_type: str | None = None
    display_name: str | None = None


class Part(_Noun, frozen=True, kw_only=True):
    """One part of a message; what an evaluator does not meet is kept as it is."""

    text: str | None = None
    function_call: FunctionCall | None = None
    function_response: FunctionResponse | None = None
    inline_data: Blob | None = None
    file_data: FileData | None = None
    thought: bool | None = None
    thought_signature: Any = None
    code_execution_result: Any = None
    executable_code: Any = None
    video_metadata: Any = None
    media_resolution: Any = None
    media_processing: Any = None
    tool_call: Any = None
    tool_response: Any = None
    part_metadata: Any = None
    audio_transcription: Any = None
    speech_metadata: Any = None


class Content(_Noun, frozen=True, kw_only=True):
    """A message."""

    parts: list[Part] | None = None
    role: str | None = None


class InvocationEvent(_Noun, frozen=True, kw_only=True):
    """One event of the recording of a turn."""

    author: str
    content: Content | None = None
    grounding_metadata: Any = None
    usage_metadata: Any = None
    model_version: Any = None


class IntermediateData(_Noun, frozen=True, kw_only=True):
    """What happened before the answer: lists of calls and results, or the events as newer recorders write them."""

    tool_uses: list[FunctionCall] = []
    tool_responses: list[FunctionResponse] = []
    intermediate_responses: list[tuple[str, list[Part]]] = []
    invocation_events: list[InvocationEvent] = []

    def calls(self) -> list[FunctionCall]:
        """The tool calls in the order they were made."""
        contents = [event.content for event in self.invocation_events if event.content is not None]
        parts = (part for content in contents for part in content.parts or ())
        return [*self.tool_uses, *(part.function_call for part in parts if part.function_call is not None)]

    def results(self) -> list[tuple[FunctionCall, FunctionResponse]]:
        """Return the calls with what came back: by id where there are ids, else the first of the same name."""
        contents = [event.content for event in self.invocation_events if event.content is not None]
        parts = (part for content in contents for part in content.parts or ())
        left = [*self.tool_responses, *(part.function_response for part in parts if part.function_response is not None)]
        found = []
        for call in self.calls():
            place = next(
                (
                    place
                    for place, one in enumerate(left)
                    if (one.id == call.id if one.id and call.id else one.name == call.name)
                ),
                None,
            )
            if place is not None:
                found.append((call, left.pop(place)))
        return found


class RubricContent(_Noun, frozen=True, kw_only=True):
    """The property to judge."""

    text_property: str | None


class Rubric(_Noun, frozen=True, kw_only=True):
    """Something a judge is to look at."""

    rubric_id: str
    rubric_content: RubricContent
    description: str | None = None
    type: str | None = None


class AgentDetails(_Noun, frozen=True, kw_only=True):
    """An agent of the recorded app."""

    name: str
    instructions: str = ""
    tool_declarations: list[Any] = []


class AppDetails(_Noun, frozen=True, kw_only=True):
    """The recorded app."""

    agent_details: dict[str, AgentDetails] = {}


class Invocation(_Noun, frozen=True, kw_only=True):
    """One turn: what the user says, and what is expected."""

    invocation_id: str = ""
    user_content: Content
    final_response: Content | None = None
    intermediate_data: IntermediateData | None = None
    creation_timestamp: float = 0.0
    duration: float | None = None
    model_duration: float | None = None
    tool_duration: float | None = None
    rubrics: list[Rubric] | None = None
    app_details: AppDetails | None = None


class SessionInput(_Noun, frozen=True, kw_only=True):
    """How the session begins. `extra` holds keys that ADK keeps without knowing them."""

    app_name: str
    user_id: str
    session_id: str | None = None
    state: dict[str, Any] = {}
    extra: dict[str, Any] = {}


class ConversationScenario(_Noun, frozen=True, kw_only=True):
    """What a simulated user is to do."""

    starting_prompt: str
    conversation_plan: str
    user_persona: Any = None


class ConversationScenarios(_Noun, frozen=True, kw_only=True):
    """Scenarios of many conversations, as `adk eval_set add_eval_case` reads them."""

    scenarios: list[ConversationScenario]


class EvalCase(_Noun, frozen=True, kw_only=True):
    """One case: a conversation, or the scenario of one. `extra` holds keys that ADK keeps without knowing them."""

    eval_id: str
    conversation: list[Invocation] | None = None
    conversation_scenario: ConversationScenario | None = None
    session_input: SessionInput | None = None
    creation_timestamp: float = 0.0
    rubrics: list[Rubric] | None = None
    final_session_state: dict[str, Any] | None = {}
    extra: dict[str, Any] = {}


class EvalSet(_Noun, frozen=True, kw_only=True):
    """A set of cases. `extra` holds keys that ADK ignores."""

    eval_set_id: str
    name: str | None = None
    description: str | None = None
    eval_cases: list[EvalCase]
    creation_timestamp: float = 0.0
    extra: dict[str, Any] = {}


class Normal(msgspec.Struct, frozen=True, kw_only=True):
    """JSON with the keys of the schema; `notes` tell what ADK would not tell, `renamed` whether a key was changed."""

    value: Any
    notes: tuple[Sentence, ...] = ()
    renamed: bool = False


def normal(value: object, kind: type, path: Path = ()) -> Normal:
    """The same JSON with every key in snake_case, and unknown keys under `extra` where they are kept.

    Raises:
        Invalid: an unknown key where ADK refuses it.
    """
    walk = _Walk()
    made = walk.noun(value, kind, path)
    return Normal(value=made, notes=tuple(walk.notes), renamed=walk.renamed)


def builtins(noun: msgspec.Struct) -> Any:
    """Plain JSON data of a noun as it stands in a file; what was under `extra` is among the other keys again."""
    return _merged(msgspec.to_builtins(noun, enc_hook=_foreign), type(noun))


def camel(name: str) -> str:
    """The other spelling of a key.

    >>> camel("eval_set_id")
    'evalSetId'
    """
    first, *rest = name.split("_")
    return first + "".join(map(str.title, rest))


def texts(content: Content | None, *, thoughts: bool = False) -> Iterator[str]:
    """Yield the texts of a message that are not empty; what a model thought is no answer, so it is left out by default."""
    for part in (content.parts if content is not None else None) or ():
        if part.text and (thoughts or not part.thought):
            yield part.text


class _Walk:
    def __init__(self) -> None:
        self.notes: list[Sentence] = []
        self.renamed = False

    def noun(self, value: object, kind: type[msgspec.Struct], path: Path) -> Any:
        if not isinstance(value, dict):
            return value  # the conversion tells what was expected
        spellings, shapes = _spellings(kind), _shapes(kind)
        made: dict[str, object] = {}
        extra: dict[str, object] = {}
        for key, inner in value.items():
            name = spellings.get(key)
            if name is None:
                self._unknown(key, kind, (*path, key))
                if kind is not InvocationEvent:
                    extra[key] = inner
            elif inner is None and kind is FunctionCall and name == "name":
                continue
            elif name != key or camel(name) not in value or camel(name) == name:
                self.renamed |= name != key
                made[name] = self._inner(_number(inner, name), shapes[name], (*path, name))
            else:
                self.notes.append(
                    say("{path}: '{camel}' counts, '{key}' does not.", path=shown(path), camel=camel(name), key=key)
                )
        _check(kind, made, path)
        return {**made, "extra": extra} if extra else made

    def _unknown(self, key: str, kind: type[msgspec.Struct], path: Path) -> None:
        known = sorted(set(_spellings(kind).values()))
        near = _near(key, known)
        if kind is InvocationEvent:  # the editor of ADK's web page leaves keys of its own here
            self.notes.append(say("{path}: the key is ignored, as by ADK 2.13.{near}", path=shown(path), near=near))
            return
        if "extra" not in kind.__struct_fields__:
            raise Invalid(path, say("the key '{key}' is not known here.{near}", key=key, near=near))
        self.notes.append(say("{path}: the key is not known to ADK; it is kept.{near}", path=shown(path), near=near))

    def _inner(self, value: object, shape: Any, path: Path) -> Any:
        match shape:
            case ("noun", kind):
                return self.noun(value, kind, path)
            case ("list", inner) if isinstance(value, list):
                return [self._inner(one, inner, (*path, place)) for place, one in enumerate(value)]
            case ("pair", inner) if isinstance(value, list) and len(value) == 2:
                return [value[0], self._inner(value[1], inner, (*path, 1))]
            case ("map", inner) if isinstance(value, dict):
                return {key: self._inner(one, inner, (*path, key)) for key, one in value.items()}
        return value


def inline(data: str) -> bytes:
    """The bytes of inline data, which is base64 in either alphabet.

    Raises:
        ValueError: it is none.

    >>> inline("aGk")
    b'hi'
    """
    return base64.b64decode(data.replace("-", "+").replace("_", "/") + "=" * (-len(data) % 4), validate=True)


def _check(kind: type, made: Mapping[str, object], path: Path) -> None:
    """What types cannot say.

    Raises:
        Invalid: ADK would refuse it.
    """
    if kind is IntermediateData and "invocation_events" in made and len(made) > 1:
        raise Invalid(path, say("'invocation_events' stand for the other lists; there cannot be both"))
    if kind is Blob and isinstance(data := made.get("data"), str):
        try:
            inline(data)
        except ValueError as error:
            raise Invalid((*path, "data"), say("the inline data is no base64: {error}", error=error)) from None
    if (
        kind is ConversationScenario
        and isinstance(persona := made.get("user_persona"), str)
        and persona not in PERSONAS
    ):
        known = ", ".join(PERSONAS)
        raise Invalid(
            (*path, "user_persona"), say("there is no persona '{name}'; known: {known}", name=persona, known=known)
        )


def _near(key: str, known: list[str]) -> Sentence | str:
    from difflib import get_close_matches

    found = get_close_matches(key, known, n=1)
    return say(" Did you mean '{near}'?", near=found[0]) if found else ""


def _number(value: object, name: str) -> Any:
    """Times may be numbers in quotes."""
    if name == "creation_timestamp" and isinstance(value, str | bool):
        try:
            return float(value)
        except ValueError:
            return value
    return value


@cache
def _spellings(kind: type[msgspec.Struct]) -> Mapping[str, str]:
    names = [name for name in kind.__struct_fields__ if name != "extra"]
    return {spelling: name for name in names for spelling in (name, camel(name))}


@cache
def _shapes(kind: type) -> Mapping[str, object]:
    return {name: _shape(hint) for name, hint in get_type_hints(kind).items()}


def _shape(hint: Any) -> Any:
    """What of ours is inside a type: ("noun", type), ("list", shape), ("pair", shape), ("map", shape), or None."""
    if get_origin(hint) in (Union, UnionType):
        return next((shape for one in get_args(hint) if one is not NoneType and (shape := _shape(one))), None)
    if isinstance(hint, type) and issubclass(hint, _Noun):
        return ("noun", hint)
    word = {list: "list", tuple: "pair", dict: "map"}.get(get_origin(hint))
    inner = _shape(get_args(hint)[-1]) if word else None
    return (word, inner) if inner else None


def _foreign(value: Any) -> Any:
    """ADK's own objects inside ours become data by their own word for it."""
    dump = getattr(value, "model_dump", None)
    if dump is None:
        raise NotImplementedError(type(value).__name__)
    return dump(mode="json", exclude_none=True)


def _merged(value: Any, kind: type) -> Any:
    """Put back what was under `extra`; nouns without it never hold others that have it, but for the two named here."""
    if kind is EvalSet:
        value["eval_cases"] = [_merged(case, EvalCase) for case in value["eval_cases"]]
    elif kind is EvalCase and "session_input" in value:
        value["session_input"] = _merged(value["session_input"], SessionInput)
    if kind in (EvalSet, EvalCase, SessionInput):
        value |= value.pop("extra", {})
    return value
