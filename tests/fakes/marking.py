"""Judges that give points by what an item says: one that prefers what says 'splendid', and one that prefers what comes first."""

import json
from collections.abc import Sequence

from proctor.core.sample import Message, Tool
from proctor.models.scripted import ScriptedModel

DIMENSIONS = ("correctness", "clarity", "difficulty_match", "completeness")


def marks(messages: Sequence[Message], tools: Sequence[Tool]) -> str:
    """5 in everything, 2 for an item that says 'dreadful', prose for one that says 'mute'; the better one of two."""
    text = messages[-1].text
    if '"winner"' in text:
        first, second = text.find("splendid"), max(text.find("dreadful"), text.find("shabby"))
        winner = "tie" if first < 0 or second < 0 else "A" if first < second else "B"
        return json.dumps({"reason": "by its words", "winner": winner})
    if "mute" in text:
        return "I would rather not say."
    points = 2 if "dreadful" in text else 5
    return json.dumps({"comment": "by its words", **dict.fromkeys(DIMENSIONS, points)})


def always_first(messages: Sequence[Message], tools: Sequence[Tool]) -> str:
    """Names the text that is shown first, whatever it says."""
    if '"winner"' in messages[-1].text:
        return '{"reason": "-", "winner": "A"}'
    return json.dumps({"comment": "-", **dict.fromkeys(DIMENSIONS, 4)})


model = ScriptedModel(marks, name="marking")
first = ScriptedModel(always_first, name="first")
