"""Record conversations as cases of an eval-set file: sessions of google-adk and VeADK, or those of any agent.

The calls and answers that were made are those that will be expected, in the shape that ADK's newer recorders write.
"""

import base64
import re
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from proctor.core.declared import AgentInfo, OpenTurn, SessionInfo, declared
from proctor.core.errors import BadInput
from proctor.core.sample import File, Message, Part, Reasoning, Sample, Text, ToolCall, ToolResult, Turn
from proctor.core.task import Agent, Environment, Session
from proctor.core.trajectory import Step, ToolStyle
from proctor.runtime.files import reading
from proctor.runtime.threads import in_thread
from proctor_adapters.agents.adk_events import as_object, plain, said_by_user, steps_of
from proctor_adapters.evalsets import cases, schema, write
from proctor_adapters.evalsets.noun import read_noun
from proctor_adapters.evalsets.read import SUFFIXES, set_id
from proctor_adapters.evalsets.schema import (
    Blob,
    Content,
    EvalCase,
    EvalSet,
    FileData,
    FunctionCall,
    FunctionResponse,
    IntermediateData,
    Invocation,
    InvocationEvent,
    SessionInput,
)

DEFAULT_SET = "default"
Played = Sequence[tuple[Turn, Sequence[Step]]]
_SET_ID = re.compile(r"[\w-]+")


async def save_eval_set(
    source: object,
    path: Path | str | None = None,
    *,
    session_id: str | None = None,
    user_id: str | None = None,
    eval_set_id: str | None = None,
    eval_id: str | None = None,
) -> Path:
    """Add a session of google-adk or VeADK to an eval-set file as a case; the file is made when it is not there.

    Args:
        source: the session, or a runner that knows it.
        path: the file; `<eval_set_id>.evalset.json` in this folder if None.
        session_id, user_id: which session of the runner; the user of a VeADK runner need not be named.
        eval_set_id: the id of a new set; the name of the file if None, and `default` without either.
        eval_id: the id of the case; `eval_<time>` if None.

    Returns:
        The path of the file.

    Raises:
        BadInput: no such session, one without a question, an id that is taken, or a file that cannot be read or written.
    """
    session = await _session_of(source, session_id, user_id)
    played, state = played_in(session)
    began: dict[str, float] = {}  # when each turn did, by its id
    for event in session.events:
        if event.author == "user" and any(said_by_user(event)):
            began.setdefault(event.invocation_id, event.timestamp)
    begin = SessionInput(app_name=session.app_name, user_id=session.user_id, state=_unchanged_state(session, state))
    case = case_of(eval_id or "", played, begin)
    turns = zip(case.conversation or (), began.items(), strict=True)
    case = replace(
        case, conversation=[replace(turn, invocation_id=id_, creation_timestamp=at) for turn, (id_, at) in turns]
    )
    if state != begin.state:
        case = replace(case, final_session_state=state)
    target = _path(path, eval_set_id)
    await in_thread(partial(save_case, target, case, eval_set_id=eval_set_id, named=eval_id is not None))
    return target


class Recorder:
    """An agent whose every conversation becomes a case of a file, under the id of its sample.

    A conversation that breaks, or that a limit ends, is not recorded.
    """

    def __init__(self, agent: Agent, path: Path | str) -> None:
        self.name = agent.name
        self.tools = agent.tools
        about = declared(AgentInfo, agent)
        self.concurrency, self.model, self.reports_cost = about.concurrency, about.model, about.reports_cost
        self._agent = agent
        self._path = _path(path, None)

    async def __aenter__(self) -> "Recorder":
        if isinstance(self._agent, AbstractAsyncContextManager):
            await self._agent.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        if isinstance(self._agent, AbstractAsyncContextManager):
            await self._agent.__aexit__(*error)

    @asynccontextmanager
    async def open(self, sample: Sample, environment: Environment | None) -> AsyncIterator[Session]:
        """Open the agent's own conversation and record it."""
        async with self._agent.open(sample, environment) as session:
            heard = HeardSession(session)
            yield heard
        if heard.played and not any(step.stop == "step_limit" for _, steps in heard.played for step in steps):
            case = case_of(sample.id, heard.played, session_input(sample.known.session))
            await in_thread(partial(save_case, self._path, case))


class HeardSession:
    """A session that is listened to; `played` are its turns so far."""

    def __init__(self, session: Session) -> None:
        self.played: list[tuple[Turn, Sequence[Step]]] = []
        self._session = session

    @property
    def tools(self) -> ToolStyle | None:
        return declared(SessionInfo, self._session).tools

    @property
    def state(self) -> Mapping[str, object] | None:
        return declared(SessionInfo, self._session).state

    @property
    def received(self) -> Sequence[Step]:
        return declared(OpenTurn, self._session).received

    async def send(self, turn: Turn) -> Sequence[Step]:
        steps = await self._session.send(turn)
        self.played.append((turn, steps))
        return steps


def save_case(
    path: Path, case: EvalCase, *, eval_set_id: str | None = None, named: bool = False, instead_of: str | None = None
) -> str:
    """Add a case to a file and return its id; an id that is taken gets a number appended, unless it was `named`.

    Args:
        instead_of: the case that it takes the place of, if that is still there.

    Raises:
        BadInput: the file cannot be read or written, or holds a case of the id that was named.
    """
    chosen = case.eval_id

    def edit(eval_set: EvalSet) -> EvalSet:
        nonlocal chosen
        ids = {one.eval_id for one in eval_set.eval_cases}
        if instead_of in ids:
            chosen = instead_of or ""
            return cases.put(eval_set, chosen, replace(case, eval_id=chosen))
        chosen = case.eval_id if named else free_id(case.eval_id, ids)
        return cases.add(eval_set, replace(case, eval_id=chosen))

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput("{path} cannot be written: {error}.", path=path, error=error.strerror or error) from None
    name = eval_set_id or set_id(path)
    write.append(path, edit, EvalSet(eval_set_id=name, name=name, eval_cases=[], creation_timestamp=time.time()))
    return chosen


def case_of(eval_id: str, played: Played, begin: SessionInput | None = None) -> EvalCase:
    """Return a conversation as a case; `eval_<time>` when it has no id.

    Raises:
        BadInput: there is no turn in which something was asked.
    """
    asked = [(turn, steps) for turn, steps in played if any(message.parts for message in turn.messages)]
    if not asked:
        raise BadInput("There is no conversation to record: nothing was asked.")
    return EvalCase(
        eval_id=eval_id or f"eval_{time.strftime('%Y%m%d%H%M%S')}",
        conversation=[_invocation(number, turn, steps) for number, (turn, steps) in enumerate(asked, start=1)],
        session_input=begin,
        creation_timestamp=time.time(),
    )


def free_id(eval_id: str, taken: set[str]) -> str:
    """Return an id that is not taken: the one that is wanted, or with a number appended."""
    if eval_id not in taken:
        return eval_id
    number = 2
    while f"{eval_id}-{number}" in taken:
        number += 1
    return f"{eval_id}-{number}"


def session_input(given: object) -> SessionInput | None:
    """Return the session of a case from plain data; None without one."""
    if not isinstance(given, Mapping) or not given:
        return None
    about = {"app_name": "", "user_id": "", **{key: value for key, value in given.items() if value is not None}}
    return read_noun(about, SessionInput)


def played_in(session: Any) -> tuple[list[tuple[Turn, Sequence[Step]]], dict[str, object]]:
    """Return the turns of a session of google-adk, and its last state."""
    by_invocation: dict[str, tuple[list[Message], list[Step]]] = {}
    for event in session.events:
        asked, steps = by_invocation.setdefault(event.invocation_id, ([], []))
        if event.author == "user":
            asked.extend(said_by_user(event))
        elif not event.partial:
            steps.extend(steps_of(event))
    state = {key: value for key, value in plain(session.state).items() if not key.startswith("temp:")}
    return [(Turn(messages=tuple(asked)), steps) for asked, steps in by_invocation.values() if asked], state


async def _session_of(source: object, session_id: str | None, user_id: str | None) -> Any:
    if hasattr(source, "events") and hasattr(source, "app_name"):
        return source
    service, app_name = getattr(source, "session_service", None), getattr(source, "app_name", None)
    if service is None or app_name is None:
        raise BadInput(
            "A session of google-adk or a runner is needed to save an eval set, not {type}.", type=type(source).__name__
        )
    user = user_id or getattr(source, "user_id", None)
    if not session_id or not user:
        raise BadInput("A runner has many sessions: name one with session_id= and user_id=.")
    session = await service.get_session(app_name=app_name, user_id=user, session_id=session_id)
    if session is None:
        raise BadInput("'{app}' has no session '{id}' of the user '{user}'.", app=app_name, id=session_id, user=user)
    return session


def _unchanged_state(session: Any, state: Mapping[str, object]) -> dict[str, object]:
    """Return what of the state no event changed, so that it was there when the session began."""
    changed = {key for event in session.events for key in (event.actions.state_delta if event.actions else None) or ()}
    return {key: value for key, value in state.items() if key not in changed}


def _path(path: Path | str | None, eval_set_id: str | None) -> Path:
    if path is not None:
        return Path(path).expanduser()
    name = eval_set_id or DEFAULT_SET
    if not _SET_ID.fullmatch(name):
        raise BadInput("'{id}' is no id of an eval set: it has letters, digits, _ and - only.", id=name)
    return Path(f"{name}{SUFFIXES[0]}")


def _invocation(place: int, turn: Turn, steps: Sequence[Step]) -> Invocation:
    answer = next((step for step in reversed(steps) if step.message.role == "assistant" and step.message.text), None)
    events = []
    for step in steps:
        kept = [part for part in step.message.parts if step is not answer or not isinstance(part, Text | File)]
        if kept:
            role = "user" if all(isinstance(part, ToolResult) for part in kept) else "model"  # as ADK has results
            events.append(InvocationEvent(author=step.author, content=_content(role, kept)))
    said = None
    if answer is not None:
        said = _content("model", [part for part in answer.message.parts if isinstance(part, Text | File)])
    return Invocation(
        invocation_id=f"turn-{place}",
        user_content=_content("user", [part for message in turn.messages for part in message.parts]),
        final_response=said,
        intermediate_data=IntermediateData(invocation_events=events),
        creation_timestamp=next((step.started for step in steps if step.started), 0.0),
    )


def _content(role: str, parts: Sequence[Part]) -> Content:
    kept = (part for part in parts if not (isinstance(part, Reasoning) and not part.text))
    return Content(role=role, parts=[_part(part) for part in kept])


def _part(part: Part) -> schema.Part:
    match part:
        case Text(text=text):
            return schema.Part(text=text)
        case Reasoning(text=text):
            return schema.Part(text=text, thought=True)
        case ToolCall():
            arguments = None if part.raw == "null" else dict(part.arguments)
            return schema.Part(function_call=FunctionCall(name=part.name, args=arguments, id=part.id or None))
        case ToolResult():
            result = FunctionResponse(name=part.name, response=as_object(part.content), id=part.id or None)
            return schema.Part(function_response=result)
        case File():
            return _file(part)


def _file(file: File) -> schema.Part:
    name = file.name or None
    if file.data is None and file.url is not None:
        return schema.Part(file_data=FileData(file_uri=file.url, mime_type=file.media_type, display_name=name))
    with reading(file.path):
        data = file.data if file.data is not None else Path(file.path or "").read_bytes()
    text = base64.b64encode(data).decode()
    return schema.Part(inline_data=Blob(data=text, mime_type=file.media_type, display_name=name))
