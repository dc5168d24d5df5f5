"""A judge whose bias and noise are known: it reads the prompts of `judges/` and is swayed by what it is told to be."""

import json
import random
import re
from collections import Counter
from collections.abc import Sequence

from proctor.core.sample import Message, Tool
from proctor.models.scripted import ScriptedModel
from proctor_judging.judges.probe import TURNED
from proctor_judging.tasks.probe_variants import AGAIN, HEADING, ORDERS

FENCED = re.compile(r"<<<(\w+) (\S[^\n]*)\n(.*?)\n\1>>>", re.DOTALL)
POINTS = re.compile(r'"(\w+)": \.\.\.')


def swayed(
    *,
    position: float = 0.0,
    label: float = 0.0,
    length: float = 0.0,
    style: float = 0.0,
    injection: float = 0.0,
    own: float = 0.0,
    base: float = 3.0,
    noise: float = 0.0,
    ignores_labels: bool = False,
    always: str = "",
    seed: int = 0,
) -> ScriptedModel:
    """Each bias is in points on a scale of five; a pair is decided by more than half a point.

    Args:
        position, label: what the text shown first, and the one called A, gains in a pair.
        own: what a text gains that says "mine".
        base: what an answer gets on average.
        noise: the standard deviation of each judgement.
        ignores_labels: it gives high numbers to what is good, even when the scale is turned round.
        always: the winner it names whatever it sees.
    """
    times: Counter[str] = Counter()

    def liking(text: str) -> float:
        plain = text
        for one in (*AGAIN.values(), *ORDERS.values()):
            plain = plain.partition(one)[0].strip()
        for one in HEADING.values():
            plain = plain.removeprefix(one)
        quality = random.Random(re.sub(r"[\W_]+", "", plain)).uniform(-0.5, 0.5)
        gains = (
            (length, any(one in text for one in AGAIN.values())),
            (style, any(text.startswith(one) for one in HEADING.values())),
            (injection, any(one in text for one in ORDERS.values())),
            (own, "mine" in text),
        )
        times[text] += 1  # the noise hangs on how often a text was seen
        return (
            quality
            + sum(gain for gain, holds in gains if holds)
            + random.Random(f"{seed} {times[text]} {text}").gauss(0, noise)
        )

    def reply(messages: Sequence[Message], _: Sequence[Tool]) -> str:
        prompt = messages[-1].text
        texts = {title: text for _, title, text in FENCED.findall(prompt)}
        shown = [title for title in texts if title in ("A", "B")]
        if shown:
            first, second = shown
            lead = liking(texts[first]) - liking(texts[second]) + position + (label if first == "A" else -label)
            return json.dumps({"reason": "", "winner": always or _winner(lead, first, second)})
        points = base + liking(texts.get("Answer", texts.get("回答", texts.get("答案", ""))))
        turned = any(one.partition("{")[0].strip() in prompt for one in TURNED.values())
        if turned and not ignores_labels:
            points = 6 - points
        given = max(1, min(5, round(points)))
        return json.dumps({"comment": "", **{name: given for name in POINTS.findall(prompt) if name != "comment"}})

    return ScriptedModel(reply, name="swayed")


def _winner(lead: float, first: str, second: str) -> str:
    return first if lead > 0.5 else second if lead < -0.5 else "tie"
