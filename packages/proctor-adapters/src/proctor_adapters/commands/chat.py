"""proctor adk chat: talk with any agent in the terminal, and keep the conversation as a case of an eval set."""

import asyncio
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proctor.cli import options, output
from proctor.cli.words import t
from proctor.core.errors import BadInput, ProctorError

if TYPE_CHECKING:
    from proctor.core.task import Agent
    from proctor.core.trajectory import Step
    from proctor_adapters.evalsets.recording import HeardSession

COMMANDS = ("/save", "/new", "/drop", "/quit")
FILE = click.Path(path_type=Path)
SHOWN_CHARACTERS = 500


@click.command()
@click.option("--agent", help=t("The agent to talk with: adk:DIR, a2a:URL, openai:MODEL, ./agent.py:object …"))
@options.of_run("agent_options")
@options.base_url
@click.option(
    "--save", metavar="FILE", type=FILE, help=t("The eval-set file that every conversation is added to when it ends.")
)
@click.option(
    "--session", metavar="FILE", type=FILE, help=t("A JSON file with the session that conversations begin with.")
)
def command(
    agent: str | None,
    agent_options: dict[str, object] | None,
    base_url: str | None,
    save: Path | None,
    session: Path | None,
) -> None:
    from proctor.api import resolve
    from proctor.config import settings
    from proctor_adapters.evalsets.read import read, read_session

    project_settings = settings()
    given = {
        **project_settings.agent_options,
        **(agent_options or {}),
        **({"base_url": base_url} if base_url else {}),
    }
    name = agent or project_settings.agent
    if name is None:
        raise BadInput("Name the agent to talk with: proctor adk chat --agent ./agent.py:answer")
    if save is not None and save.exists():
        read(save)  # a fault of the file is reported before anything is said
    made, _ = resolve.agent(name, given)
    begin = read_session(session) if session is not None else None
    with asyncio.Runner() as loop:
        mistaken = _talk(loop, AgentChat(made, save, begin))
    if mistaken:
        sys.exit(2)


def _talk(loop: asyncio.Runner, chat: "AgentChat") -> bool:
    """Take lines until there are no more, and return True if a piped one was no command; what was said is kept, however it ends."""
    interactive, mistaken = sys.stdin.isatty(), False
    loop.run(chat.start())
    if interactive:
        output.message(t("Say something. {commands}", commands=" · ".join(COMMANDS)))
    try:
        for line in _typed_lines() if interactive else _piped_lines():
            try:
                if line == "/quit":
                    break
                loop.run(chat.take(line))
            except KeyboardInterrupt:
                output.message(t("Stopped; that turn is not kept."))
            except ProctorError as error:
                if not interactive and not isinstance(error, UnknownCommand):
                    raise
                output.tell(error.sentence)
                mistaken = not interactive
    finally:
        loop.run(chat.end())
    return mistaken


class UnknownCommand(BadInput):
    """A line begins with a slash and names no command; the conversation is not touched by it."""


class AgentChat:
    """A talk with an agent: conversations one after the other."""

    def __init__(self, agent: "Agent", file: Path | None, begin: Any) -> None:
        self._agent = agent
        self._file = file
        self._begin = begin
        self._held = AsyncExitStack()  # what lasts as long as the talk
        self._open = AsyncExitStack()  # and as the conversation
        self._heard: HeardSession | None = None
        self._saved: str | None = None
        self._kept = 0

    async def start(self) -> None:
        from proctor.transport.client import Client

        await self._held.enter_async_context(Client())
        if isinstance(self._agent, AbstractAsyncContextManager):
            await self._held.enter_async_context(self._agent)

    async def end(self) -> None:
        try:
            await self._finish()
        finally:
            await self._held.aclose()

    async def take(self, line: str) -> None:
        """Run a command or send a message; a message that begins with a slash is typed with two."""
        word, _, rest = line.partition(" ")
        match word:
            case "/save":
                self._save(rest.strip())
            case "/new":
                await self._finish()
            case "/drop":
                await self._finish(keep=False)
            case _ if line.startswith("/") and not line.startswith("//"):
                raise UnknownCommand(
                    "There is no command {command}. Known: {known}.", command=word, known=", ".join(COMMANDS)
                )
            case _:
                await self._say(line.removeprefix("/"))

    async def _say(self, text: str) -> None:
        from proctor.agents.agent_errors import map_agent_errors
        from proctor.core.sample import Message, Turn

        with map_agent_errors():
            if self._heard is None:
                self._heard = await self._open_session()
            steps = await self._heard.send(Turn(messages=(Message.of("user", text),)))
        _show(steps)

    async def _open_session(self) -> "HeardSession":
        from proctor.core.sample import Sample
        from proctor_adapters.evalsets.noun import as_json
        from proctor_adapters.evalsets.recording import HeardSession

        meta = {"session": as_json(self._begin)} if self._begin is not None else {}
        sample = Sample(id="chat", turns=(), meta=meta)
        return HeardSession(await self._open.enter_async_context(self._agent.open(sample, None)))

    async def _finish(self, *, keep: bool = True) -> None:
        """End the conversation; it is kept if there is a file, and what was said since is not in it."""
        try:
            if keep and self._file is not None and self._heard is not None and len(self._heard.played) > self._kept:
                self._save("")
        finally:
            self._heard, self._saved, self._kept = None, None, 0
            held, self._open = self._open, AsyncExitStack()
            await held.aclose()

    def _save(self, name: str) -> None:
        import time

        from proctor_adapters.evalsets.recording import case_of, save_case
        from proctor_adapters.evalsets.write import as_text

        if self._file is None:
            raise BadInput(
                "There is no file to save to; begin with: proctor adk chat --agent AGENT --save shop.evalset.json"
            )
        played = self._heard.played if self._heard is not None else []
        case = case_of(name or f"chat_{time.strftime('%Y%m%d%H%M%S')}", played, self._begin)
        again = self._saved if name in ("", self._saved) else None  # the conversation has gone on since
        try:
            self._saved = save_case(self._file, case, named=bool(name), instead_of=again)
        except BadInput:
            output.json_text(as_text(case))  # so that it is not lost
            raise
        self._kept = len(played)
        output.message(t("Saved {case} in {path}.", case=self._saved, path=self._file))


def _typed_lines() -> Iterator[str]:
    """Yield the lines that the user types, until the end of input or Ctrl-C."""
    with suppress(ImportError):
        import readline  # noqa: F401 - the line can be edited
    while True:
        try:
            line = input("> ").strip()
        except (EOFError, KeyboardInterrupt):
            output.message("")
            return
        if line:
            yield line


def _piped_lines() -> Iterator[str]:
    for data in sys.stdin.buffer:
        line = data.decode("utf-8-sig", "replace").strip()
        if line:
            yield line


def _show(steps: Sequence["Step"]) -> None:
    from proctor.core.sample import File, Text, ToolCall, ToolResult
    from proctor.runtime.visible import one_line, visible

    for step in steps:
        before = f"{step.author}: " if step.author not in ("agent", "tool") else ""
        for part in step.message.parts_with_files:
            match part:
                case Text(text=text):
                    output.line(visible(before + text))
                case ToolCall():
                    click.secho(one_line(f"→ {before}{part.name}({part.arguments_text()})", SHOWN_CHARACTERS), dim=True)
                case ToolResult():
                    click.secho(one_line(f"← {part.name}: {part.content}", SHOWN_CHARACTERS), dim=True)
                case File():
                    click.secho(one_line(f"[{part.name or part.url or ''} {part.media_type}]"), dim=True)
                case _:
                    pass
        if step.stop != "done":
            output.message(t("The agent's reply ended early: {stop}.", stop=step.stop))
