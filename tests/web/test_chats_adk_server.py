"""The paths of google-adk's own server: its client and its models work with them."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

pytest.importorskip("google.adk", reason="needs the extra 'adk'")

from adk_shop import write_shop
from google.adk.evaluation.eval_case import EvalCase
from google.adk.evaluation.eval_metrics import EvalMetric
from google.adk.evaluation.eval_result import EvalCaseResult, EvalSetResult
from google.adk.evaluation.eval_set import EvalSet
from google.adk.events import Event
from google.adk.sessions import Session
from web_site import ADDRESS, AppSite

from proctor_web.chats import service
from proctor_web.users.ledger import Person

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the library's own, of its newest version

USER = "/apps/shop/users/u1/sessions"
ASKED = {"role": "user", "parts": [{"text": "What does A cost?"}]}


@pytest.fixture
def site(tmp_path: Path) -> AppSite:
    made = AppSite(tmp_path)
    write_shop(made.agents)
    (made.agents / "echo.py").write_text("def answer(text: str) -> str:\n    return text\n")
    return made


@pytest.fixture
async def client(site: AppSite) -> AsyncIterator[httpx2.AsyncClient]:
    token = site.access.token(Person(name="Li"))
    headers = {"authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(site.app), base_url=ADDRESS, headers=headers, timeout=120
    ) as made:
        yield made
    await service.chats_of(site.workspace).end()
    site.workspace.close()


async def run(client: httpx2.AsyncClient, session: str, path: str = "/run", **more: object) -> httpx2.Response:
    asked = {"appName": "shop", "userId": "u1", "sessionId": session, "newMessage": ASKED, **more}
    return await client.post(path, json=asked)


async def test_sessions_are_created_run_changed_and_deleted(client: httpx2.AsyncClient) -> None:
    assert (await client.get("/list-apps")).json() == ["shop"]
    assert (await client.get("/list-apps?detailed=true")).json()["apps"][0]["name"] == "shop"
    made = Session.model_validate((await client.post(USER, json={"state": {"lang": "zh"}})).json())
    assert made.state == {"lang": "zh"}
    events = [Event.model_validate(one) for one in (await run(client, made.id)).json()]
    assert [event.author for event in events] == ["shop"] * 3
    assert [call.name for call in events[0].get_function_calls()] == ["lookup_price"]
    assert events[-1].is_final_response()
    session = Session.model_validate((await client.get(f"{USER}/{made.id}")).json())
    assert [event.author for event in session.events] == ["user", "shop", "shop", "shop"]
    assert session.events[1:] == events
    assert session.state == {"lang": "zh", "asked": 1}
    changed = await client.patch(f"{USER}/{made.id}", json={"state_delta": {"asked": 10}})
    assert Session.model_validate(changed.json()).state["asked"] == 10
    await run(client, made.id)
    assert (await client.get(f"{USER}/{made.id}")).json()["state"]["asked"] == 11
    listed = [Session.model_validate(one) for one in (await client.get(USER)).json()]
    assert [one.id for one in listed] == [made.id]
    assert (await client.delete(f"{USER}/{made.id}")).status_code == 200
    assert (await client.get(f"{USER}/{made.id}")).json() == {"detail": "Session not found"}


async def test_a_reply_is_sent_as_it_comes_and_a_failure_as_google_adk_says_it(client: httpx2.AsyncClient) -> None:
    await client.post(f"{USER}/s1", json={"lang": "en"})
    answer = await run(client, "s1", "/run_sse", streaming=True)
    assert answer.headers["content-type"].startswith("text/event-stream")
    lines = [line[6:] for line in answer.text.splitlines() if line.startswith("data: ")]
    events = [Event.model_validate(json.loads(line)) for line in lines]
    said = [event.content.parts[0].text for event in events if event.partial and event.content and event.content.parts]
    assert said == ["Model ", "A ", "costs ", "100 ", "元. "]
    assert not events[-1].partial
    failed = await run(client, "s1", "/run_sse", newMessage={"role": "user", "parts": [{"text": "fail"}]})
    [*_, line] = [line for line in failed.text.splitlines() if line.startswith("data: ")]
    assert "no model here" in json.loads(line[6:])["error"]
    assert (await run(client, "s1", newMessage={"parts": [{"text": "crash"}]})).status_code == 502
    assert (await run(client, "s1")).status_code == 200


async def test_the_client_of_google_adk_works(client: httpx2.AsyncClient) -> None:
    adk_client = pytest.importorskip("google.adk.cli.conformance.adk_web_server_client", reason="needs the extra 'adk'")
    requests = adk_client.RunAgentRequest
    async with adk_client.AdkWebServerClient(base_url=ADDRESS) as adk:
        adk._client = client  # it has no way to send a token
        session = await adk.create_session(app_name="shop", user_id="u2", state={"lang": "zh"})
        asked = requests(app_name="shop", user_id="u2", session_id=session.id, new_message=ASKED, streaming=False)
        events = [event async for event in adk.run_agent(asked)]
        assert events[-1].content.parts[0].text == "Model A costs 100 元."
        await adk.update_session(app_name="shop", user_id="u2", session_id=session.id, state_delta={"asked": 5})
        again = await adk.get_session(app_name="shop", user_id="u2", session_id=session.id)
        assert again.state == {"lang": "zh", "asked": 5}
        assert "version" in await adk.get_version_data()
        await adk.delete_session(app_name="shop", user_id="u2", session_id=session.id)
        adk._client = None


async def test_an_address_of_adk_that_is_not_answered_is_json(client: httpx2.AsyncClient) -> None:
    await client.post(f"{USER}/s1")
    for path in (f"{USER}/s1/artifacts", f"{USER}/none", "/dev/apps/shop/debug/trace/1", "/debug/trace/session/s1"):
        answer = await client.get(path)
        assert (answer.status_code, [*answer.json()]) == (404, ["detail"])


async def test_a_session_becomes_a_case_that_is_read_changed_and_deleted(
    client: httpx2.AsyncClient, site: AppSite
) -> None:
    made = await client.post("/dev/apps/shop/eval-sets", json={"evalSet": {"eval_set_id": "prices", "eval_cases": []}})
    assert EvalSet.model_validate(made.json()).eval_set_id == "prices"
    assert (await client.post("/dev/apps/shop/eval_sets/older")).json() is None
    assert (await client.get("/dev/apps/shop/eval-sets")).json() == {"evalSetIds": ["older", "prices"]}
    assert (await client.get("/apps/shop/eval_sets")).json() == ["older", "prices"]
    for bad in ("a-b", "..", "a/b"):
        refused = await client.post("/dev/apps/shop/eval-sets", json={"eval_set": {"eval_set_id": bad}})
        assert refused.status_code == 400

    await client.post(f"{USER}/s1", json={"lang": "zh"})
    await run(client, "s1")
    add = {"evalId": "one", "sessionId": "s1", "userId": "u1"}
    assert (await client.post("/dev/apps/shop/eval-sets/prices/add-session", json=add)).status_code == 200
    assert (await client.post("/dev/apps/shop/eval_sets/prices/add_session", json=add)).status_code == 400
    assert (await client.get("/dev/apps/shop/eval_sets/prices/evals")).json() == ["one"]

    path = "/dev/apps/shop/eval-sets/prices/eval-cases/one"
    answer = (await client.get(path)).json()
    assert {"evalId", "conversation", "sessionInput"} <= answer.keys()
    assert answer["sessionInput"]["state"] == {"lang": "zh"}
    case = EvalCase.model_validate(answer)
    assert case.conversation is not None
    case.conversation[0].final_response.parts[0].text = "It costs 100."  # type: ignore[union-attr,index]
    put = await client.put(path, json=json.loads(case.model_dump_json(by_alias=True, exclude_none=True)))
    assert put.status_code == 200, put.text
    file = site.agents / "shop" / "prices.evalset.json"
    written = EvalSet.model_validate_json(file.read_text())
    assert written.eval_cases[0].conversation[0].final_response.parts[0].text == "It costs 100."  # type: ignore[union-attr,index]
    assert (await client.put(path, json={"evalId": "two", "conversation": []})).status_code == 400
    assert (await client.put(path, json={"evalId": "one"})).status_code == 422
    assert (await client.delete(path)).status_code == 200
    assert (await client.get(path)).status_code == 404


async def test_cases_are_run_and_their_results_are_kept(client: httpx2.AsyncClient, site: AppSite) -> None:
    await client.post("/dev/apps/shop/eval-sets", json={"evalSet": {"eval_set_id": "prices"}})
    await client.post(f"{USER}/s1", json={})
    await run(client, "s1")
    for id in ("one", "two"):
        add = {"evalId": id, "sessionId": "s1", "userId": "u1"}
        await client.post("/dev/apps/shop/eval-sets/prices/add-session", json=add)
    metrics = [
        EvalMetric(metric_name="tool_trajectory_avg_score", threshold=1.0),
        EvalMetric(metric_name="response_match_score", threshold=0.8),
    ]
    asked = {
        "evalIds": ["two"],
        "evalMetrics": [metric.model_dump(mode="json", by_alias=True, exclude_none=True) for metric in metrics],
    }
    answer = await client.post("/dev/apps/shop/eval-sets/prices/run", json=asked)
    assert answer.status_code == 200, answer.text
    [result] = [EvalCaseResult.model_validate(one) for one in answer.json()["runEvalResults"]]
    assert (result.eval_id, result.eval_set_id, result.final_eval_status.value) == ("two", "prices", 1)
    scores = {one.metric_name: one.score for one in result.overall_eval_metric_results if one.threshold is not None}
    assert scores == {
        "tool_trajectory_avg_score": 1.0,
        "response_match_score": 1.0,
    }
    [id] = (await client.get("/dev/apps/shop/eval-results")).json()["evalResultIds"]
    kept = EvalSetResult.model_validate((await client.get(f"/dev/apps/shop/eval-results/{id}")).json())
    assert [one.eval_id for one in kept.eval_case_results] == ["two"]
    assert (await client.get("/apps/shop/eval_results")).json() == [id]
    assert (await client.get("/dev/apps/shop/eval-results/..%2fx")).status_code == 404
    found, _ = site.workspace.runs()
    assert len(found) == 1
    custom = {"metricName": "x", "threshold": 1, "customFunctionPath": "os.system"}
    refused = await client.post("/dev/apps/shop/eval-sets/prices/run", json={"evalMetrics": [custom]})
    assert refused.status_code == 400
    metrics_info = (await client.get("/dev/apps/shop/metrics-info")).json()["metricsInfo"]
    assert {"tool_trajectory_avg_score", "response_match_score"} <= {one["metricName"] for one in metrics_info}


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/apps/nobody/users/u/sessions/s"),
        ("POST", "/apps/nobody/users/u/sessions"),
        ("POST", "/apps/echo.py:answer/users/u/sessions"),
        ("GET", "/dev/apps/nobody/eval-sets"),
        ("GET", "/dev/apps/shop/eval-sets/none/eval-cases/x"),
        ("GET", "/dev/apps/%2e%2e/eval-sets"),
    ],
)
async def test_what_is_not_there_is_404(client: httpx2.AsyncClient, method: str, path: str) -> None:
    answer = await client.request(method, path)
    assert answer.status_code == 404
    assert "detail" in answer.json()


async def test_a_message_with_a_picture_comes_in(client: httpx2.AsyncClient) -> None:
    picture = {"inlineData": {"mimeType": "image/png", "data": "A" * 1_000_000}}
    for path in ("/run", "/run_sse"):
        answer = await run(client, "none", path, newMessage={"role": "user", "parts": [picture]})
        assert answer.json() == {"detail": "Session not found: none"}


async def test_a_stranger_is_answered_nothing(site: AppSite) -> None:
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(site.app), base_url=ADDRESS) as stranger:
        for path in ("/list-apps", USER, "/dev/apps/shop/eval-sets"):
            assert (await stranger.get(path)).status_code == 401
        assert (await stranger.post("/run_sse", json={})).status_code == 401
