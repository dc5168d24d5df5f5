"""The code of an agent of google-adk whose model is a script: it thinks, looks up a price, and answers word by word."""

from pathlib import Path

SHOP = '''
import asyncio, os, time
from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.tools.tool_context import ToolContext
from google.genai import types

USED = types.GenerateContentResponseUsageMetadata(prompt_token_count=10, candidates_token_count=5, total_token_count=15)

def reply(*parts, **more):
    return LlmResponse(content=types.Content(role="model", parts=list(parts)), **more)

class Scripted(BaseLlm):
    model: str = "scripted"
    async def generate_content_async(self, llm_request, stream=False):
        last = llm_request.contents[-1].parts[-1]
        if last.text == "crash":
            os._exit(7)
        if last.text == "wait":
            await asyncio.sleep(600)
        if last.text == "fail":
            raise ConnectionError("no model here")
        if last.text == "time":  # for how long the first words are under way
            said = str(time.time())
            if stream:
                yield reply(types.Part(text=said), partial=True)
                await asyncio.sleep(0.2)
            yield reply(types.Part(text=said))
            return
        if last.text == "count":
            yield reply(types.Part(text=f"{len(llm_request.contents)} messages"))
            return
        if last.function_response is None:
            call = types.FunctionCall(name="lookup_price", args={"model": "A"})
            yield reply(types.Part(text="I look it up.", thought=True), types.Part(function_call=call))
            return
        words = f"Model A costs {last.function_response.response['price']} 元."
        if stream:
            for word in words.split(" "):
                await asyncio.sleep(0.02)
                yield reply(types.Part(text=word + " "), partial=True, custom_metadata={"said": time.time()})
        yield reply(types.Part(text=words), usage_metadata=USED)

def lookup_price(model: str, tool_context: ToolContext) -> dict:
    """Look up the price of a model."""
    tool_context.state["asked"] = tool_context.state.get("asked", 0) + 1
    return {"price": 100}

root_agent = LlmAgent(name="shop", model=Scripted(), tools=[lookup_price])
'''


def write_shop(agents: Path, name: str = "shop") -> Path:
    """Write the agent into a folder of agents, and return its own folder."""
    folder = agents / name
    folder.mkdir(parents=True)
    (folder / "agent.py").write_text(SHOP, encoding="utf-8")
    (folder / "__init__.py").write_text("from . import agent\n")
    return folder
