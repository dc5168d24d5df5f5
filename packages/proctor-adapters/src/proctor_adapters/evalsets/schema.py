"""The nouns of an eval-set file, with the keys ADK writes (snake_case); `noun.py` reads and writes them.

Source: google/adk-python, src/google/adk/evaluation, eval_set.py, eval_case.py, eval_rubrics.py, release 2.7.1, and
google-genai 2.34 for contents and parts; what release 2.13 adds is known too.
"""

import base64
from collections.abc import Iterator, Mapping
from typing import Any

from proctor.core.sentence import Sentence, say
from proctor_adapters.evalsets.noun import Noun
from proctor_adapters.json_path import Path

PERSONAS = ("EXPERT", "NOVICE", "EVALUATOR")  # those that ADK knows by name


class FunctionCall(Noun, frozen=True, kw_only=True):
    """A call; `args` may be missing, which ADK does not treat as empty. A call without a name is read, and equals no other."""

    name: str = ""
    args: dict[str, object] | None = None
    id: str | None = None
    partial_args: object = None
    will_continue: bool | None = None

    optional_keys = ("name",)


class FunctionResponse(Noun, frozen=True, kw_only=True):
    """The result that a tool returned."""

    name: str | None = None
    response: dict[str, object] | None = None
    id: str | None = None
    parts: Any = None
    scheduling: object = None
    will_continue: bool | None = None


class Blob(Noun, frozen=True, kw_only=True):
    """Bytes in base64."""

    data: str | None = None
    mime_type: str | None = None
    display_name: str | None = None

    @classmethod
    def problems(cls, made: Mapping[str, object]) -> Iterator[tuple[Path, Sentence]]:
        if isinstance(data := made.get("data"), str):
            try:
                inline(data)
            except ValueError as error:
                yield ("data",), say("the inline data is no base64: {error}", error=error)


class FileData(Noun, frozen=True, kw_only=True):
    """A file by its address."""

    file_uri: str | None = None
    mime_type: str | None = None
    display_name: str | None = None


class Part(Noun, frozen=True, kw_only=True):
    """One part of a message; fields that no evaluator reads are kept unchanged."""

    text: str | None = None
    function_call: FunctionCall | None = None
    function_response: FunctionResponse | None = None
    inline_data: Blob | None = None
    file_data: FileData | None = None
    thought: bool | None = None
    thought_signature: object = None
    code_execution_result: object = None
    executable_code: object = None
    video_metadata: object = None
    media_resolution: object = None
    media_processing: object = None
    tool_call: object = None
    tool_response: object = None
    part_metadata: object = None
    audio_transcription: object = None
    speech_metadata: object = None


class Content(Noun, frozen=True, kw_only=True):
    """A message."""

    parts: list[Part] | None = None
    role: str | None = None


class InvocationEvent(Noun, frozen=True, kw_only=True):
    """One event of the recording of a turn."""

    author: str
    content: Content | None = None
    grounding_metadata: object = None
    usage_metadata: object = None
    model_version: object = None

    ignores_unknown = True  # the editor of ADK's web page leaves keys of its own here


class IntermediateData(Noun, frozen=True, kw_only=True):
    """What happened before the answer: lists of calls and results, or events as newer recorders write them."""

    tool_uses: list[FunctionCall] = []
    tool_responses: list[FunctionResponse] = []
    intermediate_responses: list[tuple[str, list[Part]]] = []
    invocation_events: list[InvocationEvent] = []

    @classmethod
    def problems(cls, made: Mapping[str, object]) -> Iterator[tuple[Path, Sentence]]:
        if "invocation_events" in made and len(made) > 1:
            yield (), say("'invocation_events' stand for the other lists; there cannot be both")

    def calls(self) -> list[FunctionCall]:
        """Return the tool calls in the order they were made."""
        return [*self.tool_uses, *(part.function_call for part in self._parts() if part.function_call is not None)]

    def results(self) -> list[tuple[FunctionCall, FunctionResponse]]:
        """Return the calls with their results, matched by id, or in order by name where there are no ids."""
        recorded = (part.function_response for part in self._parts() if part.function_response is not None)
        left = [*self.tool_responses, *recorded]
        pairs = []
        for call in self.calls():
            matches = (
                index
                for index, response in enumerate(left)
                if (response.id == call.id if response.id and call.id else response.name == call.name)
            )
            if (index := next(matches, None)) is not None:
                pairs.append((call, left.pop(index)))
        return pairs

    def _parts(self) -> Iterator[Part]:
        for event in self.invocation_events:
            yield from (event.content.parts if event.content is not None else None) or ()


class RubricContent(Noun, frozen=True, kw_only=True):
    """The property to judge."""

    text_property: str | None


class Rubric(Noun, frozen=True, kw_only=True):
    """A property for a judge to check."""

    rubric_id: str
    rubric_content: RubricContent
    description: str | None = None
    type: str | None = None


class AgentDetails(Noun, frozen=True, kw_only=True):
    """An agent of the recorded app."""

    name: str
    instructions: str = ""
    tool_declarations: list[object] = []


class AppDetails(Noun, frozen=True, kw_only=True):
    """The recorded app."""

    agent_details: dict[str, AgentDetails] = {}


class Invocation(Noun, frozen=True, kw_only=True):
    """One turn: the user's message, and the expected response and calls."""

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


class SessionInput(Noun, frozen=True, kw_only=True):
    """How the session begins. `extra` holds keys that ADK keeps without knowing them."""

    app_name: str
    user_id: str
    session_id: str | None = None
    state: dict[str, object] = {}
    extra: dict[str, object] = {}


class ConversationScenario(Noun, frozen=True, kw_only=True):
    """The instructions of a simulated user."""

    starting_prompt: str
    conversation_plan: str
    user_persona: object = None

    @classmethod
    def problems(cls, made: Mapping[str, object]) -> Iterator[tuple[Path, Sentence]]:
        if isinstance(persona := made.get("user_persona"), str) and persona not in PERSONAS:
            known = ", ".join(PERSONAS)
            yield ("user_persona",), say("there is no persona '{name}'; known: {known}", name=persona, known=known)


class ConversationScenarios(Noun, frozen=True, kw_only=True):
    """Scenarios of many conversations, as `adk eval_set add_eval_case` reads them."""

    scenarios: list[ConversationScenario]


class EvalCase(Noun, frozen=True, kw_only=True):
    """One case: a conversation, or the scenario of one. `extra` holds keys that ADK keeps without knowing them."""

    eval_id: str
    conversation: list[Invocation] | None = None
    conversation_scenario: ConversationScenario | None = None
    session_input: SessionInput | None = None
    creation_timestamp: float = 0.0
    rubrics: list[Rubric] | None = None
    final_session_state: dict[str, object] | None = {}
    extra: dict[str, object] = {}


class EvalSet(Noun, frozen=True, kw_only=True):
    """A set of cases. `extra` holds keys that ADK ignores."""

    eval_set_id: str
    name: str | None = None
    description: str | None = None
    eval_cases: list[EvalCase]
    creation_timestamp: float = 0.0
    extra: dict[str, object] = {}


def texts(content: Content | None, *, thoughts: bool = False) -> Iterator[str]:
    """Yield the texts of a message that are not empty; what a model thought is no answer, so it is left out by default."""
    for part in (content.parts if content is not None else None) or ():
        if part.text and (thoughts or not part.thought):
            yield part.text


def inline(data: str) -> bytes:
    """Return the bytes of inline data, which is base64 in either alphabet.

    Raises:
        ValueError: it is not valid.

    >>> inline("aGk")
    b'hi'
    """
    return base64.b64decode(data.replace("-", "+").replace("_", "/") + "=" * (-len(data) % 4), validate=True)
