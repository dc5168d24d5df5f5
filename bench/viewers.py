"""How soon a result is on the screen, and how many clicks lead to a failure and to a comparison: ours and two other viewers.

Each program runs the same 1,000 samples twice, with an agent that is wrong in 20 and in 25 of them, and opens the viewer that it
brings, one after the other in one browser. `PROCTOR_GUEST_PYTHON` is a Python with inspect_ai, `PROCTOR_PROMPTFOO` the program
of promptfoo; a viewer whose program is not named is left out.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from playwright.sync_api import Browser, Locator, Page, StorageState, sync_playwright

from bench.figure import Figure
from proctor import Sample, Task, evaluate

COUNT = 1_000
WRONG, REST = (40, 50), 11  # a run is wrong about the numbers with this rest; the second run is the newer one
THIRD = 111  # the third number that the newer run is wrong about
RESULT_OF_PROMPTFOO = "98.00% passing"
ROUNDS = 5
START_SECONDS = 120.0
INSPECT_TASK = """
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import match
from inspect_ai.solver import solver

@solver
def adds(wrong):
    async def solve(state, generate):
        number = int(str(state.sample_id)[1:])
        state.output = ModelOutput.from_content("none", str(number + 3 + (number % wrong == 11)))
        state.messages.append(state.output.message)
        return state
    return solve

@task
def sums(wrong: int, count: int) -> Task:
    samples = [Sample(id=f"s{n:04}", input=f"What is {n} + 3?", target=str(n + 3)) for n in range(count)]
    return Task(dataset=samples, solver=adds(wrong), scorer=match(numeric=True))
"""
PROMPTFOO_PROVIDER = """
module.exports = class {
  constructor(options) { this.wrong = options.config.wrong; }
  id() { return `adds-${this.wrong}`; }
  async callApi(prompt, context) {
    const number = Number(context.vars.n);
    return { output: String(number + 3 + (number % this.wrong === 11 ? 1 : 0)) };
  }
};
"""


class Clicker:
    """Counts the clicks on a page."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.count = 0

    def click(self, target: Locator) -> None:
        self.count += 1
        target.click()

    def text(self, text: str) -> Locator:
        """Return the first place where the page has just this text."""
        return self.page.get_by_text(text, exact=True).first

    def wait(self, *texts: str) -> None:
        """Wait until the page shows all of these texts."""
        for text in texts:
            self.text(text).wait_for(timeout=60_000)


class Viewer(NamedTuple):
    """A viewer that runs.

    Attributes:
        enters: the address that lets a browser in.
        address: what is opened after a run.
        result: the text there of the newest result.
        third: leads from there to question, answer and reference of the third failing sample.
        compare: leads to both runs side by side; None where the viewer has no such page.
    """

    name: str
    process: "subprocess.Popen[str]"
    enters: str
    address: str
    result: str
    third: Callable[[Clicker], None]
    compare: Callable[[Clicker], None] | None


def measure() -> Iterator[Figure]:
    """Milliseconds to the first result, and clicks to the third failure and to a comparison, for each viewer."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as name, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for start in (start_own, start_inspect, start_promptfoo):
            viewer = start(Path(name))
            if viewer is not None:
                try:
                    yield from _figures(browser, viewer)
                finally:
                    viewer.process.terminate()
                    viewer.process.wait(60)
        browser.close()


def _figures(browser: Browser, viewer: Viewer) -> Iterator[Figure]:
    context = browser.new_context()
    context.new_page().goto(viewer.enters)
    entered = context.storage_state()
    context.close()
    _visit(browser, viewer, entered, viewer.third)  # the server is warm from here on
    shown = [_visit(browser, viewer, entered).shown for _ in range(ROUNDS)]
    yield Figure(what=f"{viewer.name}: the newest result is on the screen", value=1_000 * median(shown), unit="ms")
    for what, way in (("the third failure is read", viewer.third), ("both runs are side by side", viewer.compare)):
        if way is None:
            yield Figure(what=f"{viewer.name}: {what} (no page does that)", value=float("nan"), unit="clicks")
            continue
        visits = [_visit(browser, viewer, entered, way) for _ in range(ROUNDS)]
        yield Figure(what=f"{viewer.name}: {what}", value=visits[0].clicks, unit="clicks")
        seconds = median(visit.shown + visit.walked for visit in visits)
        yield Figure(what=f"{viewer.name}: {what}, from the first request", value=1_000 * seconds, unit="ms")


class Visit(NamedTuple):
    """The seconds to the first result and from there to the end of a way, and the clicks on it."""

    shown: float
    walked: float
    clicks: int


def _visit(
    browser: Browser, viewer: Viewer, entered: StorageState, way: Callable[[Clicker], None] = lambda _: None
) -> Visit:
    """Open the viewer in a browser that has nothing of it but the cookie, and walk."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, storage_state=entered)
    clicker = Clicker(context.new_page())
    started = time.perf_counter()
    clicker.page.goto(viewer.address, wait_until="commit")
    clicker.wait(viewer.result)
    shown = time.perf_counter()
    way(clicker)
    ended = time.perf_counter()
    context.close()
    return Visit(shown - started, ended - shown, clicker.count)


def start_own(folder: Path) -> Viewer:
    """Run the samples with Proctor, and open `proctor web`."""
    store = folder / "runs.db"
    samples = [Sample.ask(f"s{n:04}", f"What is {n} + 3?", target=str(n + 3)) for n in range(COUNT)]
    for wrong in WRONG:
        task = Task(name="sums", samples=samples, scorers=["number"])
        evaluate(task, agent=_agent(wrong), store=str(store), run_id=f"sums-{wrong}")
    words = ["--lang=en", "web", f"--store={store}", "--json", "--no-open"]
    process = subprocess.Popen([sys.executable, "-m", "proctor", *words], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    said = json.loads(process.stdout.readline())

    def third(clicker: Clicker) -> None:
        clicker.click(clicker.page.get_by_title("All samples, failures first").first)
        clicker.wait(f"What is {THIRD} + 3?", str(THIRD + 4), f"expected: {THIRD + 3}")

    def compare(clicker: Clicker) -> None:
        clicker.click(clicker.page.get_by_role("link", name="Compare"))
        clicker.click(clicker.page.get_by_text(f"Compare sums-{WRONG[1]} with the run before it"))
        clicker.wait("Broken or fixed")

    return Viewer("Proctor", process, said["people"][0]["link"], f"{said['address']}/runs", "98.0%", third, compare)


def _agent(wrong: int) -> Callable[[str], str]:
    def answer(question: str) -> str:
        number = int(question.split()[2])
        return str(number + 3 + (number % wrong == REST))

    return answer


def start_inspect(folder: Path) -> Viewer | None:
    """Run the samples with Inspect, and open `inspect view`."""
    python = os.environ.get("PROCTOR_GUEST_PYTHON")
    if python is None:
        return None
    (folder / "sums.py").write_text(INSPECT_TASK, encoding="utf-8")
    program, logs = str(Path(python).with_name("inspect")), f"--log-dir={folder / 'logs'}"
    for wrong in WRONG:
        words = ["--model=mockllm/model", "-T", f"wrong={wrong}", "-T", f"count={COUNT}", "--display=none", logs]
        subprocess.run([program, "eval", "sums.py", *words], check=True, cwd=folder, stdout=subprocess.DEVNULL)
    process = _served([program, "view", logs, "--port=17575"], {}, address := "http://127.0.0.1:17575")

    def third(clicker: Clicker) -> None:
        clicker.click(clicker.text("0.98"))
        clicker.wait("s0001")
        score = clicker.page.get_by_role("columnheader", name="Score")
        clicker.click(score)  # the right ones first
        clicker.click(score)
        clicker.wait(f"What is {THIRD} + 3?", str(THIRD + 4), str(THIRD + 3))

    return Viewer("Inspect View", process, address, address, "0.98", third, None)


def start_promptfoo(folder: Path) -> Viewer | None:
    """Run the samples with promptfoo, and open `promptfoo view`."""
    program = os.environ.get("PROCTOR_PROMPTFOO")
    if program is None:
        return None
    (folder / "adds.js").write_text(PROMPTFOO_PROVIDER, encoding="utf-8")
    told = ("DISABLE_TELEMETRY", "DISABLE_UPDATE", "DISABLE_REMOTE_GENERATION")
    given = {"PROMPTFOO_CONFIG_DIR": str(folder / "promptfoo"), **{f"PROMPTFOO_{name}": "1" for name in told}}
    for wrong in WRONG:
        config = {
            "description": f"sums-{wrong}",
            "prompts": ["What is {{n}} + 3?"],
            "providers": [{"id": "file://adds.js", "config": {"wrong": wrong}}],
            "tests": [{"vars": {"n": n}, "assert": [{"type": "equals", "value": str(n + 3)}]} for n in range(COUNT)],
        }
        (folder / "sums.json").write_text(json.dumps(config), encoding="utf-8")
        words = ["eval", "-c", "sums.json", "--no-cache", "--no-table", "--no-progress-bar"]
        # failures end it with 100
        subprocess.run([program, *words], check=False, cwd=folder, env=os.environ | given, stdout=subprocess.DEVNULL)
    process = _served([program, "view", "--no", "--port=17576"], given, address := "http://localhost:17576")

    def third(clicker: Clicker) -> None:
        clicker.click(clicker.text("Failures"))
        clicker.wait(str(THIRD), f'Expected output "{THIRD + 4}" to equal "{THIRD + 3}"')

    def compare(clicker: Clicker) -> None:
        clicker.click(clicker.text("Eval actions"))
        clicker.click(clicker.text("Compare with another eval"))
        clicker.click(clicker.page.get_by_role("dialog").get_by_text(f"sums-{WRONG[0]}"))
        clicker.page.get_by_text("97.50% passing").first.wait_for(timeout=60_000)

    return Viewer("promptfoo", process, address, address, RESULT_OF_PROMPTFOO, third, compare)


def _served(command: Sequence[str], given: Mapping[str, str], address: str) -> "subprocess.Popen[str]":
    """Start a viewer, and wait until it answers."""
    nowhere = subprocess.DEVNULL
    process = subprocess.Popen(command, env=os.environ | given, stdout=nowhere, stderr=nowhere, text=True)
    until = time.monotonic() + START_SECONDS
    while True:
        try:
            with urllib.request.urlopen(address):
                return process
        except OSError:
            assert process.poll() is None, f"{command[0]} ended"
            assert time.monotonic() < until, f"{command[0]} does not answer"
            time.sleep(0.2)
