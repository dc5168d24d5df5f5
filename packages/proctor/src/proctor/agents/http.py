"""An agent at an HTTP address: `http:URL`, with request and reply in the JSON that it speaks.

    proctor run gaia --agent http:https://bot.example/ask \\
        --agent-set 'body={"input": "{question}", "thread": "{session}"}' --agent-set reply=data.answer
"""

import re
import secrets
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Annotated, Any, Literal
from urllib.parse import quote, urlsplit

import msgspec

from proctor.agents.conversation import AgentConversation, newest
from proctor.agents.environment_tools import refuse_tools
from proctor.chat.agent_replies import call_of
from proctor.chat.messages import to_messages, to_tools
from proctor.config import converted
from proctor.core.errors import AgentFailed, BadInput, ProviderFailed, Undecided
from proctor.core.parts import AgentPart
from proctor.core.sample import Message, Part, Sample, Text, Tool, Turn
from proctor.core.sentence import say
from proctor.core.task import Environment, Session
from proctor.core.trajectory import Step, Usage
from proctor.core.validation import in_words
from proctor.models.addresses import Positive, fill_variables, header_value, policy_of
from proctor.transport.client import Client
from proctor.transport.faults import NotAccepted, RequestFault, shown
from proctor.transport.pace import CEILING, PaceBounds
from proctor.transport.repair import strict
from proctor.transport.target import RequestTarget
from proctor.transport.terms import RequestTerms

ANSWERS = ("answer", "output", "text", "response", "content")
OWN_FAULTS = ("http_500", "http_501")  # what a service answers whose code raised; 502 to 504 come from in front of it
PLACES = ("question", "messages", "tools", "session")
_PLACE = re.compile(r"\{(\w+)\}")
_STEP = re.compile(r"\[(\d+)\]|\[['\"]([^'\"\]]+)['\"]\]|\.?([^.\[\]]+)")
_encoder = msgspec.json.Encoder()


class HttpAgentOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of an agent that is reached over HTTP.

    Attributes:
        body: the request; `{question}`, `{messages}`, `{tools}` and `{session}` in it are filled in, as JSON where
            a text is nothing else. With GET they are in the address.
        reply: the path of the answer in the reply, such as `data.answer` or `$.choices[0].text`; without it
            answer, output, text, response or content is taken, or the reply itself where that is a text.
        calls: the path of a list of tool calls, each with name and arguments.
        headers: a value `env:NAME` is read from the environment, so that no key is stored with the run.
        timeout, client_certificate, retries, retry_seconds, concurrency, requests_per_minute: as for `openai:`.
    """

    method: Literal["POST", "PUT", "GET"] = "POST"
    headers: Mapping[str, str] = {}
    body: Any = None
    reply: str | None = None
    calls: str | None = None
    timeout: Positive | None = None
    first_byte_timeout: Positive | None = None
    connect_timeout: Positive | None = None
    client_certificate: str | None = None
    retries: Annotated[int, msgspec.Meta(ge=0)] | None = None
    retry_seconds: Annotated[float, msgspec.Meta(ge=0)] | None = None
    concurrency: Annotated[int, msgspec.Meta(ge=1)] | None = None
    requests_per_minute: Positive | None = None


def make(argument: str, options: Mapping[str, object]) -> "HttpAgent":
    """Return the agent `http:URL`; `http://host/…` and `https://host/…` are written after the colon in full."""
    if argument.startswith("//"):  # http://host/path was given as it is
        argument = f"http:{argument}"
    return HttpAgent(argument, converted(options, HttpAgentOptions, "http"))


class HttpAgent:
    """An agent that answers requests; it keeps its own tools and, by `{session}`, its own memory."""

    tools: Literal["text", "native"] = "text"

    def __init__(self, url: str, options: HttpAgentOptions = HttpAgentOptions()) -> None:  # noqa: B008 - frozen
        self.url = url
        self.options = options
        result = urlsplit(url)
        self.name = f"http:{result.netloc.rpartition('@')[2] or url}{result.path.rstrip('/')}"
        self.concurrency = options.concurrency or CEILING
        self.template = _template(options)
        _check_places([self.template, url])
        if options.calls is not None or "{tools}" in str(self.template):
            self.tools = "native"
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        self.target = RequestTarget(
            _fill_url(url, {}),
            method=options.method,
            headers=headers | {name: header_value(name, value) for name, value in options.headers.items()},
            terms=RequestTerms(
                seconds=options.timeout,
                first_byte_seconds=options.first_byte_timeout,
                connect_seconds=options.connect_timeout,
                bounds=PaceBounds(concurrency=options.concurrency, requests_per_minute=options.requests_per_minute),
                policy=policy_of(options.retries, options.retry_seconds),
            ),
            certificate=options.client_certificate,
            advice=say("Check the address, and the key that the option 'headers' names with env:NAME."),
        )
        self.decode = _decode if options.reply is not None or options.calls is not None else _decode_or_text
        self.paths = (_path(options.reply), _path(options.calls))

    def open(self, sample: Sample, environment: Environment | None) -> AbstractAsyncContextManager[Session]:
        """Return a conversation with an id of its own for each sample."""
        session = HttpSession(self, environment)
        if environment is None or self.options.calls is None:
            return nullcontext(session)
        return nullcontext(AgentConversation(session.ask, environment))


class HttpSession:
    """One conversation; `{messages}` holds all of it."""

    def __init__(self, agent: HttpAgent, environment: Environment | None = None) -> None:
        self._agent = agent
        self._environment = environment
        self._id = secrets.token_hex(16)
        self._history: list[Message] = []
        self._tools: Sequence[Tool] = ()

    async def send(self, turn: Turn) -> Sequence[Step]:
        """Send one request and return its reply as one step."""
        refuse_tools(self._agent.name, turn, self._environment, "http")
        self._history.extend(turn.messages)
        self._tools = turn.tools or self._tools
        step = await self._exchange(self._history, self._tools, turn.messages)
        self._history.append(step.message)
        return [step]

    async def ask(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Sequence[Step]:
        """Return the reply to a whole conversation, with the results of its tool calls."""
        return [await self._exchange(messages, tools, newest(messages))]

    async def _exchange(self, messages: Sequence[Message], tools: Sequence[Tool], new: Sequence[Message]) -> Step:
        values = {
            "question": "\n".join(message.text for message in new if message.role == "user"),
            "messages": to_messages(messages, {}),
            "tools": to_tools(tools, {}),
            "session": self._id,
        }
        started, clock = time.time(), time.perf_counter()
        client = Client.current()
        if client is not None:
            message = await self._ask(client, values, len(messages))
        else:
            async with Client() as own:
                message = await self._ask(own, values, len(messages))
        return Step(message=message, started=started, seconds=time.perf_counter() - clock, usage=Usage(requests=1))

    async def _ask(self, client: Client, values: Mapping[str, object], number: int) -> Message:
        agent = self._agent
        target, body = agent.target, None
        if agent.options.method == "GET":
            target = target.at(_fill_url(agent.url, values))
        else:
            body = _encode(_fill(agent.template, values))
        try:
            reply = await client.post(target, body, agent.decode)
        except ProviderFailed as error:
            if error.kind in OWN_FAULTS or (isinstance(error, NotAccepted) and error.stop is None):
                raise Undecided(
                    "The agent's service failed, and nothing shows whether the agent did or its model: {error}",
                    kind=error.kind,
                    error=error.sentence,
                ) from error
            raise
        return _message(reply, *agent.paths, number)


def _template(options: HttpAgentOptions) -> object:
    template = options.body
    if isinstance(template, str):  # as the command line gives it
        try:
            template = msgspec.json.decode(template)
        except msgspec.DecodeError as error:
            raise BadInput("The option 'body' is no JSON: {error}.", error=in_words(error)) from None
    return {"question": "{question}"} if template is None else template


def _check_places(template: object) -> None:
    for name in _PLACE.findall(str(template)):
        if name not in PLACES:
            raise BadInput(
                "There is nothing to fill in for {place}. Known: {known}.",
                place=f"{{{name}}}",
                known=", ".join(f"{{{known}}}" for known in PLACES),
            )


def _fill(template: object, values: Mapping[str, object]) -> object:
    """Fill in a template: a text that is one placeholder becomes its value, in others the value becomes text."""
    match template:
        case dict():
            return {key: _fill(value, values) for key, value in template.items()}
        case list():
            return [_fill(value, values) for value in template]
        case str() if (place := _PLACE.fullmatch(template)) is not None:
            return values[place[1]]
        case str():
            return _PLACE.sub(lambda place: _as_text(values[place[1]]), template)
    return template


def _fill_url(url: str, values: Mapping[str, object]) -> str:
    return _PLACE.sub(lambda place: quote(_as_text(values.get(place[1], "")), safe=""), fill_variables(url))


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _encode(body: object) -> bytes:
    try:
        return _encoder.encode(body)
    except UnicodeEncodeError:
        return _encoder.encode(strict(body))


def _decode(data: bytes) -> Any:
    reply = msgspec.json.decode(data)
    if isinstance(reply, dict) and reply.get("error") and not any(name in reply for name in ANSWERS):
        raise RequestFault("no_reply", shown(str(reply["error"])))
    return reply


def _decode_or_text(data: bytes) -> object:
    """Return JSON, or plain text where the address sends that; never a web page, nor JSON that broke off."""
    try:
        return _decode(data)
    except msgspec.DecodeError:
        text = data.decode().strip()
        if text[:1] in ("", "{", "[", '"', "<"):
            raise
        return text


def _path(text: str | None) -> list[str | int] | None:
    """Return the steps of a path: `$.data.items[0].text`, or the same without `$.`."""
    if text is None:
        return None
    rest = text.strip().removeprefix("$").removeprefix(".")
    steps: list[str | int] = []
    end = 0
    for match in _STEP.finditer(rest):
        if match.start() != end:
            break
        end = match.end()
        index, quoted, name = match.groups()
        steps.append(int(index) if index is not None else quoted or name)
    if end != len(rest):
        raise BadInput("'{path}' is no path into a reply. Write it like data.answer or choices[0].text.", path=text)
    return steps


def _at(reply: object, path: Sequence[str | int]) -> object:
    """Return the value at a path; None where there is nothing."""
    for step in path:
        if isinstance(reply, list) and str(step).isdecimal() and int(step) < len(reply):
            reply = reply[int(step)]
        elif isinstance(reply, dict) and str(step) in reply:
            reply = reply[str(step)]
        else:
            return None
    return reply


def _message(
    reply: object, answer: Sequence[str | int] | None, calls: Sequence[str | int] | None, number: int
) -> Message:
    found_calls = _at(reply, calls) if calls is not None else None
    parts: list[Part] = []
    for index, call in enumerate(found_calls if isinstance(found_calls, list) else ()):
        function = call.get("function", call) if isinstance(call, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            raise AgentFailed("The reply has a tool call without a name.", kind="wrong_type")
        arguments = function.get("arguments", function.get("args"))
        parts.append(call_of(function["name"], arguments, str(call.get("id") or f"call_{number}_{index}")))
    said = _at(reply, answer) if answer is not None else _usual_answer(reply)
    if said is None and not parts:
        raise AgentFailed(
            "The reply of the agent has no answer at '{path}'. It has: {keys}.",
            kind="no_answer",
            path=".".join(map(str, answer)) if answer is not None else " | ".join(ANSWERS),
            keys=", ".join(str(key)[:40] for key in list(reply)[:12])
            if isinstance(reply, dict)
            else type(reply).__name__,
        )
    if said is not None and said != "":
        parts.insert(0, Text(text=_as_text(said)))
    return Message(role="assistant", parts=tuple(parts))


def _usual_answer(reply: object) -> object:
    if not isinstance(reply, dict):
        return reply if isinstance(reply, str) else None
    return next((reply[name] for name in ANSWERS if reply.get(name) is not None), None)


PART = AgentPart(make=make, options=HttpAgentOptions)
