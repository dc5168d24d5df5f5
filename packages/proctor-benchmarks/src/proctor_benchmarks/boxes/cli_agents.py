"""`cli:NAME`: coding-agent programs as agents, in the box of their task: Claude Code, Codex, Gemini CLI, OpenCode, mini-swe-agent.

The program reaches its model, and nothing else, through a proxy that counts and has the key (`model_proxy.py`). What the program
says of its own use is kept besides what the proxy counted. `cli:COMMAND` starts any other program; `{task}` in it is the task.
"""

import asyncio
import os
import shlex
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from msgspec.structs import replace

from proctor.config import converted
from proctor.core.errors import AgentFailed, BadInput, EnvironmentFailed, ProviderFailed, Undecided
from proctor.core.parts import AgentPart
from proctor.core.sample import Message, Sample, Turn
from proctor.core.task import Agent, Environment, Session
from proctor.core.trajectory import Step, ToolStyle
from proctor_benchmarks.boxes.archives import archive_of, read_files
from proctor_benchmarks.boxes.cli_streams import READERS, CliStream
from proctor_benchmarks.boxes.contract import CommandResult
from proctor_benchmarks.boxes.environment import BoxEnvironment
from proctor_benchmarks.boxes.forwarding import MODEL, start_forwarder
from proctor_benchmarks.boxes.model_proxy import ADDRESS, ModelCount, ModelProxy

STREAM, ERRORS = "/run/proctor/stream", "/run/proctor/errors"
STREAM_BYTES = 16 << 20
START_SECONDS = 30.0
SETTLE_SECONDS = 5.0  # for the reply to a request whose program was ended
MOST_IN_A_MINUTE = 60  # requests of a program; who asks more often provokes refusals for that
ANY_KEY = "none"  # programs want one; the proxy replaces it


class CliProgram(msgspec.Struct, frozen=True, kw_only=True):
    """How a program is started; `{task}` and `{model}` in its words are replaced.

    Attributes:
        upstream, key: the provider that it talks to where the user names none, and the variable of the key.
        files: what it reads its settings from, by path in the box.
        output: the file that it writes instead of standard output.
    """

    command: tuple[str, ...]
    variables: Mapping[str, str] = {}
    upstream: str
    key: str
    files: Mapping[str, str] = {}
    output: str | None = None


_OPENCODE = '{"provider": {"proctor": {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "%s/v1", "apiKey": "none"}, "models": {"{model}": {}}}}}'
_CODEX = 'model = "{model}"\nweb_search = "disabled"\nmodel_provider = "proctor"\n[model_providers.proctor]\nname = "proctor"\nbase_url = "%s/v1"\nenv_key = "OPENAI_API_KEY"\nwire_api = "responses"\n'
OPENAI, ANTHROPIC = "https://api.openai.com", "https://api.anthropic.com"
PROGRAMS: Mapping[str, CliProgram] = {
    "claude-code": CliProgram(
        command=("claude", "-p", "{task}", "--output-format", "stream-json", "--verbose", "--permission-mode", "bypassPermissions"),
        variables={"ANTHROPIC_BASE_URL": ADDRESS, "ANTHROPIC_MODEL": "{model}", "ANTHROPIC_API_KEY": ANY_KEY, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "IS_SANDBOX": "1"},
        upstream=ANTHROPIC,
        key="ANTHROPIC_API_KEY",
    ),
    "codex": CliProgram(
        command=("codex", "exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "{task}"),
        variables={"OPENAI_API_KEY": ANY_KEY, "CODEX_HOME": "/run/proctor/codex"},
        upstream=OPENAI,
        key="OPENAI_API_KEY",
        files={"/run/proctor/codex/config.toml": _CODEX % ADDRESS},
    ),
    "gemini": CliProgram(
        command=("gemini", "--yolo", "--output-format", "stream-json", "-m", "{model}", "-p", "{task}"),
        variables={"GOOGLE_GEMINI_BASE_URL": ADDRESS, "GEMINI_API_KEY": ANY_KEY, "GEMINI_CLI_TRUST_WORKSPACE": "true"},
        upstream="https://generativelanguage.googleapis.com",
        key="GEMINI_API_KEY",
    ),
    "opencode": CliProgram(
        command=("opencode", "run", "--format", "json", "-m", "proctor/{model}", "{task}"),
        variables={"OPENCODE_CONFIG": "/run/proctor/opencode.json"},
        upstream=OPENAI,
        key="OPENAI_API_KEY",
        files={"/run/proctor/opencode.json": _OPENCODE % ADDRESS},
    ),
    "mini-swe-agent": CliProgram(
        command=("mini", "-y", "--exit-immediately", "-m", "openai/{model}", "-t", "{task}", "-o", "/run/proctor/mini.json"),
        variables={"OPENAI_BASE_URL": f"{ADDRESS}/v1", "OPENAI_API_KEY": ANY_KEY, "MSWEA_CONFIGURED": "true", "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
        upstream=OPENAI,
        key="OPENAI_API_KEY",
        output="/run/proctor/mini.json",
    ),
}  # fmt: skip


class CliOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `cli:` agents.

    Attributes:
        model: what the program asks for.
        upstream: the address of its provider; `key` the variable of this machine with the key for it.
        format: how another program reports, by the name of one that is known; its output is the answer where it is `text`.
    """

    model: str = ""
    upstream: str | None = None
    key: str | None = None
    format: str | None = None


def make(argument: str, options: Mapping[str, object]) -> Agent:
    """Return the agent of a program.

    Raises:
        BadInput: no program, no model, an unknown option or format, or a variable without a key.
    """
    name = f"cli:{argument}"
    how = converted(options, CliOptions, name)
    program = PROGRAMS.get(argument)
    if program is None:
        if "{task}" not in argument:
            raise BadInput("{name}: known programs are {known}; another one is a command with {{task}} in it, such as cli:'agent --solve {{task}}'.", name=name, known=", ".join(PROGRAMS))  # fmt: skip
        program = CliProgram(command=tuple(shlex.split(argument)), variables={"OPENAI_BASE_URL": f"{ADDRESS}/v1", "OPENAI_API_KEY": ANY_KEY, "ANTHROPIC_BASE_URL": ADDRESS, "ANTHROPIC_API_KEY": ANY_KEY}, upstream=OPENAI, key="OPENAI_API_KEY")  # fmt: skip
    elif not how.model:
        raise BadInput("{name} needs a model: --agent-set model=MODEL.", name=name)
    form = how.format or (argument if argument in READERS else "text")
    if form not in READERS:
        raise BadInput(
            "{name}: there is no format '{form}'. Known: {known}.", name=name, form=form, known=", ".join(READERS)
        )
    variable = how.key or (program.key if how.upstream is None else None)
    if variable is not None and not os.environ.get(variable):
        raise BadInput("{name} needs the key of its provider in {variable}; it stays outside of the box.", name=name, variable=variable)  # fmt: skip
    return CliAgent(name, program, form, how, variable)


class CliAgent:
    """Starts a program in the box of each sample."""

    tools: ToolStyle = "native"
    reports_cost = False

    def __init__(self, name: str, program: CliProgram, form: str, how: CliOptions, variable: str | None) -> None:
        self.name = name
        self.model = how.model
        self._program = program
        self._form = form
        self._how = how
        self._variable = variable

    @asynccontextmanager
    async def open(self, sample: Sample, environment: Environment | None) -> AsyncIterator[Session]:
        box = getattr(environment, "environment", environment)
        if not isinstance(box, BoxEnvironment):
            raise BadInput(
                "{name} works in a box, and the task of {sample} has none.", name=self.name, sample=sample.id
            )
        key = os.environ.get(self._variable) if self._variable is not None else None
        with ModelProxy(box.door, self._how.upstream or self._program.upstream, key) as proxy:
            session = CliSession(self, box, proxy)
            try:
                yield session
            finally:
                await session.settle()

    def words(self, task: str) -> tuple[list[str], dict[str, str], dict[str, str]]:
        """Return command, variables and files for a task."""
        fill = {"{task}": task, "{model}": self._how.model}

        def filled(text: str) -> str:
            for name, value in fill.items():
                text = text.replace(name, value)
            return text

        program = self._program
        return [filled(word) for word in program.command], {name: filled(text) for name, text in program.variables.items()}, {path: text.replace("{model}", self._how.model) for path, text in program.files.items()}  # fmt: skip

    @property
    def output(self) -> str:
        return self._program.output or STREAM

    def read(self, text: str) -> CliStream:
        return READERS[self._form](text)


class CliSession:
    """One run of the program for each turn."""

    def __init__(self, agent: CliAgent, environment: BoxEnvironment, proxy: ModelProxy) -> None:
        self._agent = agent
        self._environment = environment
        self._proxy = proxy

    @property
    def received(self) -> Sequence[Step]:
        """Return a step with what was used so far, for a program that was cut short or that failed."""
        usage = self._proxy.count.usage
        return [Step(message=Message(role="assistant"), usage=usage)] if usage.requests else []

    async def settle(self) -> None:
        """Wait a little for replies that the program did not wait for."""
        await asyncio.to_thread(self._proxy.settle, SETTLE_SECONDS)

    async def send(self, turn: Turn) -> Sequence[Step]:
        """Run the program on a task, and return its steps.

        Raises:
            EnvironmentFailed: the program is not in the box.
            ProviderFailed: the program gave up, and its provider fails.
            Undecided: the program gave up after a failure of its provider that may be its own doing.
        """
        task = "\n\n".join(message.text for message in turn.messages)
        command, variables, files = self._agent.words(task)
        self._proxy.begin_turn()
        try:
            result, stream = await self._run(command, variables, files)
        finally:
            self._proxy.end_turn()
        await self.settle()
        report, counted = self._agent.read(stream), self._proxy.count
        others = {
            name: count for name, count in counted.models.items() if self._agent.model and name != self._agent.model
        }
        self._environment.notes["cli"] = {**_notes(result, report, counted), **({"other_models": others} if others else {})}  # fmt: skip
        if result.code == 127 and not counted.requests:
            with self._environment.blaming_programs():
                raise EnvironmentFailed("The program {program} is not in the box: {error}", kind="agent_install", program=command[0], error=result.output[-400:] or "-")  # fmt: skip
        has_given_up = result.code != 0 or result.was_late or bool(report.error)
        if has_given_up and _is_of_the_provider(counted.last_status):
            await self._find_out_who_failed(counted)
        steps = list(report.steps)
        if not steps:
            if result.code != 0 and not result.was_late:
                raise AgentFailed("The program ended with code {code}: {error}", kind="exit_code", code=result.code, error=report.error or result.output[-400:] or "-")  # fmt: skip
            steps.append(Step(message=Message(role="assistant")))
        last = replace(steps[-1], usage=self._proxy.count.usage, stop="time_limit" if result.was_late else steps[-1].stop)  # fmt: skip
        return [*steps[:-1], last]

    async def _find_out_who_failed(self, counted: ModelCount) -> None:
        """Return if the program provoked the failure that it saw last, as it is judged then like any other.

        A program writes its own requests, and their failure shows nothing of the provider: a plain request of ours does.

        Raises:
            ProviderFailed: the provider fails that too.
            Undecided: the provider answers that, but may have failed for a while, or may not have the model that the program chose;
                or it limits that too, which may be for the tokens that the program asked for.
        """
        status, kind = counted.last_status, f"http_{counted.last_status}"
        if status == 429 and counted.in_a_minute > MOST_IN_A_MINUTE:
            return
        own_model = self._agent.model
        plain = await asyncio.to_thread(self._proxy.find_status, own_model or counted.last_model)
        self._environment.notes["cli"]["plain_request_status"] = plain
        if _is_of_the_provider(plain) and plain != 429 and (own_model or plain != 403):
            raise ProviderFailed("The provider failed (status {status}), and the program gave up.", kind=kind, status=status)  # fmt: skip
        is_provoked = counted.was_refused_last or status in (401, 403) or bool(own_model and counted.last_model != own_model)  # fmt: skip
        if _is_of_the_provider(plain) or not is_provoked:
            raise Undecided("The program gave up after a failure of its provider (status {status}); a plain request has the status {plain}, so that either may have failed.", kind=kind, status=status, plain=plain)  # fmt: skip

    async def _run(self, command: Sequence[str], variables: Mapping[str, str], files: Mapping[str, str]) -> tuple[CommandResult, str]:  # fmt: skip
        environment = self._environment
        box, task = environment.box, environment.task
        await box.put(
            archive_of({path.lstrip("/"): (text.encode(), 0o644) for path, text in files.items()}, ["/run/proctor"])
        )
        await box.run(["sh", "-c", "chmod -R a+rwX /run/proctor"], START_SECONDS)
        with environment.blaming_programs():
            await start_forwarder(box, environment.door, MODEL)
        script = f'"$@" > {STREAM} 2> {ERRORS} < /dev/null; code=$?; tail -c 2000 {ERRORS}; exit $code'
        programs = environment.programs
        path = {"PATH": ":".join([f"{programs}/bin", f"{programs}/node_modules/.bin", programs, os.defpath, "/usr/local/bin"])} if programs else {}  # fmt: skip
        result = await box.run(["sh", "-c", script, "sh", *command], environment.seconds_left, folder=task.folder, user=task.agent_user, variables={**environment.variables, **variables, **path})  # fmt: skip
        written = read_files(await box.take([self._agent.output], 2 * STREAM_BYTES), STREAM_BYTES)
        return result, written.get(self._agent.output, b"").decode("utf-8", "replace")


def _is_of_the_provider(status: int | None) -> bool:
    return status is not None and (status in (0, 401, 403, 429) or status >= 500)


def _notes(result: CommandResult, report: CliStream, counted: ModelCount) -> dict[str, Any]:
    """Return what is stored of a run of the program: how it ended, and its own figures besides those of the proxy."""
    own = report.usage
    notes: dict[str, Any] = {"exit_code": result.code, "was_late": result.was_late, "model_requests": counted.requests, "refused_requests": counted.refused}  # fmt: skip
    if counted.unmetered:
        notes["unmetered_requests"] = counted.unmetered
    if report.error:
        notes["error"] = report.error[:2_000]
    if report.unknown:
        notes["unknown_events"] = report.unknown
    if own is not None:
        notes["own_usage"] = {"input_tokens": own.input_tokens, "output_tokens": own.output_tokens, "cost": own.cost}
        counts = (counted.usage.input_tokens, counted.usage.output_tokens)
        notes["usage_differs"] = counts != (own.input_tokens, own.output_tokens)
    return notes


PART = AgentPart(make=make, options=CliOptions)
