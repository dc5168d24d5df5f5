"""Agents of google-adk and VeADK: `adk:DIR`, `adk:package.module:object`, or the object itself.

    proctor run shop.evalset.json --agent adk:shop

Every attempt at a case gets a session of its own, begun with the app name, user id, session id and state of the case. The
agent's own tools run as they are. A conversation is one session; each turn is one call of the runner.
"""

import asyncio
import copy
import json
import logging
import time
import traceback
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import msgspec
from msgspec.structs import replace

from proctor import registry
from proctor.agents.agent_errors import RaisedBy, map_agent_errors
from proctor.agents.environment_tools import EnvironmentTools
from proctor.chat.message_text import text_of
from proctor.config import converted
from proctor.core.errors import AgentFailed, BadInput, ProviderFailed, needs
from proctor.core.parts import AgentPart
from proctor.core.sample import Sample, Turn
from proctor.core.task import Environment, Session
from proctor.core.trajectory import Approval, Step, ToolStyle, Usage
from proctor.core.validation import in_words
from proctor.runtime.threads import in_thread
from proctor.transport.faults import shown
from proctor_adapters.agents import _adk_imports, _adk_plugins, _library_agents
from proctor_adapters.agents._adk_waiting import Waiting
from proctor_adapters.agents._library_agents import reply_message, with_answer
from proctor_adapters.agents.adk_events import content_of, plain

if TYPE_CHECKING:
    from google.adk.apps import App
    from google.adk.events import Event
    from google.adk.runners import Runner
    from google.adk.sessions import BaseSessionService

USER_ID = "user"
MOST_BROKEN = 100_000  # characters that are kept of a reply that cannot be read
TRANSIENT = ("408", "425", "429", "500", "502", "503", "504", "RESOURCE_EXHAUSTED", "UNAVAILABLE", "DEADLINE_EXCEEDED")
_OF_TOOLS = ("google.adk.tools.", "google.adk.flows.llm_flows.tools.", "google.adk.flows.llm_flows.functions")
_OF_MODELS = (
    "google.adk.models.",
    "google.adk.flows.llm_flows.core._model_call",
    "google.adk.flows.llm_flows.base_llm_flow",
)


class AdkAgentOptions(_library_agents.LibraryOptions, frozen=True, kw_only=True):
    """The options of an agent of google-adk.

    Attributes:
        max_steps: messages of its agents at most in one turn, `steps` of the run's limits when None.
        sub_agent: the name of the sub-agent to evaluate in place of the root agent.
        tool_results: "recorded" answers tool calls from the results that the case recorded, and calls without one with
            an error; "recorded_or_real" runs the tool for those.
    """

    sub_agent: str | None = None
    tool_results: _adk_plugins.ResultSource = "real"


class SessionStart(msgspec.Struct, frozen=True, kw_only=True):
    """How the session of a case begins; values that the case leaves empty are chosen here."""

    app_name: str | None = None
    user_id: str | None = None
    session_id: str | None = None
    state: dict[str, Any] | None = None


def make(argument: str, options: Mapping[str, object]) -> "AdkAgent":
    """Return the agent `adk:DIR`, `adk:./file.py:object` or `adk:package.module:object`; the object's name may be left out.

    Raises:
        BadInput: no such folder or module, none with a `root_agent`, or code that raises; `MissingExtra`.
    """
    checked = converted(options, AdkAgentOptions, "adk")
    _check_installed()
    name = f"adk:{argument}"
    folder = Path(argument).expanduser()
    if folder.is_dir():
        from proctor_adapters.agents import _adk_folder

        return _make_agent(_adk_folder.load(folder), name, checked, app_name=folder.resolve().name)
    if not registry.is_path(argument) and ("/" in argument or "\\" in argument or not argument):
        raise BadInput("There is no folder {path}.", path=folder)
    return _make_agent(registry.load_object(argument, "root_agent"), name, checked)


def wrap(target: object, *, name: str | None = None) -> "AdkAgent":
    """Return an agent that runs an agent, workflow, app or runner of google-adk or VeADK.

    Raises:
        BadInput: it is something else.
    """
    return _make_agent(
        target, name or str(getattr(target, "name", "") or getattr(target, "app_name", "")), AdkAgentOptions()
    )


class AdkAgent:
    """An agent, app or runner as a system under test; `async with` it, so that its toolsets are closed after the run."""

    tools: ToolStyle = "text"  # a task that has words for its tools shows those: an agent here has tools of its own

    def __init__(self, app: "App | None", runner: "Runner | None", *, name: str, options: AdkAgentOptions) -> None:
        self.name = name
        self._app = app
        self._runner = runner
        self._options = options
        self._lock_by_session: dict[tuple[str, str, str], asyncio.Lock] = {}

    async def __aenter__(self) -> Self:
        owner = self._app or self._runner
        root = getattr(owner, "root_agent", None) or getattr(owner, "agent", None)
        await in_thread(partial(_adk_imports.import_for, root))
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._app is not None:
            await runner_of(self._app, self._app.name).close()

    @asynccontextmanager
    async def open(self, sample: Sample, environment: Environment | None) -> AsyncIterator[Session]:
        """Return a session of its own for each attempt; a runner that the user passed keeps them in its session service."""
        begin = _session_start(sample)
        runner = self.runner_for(begin.app_name)
        if environment is not None:
            runner = _with_giver(runner)
        user_id = begin.user_id or str(getattr(runner, "user_id", "") or USER_ID)
        in_words = any(turn.as_text is not None for turn in sample.turns)
        async with self._begin_session(runner, user_id, begin) as session_id:
            wanted = self._options.tool_results
            yield AdkSession(
                runner,
                user_id,
                session_id,
                tools="text" if in_words and environment is None else "native",
                offered=EnvironmentTools(environment),
                options=self._options,
                results=None if wanted == "real" else _adk_plugins.Results(sample, wanted),
            )

    @asynccontextmanager
    async def _begin_session(self, runner: "Runner", user_id: str, begin: SessionStart) -> AsyncIterator[str]:
        """The id of a session; the one that a case names is taken by one attempt at a time, and fresh for each.

        Only a session that somebody else prepared under that id is used as it is.
        """
        service, app_name = runner.session_service, runner.app_name
        state = copy.deepcopy(begin.state or {})
        if not begin.session_id:
            with map_agent_errors():
                session = await service.create_session(app_name=app_name, user_id=user_id, state=state)
            yield session.id
            return
        key: dict[str, Any] = {"app_name": app_name, "user_id": user_id, "session_id": begin.session_id}
        shared = self._runner is not None
        lock = (
            self._lock_by_session.setdefault((app_name, user_id, begin.session_id), asyncio.Lock())
            if shared
            else nullcontext()
        )
        async with lock:
            with map_agent_errors():
                is_prepared = await service.get_session(**key) is not None
                if not is_prepared:
                    await service.create_session(**key, state=state)
            try:
                yield begin.session_id
            finally:
                if not is_prepared:
                    with map_agent_errors():
                        await service.delete_session(**key)

    def runner_for(self, app_name: str | None, sessions: "BaseSessionService | None" = None) -> "Runner":
        """Return a runner with a session service of its own, or these sessions; one that the user passed keeps its own."""
        if self._app is not None:
            return runner_of(self._app, app_name or self._app.name, sessions)
        assert self._runner is not None
        if app_name in (None, "", self._runner.app_name):
            return self._runner
        other = copy.copy(self._runner)
        other.app_name = app_name
        vars(other).pop("run_async", None)  # VeADK binds it to the runner that was copied
        return other


class AdkSession:
    """One conversation.

    Attributes:
        received: the steps of the turn that is under way, for a time limit that ends it.
        state: that of the session after the last turn.
    """

    def __init__(
        self,
        runner: "Runner",
        user_id: str,
        session_id: str,
        *,
        tools: ToolStyle,
        offered: EnvironmentTools,
        options: AdkAgentOptions,
        results: _adk_plugins.Results | None = None,
    ) -> None:
        self._offered = offered
        self.tools = tools
        self.received: list[Step] = []
        self.state: Mapping[str, object] | None = None
        self._runner = runner
        self._user_id = user_id
        self._session_id = session_id
        self._options = options
        self._results = results
        self._waiting = Waiting()

    @property
    def waiting(self) -> Sequence[Approval]:
        """Return the calls of the turn that wait for approval, and questions that the next turn answers."""
        return self._waiting.approvals

    async def send(self, turn: Turn) -> Sequence[Step]:
        """Call the runner once and return all steps of its agents and tools."""
        self._offered.offer(turn)
        if self.waiting:
            words = text_of(turn.messages)
            return await self.decide([replace(approval, approved=True, words=words) for approval in self.waiting])
        steps = await self._run(content_of(turn), [])
        questions = [approval.hint for approval in self.waiting if approval.awaits == "turn"]
        return with_answer(steps, "\n".join(questions)) if questions and len(questions) == len(self.waiting) else steps

    async def decide(self, approvals: Sequence[Approval]) -> Sequence[Step]:
        return await self._run(*self._waiting.answer(approvals))

    async def _run(self, content: object, received: list[Step]) -> Sequence[Step]:
        from google.adk.agents.invocation_context import LlmCallsLimitExceededError

        self.received = received
        now = _adk_plugins.AdkTurn(results=self._results, tools=self._offered if self._offered.tools else None)
        token = _adk_plugins.turn.set(now)
        try:
            with self._offered.ended(), map_agent_errors(raised_by):
                try:
                    over = await self._play(content, self._options.steps(), now.usage)
                    self.state = await self._state()
                except LlmCallsLimitExceededError:
                    over = True
                except json.JSONDecodeError as error:
                    if raised_by(error) == "model":  # its reply is in no event
                        self.received.append(Step(message=reply_message(error.doc[:MOST_BROKEN]), started=time.time()))
                    raise
        finally:
            _adk_plugins.turn.reset(token)
            inside = [usage for used_by_agent in now.usage.values() for usage in used_by_agent]
            if inside and self.received:
                last = self.received[-1]
                self.received[-1] = replace(last, usage=sum(inside, last.usage or Usage()))
        if over and self.received:
            self.received[-1] = replace(self.received[-1], stop="step_limit")
        steps, self.received = self.received, []
        return steps

    async def _play(self, content: Any, most: int, unseen: dict[str, list[Usage]]) -> bool:
        """Take the events of a turn; return True if it was ended because there were too many messages."""
        from google.adk.agents.run_config import RunConfig

        said = 0
        last: Event | None = None
        started, clock = time.time(), time.perf_counter()
        run = self._runner.run_async(
            user_id=self._user_id,
            session_id=self._session_id,
            new_message=content,
            run_config=RunConfig(max_llm_calls=most),
        )
        async with aclosing(run) as events:
            async for event in events:
                if event is None or event.partial or event.author == "user":
                    continue
                last = event
                unseen.pop(event.invocation_id, None)  # its own events tell
                for step in self._waiting.take(event):
                    said += step.message.role == "assistant"
                    if said > most:
                        return True
                    now = time.perf_counter()
                    self.received.append(replace(step, started=started, seconds=now - clock))
                    started, clock = time.time(), now
        if last is not None and last.error_code and not (last.content and last.content.parts):
            check_end(last, self.received)
        return False

    async def _state(self) -> Mapping[str, object] | None:
        from google.adk.sessions.base_session_service import GetSessionConfig

        session = await self._runner.session_service.get_session(
            app_name=self._runner.app_name,
            user_id=self._user_id,
            session_id=self._session_id,
            config=GetSessionConfig(num_recent_events=1),
        )
        return plain(session.state) if session is not None else None


def _check_installed() -> None:
    with needs("adk", "adk:"):
        import google.adk.runners  # noqa: F401
    logger = logging.getLogger("google_adk")
    if not logger.handlers:  # what breaks is kept with the trial; without this a trace of it goes to the terminal too
        logger.addHandler(logging.NullHandler())


def _make_agent(target: Any, name: str, options: AdkAgentOptions, *, app_name: str | None = None) -> AdkAgent:
    from google.adk.agents import BaseAgent
    from google.adk.apps import App
    from google.adk.runners import Runner

    _check_installed()
    if isinstance(target, Runner) and options.sub_agent is None and options.tool_results == "real":
        return AdkAgent(None, target, name=name, options=options)
    app = (target.app or target.agent) if isinstance(target, Runner) else target
    if not isinstance(app, App):
        if not _is_node(app):
            raise BadInput(
                "'{name}' is no agent of google-adk: expected an agent, an App or a Runner, got {type}.",
                name=name,
                type=type(target).__name__,
            )
        app = App.model_construct(name=app_name or app.name, root_agent=app, plugins=[])
    if options.sub_agent is not None:
        root = app.root_agent
        sub_agent = root.find_agent(options.sub_agent) if isinstance(root, BaseAgent) else None
        if sub_agent is None:
            raise BadInput("'{name}' has no sub-agent '{sub}'.", name=name, sub=options.sub_agent)
        app = app.model_copy(update={"root_agent": sub_agent})
    return AdkAgent(app, None, name=name, options=options)


def _is_node(target: object) -> bool:
    """Return True for an agent, or in newer versions any node of a workflow."""
    from google.adk.agents import BaseAgent

    kinds: tuple[type, ...] = (BaseAgent,)
    try:
        from google.adk.workflow import BaseNode

        kinds = (BaseAgent, BaseNode)
    except ImportError:
        pass
    return isinstance(target, kinds)


def runner_of(app: "App", app_name: str, sessions: "BaseSessionService | None" = None) -> "Runner":
    """Return a runner with fresh services in memory, so that no case sees what another one left."""
    from google.adk.artifacts import InMemoryArtifactService
    from google.adk.memory import InMemoryMemoryService
    from google.adk.runners import Runner
    from google.adk.sessions import InMemorySessionService

    runner = Runner(
        app=app,
        app_name=app_name,
        session_service=sessions or InMemorySessionService(),
        artifact_service=InMemoryArtifactService(),
        memory_service=getattr(app.root_agent, "long_term_memory", None) or InMemoryMemoryService(),  # VeADK's own
    )
    runner.plugin_manager.register_plugin(_adk_plugins.usage_counter())
    runner.plugin_manager.register_plugin(_adk_plugins.result_player())
    return runner


def _with_giver(runner: "Runner") -> "Runner":
    """Return a runner whose models are offered the tools of the environment; a copy, as the user's own stays as it is."""
    manager = runner.plugin_manager
    if any(plugin.name == _adk_plugins.GIVER for plugin in manager.plugins):
        return runner
    other = copy.copy(runner)
    other.plugin_manager = copy.copy(manager)
    other.plugin_manager.plugins = [*manager.plugins, _adk_plugins.tool_giver()]
    vars(other).pop("run_async", None)  # VeADK binds it to the runner that was copied
    return other


def _session_start(sample: Sample) -> SessionStart:
    given = sample.meta.get("session")
    if not isinstance(given, Mapping):
        return SessionStart()
    try:
        return msgspec.convert(given, SessionStart)
    except msgspec.ValidationError as error:
        raise BadInput("The session of the sample '{id}': {error}.", id=sample.id, error=in_words(error)) from None


def check_end(last: "Event", steps: Sequence[Step]) -> None:
    """Raise for a turn that ends with an error in place of a message, unless a `stop` reports it."""
    if steps and steps[-1].stop != "done":
        return
    code, said = str(last.error_code), shown(last.error_message or "-")
    if code in TRANSIENT:
        raise ProviderFailed(
            "The provider of the agent's model failed ({type}): {text}",
            kind=f"http_{code}".lower(),
            type=code,
            text=said,
        )
    raise AgentFailed("The agent reported an error ({type}): {text}", kind="reported", type=code, text=said)


def raised_by(error: BaseException) -> RaisedBy:
    """Return whether a tool or the model raised it, as the innermost telling frame of google-adk has it."""
    for frame, _ in reversed(list(traceback.walk_tb(error.__traceback__))):
        module = str(frame.f_globals.get("__name__", "")) + "."
        if module.startswith(_OF_TOOLS):
            return "tool"
        if module.startswith(_OF_MODELS):
            return "model"
    return None


PART = AgentPart(make=make, options=AdkAgentOptions, wrap=wrap)
