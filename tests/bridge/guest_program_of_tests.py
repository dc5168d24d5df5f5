"""Stands in for Inspect in a worker: the same lines, without its library. A sample asks once; its id says how it behaves."""

import json
import os
import time
from typing import Any

SAMPLES: list[dict[str, Any]] = [
    {"id": f"s{n}", "digest": f"d{n}", "input": f"What is {n} + 3?", "target": str(n + 3), "metadata": {"n": n}}
    for n in range(6)
]

ODD_LINES: dict[str, Any] = {
    "writes_a_number": 5,
    "writes_failed": {"failed": {"type": "ValueError", "text": "no such thing"}},
    "writes_half_an_ask": {"ask": 1, "kind": "agent"},
    "writes_half_a_trial": {"trial": {"epoch": "x"}},
}
UNSCORED: dict[str, Any] = {"scores": None}
ENDS: dict[str, Any] = {
    "ends_in_an_error": {"error": {"message": "ValueError('a broken tool')"}, **UNSCORED},
    "is_cancelled": {"error": {"message": "CancelledError()"}, **UNSCORED},
    "ends_at_message": {"limit": {"type": "message"}, **UNSCORED},
    "ends_at_custom": {"limit": {"type": "custom"}, **UNSCORED},
    "ends_at_cost": {"limit": {"type": "cost"}, **UNSCORED},
    "ends_at_operator": {"limit": {"type": "operator"}},
    "ends_at_time": {"limit": {"type": "time"}, **UNSCORED},
    "ends_at_working": {"limit": {"type": "working"}, **UNSCORED},
}


class Pipe:
    def __init__(self, requests: Any, replies: Any) -> None:
        self.requests, self.replies = requests, replies

    def read(self) -> Any:
        line = self.requests.readline()
        if not line:
            os._exit(0)
        return json.loads(line)

    def write(self, message: Any) -> None:
        self.replies.write(json.dumps(message).encode() + b"\n")
        self.replies.flush()


def talk(requests: Any, replies: Any) -> None:
    pipe = Pipe(requests, replies)
    do, about = next(iter(pipe.read().items()))
    task = about["task"]
    if do == "plan":
        if task == "slow_to_load":
            time.sleep(60)
        images = {"images": 2} if task == "in_images" else {}
        shares = [""] if task == "all_right" else []
        scorers = [{"name": "match", "keys": [], "shares": shares}, {"name": "parts", "keys": ["length"]}]
        data = [{"source": "someone/sums", "revision": "0" * 40}, {"source": "someone/others", "name": "small"}]
        plan = {"samples": SAMPLES, "scorers": scorers, "epochs": 2, "package": "0", "data": data, **images}
        pipe.write({"plan": plan})
    elif do == "totals":
        rows = about["rows"]
        right = sum(row["scores"]["match"]["value"] in ("C", 1) for row in rows)
        pipe.write({"totals": [{"scorer": "match", "reducer": None, "metric": "accuracy", "value": right / len(rows)}]})
    else:
        if task == "slow_to_start":
            time.sleep(1.5)
        is_other = task == "fresh" or (task == "changes" and not about["rehearse"])
        digests = {one["id"]: one["digest"] + ("!" if is_other else "") for one in SAMPLES}
        heard = {"role": ["grader"] if task == "graded" else [], "model": ["openai/x"] if task == "hinted" else []}
        pipe.write({"ready": {"digests": digests, "rehearsed": heard}})
        play(pipe, task)


def play(pipe: Pipe, task: str) -> None:
    waiting: dict[int, Any] = {}
    heard: list[Any] = []
    for number in range(1, 1_000_000):
        said = pipe.read()
        if "feed" in said:
            of = said["feed"]
            if task in ("dies", "changes") and of[0] == "s2":
                os.kill(os.getpid(), 9)
            if task == "hangs" and of[0] == "s2":
                time.sleep(60)
            sample = next(one for one in SAMPLES if one["id"] == of[0])
            if task in ODD_LINES and of[0] == "s2":
                pipe.write(ODD_LINES[task] if isinstance(ODD_LINES[task], int) else {**ODD_LINES[task], "of": of})
                continue
            waiting[number] = of, sample
            attempt = (of[1] - 1) % 1_000_000  # each asks for itself, so that an endpoint can tell replies apart
            message = {"role": "user", "content": f"Attempt {attempt}. {sample['input']}"}
            pipe.write(
                {
                    "ask": number,
                    "of": of,
                    "kind": "agent",
                    "model": "agent",
                    "messages": [message],
                    "config": {"temperature": 0.0},
                }
            )
        elif "waits" in said:
            heard.append(said["waits"])
        elif "reply" in said:
            of, sample = waiting.pop(said["reply"])
            if task in ("grades_slowly", "runs_calls_slowly"):
                if task == "grades_slowly":
                    pipe.write({"of": of, "scoring": True})
                time.sleep(1.5)
            if task == "ends_at_time":
                time.sleep(0.2)
            played = {**trial(task, of, sample, said), **ENDS.get(task, {})}
            if task == "reports_times":
                played["scores"]["match"]["metadata"] = {"waits": heard, "seconds": said["output"]["time"]}
            pipe.write({"of": of, "trial": played})


def trial(task: str, of: Any, sample: Any, said: Any) -> Any:
    kept = {"id": of[0], "epoch": of[1], "input": sample["input"], "target": sample["target"]}
    if "fault" in said:
        return {**kept, "error": {"message": f"ParentFault({said['fault']!r})"}}
    message = said["output"]["choices"][0]["message"]
    text = message["content"]
    scores = {
        "match": {"value": "C" if text == sample["target"] else "I", "answer": text},
        "parts": {"value": {"length": len(text)}},
    }
    value = {"rated": sample["metadata"]["n"] + 1, "all_ones": 1, "all_right": 1}.get(task)
    return {
        **kept,
        "messages": [{"role": "user", "content": sample["input"]}, message],
        "scores": scores if value is None else {**scores, "match": {"value": value}},
        "total_time": 0.1,
        "cpu": 0.016,
    }
