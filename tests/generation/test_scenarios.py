"""Scenarios that a model wrote become cases of an eval set."""

import json
from pathlib import Path

from writers import writer

from proctor_adapters.evalsets.cases import of_scenarios
from proctor_adapters.evalsets.read import read_scenarios
from proctor_judging.generation.problems import GenerationPlan, generate

PLANS = (
    "You want a morning flight from Rome to Oslo below ninety euros; if there is none, take the night train instead.",
    "Ask which rental cars in Porto have a roof rack, pick the cheapest, then change your mind about the pick-up day.",
    "Cancel tomorrow's hotel without a fee. When the agent refuses, ask for its rules and give up politely.",
)


def scenario(plan: str) -> str:
    return json.dumps(
        {"starting_prompt": "I need help", "conversation_plan": plan, "user_persona": "NOVICE", "topic": "Travel"}
    )


def test_generated_scenarios_are_read_as_scenarios(tmp_path: Path) -> None:
    made = generate(
        GenerationPlan(generator="scenario", count=2, topics=("Travel",)),
        agent=writer([*map(scenario, PLANS)]),
        folder=tmp_path,
    )
    assert made.path is not None
    found = read_scenarios(made.path)
    assert [one.user_persona for one in found] == ["NOVICE", "NOVICE"]
    assert {one.conversation_plan for one in found} < set(PLANS)
    assert len(of_scenarios(found, None)) == 2


def test_a_persona_that_nobody_knows_is_sent_back(tmp_path: Path) -> None:
    wrong = scenario(PLANS[0]).replace("NOVICE", "PIRATE")
    made = generate(
        GenerationPlan(generator="scenario", count=1), agent=writer([wrong, scenario(PLANS[1])]), folder=tmp_path
    )
    assert [one["user_persona"] for one in made.items] == ["NOVICE"]
