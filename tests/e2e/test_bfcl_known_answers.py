"""Every single-turn category, every mode and every entry point against a server of known answers: the planned number comes out.

The server answers the first five questions of a category in whatever form it is asked for: three right, two wrong.
"""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from endpoint import Request, chat
from msgspec.structs import replace
from test_endpoint_runs import served

import proctor
from proctor.agents.openai import ChatAgent
from proctor.chat.agent_replies import steps_of
from proctor.cli import app
from proctor.core.sample import Message, Sample, Tool
from proctor.core.trajectory import Step, Trajectory
from proctor_benchmarks.bfcl import dataset, oracle, task
from proctor_compat.hello_agents import BFCLDataset, BFCLEvaluator

ASKED, RIGHT = 5, (0, 2, 3)  # no text holds the map that simple_java_1 wants
PLANNED = len(RIGHT) / ASKED
MODES = {
    "native": (),
    "only native": ("--set", "mode=native"),
    "dotted": ("--set", "names=dotted"),
    "agent in words": ("--agent-set", "tools=prompt"),
    "task in words": ("--set", "mode=prompt"),
    "both in words": ("--set", "mode=prompt", "--agent-set", "tools=prompt"),
}


class Known:
    """The first samples of a category, and what is answered to each."""

    def __init__(self, category: str) -> None:
        made = task(category)
        self.samples: list[Sample] = list(made.samples)[:ASKED]  # type: ignore[arg-type]  # a list, for this task

    def answer(self, messages: Sequence[Mapping[str, Any]], names: Sequence[str]) -> dict[str, Any]:
        """Return the message of a reply: native calls where tools are offered, else text in the form asked for."""
        said = str(messages[-1]["content"])
        number, sample = self._asked(said)
        dotted = any("." in name for name in names)
        if number in RIGHT:
            native, text = oracle.native(sample, dotted=dotted or not names), oracle.text(sample)
        else:
            native, text = _wrong(sample)
        if names:
            made = [
                {
                    "id": f"c{place}",
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments_text()},
                }
                for place, call in enumerate(native.calls())
            ]
            return {"content": None, "tool_calls": made} if made else {"content": native.answer}
        if "JSON array of the calls" in said:
            calls = [{"name": call.name, "arguments": call.arguments} for call in native.calls()]
            return {"content": json.dumps(calls) if calls else "[]"}
        return {"content": text.answer}

    def _asked(self, said: str) -> tuple[int, Sample]:
        places = [(number, sample) for number, sample in enumerate(self.samples) if _question(sample) in said]
        return max(places, key=lambda place: len(_question(place[1])))


def _question(sample: Sample) -> str:
    return sample.turns[0].messages[-1].text


def _wrong(sample: Sample) -> tuple[Trajectory, Trajectory]:
    """A call where none fits, and none where one is wanted."""
    if "irrelevance" not in sample.meta["category"]:
        return Trajectory.of("I cannot help."), Trajectory.of("I cannot help.")
    wanting = replace(sample, meta={**sample.meta, "category": "live_relevance"})
    return oracle.native(wanting, dotted=True), oracle.text(wanting)


def names_of(tools: Sequence[Mapping[str, Any]]) -> list[str]:
    return [tool["function"]["name"] for tool in tools]


@pytest.fixture(params=dataset.SINGLE_TURN)
def category(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("PROCTOR_STORE", str(tmp_path / "runs.db"))
    return str(request.param)


@pytest.fixture
def url(category: str) -> Iterator[str]:
    known = Known(category)

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        given = request.json
        await chat(**{"text": None, **_named(known.answer(given["messages"], names_of(given.get("tools", ()))))})(
            request, writer
        )

    with served(answer) as endpoint:
        yield f"{endpoint.url}/v1"


def _named(message: Mapping[str, Any]) -> dict[str, Any]:
    return {"text" if key == "content" else key: value for key, value in message.items()}


def test_every_mode_of_the_command_line_scores_as_planned(category: str, url: str) -> None:
    found = {}
    for mode, options in MODES.items():
        arguments = ["run", f"bfcl/{category}", "--agent", "openai:m", "--base-url", url, "--first", str(ASKED)]
        result = CliRunner().invoke(app, [*arguments, "--json", "--quiet", *options])
        assert result.exit_code == 0, result.stderr
        told = {one["name"]: one["value"] for one in json.loads(result.stdout)["estimates"] if not one["slice"]}
        found[mode] = told["accuracy"]
    assert found == dict.fromkeys(MODES, PLANNED)


def test_python_and_the_names_of_hello_agents_score_as_planned(
    category: str, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    found = {}
    for mode in ("auto", "prompt", "native"):
        run = proctor.evaluate(f"bfcl/{category}", agent="openai:m", first=ASKED, options={"mode": mode})
        found[mode] = run.estimate("accuracy").value
    results = BFCLEvaluator(BFCLDataset(category=category), category).evaluate("openai:m", max_samples=ASKED)
    assert {**found, "compat": results["overall_accuracy"]} == dict.fromkeys([*found, "compat"], PLANNED)


class LocalKnown:
    """A model of this machine, with known answers in the place of a server."""

    name, concurrency = "known", 1

    def __init__(self, known: Known) -> None:
        self._known = known

    async def start(self) -> None: ...

    async def stop(self) -> None: ...

    async def complete(self, messages: Sequence[Message], tools: Sequence[Tool] = ()) -> Step:
        asked = [{"content": message.text} for message in messages]
        return steps_of({"role": "assistant", **self._known.answer(asked, [tool.name for tool in tools])})[0]


@pytest.mark.parametrize("mode", ["auto", "prompt"])
def test_a_local_model_scores_as_planned(category: str, mode: str) -> None:
    model: Any = LocalKnown(Known(category))
    options = {"mode": mode}
    run = proctor.evaluate(f"bfcl/{category}", agent=ChatAgent(model), first=ASKED, options=options)
    assert run.estimate("accuracy").value == PLANNED
