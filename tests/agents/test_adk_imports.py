"""What google-adk imports late is imported before the first sample; what its model wrote and nobody can read is kept."""

import json
import subprocess
import sys
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("google.adk", reason="needs the extra 'adk'")

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm
from google.adk.models.llm_response import LlmResponse

import proctor
from proctor.agents.agent_errors import agent_error
from proctor.core.errors import AgentFailed
from proctor.core.trial import Trial

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

SLOW = """
import time
time.sleep({seconds})
ChatCompletionAssistantMessage = ChatCompletionMessageToolCall = ChatCompletionSystemMessage = dict
ChatCompletionToolMessage = ChatCompletionUserMessage = ChatCompletionToolCallFunctionChunk = dict
CustomStreamWrapper = Message = ModelResponse = ModelResponseStream = OpenAIMessageContent = type("Model", (), {{}})

async def acompletion(*_, **__):
    raise ValueError("nobody is asked")

completion = acompletion
imported = time.time()
"""

FIRST_TURN = """
import sys
sys.path.insert(0, {fakes!r})
from adk_agents import agent, says
import proctor
from proctor_adapters.agents import adk

class Watched(adk.AdkAgent):
    def open(self, *given):
        before.update(sys.modules)
        return super().open(*given)

before = {{}}
made = adk.wrap(agent(says("x")))
made.__class__ = Watched
task = proctor.Task(name="t", samples=[proctor.Sample.ask("a", "?", target="x")], scorers=["exact"])
run = proctor.evaluate(task, agent=made)
assert run.outcomes == {{"scored": 1}}, run
print(len([name for name in sys.modules.keys() - before.keys() if name.startswith("google.adk.")]))
"""


def first_trial(target: Any) -> Trial:
    task = proctor.Task(name="t", samples=[proctor.Sample.ask("a", "?", target="x")], scorers=["exact"])
    (trial,) = proctor.evaluate(task, agent=target).trials()
    return trial


def test_no_sample_waits_for_the_import_of_the_models_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "litellm").mkdir()
    (tmp_path / "litellm" / "__init__.py").write_text(SLOW.format(seconds=0.3))
    (tmp_path / "litellm" / "types").mkdir()
    (tmp_path / "litellm" / "types" / "utils.py").write_text("Delta = dict\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("litellm", "google.adk.models.lite_llm"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    from google.adk.models.lite_llm import LiteLlm

    assert "litellm" not in sys.modules
    inner = LlmAgent(name="inner", model=LiteLlm(model="openai/m"))
    trial = first_trial(LlmAgent(name="outer", model=LiteLlm(model="openai/m"), sub_agents=[inner]))
    library: Any = sys.modules.pop("litellm")
    sys.modules.pop("google.adk.models.lite_llm")
    assert trial.failure is not None
    assert "nobody is asked" in str(trial.failure.reason)
    assert library.imported <= trial.started < time.time()


@pytest.mark.slow
def test_the_first_turn_imports_nothing_more_of_google_adk() -> None:
    fakes = str(Path(__file__).parents[1] / "fakes")
    code = FIRST_TURN.format(fakes=fakes)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout.splitlines()[-1]) <= 3  # of 740 modules in version 2.13


class Reads(BaseLlm):
    """A model class that reads the arguments of a call itself, as that for LiteLLM did up to google-adk 2.7."""

    async def generate_content_async(self, *_: Any, **__: Any) -> AsyncGenerator[LlmResponse, None]:
        json.loads('{"order": 7')
        yield LlmResponse()


def test_arguments_that_nobody_can_read_are_the_agents_failure_and_kept() -> None:
    trial = first_trial(LlmAgent(name="a", model=Reads(model="m")))
    assert trial.outcome == "agent_failed"
    assert [step.message.text for step in trial.trajectory.steps] == ['{"order": 7']


@pytest.mark.parametrize("module", ["google.adk.models.lite_llm", "pydantic_ai.messages"])
def test_a_library_that_reads_arguments_is_no_endpoint_with_a_broken_reply(module: str) -> None:
    with pytest.raises(json.JSONDecodeError) as raised:
        exec("import json; json.loads(given)", {"__name__": module, "given": '{"order": 7'})
    assert isinstance(agent_error(raised.value, "model"), AgentFailed)
