"""How quick the web app finds samples in a store of a million trials, by any filter and any text, and in how much memory."""

import asyncio
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

from bench.figure import Figure
from proctor.core.run import RunRecord, RunSpec
from proctor.core.sample import Sample
from proctor.core.score import Score
from proctor.core.trajectory import Trajectory
from proctor.core.trial import Outcome, Trial, TrialFailure, Verdict
from proctor.stores.sqlite import SqliteStore
from proctor_web.samples.side import file_name

LARGE = 1_000_000
AT_ONCE = 5_000
NAME = "large"
WORDS = [
    f"{syllable}{number}" for number in range(2_000) for syllable in ("ba", "cor", "dim", "fel", "gon", "tra", "ver")
]
LETTERS = [chr(0x4E00 + number) for number in range(3_000)]
WORD_SHARES = list(accumulate(1 / (number + 1) for number in range(len(WORDS))))
LETTER_SHARES = list(accumulate(1 / (number + 1) for number in range(len(LETTERS))))
KINDS = ("wrong_answer", "missing_call", "extra_call", "wrong_param_value", "format_error")
SEARCHES = {
    "first page": "",
    "next page": "after=LAST",
    "in the order of the plan": "order=plan",
    "outcome": "outcome=agent_failed",
    "class of error": "error_class=wrong_param_value",
    "tag and class": "tag=level%3D3&tag=lang%3Dzh&error_class=format_error",
    "range that nothing has": "scorer=close&min_value=0.26&max_value=0.29",
    "range": "scorer=close&min_value=0.25&max_value=0.5",
    "scorers that disagree": "disagree=true",
    "part of an id": "id=99999",
    "part of an id that is nowhere": "id=nowhere",
    "the most common word": f"text={WORDS[0]}",
    "a rare word": f"text={WORDS[-1]}",
    "two characters": f"text={LETTERS[0]}{LETTERS[1]}",
    "one character": f"text={LETTERS[0]}",
    "a phrase of six times the most common word": f"text=%22{' '.join([WORDS[0]] * 6)}%22",
    "beginning of a word": "text=cor1*",
    "common word, a range that nothing has": f"text={WORDS[0]}&scorer=close&min_value=0.26&max_value=0.29",
    "common word, rare filter": f"text={WORDS[0]}&outcome=provider_failed",
    "common word, part of an id that is nowhere": f"text={WORDS[0]}&id=nowhere",
}
ASKS = """
import resource, sys, time
from starlette.testclient import TestClient
from proctor_web.auth import Access
from proctor_web.users.ledger import Person
from proctor_web.site import site
from proctor_web.workspace import open_workspace
access = Access(7860)
client = TestClient(site(open_workspace((sys.argv[1],)), access, "en"), base_url="http://127.0.0.1:7860")
client.get(access.link(Person(name="")))
last = client.get("/api/v1/runs/large/samples").json()["next"]
for line in sys.stdin:
    started = time.perf_counter()
    answer = client.get(f"{sys.argv[2]}/runs/large/samples?{line.strip().replace('LAST', last)}")
    seconds = time.perf_counter() - started
    assert answer.status_code == 200, answer.text
    print(1000 * seconds)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def measure() -> Iterator[Figure]:
    """Seconds to index the store, milliseconds of each search as a page and as JSON, and the memory of the server."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "runs.db"
        asyncio.run(fill(store, LARGE))
        yield from measure_store(store)


def measure_store(store: Path) -> Iterator[Figure]:
    """Measure a store that is there."""
    index = store.with_name(f"{store.name}.index") / file_name(NAME)
    index.parent.mkdir(exist_ok=True)
    started = time.perf_counter()
    subprocess.run([sys.executable, "-m", "proctor_web.samples.indexing", str(store), NAME, str(index)], check=True)
    yield Figure(what="indexing", value=time.perf_counter() - started, unit="s")
    yield Figure(
        what="size of the index over that of the store", value=index.stat().st_size / store.stat().st_size, unit="x"
    )
    for prefix, what in (("", "page"), ("/api/v1", "JSON")):
        done = subprocess.run(
            [sys.executable, "-c", ASKS, str(store), prefix],
            input="\n".join(SEARCHES.values()),
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        *milliseconds, megabytes = map(float, done.stdout.split())
        for name, value in zip(SEARCHES, milliseconds, strict=True):
            yield Figure(what=f"{name} ({what})", value=value, unit="ms", at_most=300)
        yield Figure(what=f"memory of the server ({what})", value=megabytes, unit="MB", at_most=150)


async def fill(path: Path, trials: int, *, name: str = NAME, task: str = NAME) -> None:
    """Write a run of this many trials: English and Chinese texts, two scorers, failures of all kinds."""
    made = random.Random(name)
    store = SqliteStore(path)
    spec = RunSpec(task=task, agent="made", scorers=("exact", "close"))
    record = RunRecord(
        id=name,
        spec=spec,
        task=task,
        task_version="1",
        agent="made",
        scorers=spec.scorers,
        planned=trials,
        state="finished",
    )
    await store.begin(record)
    await store.plan(name, map(_planned, range(trials)))
    for start in range(0, trials, AT_ONCE):
        await asyncio.gather(
            *(_add(store, name, number, made) for number in range(start, min(start + AT_ONCE, trials)))
        )
    await store.end(record)
    store.close()


async def _add(store: SqliteStore, run_id: str, number: int, made: random.Random) -> None:
    words = " ".join(made.choices(WORDS, cum_weights=WORD_SHARES, k=20))
    letters = "".join(made.choices(LETTERS, cum_weights=LETTER_SHARES, k=20))
    sample = Sample.ask(_name(number), f"{words} {letters}", target=words[:40], tags=_tags(number))
    roll = made.random()
    outcome: Outcome = "scored" if roll < 0.97 else "agent_failed" if roll < 0.9999 else "provider_failed"
    kind = made.choice(KINDS)
    trial = Trial(
        run_id=run_id,
        sample_id=sample.id,
        outcome=outcome,
        trajectory=Trajectory.of(" ".join(made.choices(WORDS, cum_weights=WORD_SHARES, k=30))),
        failure=None if outcome == "scored" else TrialFailure(kind="timeout", reason="no reply within 30 s"),
        seconds=made.expovariate(0.5),
    )
    points = made.choice((0, 1, 1, 1))
    verdicts = [
        _verdict(
            run_id,
            sample.id,
            "exact",
            points,
            {} if points else {"error_class": kind, "error_type": f"{kind}:{number % 9}"},
        ),
        _verdict(
            run_id, sample.id, "close", made.choice((0, 0.25, 0.5, 0.75, 1)), {"passed": bool(points) or roll < 0.01}
        ),
    ]
    await store.add(trial, verdicts if outcome == "scored" else [], sample)


def _verdict(run_id: str, sample_id: str, scorer: str, points: float, details: dict[str, object]) -> Verdict:
    reason = "" if points == 1 else f"{sample_id} is not what was expected"
    result = Score(points=points, reason=reason, details=details)
    return Verdict(run_id=run_id, sample_id=sample_id, scorer=scorer, scorer_version="1", result=result)


def _planned(number: int) -> Sample:
    return Sample(id=_name(number), turns=(), tags=_tags(number))


def _name(number: int) -> str:
    return f"large_simple_{number}"


def _tags(number: int) -> dict[str, str]:
    return {"level": str(number % 5), "lang": "zh" if number % 3 == 0 else "en"}
