"""A store with trials as the page of one sample has to show them: long, hostile, Chinese, failed, with files and judges."""

import asyncio
import base64
from pathlib import Path

from example_runs import HOSTILE

from proctor.core.judge import JudgeInfo
from proctor.core.run import RunRecord, RunSpec
from proctor.core.sample import File, Message, Reasoning, Sample, Text, Tool, ToolCall, ToolResult, Turn
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import StateChange, Step, Trajectory, Usage
from proctor.core.trial import FailedRequest, Trial, TrialFailure, Verdict
from proctor.stores import open_store

STARTED = 1_790_000_000.0
SOUND = (
    b"RIFF\x34\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x10\x00\x00\x00"
    + bytes([128] * 16)
)
PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAF0lEQVR4nGP8z0AaYCJR/aiGUQ1DSAMAQC4BH2bjRnMAAAAASUVORK5CYII="
)
LONG_STEPS = 10_000
RUN = "told"


def write(folder: Path, *, steps: int = 200) -> Path:
    """Write the store, and return its path."""
    path = folder / "runs.db"
    asyncio.run(_fill(path, steps))
    return path


async def _fill(path: Path, steps: int) -> None:
    store = open_store(str(path))
    try:
        for run, agent, started in (("older", "openai:small", STARTED - 86_400), (RUN, "openai:large", STARTED)):
            record = _record(run, agent, started)
            played = [shop(run), *(answered(run, attempt) for attempt in range(2)), hostile(run), failed(run), odd(run)]
            if run == RUN:
                played += [picture(run), long(run, steps)]
            await store.begin(record)
            await store.plan(run, {sample.id: sample for sample, _, _ in played}.values())
            for sample, trial, verdicts in played:
                await store.add(trial, verdicts, sample)
            await store.end(record)
    finally:
        store.close()


def _record(run: str, agent: str, created: float) -> RunRecord:
    judge = JudgeInfo(model="scripted:judge", kind="rubric", rubric="answer-quality", main="score")
    return RunRecord(
        id=run,
        spec=RunSpec(task="shop", agent=agent, attempts=1 if run == "older" else 2),
        task="shop",
        task_version="1",
        agent=agent,
        scorers=("trajectory", "rubric:answer-quality"),
        planned=8,
        state="finished",
        created=created,
        seconds=83.4,
        provenance={"judges": {"rubric:answer-quality": judge}},
    )


def _verdict(trial: Trial, scorer: str, result: Score | Unscored, **given: float) -> Verdict:
    usage = Usage(input_tokens=812, output_tokens=64, requests=1) if given else None
    return Verdict(
        run_id=trial.run_id,
        sample_id=trial.sample_id,
        attempt=trial.attempt,
        scorer=scorer,
        scorer_version="3f2a90c1",
        result=result,
        usage=usage,
        **given,
    )


def _step(message: Message, at: float, seconds: float, *, turn: int = 0, author: str = "agent") -> Step:
    usage = Usage(input_tokens=400, output_tokens=30, requests=1) if message.role == "assistant" else None
    return Step(message=message, turn=turn, author=author, started=STARTED + at, seconds=seconds, usage=usage)


def _does(*parts: Text | Reasoning | ToolCall) -> Message:
    return Message(role="assistant", parts=parts)


def _returns(name: str, content: str, id: str = "", *, is_error: bool = False) -> Message:
    return Message(role="tool", parts=(ToolResult(name=name, content=content, id=id, is_error=is_error),))


Played = tuple[Sample, Trial, list[Verdict]]


def shop(run: str) -> Played:
    """Two turns with thinking, calls, a failed call, state changes, and calls that are not as expected."""
    tools = (
        Tool(
            name="search", description="Search the catalogue.", parameters={"type": "object", "properties": {"q": {}}}
        ),
        Tool(name="add_to_cart", description="Put an item into the cart."),
    )
    turns = (
        Turn(
            messages=(
                Message.of("system", "You are the assistant of a shop. Never promise what is not in stock. " * 6),
                Message.of("user", "Find me a **red** umbrella below $20 and put it into my cart."),
            ),
            tools=tools,
            reference={
                "calls": [
                    {"name": "search", "arguments": {"q": "red umbrella"}},
                    {"name": "add_to_cart", "arguments": {"sku": "U-17", "count": 1}},
                ]
            },
        ),
        Turn(
            messages=(Message.of("user", "Make it two."),),
            reference={
                "calls": [{"name": "add_to_cart", "arguments": {"sku": "U-17", "count": 2}}],
                "response": "Two red umbrellas are in your cart.",
            },
        ),
    )
    found = '{"items": [{"sku": "U-17", "name": "Umbrella \\u7ea2\\u4f1e", "price": 18.50, "stock": 3}, {"sku": "U-21", "name": "Umbrella, large", "price": 24.00, "stock": 0}], "total": 2, "page": 1, "note": "prices in USD, without tax; stock is that of this morning"}'
    steps = (
        _step(
            _does(
                Reasoning(text="The user wants a red umbrella.\nI search first, then I compare prices."),
                ToolCall(name="search", arguments={"q": "red umbrella"}, id="c1"),
            ),
            0.2,
            1.4,
        ),
        _step(_returns("search", found, "c1"), 1.6, 0.35, author="tool"),
        _step(_does(ToolCall(name="add_to_cart", arguments={"sku": "U-21", "count": 1}, id="c2")), 2.0, 0.9),
        _step(_returns("add_to_cart", "out of stock", "c2", is_error=True), 2.9, 0.2, author="tool"),
        _step(_does(ToolCall(name="add_to_cart", arguments={"sku": "U-17", "count": 1}, id="c3")), 3.1, 0.8),
        _step(_returns("add_to_cart", '{"ok": true}', "c3"), 3.9, 0.15, author="tool"),
        _step(
            _does(
                Text(
                    text="The red umbrella *U-17* for **$18.50** is in your cart.\n\n| item | price |\n|---|---|\n| U-17 | $18.50 |"
                )
            ),
            4.1,
            1.2,
        ),
        _step(_does(ToolCall(name="add_to_cart", arguments={"sku": "U-17", "count": 1}, id="c4")), 5.5, 0.7, turn=1),
        _step(_returns("add_to_cart", '{"ok": true}', "c4"), 6.2, 0.1, turn=1, author="tool"),
        _step(_does(Text(text="Two red umbrellas are now in your cart.")), 6.4, 0.9, turn=1),
    )
    changes = (
        StateChange(turn=0, path="$.cart[0]", after={"sku": "U-17", "count": 1}),
        StateChange(turn=1, path="$.cart[0].count", before=1, after=2),
    )
    trajectory = Trajectory(steps=steps, tools="native", changes=changes, state={"cart": [{"sku": "U-17", "count": 2}]})
    trial = Trial(
        run_id=run,
        sample_id="shop/umbrella",
        outcome="scored",
        trajectory=trajectory,
        started=STARTED,
        seconds=7.5,
        usage=Usage(input_tokens=2_412, output_tokens=318, requests=6, cost=0.0123),
        retries=(FailedRequest(cause="http_429: slow down", status=429, waited_seconds=1.0),),
    )
    sides = [
        {"kind": "matched", "expected": 'search(q="red umbrella")', "made": 'search(q="red umbrella")', "turn": 1},
        {"kind": "extra", "made": 'add_to_cart(sku="U-21", count=1)', "turn": 1},
        {
            "kind": "matched",
            "expected": 'add_to_cart(sku="U-17", count=1)',
            "made": 'add_to_cart(sku="U-17", count=1)',
            "turn": 1,
        },
        {
            "kind": "wrong arguments",
            "expected": 'add_to_cart(sku="U-17", count=2)',
            "made": 'add_to_cart(sku="U-17", count=1)',
            "faults": [["count", "2", "1"]],
            "turn": 2,
        },
    ]
    details = {
        "error_class": "extra_call",
        "error_type": "add_to_cart",
        "sides": sides,
        "passed_turns": [True, False],
        "precision": 0.5,
    }
    judged = {
        "scale": [1, 5],
        "dimensions": {"correctness": 3, "clarity": 5, "tone": None},
        "replies": ['{"comment": "The count is wrong.", "correctness": 3}'],
        "mean": 4.0,
        "passed": True,
    }
    return (
        Sample(id="shop/umbrella", turns=turns, tags={"level": "2", "area": "cart"}, cluster="umbrellas"),
        trial,
        [
            _verdict(
                trial,
                "trajectory",
                Score(points=0.5, reason='The call add_to_cart(sku="U-21") was not expected.', details=details),
            ),
            _verdict(
                trial,
                "rubric:answer-quality",
                Score(
                    points=3,
                    out_of=4,
                    reason="4 on a scale of 1 to 5 (correctness 3, clarity 5, tone ?). The count is wrong.",
                    details=judged,
                ),
                seconds=2.1,
            ),
        ],
    )


def answered(run: str, attempt: int) -> Played:
    """A question with an answer in Chinese, twice."""
    sample = Sample.ask(
        "zh/北京", "北京到上海的高铁要多久？请只回答小时数。", target="4.5", tags={"level": "1", "area": "出行"}
    )
    steps = (_step(Message.of("assistant", "大约 4.5 小时。" if attempt else "大约六小时。"), 0.1, 0.8),)
    trial = Trial(
        run_id=run,
        sample_id=sample.id,
        attempt=attempt,
        outcome="scored",
        trajectory=Trajectory(steps=steps),
        started=STARTED,
        seconds=1.0,
    )
    score = Score(
        points=attempt,
        answer="4.5" if attempt else "6",
        reason="" if attempt else "答案是 6，应为 4.5。",
        details={} if attempt else {"error_class": "wrong_answer"},
    )
    return sample, trial, [_verdict(trial, "trajectory", score)]


def hostile(run: str) -> Played:
    """Hostile text in every field that an agent or a data file can write."""
    sample = Sample(
        id='<img src=x onerror="alert(1)">?a=1#b',
        turns=(
            Turn(
                messages=(
                    Message(
                        role="user",
                        parts=(
                            Text(text=HOSTILE),
                            File(name=HOSTILE, media_type=HOSTILE, url="http://evil.example/x.png"),
                        ),
                    ),
                ),
                tools=(Tool(name=HOSTILE, description=HOSTILE, parameters={HOSTILE: HOSTILE}),),
            ),
        ),
        tags={HOSTILE: HOSTILE},
        cluster=HOSTILE,
        target=HOSTILE,
    )
    steps = (
        _step(
            _does(
                Reasoning(text=HOSTILE), Text(text=HOSTILE * 30), ToolCall(name=HOSTILE, arguments={HOSTILE: HOSTILE})
            ),
            0,
            0.1,
        ),
        _step(_returns(HOSTILE, HOSTILE), 0.1, 0.1, author=HOSTILE),
        _step(_does(ToolCall.from_text("f", HOSTILE)), 0.2, 0.1),
    )
    changes = (StateChange(turn=0, path=HOSTILE, before=HOSTILE, after={HOSTILE: HOSTILE}),)
    trial = Trial(
        run_id=run,
        sample_id=sample.id,
        outcome="scored",
        trajectory=Trajectory(steps=steps, changes=changes, state={HOSTILE: HOSTILE}, tools="native"),
        started=STARTED,
        seconds=1.0,
        retries=(FailedRequest(cause=HOSTILE),),
    )
    details = {"error_class": HOSTILE, "error_type": HOSTILE, "dimensions": {HOSTILE: 1}, "note": HOSTILE}
    return (
        sample,
        trial,
        [_verdict(trial, "trajectory", Score(points=0, reason=HOSTILE, answer=HOSTILE, details=details))],
    )


def failed(run: str) -> Played:
    """An agent that broke before it said anything."""
    sample = Sample.ask("broken", "Will you break?", target="no")
    failure = TrialFailure(
        kind="raised", reason="The agent raised ValueError: no", detail="Traceback …\nValueError: no"
    )
    return (
        sample,
        Trial(run_id=run, sample_id=sample.id, outcome="agent_failed", failure=failure, started=STARTED, seconds=0.2),
        [],
    )


def odd(run: str) -> Played:
    """An id that browsers would take for a way up in a path."""
    sample = Sample.ask("../up", "Where?", target="up")
    trial = Trial(run_id=run, sample_id=sample.id, outcome="scored", trajectory=Trajectory.of("up"), seconds=0.1)
    return sample, trial, [_verdict(trial, "trajectory", Unscored(why="not_applicable", reason="Nothing to compare."))]


def picture(run: str) -> Played:
    """A picture, a drawing that could hold a script, a file, and a file outside of what may be read."""
    files = (
        File(name="red.png", media_type="image/png", data=PICTURE),
        File(
            name="drawing.svg",
            media_type="image/svg+xml",
            data=b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
        ),
        File(name="page.html", media_type="image/png", data=b"<script>alert(1)</script>"),
        File(name="passwd", media_type="image/png", path="/etc/passwd"),
        File(name="far.png", media_type="image/png", url="http://evil.example/far.png"),
        File(name="beep.wav", media_type="audio/x-wav", data=SOUND),
        File(name="paper.pdf", media_type="application/pdf", data=b"%PDF-1.7\n"),
        File(name="page.mp3", media_type="audio/mpeg", data=b"<script>alert(1)</script>"),
    )
    sample = Sample.ask("picture", "What is in the picture?", target="red", files=files)
    zoomed = ToolResult(name="zoom", content="[red.png]", id="1", files=files[:2])
    steps = (Step(message=Message(role="tool", parts=(zoomed,)), author="tool"), *Trajectory.of("It is red.").steps)
    trial = Trial(run_id=run, sample_id=sample.id, outcome="scored", trajectory=Trajectory(steps=steps), seconds=0.1)
    return sample, trial, [_verdict(trial, "trajectory", Score(points=1))]


def long(run: str, steps: int) -> Played:
    """A conversation of many turns, two steps in each."""
    turns = tuple(Turn(messages=(Message.of("user", f"Question {number}?"),)) for number in range(steps // 2))
    made = []
    for number in range(steps // 2):
        made.append(
            _step(
                _does(Text(text=f"Step {number}: " + "word " * 40), ToolCall(name="look", arguments={"at": number})),
                number,
                0.6,
                turn=number,
            )
        )
        made.append(
            _step(
                _returns("look", "needle" if number == steps // 2 - 3 else f"value {number} " + "x" * 200),
                number + 0.6,
                0.3,
                turn=number,
                author="tool",
            )
        )
    trial = Trial(
        run_id=run,
        sample_id="long",
        outcome="scored",
        trajectory=Trajectory(steps=tuple(made), tools="native"),
        started=STARTED,
        seconds=steps / 2,
    )
    return (
        Sample(id="long", turns=turns),
        trial,
        [_verdict(trial, "trajectory", Score(points=0, reason="It goes on for ever."))],
    )
