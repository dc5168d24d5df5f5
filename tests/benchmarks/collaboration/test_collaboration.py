"""Collaboration: figures worked out by hand come out the same, transcripts of libraries are read, teams are run and scored.

The transcripts in `tests/data/collaboration` were written by AutoGen 0.7.5 and 0.2.40, CrewAI 1.15.30, langgraph-supervisor
0.0.31 with langgraph 1, and google-adk 2, with scripted models; `figures.jsonl` was worked out by hand.
"""

import json
import random
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.core.errors import BadInput
from proctor.core.run import Estimate
from proctor_benchmarks.collaboration import replies
from proctor_benchmarks.collaboration.goals import occurs
from proctor_benchmarks.collaboration.parity import check_corpus
from proctor_benchmarks.collaboration.scorer import KEY, collaboration
from proctor_benchmarks.collaboration.summary import _ratio
from proctor_benchmarks.collaboration.teamwork import Teamwork, count_repeats, measure
from proctor_benchmarks.collaboration.transcripts import read, transcript

DATA = Path(__file__).parents[2] / "data" / "collaboration"
FIGURES = DATA / "figures.jsonl"

SCENARIOS = """
[[scenario]]
id = "kettle"
task = "What does it cost?"
team = ["planner", "analyst"]
goals = [{ name = "price", answer = ["49"] }, { name = "looked up", call = "look_up", by = "analyst" }]
"""

TEAM = """
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.graph import END, START, MessagesState, StateGraph


def team(tools):
    look_up = next(tool for tool in tools if tool.name == "look_up")

    def planner(state):
        if len(state["messages"]) > 1:
            return {"messages": [AIMessage("The sum is 2,480, 520 are left.", name="planner")]}
        call = {"name": "transfer_to_analyst", "args": {}, "id": "h"}
        return {"messages": [AIMessage("", name="planner", tool_calls=[call]), ToolMessage("ok", tool_call_id="h")]}

    async def analyst(state):
        made = []
        for topic in ("desing", "design", "sales", "support"):
            call = {"name": "look_up", "args": {"topic": topic}, "id": topic}
            made.append(AIMessage("", name="analyst", tool_calls=[call]))
            made.append(await look_up.ainvoke({**call, "type": "tool_call"}))
        return {"messages": [*made, AIMessage("1,200 and 850 and 430 make 2,480.", name="analyst")]}

    graph = StateGraph(MessagesState)
    graph.add_node("planner", planner)
    graph.add_node("analyst", analyst)
    graph.add_edge(START, "planner")
    graph.add_conditional_edges("planner", lambda state: "analyst" if len(state["messages"]) < 4 else END)
    graph.add_edge("analyst", "planner")
    return graph.compile()
"""


def load(name: str) -> tuple[str, Teamwork, Any]:
    question, trajectory = transcript(json.loads((DATA / f"{name}.json").read_text()))
    return question, measure(trajectory), trajectory


def estimates(run: proctor.Run) -> dict[str, Estimate]:
    return {one.name: one for one in run.estimates if not one.slice}


def test_figures_worked_out_by_hand_come_out_the_same() -> None:
    checked = list(check_corpus(FIGURES))
    assert len(checked) == 41
    assert not [f"{one.id}: by hand {one.official}, ours {one.ours}" for one in checked if not one.agrees]


def test_every_figure_that_is_altered_differs(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in FIGURES.read_text().splitlines()]
    altered = [
        {**line, "figures": {name: "?"}, "id": f"{line['id']} {name}"} for line in lines for name in line["figures"]
    ]
    path = tmp_path / "altered.jsonl"
    path.write_text("\n".join(map(json.dumps, altered)))
    assert [one.agrees for one in check_corpus(path)] == [False] * len(altered)


def test_an_unknown_figure_is_named(tmp_path: Path) -> None:
    path = tmp_path / "wrong.jsonl"
    path.write_text('{"id": "a", "transcript": {"messages": []}, "figures": {"speed": 1}}')
    with pytest.raises(BadInput, match="line 1: there is no figure 'speed'"):
        list(check_corpus(path))


@pytest.mark.parametrize(
    ("name", "messages", "tokens"),
    [
        ("autogen_swarm", 5, 550),  # with two summaries of tool calls, which others hear
        ("langgraph_state", 4, 550),
        ("langgraph_dumps", 4, 550),
        ("langgraph_dicts", 4, 550),
        ("adk_session", 3, 550),
    ],
)
def test_the_same_teamwork_is_measured_in_every_layout(name: str, messages: int, tokens: int) -> None:
    question, work, trajectory = load(name)
    assert (question, work.messages, work.calls, work.tokens) == ("What does it cost?", messages, 2, tokens)
    assert [(one.giver, one.receiver, one.ending) for one in work.handoffs] == [
        ("planner", "analyst", "taken"),
        ("analyst", "planner", "taken"),
    ]
    assert {name: share.turns for name, share in work.agents.items()} == {"planner": 2, "analyst": 1}
    assert (work.failures, work.recovered, count_repeats(trajectory)) == (1, 1, 0)
    assert "49 euros" in trajectory.answer


def test_a_crew_is_read_with_its_delegations() -> None:
    question, work, trajectory = load("crewai")
    assert question == "What does the kettle cost?"
    assert [(one.receiver, one.ending) for one in work.handoffs] == [("Writer", "refused"), ("Price Analyst", "taken")]
    assert {name: share.turns for name, share in work.agents.items()} == {"Planner": 2, "Price Analyst": 1}
    assert (work.tokens, trajectory.answer) == (None, "It costs 49 euros.")


def test_chats_of_autogen_are_read_where_every_message_has_a_name() -> None:
    question, work, _ = load("autogen_02")
    assert question == "Announce the kettle."
    assert {name: share.turns for name, share in work.agents.items()} == {"writer": 1, "reviewer": 1}
    assert count_repeats(load("autogen_round")[2]) == 1


def test_the_oracle_reaches_all_goals_and_silence_none(tmp_path: Path) -> None:
    for agent, value in (("baseline:oracle", 1.0), ("baseline:null", 0.0)):
        run = proctor.evaluate("collaboration", agent=agent, store=str(tmp_path / f"{value}.db"))
        found = estimates(run)
        assert found["collaboration.score"].value == value
        assert found["collaboration.score"].clusters == 4  # a scenario in two languages is one
    assert found["messages_per_goal"].value is None


def test_a_team_of_langgraph_is_run_and_measured(tmp_path: Path) -> None:
    (tmp_path / "team.py").write_text(TEAM)
    run = proctor.evaluate(
        "collaboration", agent=f"langgraph:{tmp_path / 'team.py'}:team", ids=["budget/en"], store=str(tmp_path / "r.db")
    )
    found = estimates(run)
    assert found["collaboration.score"].value == 1
    assert found["messages_per_goal"].value == 3 / 5  # a hand-off, a report of the analyst, one of the planner
    assert found["handoff_failures"].value == 0
    [trial] = run.trials()
    details = next(one.result.details for one in run.verdicts() if one.scorer == "collaboration")
    assert (details[KEY]["failures"], details[KEY]["recovered"]) == (1, 1)
    assert {step.author for step in trial.trajectory.steps} == {"planner", "analyst", "tool"}


def test_transcripts_are_scored_on_scenarios_and_without_them(tmp_path: Path) -> None:
    scenarios = tmp_path / "team.toml"
    scenarios.write_text(SCENARIOS)
    store = str(tmp_path / "r.db")
    path = DATA / "adk_session.json"  # its id is a random one and its name another: it asks the same
    run = proctor.score("collaboration", replies=path, options={"data": str(scenarios)}, store=store)
    assert estimates(run)["collaboration.score"].value == 1
    run = proctor.score("collaboration", replies=path, options={"data": str(path)}, store=store)
    found = estimates(run)
    assert found["collaboration.accuracy"].value is None
    assert found["redundancy"].value == 0


def test_a_transcript_of_no_scenario_is_named(tmp_path: Path) -> None:
    (tmp_path / "strange.json").write_text('[{"role": "user", "content": "Hello?"}]')
    with pytest.raises(BadInput, match=r"strange\.json: no scenario has the id 'strange'"):
        list(replies(tmp_path / "strange.json", {}))


def test_a_file_may_hold_several_transcripts_and_a_folder_their_ids(tmp_path: Path) -> None:
    said = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "name": "a", "content": "Yes."}]}
    (tmp_path / "launch").mkdir()
    (tmp_path / "launch" / "en.json").write_text(json.dumps(said))
    (tmp_path / "more.jsonl").write_text("\n".join(json.dumps({"id": id, **said}) for id in ("budget/en", "budget/zh")))
    assert [one.ids[0] for one in read(tmp_path)] == ["launch/en", "budget/en", "budget/zh"]
    assert [id for id, _ in replies(tmp_path, {})] == ["launch/en", "budget/en", "budget/zh"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "line 1: it is no JSON"),
        ("3", "expected a transcript"),
        ("[]", "expected a transcript"),
        ('{"messages": [1]}', "message 1 is no object"),
        ('{"tasks_output": ["x"]}', "a task of the crew is no object"),
        ('{"steps": [{"message": 3}]}', "its trajectory is none"),
        ("[" * 100_000, "it is no JSON"),
    ],
)
def test_what_is_no_transcript_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "t.json"
    path.write_text(text)
    with pytest.raises(BadInput, match=message):
        list(read(path))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('answer = ["49"]', 'by = "planner"', "has no condition"),
        ('answer = ["49"]', 'answer = [" "]', "an empty phrase"),
        ('name = "looked up"', 'name = "price"', "each with a name of its own"),
        ('by = "analyst"', 'by = "boss"', "by 'boss', who is not in its team"),
        ("answer", "answers", "answers"),
        ("[[scenario]]", "[[scenario", "no valid TOML"),
    ],
)
def test_a_wrong_scenario_is_named_before_anything_runs(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "team.toml"
    path.write_text(SCENARIOS.replace(old, new))
    with pytest.raises(BadInput, match=message):
        proctor.evaluate("collaboration", agent="baseline:oracle", options={"data": str(path)}, store=str(tmp_path))


def test_odd_messages_do_not_stop_a_reader() -> None:
    odd: list[dict[str, Any]] = [
        {"source": "user", "type": "TextMessage", "content": "Go."},
        {"source": "a", "type": "ToolCallRequestEvent", "content": [{"id": "1", "name": "f", "arguments": "{"}, 3]},
        {"source": "a", "type": "ToolCallExecutionEvent", "content": []},
        {"source": "a", "type": "MemoryQueryEvent", "content": [{}]},
        {"source": "a", "type": "StructuredMessage[X]", "content": {"x": 1}},
        {"source": "a", "type": "HandoffMessage", "target": "b", "content": "Over to you."},
        {"role": "assistant"},
        {"author": "b", "partial": True, "content": {"parts": [{"text": "Ye"}]}},
        {"author": "b", "content": {"parts": [{"text": "Yes.\ud800"}]}},
    ]
    question, trajectory = transcript({"messages": odd})
    work = measure(trajectory)
    assert question == "Go."
    assert [one.ending for one in work.handoffs] == ["taken"]
    assert (trajectory.answer, work.calls) == ("Yes.?", 1)


def test_long_transcripts_take_time_in_proportion() -> None:
    said = [{"role": "assistant", "name": f"a{n % 7}", "content": f"{n} " * 300} for n in range(500)]
    calls = [{"id": "x", "function": {"name": f"transfer_to_a{n % 7}", "arguments": "{}"}} for n in range(500)]
    given = [{"role": "assistant", "name": "a0", "content": "", "tool_calls": [call]} for call in calls]
    _, trajectory = transcript({"messages": [*said, *given]})
    assert measure(trajectory).messages == 1_000


def test_a_phrase_is_no_part_of_a_longer_one() -> None:
    assert [occurs("49", text) for text in ("49", "€49.", "49,5", "1,049", "x49", "共49元")] == [True, True, False, False, False, True]  # fmt: skip
    assert occurs("Ｋettle  COSTS", "the kettle\ncosts")
    assert not occurs("(a|b)", "a")


def test_goals_without_a_trajectory_are_not_reached() -> None:
    sample = proctor.Sample.ask("x", "?", meta={KEY: {"goals": [{"name": "s", "state": "a.0.b", "equals": 1}]}})
    state = {"a": [{"b": 1.0}]}
    assert collaboration(sample, proctor.Trajectory(state=state)).value == 1  # type: ignore[union-attr]
    assert collaboration(sample, proctor.Trajectory()).value == 0  # type: ignore[union-attr]


def test_intervals_of_ratios_cover_what_they_say() -> None:
    draw = random.Random(3)
    inside = 0
    for _ in range(400):
        by_cluster = {}
        for cluster in range(15):
            skill = draw.uniform(0.3, 0.9)
            goals = [sum(draw.random() < skill for _ in range(4)) for _ in range(2)]
            by_cluster[str(cluster)] = [(float(draw.randint(4, 16)), float(goal)) for goal in goals]
        one = _ratio("messages_per_goal", by_cluster)
        assert one.low is not None
        assert one.high is not None
        inside += one.low <= 10 / (4 * 0.6) <= one.high
    assert 0.91 <= inside / 400 <= 0.985


@pytest.mark.parametrize("name", ["adk", "openai_agents"])
def test_traces_of_several_agents_are_transcripts_too(name: str, tmp_path: Path) -> None:
    path = DATA.parent / "traces" / f"{name}.jsonl"
    run = proctor.score("collaboration", replies=path, options={"data": str(path)}, store=str(tmp_path / "r.db"))
    [result] = [one.result for one in run.verdicts() if one.scorer == "collaboration"]
    assert [one["ending"] for one in result.details[KEY]["handoffs"]] == ["taken"]
    assert estimates(run)["handoff_failures"].value == 0
