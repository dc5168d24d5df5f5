"""Episodes in a real Chromium: rewards, limits, seeds, scripted solutions, and what an agent can do wrong.

`tests/data/miniwob.jsonl.gz` was made by playing actions through the official package, miniwob 1.1.0 with Selenium.
"""

import gzip
import json
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from proctor.agents.openai import ChatAgent
from proctor.api import Run, evaluate
from proctor.core.errors import BadInput, EpisodeOver
from proctor.core.sample import Message, Sample, Tool, ToolCall
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Step, Trajectory
from proctor.models.scripted import ScriptedModel
from proctor_adapters.environments.browser import Chromium
from proctor_benchmarks import miniwob
from proctor_benchmarks.miniwob import environment, official, oracle
from proctor_benchmarks.miniwob.environment import MiniwobEpisode, TimeLimit
from proctor_benchmarks.miniwob.parity import check_corpus
from proctor_benchmarks.miniwob.scorer import Success

CORPUS = Path(__file__).parents[2] / "data" / "miniwob.jsonl.gz"
pytestmark = pytest.mark.xdist_group("chromium")
in_module = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def chromium() -> AsyncIterator[Chromium]:
    async with Chromium() as chromium:
        yield chromium


@asynccontextmanager
async def begun(
    chromium: Chromium, task: str, seed: int = 7, limit: TimeLimit = "none"
) -> AsyncIterator[MiniwobEpisode]:
    of = {"task": task, "seed": seed, "mode": "train"}
    async with MiniwobEpisode(official.locate(), chromium, of, limit) as episode:
        yield episode


async def act(episode: MiniwobEpisode, name: str, **arguments: Any) -> tuple[str, bool]:
    result = await episode.call(ToolCall(name=name, arguments=arguments))
    return result.content, result.is_error


def run(agent: Any, store: Path, tasks: str, **options: Any) -> Run:
    return evaluate(
        f"miniwob/{tasks}",
        agent=agent,
        options={"episodes": 1, **options},
        store=str(store / "runs.db"),
        run_id="r",
        concurrency=4,
    )


def test_the_scripted_agent_succeeds_four_at_once_and_its_episodes_are_written_read_and_played_again(
    tmp_path: Path,
) -> None:
    tasks = "click-test,click-menu-2,email-inbox-delete"
    done = run("baseline:oracle", tmp_path, tasks, first_seed=5)
    assert done.estimate("accuracy").value == done.estimate("mean_raw_reward").value == 1
    trials = [(done.store.sample("r", trial.sample_id), trial) for trial in done.trials()]
    (written,) = miniwob.PART.export(trials, tmp_path / "out", "a/b")  # type: ignore[misc, arg-type]
    assert written.parts[-2:] == ("a_b", "episodes.jsonl")
    again = evaluate(
        f"miniwob/{tasks}",
        replies=str(written),
        options={"episodes": 1, "first_seed": 5},
        store=str(tmp_path / "again.db"),
    )
    assert again.estimate("accuracy").value == 1
    assert [line.agrees for line in check_corpus(written)] == [True] * 3


def test_an_agent_that_does_nothing_earns_nothing(tmp_path: Path) -> None:
    found = run("baseline:null", tmp_path, "click-test")
    assert found.estimate("accuracy").value == 0
    assert {verdict.result.known.error_class for verdict in found.verdicts()} == {"not_finished"}


def test_a_model_reads_the_instruction_and_the_page_and_stops_when_the_page_says_so(tmp_path: Path) -> None:
    def reply(messages: Sequence[Message], tools: Sequence[Tool]) -> Message:
        assert "click_element" in {tool.name for tool in tools}
        (shown,) = (one.text for one in messages if one.role == "user")
        assert shown.startswith("Instruction: Click the button.\n")
        ref = int(re.search(r'\[(\d+)\] button id=subbtn "Click Me!"', shown)[1])  # type: ignore[index]
        calls = [ToolCall(name="click_element", arguments={"ref": ref}, id=str(number)) for number in (1, 2)]
        return Message(role="assistant", parts=tuple(calls))

    found = run(ChatAgent(ScriptedModel(reply)), tmp_path, "click-test")
    (trial,) = found.trials()
    assert trial.trajectory.stop == "task_limit"
    assert [step.message.role for step in trial.trajectory.steps] == ["system", "user", "assistant", "tool"]
    assert found.estimate("accuracy").value == 1


@in_module
async def test_the_same_seed_is_the_same_problem(chromium: Chromium) -> None:
    said = []
    for seed in (7, 7, 8):
        async with begun(chromium, "enter-text", seed) as episode:
            said.append((await episode.look()).utterance)
    assert said[0] == said[1] != said[2]


@in_module
async def test_after_the_time_the_page_gives_minus_one_and_a_click_on_its_cover_begins_nothing(
    chromium: Chromium, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environment, "NO_LIMIT", 50)
    async with begun(chromium, "click-test") as episode:
        await episode.window.page.wait_for_function("WOB_DONE_GLOBAL")
        with pytest.raises(EpisodeOver) as over:
            await act(episode, "click_coords", x=80, y=100)
        assert over.value.results[0].content == "The episode is over."
        state = await episode.state()
    assert (state["done"], state["raw_reward"], state["reason"]) == (True, -1, "timed out")


@in_module
async def test_the_time_of_the_page_is_its_own_where_it_is_asked_for(chromium: Chromium) -> None:
    for limit, milliseconds in (("none", 10**9), ("official", 20_000)):
        async with begun(chromium, "enter-date", limit=limit) as episode:  # type: ignore[arg-type]
            assert await episode.window.page.evaluate("core.EPISODE_MAX_TIME") == milliseconds


@in_module
async def test_wrong_calls_are_errors_that_the_agent_reads(chromium: Chromium) -> None:
    async with begun(chromium, "enter-text") as episode:
        assert await act(episode, "click_coords", x=500, y=3) == ("ValueError: the page is 160 x 210 pixels", True)
        assert await act(episode, "press_key", key="<F4>") == ("ValueError: there is no key '<F4>'", True)
        assert (await act(episode, "type_text", text="x" * 65))[1]
        assert (await act(episode, "click_element", ref="4; alert(1)"))[1]
        assert (await act(episode, "fly"))[0].startswith("There is no tool 'fly'")
        assert (await act(episode, "click_element", ref=99))[0].startswith("There is no element 99 to click.\n[1] body")
        assert (
            'input_text id=tt value="aB" ' in (await act(episode, "focus_element_and_type_text", ref=5, text="aB"))[0]
        )
        await act(episode, "press_key", key="C-a")
        assert 'value="Z"' in (await act(episode, "press_key", key="Z"))[0]
        await episode.window.page.goto("about:blank")
        assert (await act(episode, "none"))[1]
        assert (await episode.state())["raw_reward"] == 0


@in_module
async def test_a_flight_page_is_served_from_the_folder_alone(chromium: Chromium) -> None:
    async with begun(chromium, "flight.Alaska") as episode:
        assert '"Departure City"' in (await episode.look()).utterance
        page = episode.window.page
        for url in (
            "http://miniwob.invalid/../envs/__init__.py",
            "http://miniwob.invalid/%2e%2e/action.py",
            "http://127.0.0.1:9/",
        ):
            assert await page.evaluate("url => fetch(url).then(() => 'read', () => 'refused')", url) == "refused"


def test_every_recorded_episode_of_the_official_package_comes_out_the_same(tmp_path: Path) -> None:
    differing = [line for line in check_corpus(CORPUS) if not line.agrees]
    assert not differing, "\n".join(f"{line.id}: official {line.official}, ours {line.ours}" for line in differing)


def test_an_altered_line_differs(tmp_path: Path) -> None:
    line = json.loads(gzip.decompress(CORPUS.read_bytes()).splitlines()[0])
    altered = [{**line, field: value} for field, value in (("raw_reward", 0.5), ("utterance", "?"), ("dom", ["0"]))]
    path = tmp_path / "altered.jsonl"
    path.write_text("\n".join(map(json.dumps, altered)), encoding="utf-8")
    assert [line.agrees for line in check_corpus(path)] == [False] * 3


def test_tasks_and_sets_are_known_before_anything_runs() -> None:
    names = official.names(official.locate())
    assert len(names) == len(set(names)) == 128
    assert not {"button-delay", "chase-circle", "hover-shape", "moving-items", "simon-says"} & set(names)
    assert len(oracle.tasks()) >= 75
    assert oracle.tasks() <= set(names)
    assert miniwob.task("ordinary").planned == 125 * 5
    made = miniwob.task("click-test,click-test", episodes=2, first_seed=3)
    assert [sample.id for sample in made.samples] == ["click-test/3", "click-test/4"]  # type: ignore[union-attr]
    with pytest.raises(BadInput, match="no task 'clik-test'"):
        miniwob.task("clik-test")
    with pytest.raises(BadInput, match="episodes"):
        miniwob.task(episodes=0)
    with pytest.raises(BadInput, match="holds no package miniwob"):
        miniwob.task(data="/")


@pytest.mark.parametrize(
    ("state", "points", "kind"),
    [
        ({"done": True, "raw_reward": 1.0, "reward": 0.2}, 1, ""),
        ({"done": True, "raw_reward": 0.9, "reward": 0.9}, 0, "partly"),
        ({"done": True, "raw_reward": -1, "reward": -1, "reason": "timed out"}, 0, "timed_out"),
        ({"done": True, "raw_reward": None, "reward": None}, 0, "wrong"),
        ({"done": False, "raw_reward": 1, "reward": 1}, 0, "not_finished"),
    ],
)
def test_only_the_full_raw_reward_of_an_episode_that_is_over_succeeds(
    state: dict[str, Any], points: int, kind: str
) -> None:
    sample = Sample(id="click-test/0", turns=(), meta={"episode": {}})
    score = Success()(sample, Trajectory(state=state))
    assert isinstance(score, Score)
    assert (score.points, score.known.error_class) == (points, kind)
    assert isinstance(Success(0.5)(sample, Trajectory(steps=(Step(message=Message.of("assistant", "?")),))), Unscored)
    assert Success(0.5)(sample, Trajectory(state={**state, "done": True, "raw_reward": 0.5})).points == 1  # type: ignore[union-attr]
