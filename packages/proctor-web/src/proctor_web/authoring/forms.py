"""A case as the fields of a form, and back: what the form does not show stays in the case as it is.

The name of a field is its path, such as `turns.0.calls.1.name`. Rows may be added, removed and moved without saving: each
says in `origin` which row of the case it was made from, counted from 0, and '' if it is new.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from proctor.core.sentence import Sentence, say
from proctor.core.validation import describe_malformed
from proctor_adapters.evalsets import schema
from proctor_web.auth import MOST_FIELDS

DEEPEST = 6
MOST_ROWS = 500
FREE_ROWS = {"turns", "calls", "rubrics", "user", "response"}


class TextRow(msgspec.Struct, frozen=True, kw_only=True):
    """One part of a message; `shows` says what a part is that has no text to edit, such as a picture."""

    origin: str = ""
    text: str = ""
    shows: str = ""


class CallRow(msgspec.Struct, frozen=True, kw_only=True):
    """An expected call; `arguments` is JSON, and '' for none at all."""

    origin: str = ""
    name: str = ""
    arguments: str = ""


class RubricRow(msgspec.Struct, frozen=True, kw_only=True):
    """A property for a judge to check."""

    origin: str = ""
    id: str = ""
    text: str = ""


class TurnRow(msgspec.Struct, frozen=True, kw_only=True):
    """One turn of the conversation; `also` is the number of results, messages and events that were recorded with it."""

    origin: str = ""
    user: tuple[TextRow, ...] = (TextRow(),)
    response: tuple[TextRow, ...] = (TextRow(),)
    calls: tuple[CallRow, ...] = ()
    rubrics: tuple[RubricRow, ...] = ()
    also: str = ""


class CaseForm(msgspec.Struct, frozen=True, kw_only=True):
    """Everything of a case that people write."""

    case_id: str = ""
    scenario: str = ""  # "1" for a case that a simulated user plays
    starting_prompt: str = ""
    plan: str = ""
    persona: str = ""
    turns: tuple[TurnRow, ...] = ()
    rubrics: tuple[RubricRow, ...] = ()
    app_name: str = ""
    user_id: str = ""
    session_id: str = ""
    state: str = ""
    final_state: str = ""


Problems = Mapping[str, Sentence]


def form_of(case: schema.EvalCase) -> CaseForm:
    scenario, session = case.conversation_scenario, case.session_input
    persona = scenario.user_persona if scenario is not None else None
    return CaseForm(
        case_id=line(case.eval_id),
        scenario="1" if scenario is not None else "",
        starting_prompt=lines(scenario.starting_prompt) if scenario is not None else "",
        plan=lines(scenario.conversation_plan) if scenario is not None else "",
        persona=lines(persona) if isinstance(persona, str) else _json(persona) if persona is not None else "",
        turns=tuple(_turn_row(index, turn) for index, turn in enumerate(case.conversation or ())),
        rubrics=_rubric_rows(case.rubrics),
        app_name=line(session.app_name) if session is not None else "",
        user_id=line(session.user_id) if session is not None else "",
        session_id=line(session.session_id or "") if session is not None else "",
        state=_json(session.state) if session is not None and session.state else "",
        final_state=_json(case.final_session_state) if case.final_session_state else "",
    )


def lines(text: str) -> str:
    """Normalise text the way an unchanged multi-line field sends it back."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def line(text: str) -> str:
    """Normalise text the way a single-line input does."""
    return lines(text).replace("\n", "")


def read_form(fields: Mapping[str, str]) -> CaseForm:
    """Return the form that a browser sent; fields that it cannot have are left out.

    >>> read_form({"case_id": "a", "turns.0.user.0.text": "Hi", "turns.0.calls.1.name": "f", "x": "1"}).turns[0].calls[0].name
    'f'
    """
    tree: dict[str, Any] = {}
    for name, value in fields.items():
        *path, last = name.split(".")
        if len(path) >= DEEPEST or any(
            not (step.isdecimal() and len(step) < 6) and step not in FREE_ROWS for step in path
        ):
            continue
        inner = tree
        for step in path:
            inner = inner.setdefault(step, {})
            if not isinstance(inner, dict):
                break
        else:
            inner[last] = lines(value)
    try:
        return msgspec.convert(_rows(tree), CaseForm)
    except msgspec.ValidationError:
        return CaseForm()


def is_editable(form: CaseForm) -> bool:
    """True if a browser can send all of a form; a longer case is edited in its file, or by programs."""
    rows = max([len(form.turns), len(form.rubrics), *(len(turn.calls) + len(turn.rubrics) for turn in form.turns)])
    return rows < MOST_ROWS and sum(1 for _ in fields_of(form)) < MOST_FIELDS - 20


def fields_of(form: CaseForm) -> Iterator[tuple[str, str]]:
    """Yield the names and values of all fields of a form."""
    yield from _fields("", msgspec.to_builtins(form))


def arguments_text(args: object) -> str:
    """Return the arguments of a call as the field shows them; '' for none at all."""
    return "" if args is None else _json(args)


def act(form: CaseForm, what: str) -> CaseForm:
    """Return the form after a button was pressed: `add turns.0.calls`, `remove turns.1`, `up turns.1`, `copy turns.1`.

    What makes no sense changes nothing.
    """
    verb, _, path = what.partition(" ")
    tree = _lists(msgspec.to_builtins(form))
    rows, index = tree, None
    try:
        steps: list[str | int] = [int(step) if step.isdecimal() else step for step in path.split(".")]
        for step in steps[:-1]:
            rows = rows[step]
        if verb == "add":
            rows = rows[steps[-1]]
            if len(rows) < MOST_ROWS:
                rows.append({})
        else:
            index = int(steps[-1])
            row = rows[index]
            if verb == "remove":
                del rows[index]
            elif verb == "up" and index > 0:
                rows[index - 1 : index + 1] = [row, rows[index - 1]]
            elif verb == "copy" and len(rows) < MOST_ROWS:
                rows.insert(index + 1, row)
        return msgspec.convert(tree, CaseForm)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        return form


def case_from(form: CaseForm, base: schema.EvalCase) -> tuple[schema.EvalCase, Problems]:
    """Return the case that a form describes, made from the one it was filled with, and what is wrong by field."""
    problems: dict[str, Sentence] = {}
    case = replace(
        base,
        eval_id=_kept(form.case_id, base.eval_id, line).strip(),
        rubrics=_rubrics(form.rubrics, base.rubrics, "rubrics", problems),
        session_input=_session(form, base.session_input, problems),
        final_session_state=_state(form.final_state, base.final_session_state, "final_state", problems),
    )
    if not case.eval_id:
        problems["case_id"] = say("The case needs an id.")
    if form.scenario:
        return replace(case, conversation=None, conversation_scenario=_scenario(form, base, problems)), problems
    turns = [_turn(row, base, f"turns.{index}", problems) for index, row in enumerate(form.turns)]
    if not turns:
        problems["turns"] = say("A case has at least one turn.")
    return replace(case, conversation=turns, conversation_scenario=None), problems


def with_calls(
    data: schema.IntermediateData | None, calls: Sequence[schema.FunctionCall]
) -> schema.IntermediateData | None:
    """Return what was recorded of a turn with other calls; the results of calls that are gone go with them."""
    if data is None:
        return schema.IntermediateData(tool_uses=list(calls)) if calls else None
    before = data.calls()
    if list(calls) == before:
        return data
    ids = {call.id for call in calls}
    gone = {call.id for call in before if call.id and call.id not in ids}
    if not data.invocation_events:
        responses = [response for response in data.tool_responses if not (response.id and response.id in gone)]
        return replace(data, tool_uses=list(calls), tool_responses=responses)
    left = list(calls)
    events = []
    for event in data.invocation_events:
        parts = []
        for part in (event.content.parts if event.content is not None else None) or ():
            response = part.function_response
            if part.function_call is not None:
                if left:
                    parts.append(replace(part, function_call=left.pop(0)))
            elif response is None or not (response.id and response.id in gone):
                parts.append(part)
        if event.content is None or parts or not event.content.parts:
            content = event.content if event.content is None else replace(event.content, parts=parts)
            events.append(replace(event, content=content))
    if left:
        author = next((event.author for event in data.invocation_events if event.author != "user"), "agent")
        content = schema.Content(role="model", parts=[schema.Part(function_call=call) for call in left])
        events.append(schema.InvocationEvent(author=author, content=content))
    return replace(data, invocation_events=events)


def _turn_row(index: int, turn: schema.Invocation) -> TurnRow:
    data = turn.intermediate_data or schema.IntermediateData()
    parts = [part for event in data.invocation_events if event.content for part in event.content.parts or ()]
    others = sum(part.function_call is None for part in parts)
    also = len(data.tool_responses) + len(data.intermediate_responses) + others
    return TurnRow(
        origin=str(index),
        user=_text_rows(turn.user_content) or (TextRow(),),
        response=_text_rows(turn.final_response) or (TextRow(),),
        calls=tuple(
            CallRow(origin=str(number), name=line(call.name), arguments=arguments_text(call.args))
            for number, call in enumerate(data.calls())
        ),
        rubrics=_rubric_rows(turn.rubrics),
        also=str(also or ""),
    )


def _text_rows(content: schema.Content | None) -> tuple[TextRow, ...]:
    parts = (content.parts if content is not None else None) or ()
    return tuple(
        TextRow(origin=str(index), text=lines(part.text or ""), shows=lines(_shown(part)))
        for index, part in enumerate(parts)
    )


def _shown(part: schema.Part) -> str:
    """Return what a part is that is not edited as text; '' for a text."""
    if part.inline_data is not None:
        size = len(part.inline_data.data or "") * 3 // 4
        return f"{part.inline_data.mime_type or 'application/octet-stream'}, {size:,} B"
    if part.file_data is not None:
        return part.file_data.file_uri or part.file_data.mime_type or "file_data"
    if part.function_response is not None:
        return f"{part.function_response.name or ''} → {_json(part.function_response.response)[:200]}"
    if part.function_call is not None:
        return f"{part.function_call.name}({_json(part.function_call.args)[:200]})"
    return f"💭 {part.text}" if part.thought else "" if part.text is not None else "…"


def _rubric_rows(rubrics: Sequence[schema.Rubric] | None) -> tuple[RubricRow, ...]:
    return tuple(
        RubricRow(origin=str(index), id=line(rubric.rubric_id), text=lines(rubric.rubric_content.text_property or ""))
        for index, rubric in enumerate(rubrics or ())
    )


def _turn(row: TurnRow, base: schema.EvalCase, at: str, problems: dict[str, Sentence]) -> schema.Invocation:
    old = _origin(base.conversation or (), row.origin) or schema.Invocation(user_content=schema.Content(role="user"))
    user = _content(row.user, old.user_content, "user")
    if user is None:
        problems[f"{at}.user.0.text"] = say("The user says nothing in this turn.")
    data = old.intermediate_data
    before = data.calls() if data is not None else []
    calls = [
        _call(call, _origin(before, call.origin), f"{at}.calls.{index}", problems)
        for index, call in enumerate(row.calls)
    ]
    return replace(
        old,
        user_content=user or schema.Content(role="user", parts=[]),
        final_response=_content(row.response, old.final_response, "model"),
        intermediate_data=with_calls(data, calls),
        rubrics=_rubrics(row.rubrics, old.rubrics, f"{at}.rubrics", problems),
    )


def _content(rows: Sequence[TextRow], old: schema.Content | None, role: str) -> schema.Content | None:
    """Return a message; None if nothing is in it, but one that was empty stays."""
    before = (old.parts if old is not None else None) or ()
    parts = []
    for row in rows:
        part = _origin(before, row.origin)
        if part is None:
            if row.text:
                parts.append(schema.Part(text=row.text))
        elif _shown(part):
            parts.append(part)
        elif row.text or not part.text:
            parts.append(part if lines(part.text or "") == row.text else replace(part, text=row.text))
    if parts == list(before) and old is not None:
        return old if role == "model" or any(part.text or _shown(part) for part in parts) else None
    if not parts:
        return None
    return replace(old, parts=parts) if old is not None else schema.Content(role=role, parts=parts)


def _call(row: CallRow, old: schema.FunctionCall | None, at: str, problems: dict[str, Sentence]) -> schema.FunctionCall:
    if not row.name.strip():
        problems[f"{at}.name"] = say("Name the tool that is called.")
    args = old.args if old is not None else None
    if not row.arguments.strip():
        args = None
    elif old is None or old.args is None or row.arguments != _json(old.args):
        args = _object(row.arguments, f"{at}.arguments", problems) or {}
    if old is None:
        return schema.FunctionCall(name=row.name.strip(), args=args)
    return replace(old, name=_kept(row.name, old.name, line).strip(), args=args)


def _rubrics(
    rows: Sequence[RubricRow], old: Sequence[schema.Rubric] | None, at: str, problems: dict[str, Sentence]
) -> list[schema.Rubric] | None:
    rubrics = []
    for index, row in enumerate(rows):
        before = _origin(old or (), row.origin)
        if not row.text.strip() and (before is None or before.rubric_content.text_property):
            problems[f"{at}.{index}.text"] = say("Write what a judge shall check, or remove the rubric.")
        rubric_id = _kept(row.id, before.rubric_id if before is not None else "", line).strip() or f"rubric-{index + 1}"
        if before is None:
            rubrics.append(
                schema.Rubric(rubric_id=rubric_id, rubric_content=schema.RubricContent(text_property=row.text))
            )
        else:
            text = before.rubric_content.text_property
            content = replace(before.rubric_content, text_property=_kept(row.text, text, lines))
            rubrics.append(replace(before, rubric_id=rubric_id, rubric_content=content))
    ids = [rubric.rubric_id for rubric in rubrics]
    for index, rubric_id in enumerate(ids):
        if rubric_id in ids[:index]:
            problems[f"{at}.{index}.id"] = say("Another rubric has this id.")
    return rubrics or (None if not old else [] if old == [] else None)


def _session(
    form: CaseForm, old: schema.SessionInput | None, problems: dict[str, Sentence]
) -> schema.SessionInput | None:
    if old is None and not any((form.app_name, form.user_id, form.session_id, form.state.strip())):
        return None
    before = old or schema.SessionInput(app_name="", user_id="")
    return replace(
        before,
        app_name=_kept(form.app_name, before.app_name, line),
        user_id=_kept(form.user_id, before.user_id, line),
        session_id=_kept(form.session_id, before.session_id, line)
        or (None if before.session_id else before.session_id),
        state=_state(form.state, before.state, "state", problems) or {},
    )


def _scenario(form: CaseForm, base: schema.EvalCase, problems: dict[str, Sentence]) -> schema.ConversationScenario:
    old = base.conversation_scenario
    for name, text in (("starting_prompt", form.starting_prompt), ("plan", form.plan)):
        if not text.strip():
            problems[name] = say("A scenario needs this.")
    persona: object = form.persona.strip() or None
    if old is not None and form.persona == form_of(base).persona:
        persona = old.user_persona
    elif isinstance(persona, str) and persona.startswith("{"):
        persona = _object(persona, "persona", problems)
    elif persona is not None and persona not in schema.PERSONAS:
        problems["persona"] = say(
            "Known personas: {known}. Or write one as a JSON object.", known=", ".join(schema.PERSONAS)
        )
    return schema.ConversationScenario(
        starting_prompt=_kept(form.starting_prompt, old.starting_prompt if old is not None else "", lines),
        conversation_plan=_kept(form.plan, old.conversation_plan if old is not None else "", lines),
        user_persona=persona,
    )


def _kept(new: str, old: Any, shown: Callable[[str], str]) -> Any:
    """Return the old text where the field was not changed, as a browser cannot show every text."""
    return old if shown(old or "") == new else new


def _state(
    text: str, old: dict[str, object] | None, at: str, problems: dict[str, Sentence]
) -> dict[str, object] | None:
    if text == (_json(old) if old else ""):
        return old
    return _object(text, at, problems) if text.strip() else {}


def _object(text: str, at: str, problems: dict[str, Sentence]) -> dict[str, Any] | None:
    try:
        value = json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        where = {"line": error.lineno, "column": error.colno}
        why = describe_malformed(error)
        problems[at] = say("This is no JSON: line {line}, column {column}: {error}.", **where, error=why)
    except (ValueError, RecursionError):
        problems[at] = say("This is no JSON that can be kept: a number is too large, or it is nested too deep.")
    else:
        if isinstance(value, dict):
            return value
        problems[at] = say("Write a JSON object, such as {example}.", example='{"city": "北京"}')
    return None


def _refuse(name: str) -> float:
    raise ValueError(name)


def _origin(rows: Sequence[Any], origin: str) -> Any:
    """Return the row of the case that a row of the form was made from; None for a new one."""
    return rows[int(origin)] if origin.isdecimal() and len(origin) < 6 and int(origin) < len(rows) else None


def _json(value: object) -> str:
    return lines(json.dumps(value, indent=2 if value and len(str(value)) > 60 else None, ensure_ascii=False))


def _rows(tree: Any) -> Any:
    """Return the tree with lists where the keys are numbers."""
    if not isinstance(tree, dict):
        return tree
    if tree and all(key.isdecimal() for key in tree):
        return [_rows(tree[key]) for key in sorted(tree, key=int)][:MOST_ROWS]
    return {key: _rows(value) for key, value in tree.items()}


def _lists(value: object) -> Any:
    """Return data with lists in place of tuples, to be changed."""
    if isinstance(value, dict):
        return {key: _lists(inner) for key, inner in value.items()}
    return [_lists(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def _fields(path: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
        return
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else ()
    for key, inner in items:
        yield from _fields(f"{path}.{key}" if path else str(key), inner)
