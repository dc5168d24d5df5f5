"""How soon one reads what failed, in a browser: the list of 1,000 samples, the third failure, two runs compared, and very long samples."""

import asyncio
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

from playwright.sync_api import Browser, Page, sync_playwright

from bench.figure import ROUNDS, Figure
from proctor.core.run import RunRecord, RunSpec
from proctor.core.sample import Message, Sample, ToolCall, ToolResult
from proctor.core.score import Score
from proctor.core.trajectory import Step, Trajectory
from proctor.core.trial import Trial, Verdict
from proctor.stores.sqlite import SqliteStore

SAMPLES, STEPS, CHARACTERS = 1_000, 10_000, 5_000_000
RUNS = ("before", "after")
FIRST_PAINT_MILLISECONDS = 1_000
HEAP_MEGABYTES = 60


class Reader(NamedTuple):
    """A browser that is signed in, and where the server is."""

    browser: Browser
    address: str
    token: str

    def open(self, path: str, ready: str) -> tuple[Page, float]:
        """Open a page of its own, and return the milliseconds until what one came for is shown."""
        context = self.browser.new_context(
            viewport={"width": 1440, "height": 900}, extra_http_headers={"authorization": f"Bearer {self.token}"}
        )
        page = context.new_page()
        page.goto(f"{self.address}{path}", wait_until="commit")
        page.locator(ready).first.wait_for()
        return page, page.evaluate("performance.now()")


def measure() -> Iterator[Figure]:
    """Milliseconds until a page can be read, the clicks and keys on the way, and the memory of the tab."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder, "runs.db")
        asyncio.run(_fill(store))
        with _serve(store) as reader:
            yield from _read_failures(reader)
            yield from _compare(reader)
            yield from _long(reader)


def _read_failures(reader: Reader) -> Iterator[Figure]:
    path, row = "/runs/after/samples", "tr[data-row]"
    reader.open(path, row)[0].context.close()  # makes the index
    times = []
    for _ in range(ROUNDS):
        page, milliseconds = reader.open(path, row)
        times.append(milliseconds)
        page.context.close()
    yield Figure(
        what="list of 1,000 samples: first row", value=median(times), unit="ms", at_most=FIRST_PAINT_MILLISECONDS
    )
    page, _ = reader.open("/runs/after", "nav.tabs")
    page.get_by_role("link", name="Samples", exact=True).click()
    page.locator(f"{row} .answer").first.click()
    for _ in range(2):
        page.keyboard.press("j")
    page.locator("#pane h2", has_text="question-0020").wait_for()
    yield Figure(what="clicks (2) and keys (2): run finished → third failure read", value=4, unit="", at_most=4)
    page.context.close()


def _compare(reader: Reader) -> Iterator[Figure]:
    page, _ = reader.open("/runs/after", "nav.tabs")
    page.get_by_role("link", name="Compare", exact=True).last.click()
    page.get_by_label("before", exact=True).check()
    page.get_by_role("button", name="Compare", exact=True).click()
    page.locator(".picture").wait_for()
    yield Figure(what="clicks: run finished → compared with the run before", value=3, unit="", at_most=3)
    page.context.close()


def _long(reader: Reader) -> Iterator[Figure]:
    for sample, what in (("steps", "10,000 steps"), ("text", "an answer of 5 MB")):
        page, milliseconds = reader.open(f"/runs/after/samples/{sample}", "#entry-1")
        yield Figure(what=f"{what}: first paint", value=milliseconds, unit="ms", at_most=3 * FIRST_PAINT_MILLISECONDS)
        metrics = page.context.new_cdp_session(page)
        metrics.send("Performance.enable")
        found = {one["name"]: one["value"] for one in metrics.send("Performance.getMetrics")["metrics"]}
        heap = found["JSHeapUsedSize"] / 1e6
        yield Figure(what=f"{what}: heap of the tab", value=heap, unit="MB", at_most=HEAP_MEGABYTES)
        yield Figure(what=f"{what}: nodes of the page", value=found["Nodes"], unit="", at_most=20_000)
        page.context.close()


@contextmanager
def _serve(store: Path) -> Iterator[Reader]:
    command = [sys.executable, "-m", "proctor", "--lang", "en", "web", "--json", "--no-open", "--port", "18990"]
    server = subprocess.Popen([*command, "--store", str(store)], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    said = json.loads(server.stdout.readline())
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
            yield Reader(browser, said["address"], said["people"][0]["token"])
            browser.close()
    finally:
        server.terminate()
        server.wait()


async def _fill(path: Path) -> None:
    """Write two runs, in which every tenth and every eighth sample is wrong, and in the second two very long samples."""
    store = SqliteStore(path)
    for run, every in zip(RUNS, (8, 10), strict=True):
        spec = RunSpec(task="questions", agent="made", scorers=("exact",))
        record = RunRecord(
            id=run,
            spec=spec,
            task="questions",
            task_version="1",
            agent="made",
            scorers=spec.scorers,
            planned=SAMPLES,
            state="finished",
        )
        long = [("steps", _steps()), ("text", Trajectory.of("x y " * (CHARACTERS // 4)))] if run == "after" else []
        played = [
            *((f"question-{n:04}", Trajectory.of("wrong" if n % every == 0 else "right")) for n in range(SAMPLES)),
            *long,
        ]
        samples = {id: Sample.ask(id, f"What is right in question {id}?", target="right") for id, _ in played}
        await store.begin(record)
        await store.plan(run, samples.values())
        for id, trajectory in played:
            score = Score(points=0.0 if trajectory.answer == "wrong" else 1.0)
            verdict = Verdict(run_id=run, sample_id=id, scorer="exact", scorer_version="1", result=score)
            await store.add(
                Trial(run_id=run, sample_id=id, outcome="scored", trajectory=trajectory), [verdict], samples[id]
            )
        await store.end(record)
    store.close()


def _steps() -> Trajectory:
    call = ToolCall(name="look", arguments={"at": "the shelf " * 20})
    steps = [
        Step(message=Message(role="assistant", parts=(call,)), seconds=0.1)
        if number % 2 == 0
        else Step(message=Message(role="tool", parts=(ToolResult(name="look", content="tea " * 50),)), seconds=0.1)
        for number in range(STEPS)
    ]
    return Trajectory(steps=tuple(steps))
