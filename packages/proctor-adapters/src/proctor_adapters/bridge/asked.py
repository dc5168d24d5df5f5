"""Answer the requests of another program with the models of the run, and word both sides as Inspect does."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any, cast

import msgspec

from proctor import registry
from proctor.agents.openai import AgentModel, conversation_with
from proctor.core.digest import digest
from proctor.core.errors import AgentFailed, BadInput
from proctor.core.sample import JsonObject, Message, Reasoning, Sample, Tool, Turn
from proctor.core.task import Agent, AgentChoice, Model
from proctor.core.trajectory import NOTHING, Step, Usage
from proctor.models import named
from proctor.transport.faults import NotAccepted
from proctor_adapters.bridge.options import AGENT, GuestOptions
from proctor_adapters.imports._messages import message

SAME = ("temperature", "top_p", "max_tokens", "seed", "reasoning_effort", "top_k")
IN_BODY = ("frequency_penalty", "presence_penalty", "parallel_tool_calls", "logit_bias")
ONE_CHOICE = ("num_choices", "best_of")  # of which 1 is what every model gives
REFUSED = ("num_choices", "best_of", "logprobs", "top_logprobs", "prompt_logprobs", "modalities", "reasoning_tokens")
CHAT_COMPLETIONS = ("openai", "ollama", "vllm", "litellm", "local")
STOPS = {"length": "max_tokens", "filtered": "content_filter", "refused": "content_filter"}


class GuestAsk(msgspec.Struct, frozen=True, kw_only=True):
    """A request of the other program.

    Attributes:
        kind: "agent" is the evaluated one, "role" a named role, "model" one that the task asks by its provider's name.
        config: its settings, in the words of Inspect.
    """

    kind: str
    model: str
    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]] = []
    tool_choice: str | dict[str, Any] = "auto"
    config: dict[str, Any] = {}


class AskedModels:
    """The evaluated agent and the other models of a run, each with the settings that a task asks for.

    Args:
        name: the task, for messages.
    """

    def __init__(self, agent: Agent, choice: AgentChoice, options: GuestOptions, name: str) -> None:
        self._agent = agent
        self._choice = choice
        self._options = options
        self._name = name
        self._stack = AsyncExitStack()
        self._models: dict[str, Model] = {}

    async def close(self) -> None:
        """Close the models that hold something, such as a server."""
        await self._stack.aclose()

    def model_name(self, kind: str, name: str) -> str:
        """Return the name of the model that answers; "agent" for the evaluated one.

        Raises:
            BadInput: nothing says who plays the role, or who answers for a model that the task names.
        """
        if kind == "role":
            if name not in self._options.roles:
                raise BadInput(
                    "{task} needs the role '{role}'. Add --set role.{role}=MODEL.", task=self._name, role=name
                )
            return self._options.roles[name]
        if kind == "model":
            if name not in self._options.models:
                raise BadInput(
                    "{task} asks the model '{name}' by its name. Say which model answers: --set model.{name}=MODEL.",
                    task=self._name,
                    name=name,
                )
            return self._options.models[name]
        return AGENT

    def price_name(self, kind: str, name: str) -> str:
        """Return the name under which the price of a model is listed."""
        answers = self.model_name(kind, name)
        answers = self._choice.name or "" if answers == AGENT else answers
        return answers.partition(":")[2]

    async def answer(self, ask: GuestAsk, sample: Sample) -> Step:
        """Return the next message of whoever is asked.

        Raises:
            BadInput: it cannot do what the task asks for.
        """
        name = self.model_name(ask.kind, ask.model)
        messages = [message(raw) for raw in ask.messages]
        tools = () if ask.tool_choice == "none" else tuple(tool_of(raw) for raw in ask.tools)
        is_agent = name == AGENT
        model_name = self._choice.name if is_agent else name
        if model_name is None or not is_model(model_name):
            if not is_agent:
                raise registry.unknown("model", name, [f"{kind}:" for kind in registry.MODELS.names()], paths=False)
            return await self._of_agent(messages, tools, sample)
        given = self._choice.options if is_agent else {}
        model = await self._model(model_name, given, ask)
        try:
            if given.get("tools") == "prompt" and tools:
                turn = Turn(messages=tuple(messages), tools=tools)
                steps = await conversation_with(cast(AgentModel, model), "text", None).send(turn)
                return steps[-1]
            return await model.complete(messages, tools, response_format=_response_format(ask.config))
        except NotAccepted as error:
            if error.stop is None:
                raise
            return Step(message=Message(role="assistant"), stop=error.stop, usage=NOTHING)

    async def _of_agent(self, messages: list[Message], tools: tuple[Tool, ...], sample: Sample) -> Step:
        """Ask an agent that is no model: one request is one conversation with it."""
        if tools and self._agent.tools != "native":
            raise BadInput(
                "The agent {agent} cannot take the place of the model: {task} offers tools ({names}), and the agent takes none. An agent that is a model, such as openai:MODEL, or a function of messages and tools can.",
                agent=self._agent.name,
                task=self._name,
                names=", ".join(tool.name for tool in tools),
            )
        async with self._agent.open(sample, None) as session:
            steps = await session.send(Turn(messages=tuple(messages), tools=tools))
        said = [step for step in steps if step.message.role == "assistant"]
        if not said:
            raise AgentFailed("The agent gave no message.", kind="empty")
        usage = sum((step.usage for step in steps if step.usage is not None), NOTHING)
        return msgspec.structs.replace(said[-1], usage=usage)

    async def _model(self, name: str, given: JsonObject, ask: GuestAsk) -> Model:
        """Return the model with the settings that a task asks for; what the user gives has precedence."""
        wanted = self._settings(name, ask)
        wanted["extra_body"] = {**wanted.get("extra_body", {}), **given.get("extra_body", {})}
        settings = {key: value for key, value in wanted.items() if key not in given and value not in (None, {})}
        if given.get("extra_body") or wanted["extra_body"]:
            settings["extra_body"] = wanted["extra_body"]
        options = {key: value for key, value in given.items() if key not in ("max_steps", "extra_body")}
        key = digest([name, {**options, **settings}])
        if key not in self._models:
            model = named.model(name, {**options, **settings})
            if isinstance(model, AbstractAsyncContextManager):
                await self._stack.enter_async_context(model)
            self._models[key] = model
        return self._models[key]

    def _settings(self, name: str, ask: GuestAsk) -> dict[str, Any]:
        kind = name.partition(":")[0]
        part = registry.MODELS.find(kind) if registry.MODELS.knows(kind) else None
        if part is None or part.options is None:
            return {}  # an object of the user's own, which has no settings
        config, fields = ask.config, part.options.__struct_fields__
        wanted = {field: config[field] for field in SAME if field in config}
        wanted |= {"stop": config["stop_seqs"]} if config.get("stop_seqs") else {}
        body = {field: config[field] for field in IN_BODY if field in config} | config.get("extra_body", {})
        missing = [field for field in wanted if field not in fields]
        missing += [
            field for field in REFUSED if config.get(field) and not (field in ONE_CHOICE and config[field] == 1)
        ]
        if ask.tools and ask.tool_choice not in ("auto", "none"):
            body["tool_choice"] = _tool_choice(ask.tool_choice)
        if body and kind not in CHAT_COMPLETIONS:
            missing += body
        if missing:
            raise BadInput(
                "{task} asks for {what}, which {model} does not give.",
                task=self._name,
                what=", ".join(f"{field}={config.get(field, ask.tool_choice)}" for field in missing),
                model=name,
            )
        return wanted | ({"extra_body": body} if body else {})


def is_model(name: str) -> bool:
    """True if the name of an agent is that of a chat model too."""
    return ":" in name and registry.MODELS.knows(name.partition(":")[0])


def tool_of(raw: JsonObject) -> Tool:
    return Tool(
        name=str(raw["name"]), description=str(raw.get("description", "")), parameters=raw.get("parameters") or {}
    )


def output_of(step: Step, id: str, seconds: float) -> dict[str, object]:
    """Return a reply as the JSON of Inspect's `ModelOutput`.

    Args:
        id: of its message.
        seconds: the time that it took without waits, which Inspect does not count as work.
    """
    content: str | list[dict[str, Any]] = step.message.text
    thoughts = [part.text for part in step.message.parts if isinstance(part, Reasoning)]
    if thoughts:
        content = [{"type": "reasoning", "reasoning": text} for text in thoughts] + [{"type": "text", "text": content}]
    calls = [
        {
            "id": call.id or f"call-{number}",
            "function": call.name,
            "arguments": call.arguments,
            "type": "function",
            **({"parse_error": f"Error parsing the tool call arguments: {call.raw}"} if call.raw is not None else {}),
        }
        for number, call in enumerate(step.message.calls)
    ]
    said = {"role": "assistant", "content": content, "source": "generate", "id": id}
    stop = STOPS.get(step.stop, "tool_calls" if calls else "stop")
    return {
        "model": "",
        "choices": [{"message": {**said, "tool_calls": calls or None}, "stop_reason": stop}],
        "usage": _usage_of(step.usage or NOTHING),
        "time": seconds,
    }


def _usage_of(usage: Usage) -> dict[str, object]:
    return {
        "input_tokens": usage.input_tokens - usage.cached_tokens - usage.cache_write_tokens,
        "output_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "input_tokens_cache_read": usage.cached_tokens,
        "input_tokens_cache_write": usage.cache_write_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
    }


def _tool_choice(choice: str | Mapping[str, object]) -> object:
    if isinstance(choice, str):
        return "required" if choice == "any" else choice
    return {"type": "function", "function": {"name": choice["name"]}}


def _response_format(config: JsonObject) -> Mapping[str, object] | None:
    schema = config.get("response_schema")
    if not schema:
        return None
    named_schema = {"name": schema.get("name", "reply"), "schema": schema.get("json_schema", {})}
    return {"type": "json_schema", "json_schema": {**named_schema, "strict": bool(schema.get("strict"))}}
