"""Agents of other libraries whose model deletes the files that it is asked to, and whose tool for it waits for approval.

Asked "Delete a b.", the model calls `delete(path="a")` and `delete(path="b")` in one reply, and when it has the results it
says "Deleted: ..." with them. `agents(library)` also returns what was really deleted.
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
