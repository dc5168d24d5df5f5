"""Eval sets as a shop keeps them, and an agent of the shop that answers from a script: right, wrong, or not at all."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from web_site import AppSite

from proctor import Sample, evaluate
from proctor.api import Run
from proctor.core.sample import Message, ToolCall, ToolResult, Turn
from proctor.core.task import Environment, Session
from proctor.core.trajectory import Step, ToolStyle, Trajectory

FILE = "shop.evalset.json"
PRICE = {
    "name": "lookup_price",
    "description": "Look up what a model costs.",
    "parameters": {
        "type": "OBJECT",
        "properties": {
            "model": {"type": "STRING", "description": "the name of the model"},
            "count": {"type": "INTEGER"},
        },
        "required": ["model"],
    },
}


def _turn(ask: str, answer: str, *calls: tuple[str, dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {
        "user_content": {"role": "user", "parts": [{"text": ask}]},
        "final_response": {"role": "model", "parts": [{"text": answer}]},
        "intermediate_data": {
            "tool_uses": [{"name": name, "args": args} for name, args in calls],
            "tool_responses": [],
        },
        **more,
    }


SHOP: dict[str, Any] = {
    "eval_set_id": "shop",
    "name": "Shop assistant",
    "description": "Prices, orders and returns of the small shop.",
    "eval_cases": [
        {
            "eval_id": "price-question",
            "owner": "Li",
            "conversation": [
                _turn(
                    "What does model A cost?",
                    "Model A costs 100 yuan.",
                    ("lookup_price", {"model": "A"}),
                    app_details={"agent_details": {"shop": {"name": "shop", "tool_declarations": [PRICE]}}},
                ),
                _turn("And two of them?", "Two of them cost 200 yuan.", ("lookup_price", {"model": "A", "count": 2})),
            ],
            "session_input": {"app_name": "shop", "user_id": "u1", "state": {"lang": "en", "discount": 0.10}},
        },
        {
            "eval_id": "退货",
            "conversation": [
                _turn(
                    "我想退掉上周买的耳机。",
                    "好的，请告诉我订单号，七天内可以无理由退货。",
                    ("find_order", {"城市": "北京"}),
                )
            ],
            "rubrics": [{"rubric_id": "polite", "rubric_content": {"text_property": "回答有礼貌，并说明下一步。"}}],
        },
        {
            "eval_id": "haggle",
            "conversation_scenario": {
                "starting_prompt": "Can I get a discount?",
                "conversation_plan": "Ask for 20 %, accept 10 %.",
                "user_persona": "NOVICE",
            },
        },
        {"eval_id": "greeting", "conversation": [_turn("Hello!", "Hello! How can I help you?")]},
    ],
}


class ShopAgent:
    """Answers from a script; of the Chinese case it forgets the call and words the answer differently."""

    name = "shop"
    tools: ToolStyle = "native"

    @asynccontextmanager
    async def open(self, sample: Sample, environment: Environment | None) -> AsyncIterator[Session]:
        yield self

    async def send(self, turn: Turn) -> Sequence[Step]:
        asked = turn.messages[0].text
        if "退" in asked:
            return [Step(message=Message.of("assistant", "好的，请提供订单号，七天内可以退货。"))]
        if asked == "Hello!":
            return [Step(message=Message.of("assistant", "Hello! How can I help you?"))]
        args = {"model": "A"} if "model A" in asked else {"model": "A", "count": 3}
        call = ToolCall(name="lookup_price", arguments=args, id="c1")
        answer = "Model A costs 100 yuan." if "model A" in asked else "Three of them cost 300 yuan."
        return [
            Step(message=Message(role="assistant", parts=(call,))),
            Step(message=Message(role="tool", parts=(ToolResult(name="lookup_price", content="100", id="c1"),))),
            Step(message=Message.of("assistant", answer)),
        ]


class Haggler:
    """A simulated user who says what it was given, and then no more."""

    name = "haggler"

    def __init__(self, *texts: str) -> None:
        self._texts = texts

    async def reply(self, sample: Sample, trajectory: Trajectory) -> Turn | None:
        said = max((step.turn for step in trajectory.steps), default=0)
        return Turn(messages=(Message.of("user", self._texts[said]),)) if said < len(self._texts) else None


def put_shop(folder: Path) -> Path:
    """Write the set into a folder."""
    path = folder / FILE
    path.write_text(json.dumps(SHOP, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def run_shop(site: AppSite, run_id: str = "shop-1", cases: str = "price-question,退货,greeting") -> Run:
    """Run cases of the set with the agent of the shop."""
    return evaluate(f"{site.evalsets / FILE}:{cases}", agent=ShopAgent(), store=site.store, run_id=run_id)
