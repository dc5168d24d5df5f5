"""Define a scenario: what a simulated user wants, knows and is like."""

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec

from proctor.core.errors import BadInput
from proctor.core.near import near
from proctor.core.sample import Message, Sample, Turn
from proctor.core.sentence import Sentence, say
from proctor.core.validation import in_words

NAMES: Mapping[str, Sequence[str]] = {  # what a file may call each field; the second is that of google-adk
    "goal": ("goal", "conversation_plan", "目标"),
    "knows": ("knows", "已知", "已知信息"),
    "persona": ("persona", "user_persona", "人设", "角色"),
    "opening": ("opening", "starting_prompt", "开场白"),
    "language": ("language", "语言"),
    "stop": ("stop", "stop_signal", "结束语"),
    "max_turns": ("max_turns", "最多轮次"),
    "system": ("system", "系统提示词"),
    "script": ("script", "turns", "脚本"),
}
_FIELD = {name: field for field, names in NAMES.items() for name in names}


class ScriptedLine(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of a scripted user: said each time the agent's words contain `when`, else once, in its turn; a line of None ends the conversation."""

    say: str | None
    when: str = ""


class Scenario(msgspec.Struct, frozen=True, kw_only=True):
    """The goal, the knowledge and the character of a simulated user.

    Attributes:
        goal: what the user wants to have done.
        knows: what the user can tell when asked.
        persona: who the user is, and how the user speaks.
        opening: the first words, said unchanged; a model finds its own where there are none and the sample asks nothing.
        language: what the user speaks, that of the goal where it is empty.
        stop: what the model replies with when the conversation is over.
        system: the system message that precedes the first words, where the user begins.
        max_turns: turns of the conversation at most, the first one counted.
        script: what a scripted user says.
    """

    goal: str = ""
    knows: str = ""
    persona: str = ""
    opening: str = ""
    language: str = ""
    stop: str = ""
    system: str = ""
    max_turns: Annotated[int, msgspec.Meta(ge=1)] | None = None
    script: tuple[str | ScriptedLine | None, ...] = ()


def read_scenario(given: object, where: str | Sentence) -> Scenario:
    """Return the scenario in a cell of a data file: an object, the goal alone as text, or a script as a list.

    Raises:
        BadInput: a key that is none, a value of another type, or neither a goal nor a script.

    >>> read_scenario({"goal": "Book a room", "knows": {"city": "Rome"}}, "row 1").knows
    '{"city": "Rome"}'
    """
    values: Mapping[str, Any] = given if isinstance(given, Mapping) else _alone(given)
    fields: dict[str, object] = {}
    for key, value in values.items():
        if value is None or value == "":
            continue
        if key not in _FIELD:
            meant = near(key, list(_FIELD))
            raise BadInput(
                "{where}: a scenario has no '{key}'.{near} Known: {known}.",
                where=where,
                key=key,
                near=say(" Did you mean '{near}'?", near=meant[0]) if meant else "",
                known=", ".join(NAMES),
            )
        field = _FIELD[key]
        fields[field] = value if field in ("script", "max_turns") else _as_text(value)
    try:
        scenario = msgspec.convert(fields, Scenario)
    except msgspec.ValidationError as error:
        raise BadInput("{where}: the scenario: {error}.", where=where, error=in_words(error)) from None
    if not scenario.goal and not scenario.script:
        raise BadInput("{where}: the scenario has neither a goal nor a script.", where=where)
    return scenario


def scenario_of(sample: Sample) -> Scenario | None:
    """Return the scenario of a sample; None if it has none.

    Raises:
        BadInput: it is malformed.
    """
    given = sample.known.scenario
    return None if given is None else read_scenario(given, sample.id)


def begin(scenario: Scenario | None, words: str) -> Turn:
    """Return the turn with which a user begins the conversation."""
    system = [Message.of("system", scenario.system)] if scenario is not None and scenario.system else []
    return Turn(messages=(*system, Message.of("user", words)))


def _alone(given: object) -> Mapping[str, object]:
    return {"script": given} if isinstance(given, list | tuple) else {"goal": given}


def _as_text(value: object) -> str:
    return value.strip() if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
