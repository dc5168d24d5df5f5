"""Agents of other libraries whose models say "It is " and the last question; a test is skipped without the library."""

from typing import Any

import pytest


def library(name: str, extra: str) -> Any:
    """The library, or the test is skipped."""
    return pytest.importorskip(name, reason=f"needs the extra '{extra}'")


def langgraph() -> Any:
    library("langgraph", "langgraph")
    from langchain_core.messages import AIMessage
    from langgraph.graph import START, MessagesState, StateGraph

    def reply(state: Any) -> dict[str, Any]:
        return {"messages": [AIMessage(f"It is {state['messages'][-1].text}")]}

    graph = StateGraph(MessagesState)
    graph.add_node("reply", reply)
    graph.add_edge(START, "reply")
    return graph.compile()


def openai_agents() -> Any:
    agents = library("agents", "openai-agents")
    from openai.types.responses import ResponseOutputMessage, ResponseOutputText

    class Echo(agents.Model):  # type: ignore[misc, name-defined]  # the library may not be there
        async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> Any:
            text = ResponseOutputText(text=f"It is {input[-1]['content']}", type="output_text", annotations=[])
            message = ResponseOutputMessage(
                id="message", type="message", role="assistant", status="completed", content=[text]
            )
            return agents.ModelResponse(output=[message], usage=agents.Usage(requests=1), response_id=None)

        def stream_response(self, *_: Any, **__: Any) -> Any:
            raise NotImplementedError

    return agents.Agent(name="echo", model=Echo())


def pydantic_ai() -> Any:
    library("pydantic_ai", "pydantic-ai")
    from pydantic_ai import Agent, ModelMessage, ModelResponse, TextPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[TextPart(f"It is {messages[-1].parts[-1].content}")])  # type: ignore[union-attr]

    return Agent(FunctionModel(reply), name="echo")


def smolagents() -> Any:
    library("smolagents", "smolagents")
    from smolagents import ChatMessage, Model, ToolCallingAgent
    from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole

    class Echo(Model):  # type: ignore[misc]  # the library has no types
        def generate(self, messages: Any, *_: Any, **__: Any) -> Any:
            question = messages[-1].content[0]["text"].removeprefix("New task:\n")
            function = ChatMessageToolCallFunction(name="final_answer", arguments={"answer": f"It is {question}"})
            call = ChatMessageToolCall(function=function, id="call", type="function")
            return ChatMessage(role=MessageRole.ASSISTANT, content=None, tool_calls=[call])

    return ToolCallingAgent(tools=[], model=Echo(model_id="echo"))
