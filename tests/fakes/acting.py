"""Agents of every library that follow a script of calls and words, and an environment they act on.

A script is a list of replies: a text is the answer, a list holds calls, each `(tool, arguments)`.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import Any

from echoes import library

from proctor.core.errors import EpisodeOver
from proctor.core.sample import File, Tool, ToolCall, ToolResult

Call = tuple[str, dict[str, Any]]
Script = Sequence[str | list[Call]]
PICTURE = File(name="a.png", media_type="image/png", data=b"\x89PNG\r\n\x1a\n")  # comes with an item of that name
ITEM = {"type": "object", "properties": {"item": {"type": "string", "description": "what"}}, "required": ["item"]}
TOOLS = (
    Tool(name="add", description="Put an item into the cart.", parameters=ITEM),
    Tool(name="sell_out", description="Fails.", parameters=ITEM),
    Tool(name="crash", description="Breaks the shop.", parameters={"type": "object", "properties": {}}),
    Tool(name="wait", description="Takes long.", parameters={"type": "object", "properties": {}}),
    Tool(name="close", description="Ends the conversation by a rule.", parameters={"type": "object", "properties": {}}),
)


class Shop:
    """An environment with a cart."""

    def __init__(self, tools: Sequence[Tool] = TOOLS) -> None:
        self.tools = tools
        self.calls: list[ToolCall] = []
        self.cart: list[str] = []
        self.was_left = False

    async def call(self, call: ToolCall) -> ToolResult:
        self.calls.append(call)
        match call.name:
            case "add":
                self.cart.append(call.arguments["item"])
                item = call.arguments["item"]
                files = (PICTURE,) if item == "picture" else ()
                return ToolResult(
                    name="add", content=f"added {item}, {len(self.cart)} in the cart", id=call.id, files=files
                )
            case "wait":
                try:
                    await asyncio.sleep(30)
                finally:
                    self.was_left = True
            case "close":
                raise EpisodeOver("the shop closes")
            case "crash":
                raise RuntimeError("the shop burns")
        return ToolResult(
            name=call.name, content=f"{call.arguments.get('item')} is sold out", id=call.id, is_error=True
        )

    def state(self) -> Mapping[str, object]:
        return {"cart": self.cart}


class Follows:
    """Takes the replies of a script in order.

    Attributes:
        heard: what the model was given each time, as text.
        offered: the names of the tools it was given each time.
    """

    def __init__(self, script: Script) -> None:
        self._rest = list(script)
        self.heard: list[str] = []
        self.offered: list[list[str]] = []
        self.calls = 0

    def next(self, given: object, tools: Sequence[str]) -> str | list[Call]:
        self.heard.append(str(given))
        self.offered.append([*tools])
        return self._rest.pop(0)

    def number(self) -> str:
        self.calls += 1
        return f"c{self.calls}"


def openai_agents(follows: Follows) -> Any:
    agents = library("agents", "openai-agents")
    import json

    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    class Model(agents.Model):  # type: ignore[misc, name-defined]  # the library may not be there
        async def get_response(
            self, system_instructions: Any, input: Any, model_settings: Any, tools: Any, *_: Any, **__: Any
        ) -> Any:
            said = follows.next(input, [tool.name for tool in tools])
            if isinstance(said, str):
                text = ResponseOutputText(text=said, type="output_text", annotations=[])
                output: list[Any] = [
                    ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
                ]
            else:
                output = [
                    ResponseFunctionToolCall(
                        type="function_call", call_id=follows.number(), name=name, arguments=json.dumps(arguments)
                    )
                    for name, arguments in said
                ]
            return agents.ModelResponse(output=output, usage=agents.Usage(requests=1), response_id=None)

        def stream_response(self, *_: Any, **__: Any) -> Any:
            raise NotImplementedError

    return agents.Agent(name="clerk", model=Model())


def pydantic_ai(follows: Follows) -> Any:
    library("pydantic_ai", "pydantic-ai")
    from pydantic_ai import Agent, ModelMessage, ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        said = follows.next(messages, [tool.name for tool in info.function_tools])
        if isinstance(said, str):
            return ModelResponse(parts=[TextPart(said)])
        return ModelResponse(parts=[ToolCallPart(name, args, follows.number()) for name, args in said])

    return Agent(FunctionModel(reply), name="clerk")


def langgraph(follows: Follows) -> Any:
    library("langgraph", "langgraph")
    from langchain_core.messages import AIMessage
    from langgraph.graph import START, MessagesState, StateGraph
    from langgraph.prebuilt import ToolNode, tools_condition

    def agent(tools: list[Any]) -> Any:
        def think(state: Any) -> dict[str, Any]:
            said = follows.next(state["messages"], [tool.name for tool in tools])
            if isinstance(said, str):
                return {"messages": [AIMessage(said)]}
            calls = [{"name": name, "args": args, "id": follows.number()} for name, args in said]
            return {"messages": [AIMessage("", tool_calls=calls)]}

        graph = StateGraph(MessagesState)
        graph.add_node("think", think)
        graph.add_node("tools", ToolNode(tools))
        graph.add_edge(START, "think")
        graph.add_conditional_edges("think", tools_condition)
        graph.add_edge("tools", "think")
        return graph.compile()

    return agent


def _smolagents_model(follows: Follows, reply: Callable[[Any], Any]) -> Any:
    from smolagents import Model

    class Scripted(Model):  # type: ignore[misc]  # the library has no types
        def generate(self, messages: Any, *_: Any, **given: Any) -> Any:
            return reply(follows.next(messages, [tool.name for tool in given.get("tools_to_call_from") or ()]))

    return Scripted(model_id="scripted")


def smolagents(follows: Follows) -> Any:
    library("smolagents", "smolagents")
    from smolagents import ChatMessage, ToolCallingAgent
    from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole

    def reply(said: str | list[Call]) -> Any:
        made = [("final_answer", {"answer": said})] if isinstance(said, str) else said
        calls = [
            ChatMessageToolCall(
                function=ChatMessageToolCallFunction(name=name, arguments=args), id=follows.number(), type="function"
            )
            for name, args in made
        ]
        return ChatMessage(role=MessageRole.ASSISTANT, content=None, tool_calls=calls)

    return ToolCallingAgent(tools=[], model=_smolagents_model(follows, reply))


def code_agent(follows: Follows) -> Any:
    library("smolagents", "smolagents")
    from smolagents import ChatMessage, CodeAgent
    from smolagents.models import MessageRole

    def reply(said: str | list[Call]) -> Any:
        made = [("final_answer", {"answer": said})] if isinstance(said, str) else said
        lines = [
            f"{'' if name == 'final_answer' else 'found = '}{name}({', '.join(f'{key}={value!r}' for key, value in args.items())})"
            for name, args in made
        ]
        lines = [part for line in lines for part in ((line, "print(found)") if line.startswith("found") else (line,))]
        return ChatMessage(role=MessageRole.ASSISTANT, content="<code>\n" + "\n".join(lines) + "\n</code>")

    return CodeAgent(tools=[], model=_smolagents_model(follows, reply))


def adk(follows: Follows, *, as_runner: bool = False) -> Any:
    library("google.adk", "adk")
    from google.adk.agents import LlmAgent
    from google.adk.models import BaseLlm
    from google.adk.models.llm_response import LlmResponse
    from google.genai import types

    class Scripted(BaseLlm):
        async def generate_content_async(
            self, llm_request: Any, stream: bool = False
        ) -> AsyncGenerator[LlmResponse, None]:
            said = follows.next(llm_request.contents, [*llm_request.tools_dict])
            if isinstance(said, str):
                parts = [types.Part(text=said)]
            else:
                parts = [
                    types.Part(function_call=types.FunctionCall(name=name, args=args, id=follows.number()))
                    for name, args in said
                ]
            yield LlmResponse(content=types.Content(role="model", parts=parts))

    agent = LlmAgent(name="clerk", model=Scripted(model="scripted"))
    if not as_runner:
        return agent
    from google.adk.runners import InMemoryRunner

    return InMemoryRunner(agent=agent, app_name="shop")


def _message(follows: Follows, said: str | list[Call]) -> Any:
    import json

    if isinstance(said, str):
        return {"role": "assistant", "content": said}
    calls = [
        {"id": follows.number(), "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}
        for name, args in said
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def messages_and_tools(follows: Follows) -> Any:
    def agent(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> Any:
        return [_message(follows, follows.next(messages, [tool["function"]["name"] for tool in tools]))]

    return agent


def plain_function(follows: Follows) -> Any:
    def agent(question: str, environment: Any) -> str:
        given: object = question
        while not isinstance(
            said := follows.next(given, [tool["function"]["name"] for tool in environment.tools]), str
        ):
            given = [environment.call(name, **args).content for name, args in said]
        return said

    return agent


def async_function(follows: Follows) -> Any:
    async def agent(messages: list[dict[str, Any]], environment: Any) -> str:
        given: object = messages
        while not isinstance(
            said := follows.next(given, [tool["function"]["name"] for tool in environment.tools]), str
        ):
            given = [(await environment.call(name, **args)).content for name, args in said]
        return said

    return agent


AGENTS: dict[str, Callable[[Follows], Any]] = {
    "openai_agents": openai_agents,
    "pydantic_ai": pydantic_ai,
    "langgraph": langgraph,
    "smolagents": smolagents,
    "smolagents, code": code_agent,
    "adk": adk,
    "adk, runner": lambda follows: adk(follows, as_runner=True),
    "function, messages and tools": messages_and_tools,
    "function, environment": plain_function,
    "function, async, messages and environment": async_function,
}
