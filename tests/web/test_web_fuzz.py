"""Pages asked with parts of them spoilt, and the API with everything its description allows: nothing breaks."""

import asyncio
import json
import os
import random
import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from page_fuzz import Ask, Asker, crawl, spoil
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.generation.case import Case
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from web_site import ADDRESS, AppSite

from proctor_web.openapi import describe
from proctor_web.site import operations

pytestmark = pytest.mark.slow

REQUESTS, REQUESTS_LONG = 300, 5_000
EXAMPLES, EXAMPLES_LONG = 6, 100
PER_SITE = 500  # then a new copy, as some requests delete things
STARTS = ["/", "/runs", "/runs/new", "/runs/first", "/runs/first/samples", "/runs/first/samples/fr", "/compare?run=first&run=second",
          "/leaderboard?task=capitals", "/trends?task=capitals", "/evalsets", "/chat", "/review"]  # fmt: skip
CASE = {
    "eval_set_id": "shop", "name": "shop",
    "eval_cases": [{"eval_id": "one", "conversation": [{"invocation_id": "i", "user_content": {"role": "user", "parts": [{"text": "你好"}]},
                    "final_response": {"role": "model", "parts": [{"text": "hi"}]}, "intermediate_data": {"tool_uses": [{"name": "look", "args": {"id": 1}}]}}]}],
}  # fmt: skip


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two runs and an eval set."""
    folder = tmp_path_factory.mktemp("template")
    site = AppSite(folder)
    site.run("first")
    site.run("second", wrong=("fr", "cn"))
    (site.evalsets / "shop.evalset.json").write_text(json.dumps(CASE), encoding="utf-8")
    agent = site.agents / "echo"
    agent.mkdir()
    (agent / "agent.py").write_text("def agent(question):\n    return question\n", encoding="utf-8")
    site.workspace.close()
    return folder


def copied(template: Path, folder: Path) -> AppSite:
    return AppSite(Path(shutil.copytree(template, folder)))


async def _fuzz(site: AppSite, seed: int, count: int) -> list[str]:
    browser = site.browser()
    [(name, value)] = browser.cookies.items()
    asker = Asker(site.app, {"cookie": f"{name}={value}"})
    asks = await crawl(asker, STARTS)
    known = [
        "first",
        "second",
        "capitals",
        "fr",
        "cn",
        "exact",
        "shop",
        "one",
        "shop.evalset.json",
        "北京",
        "scored",
        *"0125",
    ]
    chance = random.Random(seed)
    broken = []
    for ask in [*(one for one in asks if one.method == "GET"), *(spoil(chance, asks, known) for _ in range(count))]:
        answer = await asker.ask(ask)
        if answer.error or answer.status == 0 or answer.status >= 500:
            broken.append(f"{answer.status} {ask}\n{answer.error[-1500:]}")
    return broken


def test_no_page_breaks_when_a_part_of_its_address_or_form_is_spoilt(
    template: Path, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROCTOR_HOME", str(tmp_path / "home"))
    count = REQUESTS_LONG if request.config.getoption("--torture") else REQUESTS
    seed = int(os.environ.get("FUZZ_SEED", "1"))
    for part in range(0, count, PER_SITE):
        site = copied(template, tmp_path / f"site{part}")
        try:
            broken = asyncio.run(_fuzz(site, seed + part, min(PER_SITE, count - part)))
        finally:
            site.workspace.close()
        assert not broken, f"seed {seed + part}, {len(broken)} broke:\n" + "\n".join(broken[:5])


DESCRIPTION = json.loads(json.dumps(describe(operations())))
OPERATIONS = {
    made.ok().label: made.ok()
    for made in schemathesis.openapi.from_dict(DESCRIPTION).get_all_operations()
    if isinstance(made, Ok)
}
KNOWN = {
    "run": "first",
    "task": "capitals",
    "sample": "fr",
    "file": "shop.evalset.json",
    "case": "one",
    "queue": "none",
}


@pytest.fixture(scope="module")
def asked_site(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppSite]:
    site = copied(template, tmp_path_factory.mktemp("asked") / "site")
    yield site
    site.workspace.close()


def test_every_operation_is_described() -> None:
    assert len(OPERATIONS) == len(operations())


@pytest.mark.parametrize("label", OPERATIONS)
def test_the_api_answers_as_it_is_described(
    label: str, asked_site: AppSite, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PROCTOR_HOME", str(tmp_path))
    asker = Asker(asked_site.app, {"authorization": asked_site.program().headers["authorization"]})
    long = request.config.getoption("--torture")

    @settings(
        max_examples=EXAMPLES_LONG if long else EXAMPLES, deadline=None, derandomize=True, database=None,
        phases=[Phase.generate], suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(case=OPERATIONS[label].as_strategy(), is_known=st.booleans())
    def ask(case: Case[Any], is_known: bool) -> None:
        """Ask for what the description allows, every other time for what is there."""
        if is_known:
            for part in (case.path_parameters, case.query, case.body):
                if isinstance(part, dict):
                    part.update({name: value for name, value in KNOWN.items() if isinstance(part.get(name), str)})
        sent = case.as_transport_kwargs(base_url=ADDRESS)
        query = [
            (name, str(one))
            for name, value in sent["params"].items()
            for one in (value if isinstance(value, list) else [value])
        ]
        body = json.dumps(sent["json"]).encode() if "json" in sent else None
        made = Ask(sent["method"], urlsplit(sent["url"]).path, query, body=body)
        answer = asyncio.run(asker.ask(made))
        assert not answer.error, f"{made}\n{answer.error}"
        found = httpx2.Response(
            answer.status,
            headers=answer.headers,
            content=answer.text.encode(),
            request=httpx2.Request("GET", sent["url"]),
        )
        found.elapsed = timedelta(0)
        case.validate_response(
            found,
            checks=[not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance],
        )

    ask()
