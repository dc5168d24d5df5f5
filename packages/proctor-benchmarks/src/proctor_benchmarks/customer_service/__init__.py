"""Customer service of a shop: intent, backend calls, tone, and robustness under injected faults, in English and Chinese.

A worked example of a suite of one's own: 20 scenarios with tools, a gate (`gate.toml`), and a rubric for a judge
(`judges/rubrics/service-tone.toml`). `--set data=FILE` takes scenarios of your own in the same form.
"""

from pathlib import Path
from typing import Literal

from proctor.config import check_choice
from proctor.core.digest import digest_file
from proctor.core.errors import BadInput
from proctor.core.parts import BenchmarkPart
from proctor.core.sample import Message, Sample, ToolCall
from proctor.core.sentence import say
from proctor.core.task import Scorer, Task
from proctor.core.trajectory import Step, Trajectory
from proctor.environments import python
from proctor_benchmarks.customer_service.backend import Backend
from proctor_benchmarks.customer_service.dataset import BUNDLED, Language, call_of, read_scenarios, samples_of
from proctor_benchmarks.customer_service.scorer import backend, intent, robustness

TONE = "rubric:service-tone"
MOST_STEPS = 10


def task(
    language: Literal["all", "en", "zh"] = "all",
    *,
    faults: bool = True,
    tone: bool = True,
    steps: int = MOST_STEPS,
    data: str | None = None,
) -> Task:
    """Return the suite.

    Args:
        language: that of the customers.
        faults: with the samples in which a tool of the backend fails.
        tone: with the rubric for tone, which needs a judge (`--judge`).
        steps: replies at most in one turn, which end it; the shortest way through a scenario takes six.
        data: a file with scenarios of your own, in the form of `scenarios.toml`.

    Raises:
        BadInput: the file cannot be read, or a scenario is wrong.
    """
    check_choice("customer-service", "language", language, ("all", "en", "zh"))
    if steps < 1:
        raise BadInput("{name} must be at least 1, not {value}.", name="steps", value=steps)
    path = Path(data).expanduser() if data is not None else BUNDLED
    languages: tuple[Language, ...] = ("en", "zh") if language == "all" else (language,)
    samples = [*samples_of(read_scenarios(path), languages, path, with_faults=faults, steps=steps)]
    if not samples:
        raise BadInput("{path} has no scenario in this language.", path=path)
    scorers: list[str | Scorer] = [backend, intent, *([robustness] if faults else []), *([TONE] if tone else [])]
    return Task(
        name="customer-service",
        version="1",
        samples=samples,
        scorers=scorers,
        environment=python.wrap(Backend),
        oracle=_solution,
        spread_by="intent",
        planned=len(samples),
        provenance={"data": path.name, "scenarios_digest": digest_file(path), "licence": "Apache-2.0"},
        notes=[] if tone else [say("Tone is not judged (tone=false).")],
    )


def _solution(sample: Sample) -> Trajectory:
    """Return what a good agent does: it tries a call that failed again, looks first where it may have taken effect, or hands over."""
    turn = len(sample.turns) - 1
    faults = dict(sample.meta["environment"]["faults"])
    calls = [ToolCall(name="set_intent", arguments={"intent": sample.target["intent"]})]
    for wanted in map(call_of, [*sample.meta["reads"], *sample.meta["writes"]]):
        calls.append(wanted)
        match faults.pop(wanted.name, None):
            case "once" | "garbled":
                calls.append(wanted)
            case "lost":
                calls.append(ToolCall(name="get_order", arguments={"order_id": wanted.arguments["order_id"]}))
            case "down":
                calls += [wanted, ToolCall(name="hand_over", arguments={"reason": f"{wanted.name} fails"})]
                break
    ask = (
        "请告诉我订单号或手机号。"
        if sample.tags["language"] == "zh"
        else "May I have the order number or phone number?"
    )
    answer = "已为你处理。" if sample.tags["language"] == "zh" else "Thank you for your patience; it is taken care of."
    said = [(number, Message.of("assistant", ask)) for number in range(turn)]
    said += [(turn, Message(role="assistant", parts=(call,))) for call in calls]
    said.append((turn, Message.of("assistant", " ".join([answer, *sample.target["says"]]))))
    return Trajectory(steps=tuple(Step(message=message, turn=number) for number, message in said))


PART = BenchmarkPart(task=task, policy=Path(__file__).with_name("gate.toml"))
