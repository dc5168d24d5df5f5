"""How long the server works for each page over a store of 200 runs, one of which has 100,000 trials: CPU, as the machine may be busy."""

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.figure import Figure
from bench.web import fill

RUNS, LARGE, SMALL = 200, 100_000, 100
PAGES = {
    "the list of runs": "/runs",
    "the list of runs by result, in groups": "/runs?order=-result&group=agent",
    "the page of the large run": "/runs/large",
    "samples of the large run": "/runs/large/samples?order=failures",
    "samples of the large run with a word": "/runs/large/samples?text=ba1",
    "a sample of the large run": "/runs/large/samples/SAMPLE",
    "findings of a small run": "/runs/small-1/findings",
    "two runs to choose": "/compare",
    "two runs compared": "/compare?run=small-1&run=small-2",
    "one sample of two runs": "/compare/sample?run=small-1&run=small-2&sample=SAMPLE",
    "trends": "/trends?task=small",
    "the gate": "/gate?run=small-1&against=small-2",
}
ASKS = """
import sys, time
from statistics import median
from starlette.testclient import TestClient
from proctor_web.auth import Access
from proctor_web.samples.indexing import bring_up
from proctor_web.samples.side import Side
from proctor_web.site import site
from proctor_web.users.ledger import Person
from proctor_web.workspace import open_workspace
access = Access(7860)
workspace = open_workspace((sys.argv[1],))
client = TestClient(site(workspace, access, "en"), base_url="http://127.0.0.1:7860")
client.get(access.link(Person(name="")))
large = workspace.find_run("large")
bring_up(large.store, "large", workspace.kept(Side).file(large.store, "large"))  # at once; the server's process is nice
listed = client.get("/api/v1/runs/large/samples").json()
assert listed["indexed"] == 1
for path in map(str.strip, sys.stdin):
    address = path.replace("SAMPLE", listed["rows"][0]["sample"])
    while "hx-trigger=\\"load delay" in client.get(address).text:  # what is computed once, in another thread or process
        time.sleep(0.2)
    times = []
    for _ in range(5):
        begun = time.process_time()
        answer = client.get(address)
        times.append(time.process_time() - begun)
        assert answer.status_code == 200, (address, answer.text[:500])
    print(1000 * median(times))
workspace.close()
"""


def measure() -> Iterator[Figure]:
    """Milliseconds of CPU for each page, once its figures are computed."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "runs.db"
        asyncio.run(fill(store, LARGE))
        for number in range(RUNS - 1):
            asyncio.run(fill(store, SMALL, name=f"small-{number}", task="small"))
        done = subprocess.run(
            [sys.executable, "-c", ASKS, str(store)],
            input="\n".join(PAGES.values()),
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        for what, milliseconds in zip(PAGES, map(float, done.stdout.split()), strict=True):
            yield Figure(what=what, value=milliseconds, unit="ms", at_most=300)
