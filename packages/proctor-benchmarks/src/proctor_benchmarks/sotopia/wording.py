"""Word what players and the judge are asked, in the official words.

The words and schemas are those of sotopia (MIT licence, Copyright (c) 2023 Hao Zhu; `official.json` holds the notice).
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

import msgspec

from proctor_benchmarks.sotopia.actions import Edition


class SotopiaWords(msgspec.Struct, frozen=True, kw_only=True):
    """The official texts, and the schema of an action and of ratings in each edition."""

    player: str
    judge: str
    keys: str
    reformat: str
    action: Mapping[Edition, dict[str, object]]
    ratings: Mapping[Edition, dict[str, object]]


@cache
def official() -> SotopiaWords:
    data = (files("proctor_benchmarks.sotopia") / "official.json").read_bytes()
    return msgspec.json.decode(data, type=SotopiaWords)


def ask_player(name: str, history: Sequence[str], turn: int, available: Sequence[str], edition: Edition) -> str:
    return _filled(
        official().player,
        agent=name,
        turn_number=str(turn),
        history="\n".join(history),
        action_list=" ".join(available),
        format_instructions=json.dumps(official().action[edition]),
    )


def ask_judge(history: str, players: int, edition: Edition) -> str:
    """Return what the judge is asked once an episode is over."""
    names = ", ".join(f'"agent_{number + 1}"' for number in range(players))
    keys = official().keys.format(count=players, names=names) if players else ""
    return _filled(
        official().judge,
        history=history,
        agent_instruction=keys,
        format_instructions=json.dumps(official().ratings[edition]),
    )


def ask_again(reply: str, schema: Mapping[str, object]) -> str:
    """Return the prompt that asks a model to rewrite its reply in the required format."""
    return official().reformat.format(reply=reply, format_instructions=json.dumps(schema))


def _filled(template: str, **values: str) -> str:
    """Replace one placeholder after the other: also those in what was put in before, as officially."""
    for name, value in values.items():
        template = template.replace(f"{{{name}}}", value)
    return template
