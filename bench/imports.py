"""What importing a log of Inspect takes: seconds and memory, whether its scores are those of the log."""

import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from bench.figure import Figure

SMALL, LARGE = 10_000, 100_000
EVENTS = 8  # of each sample, which are most of a real log

IMPORT = """
import resource, sys, time
from proctor_adapters.importing import import_log
started = time.perf_counter()
(found,) = import_log(sys.argv[1], store=sys.argv[2])
seconds = time.perf_counter() - started
assert all(one.is_equal for one in found.figures) and len(found.figures) == 1
assert found.run.outcomes["scored"] == int(sys.argv[3])
used = resource.getrusage(resource.RUSAGE_SELF)
print(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
"""


def measure() -> Iterator[Figure]:
    """Seconds for 100,000 samples of some 7 kB, and how memory grows from 10,000."""
    with tempfile.TemporaryDirectory() as folder:
        _, _, small = _import(Path(folder), SMALL)
        seconds, busy, large = _import(Path(folder), LARGE)
    yield Figure(what="importing an Inspect log of 100,000 samples", value=seconds, unit="s", at_most=60)
    yield Figure(what="seconds of the processor for that", value=busy, unit="s")
    yield Figure(what="memory of that", value=large, unit="MB", at_most=400)
    yield Figure(what="more memory than for 10,000 samples", value=large - small, unit="MB", at_most=100)


def _import(folder: Path, samples: int) -> tuple[float, float, float]:
    log, store = folder / f"{samples}.eval", folder / f"{samples}.db"
    write_log(log, samples)
    done = subprocess.run(
        [sys.executable, "-c", IMPORT, str(log), str(store), str(samples)], check=True, stdout=subprocess.PIPE
    )
    log.unlink()
    seconds, busy, megabytes = map(float, done.stdout.split())
    return seconds, busy, megabytes


def write_log(path: Path, samples: int) -> None:
    """Write a log as Inspect does, of questions with a call of a tool; two of three are right."""
    call = {"id": "c", "function": "add", "arguments": {"x": 1, "y": 2}, "type": "function"}
    words = "some words of a conversation, " * 20
    right = 0
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        for number in range(samples):
            grade = "I" if number % 3 == 0 else "C"
            right += grade == "C"
            asked = f"Question {number}? {words}"
            messages: list[dict[str, object]] = [
                {"role": "user", "content": asked, "source": "input"},
                {"role": "assistant", "content": "", "tool_calls": [call], "source": "generate"},
                {"role": "tool", "content": "3", "tool_call_id": "c", "function": "add"},
                {"role": "assistant", "content": f"It is 3. {words}", "source": "generate"},
            ]
            sample = {
                "id": number,
                "epoch": 1,
                "input": asked,
                "target": "3",
                "messages": messages,
                "scores": {"match": {"value": grade, "answer": "3", "explanation": "It is 3."}},
                "model_usage": {"m": {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120}},
                "events": [{"event": "model", "input": messages[:1], "output": words} for _ in range(EVENTS)],
            }
            file.writestr(f"samples/{number}_epoch_1.json", json.dumps(sample))
        score = {
            "name": "match",
            "scorer": "match",
            "metrics": {"accuracy": {"name": "accuracy", "value": right / samples}},
        }
        about = {"task": "sums", "model": "m", "created": "2026-01-01T00:00:00+00:00", "config": {"epochs": 1}}
        header = {"version": 2, "status": "success", "eval": about, "results": {"scores": [score]}}
        file.writestr("header.json", json.dumps(header))
