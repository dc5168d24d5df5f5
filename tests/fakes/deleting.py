"""Agents of other libraries whose model deletes the files that it is asked to, and whose tool for it waits for approval.

Asked "Delete a b.", the model calls `delete(path="a")` and `delete(path="b")` in one reply, and when it has the results it
says "Deleted: ..." with them.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any

from echoes import library

MAKERS: dict[str, Callable[[list[str]], Any]] = {}


def agent(name: str, deleted: list[str]) -> Any:
    """An agent of a library, which adds to `deleted`."""
    return MAKERS[name](deleted)


def _maker(function: Callable[[list[str]], Any]) -> Callable[[list[str]], Any]:
    MAKERS[function.__name__] = function
    return function


def paths(question: str) -> list[str]:
    return question.rstrip(".").split()[1:]


def final(results: Sequence[object]) -> str:
    return f"Deleted: {'; '.join(map(str, results))}"


@_maker
def openai_agents(deleted: list[str]) -> Any:
    agents = library("agents", "openai-agents")
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    class Deleter(agents.Model):  # type: ignore[misc, name-defined]  # the library may not be there
        async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> Any:
            turn = max(index for index, item in enumerate(input) if item.get("role") == "user")
            results = [item["output"] for item in input[turn:] if item.get("type") == "function_call_output"]
            output: list[Any]
            if results or "Delete" not in input[turn]["content"]:
                text = ResponseOutputText(text=final(results), type="output_text", annotations=[])
                output = [
                    ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
                ]
            else:
                output = [
                    ResponseFunctionToolCall(
                        name="delete", arguments=json.dumps({"path": path}), call_id=f"c-{path}", type="function_call"
                    )
                    for path in paths(input[turn]["content"])
                ]
            return agents.ModelResponse(output=output, usage=agents.Usage(requests=1), response_id=None)

        def stream_response(self, *_: Any, **__: Any) -> Any:
            raise NotImplementedError

    @agents.function_tool(needs_approval=True)  # type: ignore[untyped-decorator]  # the library may not be there
    def delete(path: str) -> str:
        deleted.append(path)
        return f"{path} is gone"

    return agents.Agent(name="deleter", model=Deleter(), tools=[delete])


@_maker
def pydantic_ai(deleted: list[str]) -> Any:
    library("pydantic_ai", "pydantic-ai")
    from pydantic_ai import Agent, DeferredToolRequests, ModelMessage, ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.messages import ToolReturnPart, UserPromptPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        parts = [part for message in messages for part in message.parts]
        turn = max(index for index, part in enumerate(parts) if isinstance(part, UserPromptPart))
        results = [part.content for part in parts[turn:] if isinstance(part, ToolReturnPart)]
        question = str(parts[turn].content)  # type: ignore[union-attr]
        if results or "Delete" not in question:
            return ModelResponse(parts=[TextPart(final(results))])
        return ModelResponse(parts=[ToolCallPart("delete", {"path": path}, f"c-{path}") for path in paths(question)])

    made = Agent(FunctionModel(reply), name="deleter", output_type=[str, DeferredToolRequests])

    @made.tool_plain(requires_approval=True)
    def delete(path: str) -> str:
        deleted.append(path)
        return f"{path} is gone"

    return made


@_maker
def langgraph(deleted: list[str]) -> Any:
    library("langgraph", "langgraph")
    from langchain_core.messages import AIMessage, ToolMessage
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.graph import END, START, MessagesState, StateGraph
    from langgraph.types import interrupt

    def think(state: Any) -> dict[str, Any]:
        messages = state["messages"]
        turn = max(index for index, message in enumerate(messages) if message.type == "human")
        results = [message.content for message in messages[turn:] if message.type == "tool"]
        if results or "Delete" not in messages[turn].text:
            return {"messages": [AIMessage(final(results))]}
        calls = [{"name": "delete", "args": {"path": path}, "id": f"c-{path}"} for path in paths(messages[turn].text)]
        return {"messages": [AIMessage("", tool_calls=calls)]}

    def act(state: Any) -> dict[str, Any]:
        """Ask as HumanInTheLoopMiddleware of LangChain does."""
        calls = state["messages"][-1].tool_calls
        reviewed = interrupt(
            {
                "action_requests": [{"name": call["name"], "args": call["args"]} for call in calls],
                "review_configs": [{"action_name": "delete", "allowed_decisions": ["approve", "reject"]}],
            }
        )
        results = []
        for call, decision in zip(calls, reviewed["decisions"], strict=True):
            path = call["args"]["path"]
            if decision["type"] == "approve":
                deleted.append(path)
            content = f"{path} is gone" if decision["type"] == "approve" else decision["message"]
            results.append(ToolMessage(content, name="delete", tool_call_id=call["id"]))
        return {"messages": results}

    graph = StateGraph(MessagesState)
    graph.add_node("think", think)
    graph.add_node("act", act)
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", lambda state: "act" if state["messages"][-1].tool_calls else END)
    graph.add_edge("act", "think")
    return graph.compile(checkpointer=InMemorySaver())


@_maker
def adk(deleted: list[str]) -> Any:
    library("google.adk", "adk")
    from google.adk.agents import LlmAgent
    from google.adk.models import BaseLlm
    from google.adk.models.llm_response import LlmResponse
    from google.adk.tools.function_tool import FunctionTool
    from google.genai import types

    class Deleter(BaseLlm):
        model: str = "deleter"

        async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
            contents = llm_request.contents
            turn = max(index for index, one in enumerate(contents) if one.role == "user" and one.parts[0].text)
            answered = [
                part.function_response for one in contents[turn:] for part in one.parts if part.function_response
            ]
            results = [json.dumps(one.response) for one in answered]
            if results or "Delete" not in contents[turn].parts[0].text:
                parts = [types.Part(text=final(results))]
            else:
                asked = paths(contents[turn].parts[0].text)
                made = [types.FunctionCall(name="delete", args={"path": path}) for path in asked]
                parts = [types.Part(function_call=call) for call in made]
            yield LlmResponse(content=types.Content(role="model", parts=parts))

    def delete(path: str) -> dict[str, str]:
        """Delete a file."""
        deleted.append(path)
        return {"result": f"{path} is gone"}

    tool = FunctionTool(delete, require_confirmation=True)
    return LlmAgent(name="deleter", model=Deleter(), tools=[tool])
