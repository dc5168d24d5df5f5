"""The web app in this process over a real store, a browser of it that keeps cookies, and runs to look at."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from starlette.testclient import TestClient

from proctor import Sample, Task, evaluate
from proctor.api import Run
from proctor_web.auth import Access
from proctor_web.results import report
from proctor_web.site import site
from proctor_web.users.ledger import Person
from proctor_web.workspace import open_workspace

ADDRESS = "http://127.0.0.1:7860"
CAPITALS = {"fr": "Paris", "de": "Berlin", "it": "Rome", "es": "Madrid", "cn": "北京", "jp": "东京"}


class AppSite:
    """A workspace with its app: a store file, a folder of agents and one of eval sets below `folder`."""

    def __init__(self, folder: Path, *, lang: str = "en", read_only: bool = False, stores: Sequence[str] = ()) -> None:
        self.store = str(folder / "runs.db")
        self.agents, self.evalsets = folder / "agents", folder / "evalsets"
        for one in (self.agents, self.evalsets):
            one.mkdir(exist_ok=True)
        urls = stores or (self.store,)
        report.PATIENT_SECONDS = 60.0  # a machine under load shows what tests ask for all the same
        self.workspace = open_workspace(urls, agents=self.agents, evalsets=self.evalsets, read_only=read_only)
        self.access = Access(7860)
        self.app = site(self.workspace, self.access, lang)

    def stranger(self, address: str = ADDRESS) -> TestClient:
        """A browser that has no token."""
        return TestClient(self.app, base_url=address, raise_server_exceptions=False)

    def browser(self, name: str = "") -> TestClient:
        """A browser that came in by a link."""
        client = self.stranger()
        came = client.get(self.access.link(Person(name=name)), follow_redirects=False)
        assert came.status_code == 303
        return client

    def program(self, name: str = "") -> TestClient:
        """A program that sends its token with each request."""
        client = self.stranger()
        client.headers["authorization"] = f"Bearer {self.access.token(Person(name=name))}"
        return client

    def run(self, run_id: str = "first", *, wrong: Sequence[str] = ("it",), attempts: int = 1) -> Run:
        """Evaluate six questions with an agent that answers those in `wrong` wrongly."""
        return evaluate(capitals(), agent=_agent(wrong), store=self.store, run_id=run_id, attempts=attempts)


def capitals() -> Task:
    """Six questions, in two languages."""
    samples = [
        Sample.ask(id, f"Capital of {id}?", target=city, tags={"script": "han" if id in ("cn", "jp") else "latin"})
        for id, city in CAPITALS.items()
    ]
    return Task(name="capitals", version="1", samples=samples, scorers=["exact"])


def _agent(wrong: Sequence[str]) -> object:
    def answer(question: str) -> str:
        id = question.removeprefix("Capital of ").removesuffix("?")
        return hashlib.sha256(id.encode()).hexdigest()[:6] if id in wrong else CAPITALS[id]

    return answer
