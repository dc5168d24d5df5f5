"""The pages of eval sets: forms that lose nothing, two people at one case, results next to it, an older file, hostile texts."""

import asyncio
import html
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from eval_sets import FILE, SHOP, Haggler, ShopAgent, put_shop, run_shop
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from starlette.testclient import TestClient
from web_site import AppSite

from proctor import evaluate
from proctor_adapters.evalsets.noun import as_json, read_noun
from proctor_adapters.evalsets.read import read
from proctor_adapters.evalsets.schema import EvalCase
from proctor_adapters.evalsets.task import task_of
from proctor_web.authoring import forms

HOSTILE = "<script>alert(1)</script>\"'</textarea>\u202eabc &amp; ${7*7} {{7*7}}"


@pytest.fixture
def site(tmp_path: Path) -> AppSite:
    site = AppSite(tmp_path)
    put_shop(site.evalsets)
    return site


def case_url(case: str, **more: str) -> str:
    return f"/evalsets/case?{urlencode({'file': FILE, 'case': case, **more})}"


def fields(page: str, form: str = "case") -> dict[str, str]:
    """What a browser sends of a form that nobody changed."""
    inner = re.search(rf'<form id="{form}".*?</form>', page, re.DOTALL) if form else None
    text = inner[0] if inner else page
    found = {}
    for tag, name, value in re.findall(r'<(input)[^>]*? name="([^"]+)"[^>]*? value="([^"]*)"', text):
        found[name] = html.unescape(value)
        assert tag
    for name, value in re.findall(r'<textarea[^>]* name="([^"]+)"[^>]*>\n?(.*?)</textarea>', text, re.DOTALL):
        found[name] = html.unescape(value).replace("\n", "\r\n")
    for name in re.findall(r'<input name="([^"]+)" (?![^>]*value=)', text):
        found.setdefault(name, "")
    return found


def send(browser: TestClient, url: str, values: dict[str, str]) -> Any:
    return browser.post(url, data=values, follow_redirects=False)


def on_disk(site: AppSite) -> dict[str, Any]:
    return {case.eval_id: as_json(case) for case in read(site.evalsets / FILE).eval_set.eval_cases}


def test_a_form_that_nobody_changed_changes_nothing(site: AppSite) -> None:
    before = (site.evalsets / FILE).read_bytes()
    browser = site.browser()
    for case in on_disk(site):
        page = browser.get(case_url(case))
        assert page.status_code == 200
        saved = send(browser, case_url(case), {**fields(page.text), "do": "save"})
        assert saved.status_code == 303, saved.text
    assert (site.evalsets / FILE).read_bytes() == before


def test_a_field_of_an_address_that_is_not_known_is_refused(site: AppSite) -> None:
    browser = site.browser()
    for path in (f"/evalsets/set?file={FILE}", case_url(next(iter(on_disk(site)))), f"/evalsets/criteria?file={FILE}"):
        assert browser.get(path).status_code == 200
        answer = browser.get(f"{path}&txt=1")
        assert answer.status_code == 400
        assert "No field is called" in answer.text


def test_every_field_of_a_case_can_be_changed(site: AppSite) -> None:
    browser = site.browser("Ann")
    values = fields(browser.get(case_url("price-question")).text)
    values |= {
        "case_id": "price",
        "turns.0.user.0.text": "What is A?\r\nAnd B?",
        "turns.0.calls.0.arguments": '{"model": "B", "count": 1.0}',
        "turns.1.calls.0.name": "find_price",
        "turns.1.response.0.text": "",
        "turns.1.rubrics.0.id": "r",
        "turns.1.rubrics.0.text": "is short",
        "rubrics.0.text": "is polite",
        "user_id": "u2",
        "state": '{"lang": "zh"}',
        "final_state": '{"sold": true}',
    }
    saved = send(browser, case_url("price-question"), values | {"do": "save"})
    assert saved.headers["location"] == f"/evalsets/case?file={FILE}&case=price&done=saved"
    case = on_disk(site)["price"]
    first, second = case["conversation"]
    assert first["user_content"]["parts"] == [{"text": "What is A?\nAnd B?"}]
    assert first["intermediate_data"]["tool_uses"] == [{"name": "lookup_price", "args": {"model": "B", "count": 1.0}}]
    assert first["app_details"] == SHOP["eval_cases"][0]["conversation"][0]["app_details"]
    assert second["intermediate_data"]["tool_uses"][0]["name"] == "find_price"
    assert "final_response" not in second
    assert second["rubrics"] == [{"rubric_id": "r", "rubric_content": {"text_property": "is short"}}]
    assert case["rubrics"] == [{"rubric_id": "rubric-1", "rubric_content": {"text_property": "is polite"}}]
    assert case["session_input"] == {"app_name": "shop", "user_id": "u2", "state": {"lang": "zh"}}
    assert case["final_session_state"] == {"sold": True}
    assert case["owner"] == "Li"


def test_what_is_wrong_is_said_at_its_field_and_nothing_is_lost(site: AppSite) -> None:
    browser = site.browser()
    before = (site.evalsets / FILE).read_bytes()
    values = fields(browser.get(case_url("price-question")).text) | {
        "turns.0.calls.0.arguments": '{"model": }',
        "turns.1.user.0.text": "",
        "turns.0.response.0.text": "my long answer",
        "state": "[1]",
    }
    answer = send(browser, case_url("price-question"), values | {"do": "save"})
    assert answer.status_code == 422
    for said in ("This is no JSON: line 1, column 11", "The user says nothing in this turn.", "Write a JSON object"):
        assert said in html.unescape(answer.text)
    assert {**fields(answer.text), "base": ""} == {**values, "base": ""}
    assert (site.evalsets / FILE).read_bytes() == before


def test_rows_are_added_moved_and_removed_before_anything_is_saved(site: AppSite) -> None:
    browser = site.browser()
    url = case_url("price-question")
    values = fields(browser.get(url).text)
    before = (site.evalsets / FILE).read_bytes()
    for do in ("up turns.1", "add turns.0.calls", "remove turns.1", "add turns", "copy turns.0"):
        answer = send(browser, url, values | {"do": do})
        assert answer.status_code == 200
        assert "data-unsaved" in answer.text
        values = fields(answer.text)
    assert (site.evalsets / FILE).read_bytes() == before
    values |= {"turns.0.calls.1.name": "greet", "turns.2.user.0.text": "Bye"}
    answer = send(browser, url, values | {"do": "remove turns.1"})
    values = fields(answer.text)
    assert send(browser, url, values | {"do": "save"}).status_code == 303
    first, second = on_disk(site)["price-question"]["conversation"]
    assert first["user_content"]["parts"][0]["text"] == "And two of them?"
    assert [call["name"] for call in first["intermediate_data"]["tool_uses"]] == ["lookup_price", "greet"]
    assert second["user_content"]["parts"] == [{"text": "Bye"}]


def test_a_new_case_and_a_new_scenario_are_written(site: AppSite) -> None:
    browser = site.browser()
    url = f"/evalsets/case?file={FILE}"
    values = fields(browser.get(url).text) | {"case_id": "bye", "turns.0.user.0.text": "再见", "do": "save"}
    assert send(browser, url, values).status_code == 303
    assert send(browser, url, values).headers["location"].endswith("case=bye-2&done=saved")
    values = fields(browser.get(f"{url}&kind=scenario").text)
    values |= {"case_id": "plan", "starting_prompt": "Hi", "plan": "Ask for A.", "persona": "EXPERT", "do": "save"}
    assert send(browser, f"{url}&kind=scenario", values).status_code == 303
    found = on_disk(site)
    assert found["bye"]["conversation"] == [{"user_content": {"role": "user", "parts": [{"text": "再见"}]}}]
    scenario = {"starting_prompt": "Hi", "conversation_plan": "Ask for A.", "user_persona": "EXPERT"}
    assert found["plan"]["conversation_scenario"] == scenario


def test_of_two_who_edit_one_case_the_second_sees_both_and_decides(site: AppSite) -> None:
    ann, bo = site.browser("Ann"), site.browser("Bo")
    url = case_url("greeting")
    first, second = fields(ann.get(url).text), fields(bo.get(url).text)
    first["turns.0.response.0.text"] = "Hello from Ann"
    second["turns.0.response.0.text"] = "Hello from Bo"
    assert send(ann, url, first | {"do": "save"}).status_code == 303
    answer = send(bo, url, second | {"do": "save"})
    assert answer.status_code == 409
    assert "Someone else changed this case" in answer.text
    assert "<del>Ann</del>" in answer.text
    assert "<ins>Bo</ins>" in answer.text
    assert on_disk(site)["greeting"]["conversation"][0]["final_response"]["parts"][0]["text"] == "Hello from Ann"
    again = send(bo, url, fields(answer.text, form="") | {"do": "show"})
    assert "Hello from Bo" in again.text
    assert send(bo, url, fields(answer.text, form="") | {"do": "save"}).status_code == 303
    assert on_disk(site)["greeting"]["conversation"][0]["final_response"]["parts"][0]["text"] == "Hello from Bo"


def test_a_case_that_was_deleted_meanwhile_can_be_saved_as_a_new_one(site: AppSite) -> None:
    ann, bo = site.browser(), site.browser()
    values = fields(bo.get(case_url("greeting")).text) | {"turns.0.user.0.text": "Hey"}
    page = ann.get(f"/evalsets/set?file={FILE}").text
    gone = {"csrf": csrf(page), "file": FILE, "case": "greeting", "digest": read(site.evalsets / FILE).digest}
    deleted = send(ann, "/evalsets/delete", gone)
    assert deleted.status_code == 303
    answer = send(bo, case_url("greeting"), values | {"do": "save"})
    assert answer.status_code == 409
    assert "deleted or renamed" in answer.text
    assert send(bo, f"/evalsets/case?file={FILE}", fields(answer.text, form="") | {"do": "save"}).status_code == 303
    assert on_disk(site)["greeting"]["conversation"][0]["user_content"]["parts"][0]["text"] == "Hey"


def csrf(page: str) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', page)
    assert found is not None
    return found[1]


def digest(text: str) -> str:
    found = re.search(r'name="digest" value="([^"]+)"', text)
    assert found is not None
    return found[1]


def test_cases_are_moved_copied_and_deleted_and_each_step_is_undone(site: AppSite) -> None:
    browser = site.browser("Ann")
    before = (site.evalsets / FILE).read_bytes()
    url = f"/evalsets/set?file={FILE}"
    for path, more in (("move", {"to": "0"}), ("duplicate", {}), ("delete", {})):
        page = browser.get(url).text
        state = read(site.evalsets / FILE)
        values = {"csrf": csrf(page), "file": FILE, "case": "greeting", "digest": state.digest, **more}
        assert send(browser, f"/evalsets/{path}", values).status_code == 303
    assert [*on_disk(site)] == ["greeting-2", "price-question", "退货", "haggle"]
    for said in ("greeting deleted", "greeting duplicated", "greeting moved"):
        page = browser.get(url).text
        assert f"{said} · Ann" in page
        number = re.search(r'name="number" value="(\d+)"', page)
        assert number is not None
        send(browser, "/evalsets/undo", {"csrf": csrf(page), "file": FILE, "number": number[1]})
    assert (site.evalsets / FILE).read_bytes() == before
    assert "/evalsets/undo" not in browser.get(url).text


def test_who_is_too_late_in_a_list_is_told_next_to_the_list_as_it_is(site: AppSite) -> None:
    browser = site.browser()
    page = browser.get(f"/evalsets/set?file={FILE}").text
    old = read(site.evalsets / FILE).digest
    put = (site.evalsets / FILE).read_text().replace("Prices, orders", "Orders, prices")
    (site.evalsets / FILE).write_text(put)
    answer = send(
        browser, "/evalsets/move", {"csrf": csrf(page), "file": FILE, "case": "退货", "to": "0", "digest": old}
    )
    assert answer.status_code == 409
    assert "was changed by someone else meanwhile" in answer.text
    assert "Orders, prices" in answer.text
    assert (site.evalsets / FILE).read_text() == put


def test_results_are_next_to_each_turn_and_become_the_expectation(site: AppSite) -> None:
    run_shop(site)
    browser = site.browser()
    url = case_url("price-question")
    page = browser.get(url).text
    assert page.count("What the agent did") == 2
    assert "<mark>Three</mark>" in page
    assert html.unescape(page).count('lookup_price({"count": 3, "model": "A"})') == 1
    listed = browser.get(f"/evalsets/set?file={FILE}").text
    assert listed.count(">failed<") == 2
    assert listed.count(">passed<") == 1
    answer = send(browser, url, fields(page) | {"do": "accept 1 both"})
    assert "data-unsaved" in answer.text
    values = fields(answer.text)
    assert values["turns.1.response.0.text"] == "Three of them cost 300 yuan."
    assert on_disk(site)["price-question"]["conversation"][1]["final_response"]["parts"][0]["text"].startswith("Two")
    assert send(browser, url, values | {"do": "save"}).status_code == 303
    turn = on_disk(site)["price-question"]["conversation"][1]
    assert turn["final_response"]["parts"] == [{"text": "Three of them cost 300 yuan."}]
    assert turn["intermediate_data"]["tool_uses"] == [{"name": "lookup_price", "args": {"model": "A", "count": 3}}]
    assert "The file was changed since." in browser.get(url).text
    run_shop(site, "shop-2")
    history = site.program().get(f"/api/v1/evalsets/case/history?file={FILE}&case=price-question").json()
    assert [(one["run"]["run"], one["status"]) for one in history] == [("shop-2", "passed"), ("shop-1", "failed")]
    assert [one["run"]["is_current"] for one in history] == [True, False]


def test_what_was_said_in_a_scenario_is_shown_turn_by_turn(site: AppSite) -> None:
    user = Haggler("I want 20 %.", "Well, model A then.")
    task = f"{site.evalsets / FILE}:haggle"
    evaluate(task_of(task, user=user), agent=ShopAgent(), store=site.store, run_id="haggled")
    page = html.unescape(site.browser().get(case_url("haggle")).text)
    assert page.count("The simulated user said") == 3
    assert "Well, model A then." in page
    assert 'lookup_price({"model": "A"})' in page


def test_a_program_accepts_a_result_at_once(site: AppSite) -> None:
    run_shop(site)
    program = site.program("Ci")
    view = program.get(f"/api/v1/evalsets/case?{urlencode({'file': FILE, 'case': '退货'})}").json()
    body = {"file": FILE, "case": "退货", "run": "shop-1", "digest": view["digest"], "what": "calls"}
    saved = program.post("/api/v1/evalsets/case/accept", json=body)
    assert saved.status_code == 200, saved.text
    turn = on_disk(site)["退货"]["conversation"][0]
    assert turn["intermediate_data"] == {}
    assert turn["final_response"]["parts"][0]["text"].startswith("好的，请告诉我")
    assert program.post("/api/v1/evalsets/case/accept", json=body).status_code in (400, 409)


def test_the_result_of_a_run_of_something_else_is_no_result_of_a_case(site: AppSite) -> None:
    site.run("capitals")  # made in Python
    store = next(iter(site.workspace.stores.values()))
    found = store.run("capitals")
    record = replace(found, id="folder", spec=replace(found.spec, task="bfcl/simple_python"))
    asyncio.run(store.begin(record))
    program = site.program("Ci")
    digest = program.get(f"/api/v1/evalsets/case?{urlencode({'file': FILE, 'case': '退货'})}").json()["digest"]
    for run in ("capitals", "folder"):
        query = urlencode({"file": FILE, "case": "退货", "run": run})
        assert program.get(f"/api/v1/evalsets/case/result?{query}").status_code == 404
        body = {"file": FILE, "case": "退货", "run": run, "digest": digest}
        assert program.post("/api/v1/evalsets/case/accept", json=body).status_code == 404


def test_programs_change_cases_as_pages_do(site: AppSite) -> None:
    program = site.program("Ci")
    assert [one["file"] for one in program.get("/api/v1/evalsets").json()["sets"]] == [FILE]
    made = program.post("/api/v1/evalsets", json={"file": "new/a.evalset.json", "description": "d"})
    assert made.json()["file"] == "new/a.evalset.json"
    case = {"evalId": "x", "conversation": [{"userContent": {"parts": [{"text": "Hi"}]}}]}
    saved = program.post("/api/v1/evalsets/case", json={"file": "new/a.evalset.json", "value": case}).json()
    assert saved["case"] == "x"
    view = program.get("/api/v1/evalsets/case?file=new/a.evalset.json&case=x").json()
    assert view["value"]["conversation"][0]["user_content"]["parts"] == [{"text": "Hi"}]
    change = {
        "file": "new/a.evalset.json",
        "case": "x",
        "digest": view["digest"],
        "value": {**view["value"], "eval_id": "y"},
    }
    assert program.put("/api/v1/evalsets/case", json=change).json()["case"] == "y"
    late = program.put("/api/v1/evalsets/case", json=change)
    assert late.status_code in (400, 404, 409)
    bad = program.post("/api/v1/evalsets/case", json={"file": "new/a.evalset.json", "value": {"eval_id": "z"}})
    assert bad.status_code == 400
    assert "either a 'conversation' or a 'conversation_scenario'" in bad.json()["error"]["message"]


def test_criteria_are_chosen_and_what_is_not_shown_stays(site: AppSite) -> None:
    path = site.evalsets / "test_config.json"
    text = """{
  "_why": "ask Li",
  "criteria": {
    "tool_trajectory_avg_score": {"threshold": 1, "matchType": "in-order", "ignore_args": true},
    "response_match_score": 0.50
  }
}
"""
    path.write_text(text)
    browser = site.browser()
    url = f"/evalsets/criteria?file={FILE}"
    page = browser.get(url).text
    assert "cannot be understood" not in page
    values = {"csrf": csrf(page), "file": FILE, "digest": digest(page)} | {
        "tool_trajectory_avg_score.chosen": "1",
        "tool_trajectory_avg_score.threshold": "1",
        "tool_trajectory_avg_score.match_type": "ANY_ORDER",
        "response_match_score.chosen": "1",
        "response_match_score.threshold": "0.5",
        "final_response_match_v2.chosen": "1",
        "final_response_match_v2.threshold": "0.7",
        "final_response_match_v2.samples": "3",
    }
    path.write_text(text.replace('"_why": "ask Li",\n  ', ""))  # a key that ADK does not know is refused in this file
    page = browser.get(url).text
    values["digest"] = digest(page)
    assert send(browser, url, values).status_code == 303
    assert path.read_text() == text.replace('"_why": "ask Li",\n  ', "").replace('"in-order"', '"ANY_ORDER"').replace(
        "0.50\n",
        '0.50,\n    "final_response_match_v2": {\n      "threshold": 0.7,\n      "judge_model_options": {\n'
        '        "num_samples": 3\n      }\n    }\n',
    )
    late = send(browser, url, values)
    assert late.status_code == 422
    assert "changed by someone else" in late.text
    nothing = send(browser, url, {"csrf": values["csrf"], "file": FILE, "digest": values["digest"]})
    assert "at least one metric" in nothing.text


def test_hostile_texts_are_shown_and_kept(site: AppSite) -> None:
    case = json.loads(json.dumps(SHOP["eval_cases"][0]))
    case |= {"eval_id": HOSTILE, "rubrics": [{"rubric_id": HOSTILE, "rubric_content": {"text_property": HOSTILE}}]}
    case["conversation"][0]["user_content"]["parts"] = [{"text": HOSTILE + "\r\n\r\n\x00"}, {"text": "\n" + HOSTILE}]
    case["conversation"][0]["intermediate_data"]["tool_uses"] = [{"name": HOSTILE, "args": {HOSTILE: HOSTILE}}]
    case["session_input"] |= {"user_id": HOSTILE, "state": {"a": HOSTILE}}
    path = site.evalsets / FILE
    path.write_text(json.dumps({**SHOP, "name": HOSTILE, "eval_cases": [case]}, indent=1))
    before = path.read_bytes()
    browser = site.browser()
    page = browser.get(f"/evalsets/set?file={FILE}")
    assert page.status_code == 200
    assert "<script>alert" not in page.text
    link = re.search(r'href="(/evalsets/case\?[^"]*case=[^"]+)"', page.text)
    assert link is not None
    url = html.unescape(link[1])
    opened = browser.get(url)
    assert opened.status_code == 200
    assert "<script>alert" not in opened.text
    assert "49" not in re.sub(r"[0-9a-f]{32}", "", opened.text)
    values = fields(opened.text)
    assert send(browser, url, values | {"do": "save"}).status_code == 303
    assert path.read_bytes() == before


def test_half_a_character_which_adk_cannot_read_is_named(site: AppSite) -> None:
    (site.evalsets / FILE).write_text(json.dumps({**SHOP, "name": "a\ud800"}))
    browser = site.browser()
    assert "half of a character" in browser.get("/evalsets").text
    assert browser.get(f"/evalsets/set?file={FILE}").status_code == 400
    assert site.program().get("/api/v1/evalsets").status_code == 200


def test_a_case_that_is_longer_than_a_form_is_shown_and_not_cut(site: AppSite) -> None:
    turn = SHOP["eval_cases"][0]["conversation"][1]
    case = {"eval_id": "long", "conversation": [turn] * 400}
    (site.evalsets / FILE).write_text(json.dumps({**SHOP, "eval_cases": [case]}))
    before = (site.evalsets / FILE).read_bytes()
    browser = site.browser()
    page = browser.get(case_url("long"))
    assert "more than a form can hold" in page.text
    assert 'value="save"' not in page.text
    few = {"csrf": csrf(page.text), "case_id": "long", "digest": digest(page.text), "turns.0.origin": "0", "do": "save"}
    assert send(browser, case_url("long"), few).status_code == 400
    many = {"cases": [f"c{number}" for number in range(2_100)], "file": FILE, "agent": "x"}
    assert site.program().post("/evalsets/run", data=many).status_code == 400
    assert (site.evalsets / FILE).read_bytes() == before


@pytest.mark.parametrize(
    "url",
    [
        "/evalsets/set?file=../x.evalset.json", "/evalsets/set?file=missing.evalset.json", "/evalsets/set", "/evalsets/case?file=a",
        f"/evalsets/case?file={FILE}&case=nothing", f"/evalsets/criteria?file=../../{FILE}", "/evalsets/criteria?file=",
        f"/evalsets/set?file={FILE}&size=0", f"/evalsets/case?file={FILE}&case=greeting&attempt=x",
    ],
)  # fmt: skip
def test_an_address_that_names_nothing_is_an_error_of_the_user(site: AppSite, url: str) -> None:
    assert site.browser().get(url).status_code in (400, 404)


def test_nothing_is_written_in_read_only_mode(tmp_path: Path) -> None:
    site = AppSite(tmp_path, read_only=True)
    path = put_shop(site.evalsets)
    before = path.read_bytes()
    browser = site.browser()
    page = browser.get(case_url("greeting")).text
    assert "<fieldset disabled>" in page
    assert 'value="save"' not in page
    listed = browser.get(f"/evalsets/set?file={FILE}").text
    assert "/evalsets/delete" not in listed
    assert send(browser, case_url("greeting"), fields(page) | {"do": "save"}).status_code in (403, 405)
    assert path.read_bytes() == before


def test_without_a_folder_the_page_says_how_to_name_one(site: AppSite) -> None:
    site.workspace.evalsets = site.workspace.agents = None
    assert "proctor web --evalsets evalsets" in site.browser().get("/evalsets").text


def test_a_chinese_page_has_no_english_sentence(tmp_path: Path) -> None:
    site = AppSite(tmp_path, lang="zh")
    put_shop(site.evalsets)
    for url in ("/evalsets", f"/evalsets/set?file={FILE}", case_url("退货"), f"/evalsets/criteria?file={FILE}"):
        shown = site.browser().get(url).text.replace(SHOP["description"], "").replace(str(site.evalsets), "")
        text = re.sub(
            r"<(script|style|code)[^>]*>.*?</\1>|<textarea.*?</textarea>|<[^>]*>",
            " ",
            shown,
            flags=re.DOTALL,
        )
        assert not re.findall(r"\b(?:the|is|of|and|this|case|turn)\b", text), url


def test_what_is_odd_about_a_call_is_said_and_does_not_keep_it(site: AppSite) -> None:
    browser = site.browser()
    url = case_url("price-question")
    page = html.unescape(browser.get(url).text)
    assert "model: string *" in page
    values = fields(page) | {
        "turns.0.calls.0.arguments": '{"modell": "A", "count": "two"}',
        "turns.1.calls.0.name": "other",
    }
    said = html.unescape(send(browser, url, values | {"do": "add rubrics"}).text)
    for sentence in (
        "has no parameter 'modell'",
        "'count' should be of type integer",
        "'model' is required",
        "no tool 'other'",
    ):
        assert sentence in said


CALLS = st.lists(
    st.tuples(
        st.sampled_from(["f", "g"]), st.none() | st.dictionaries(st.sampled_from("ab"), st.integers(), max_size=2)
    ),
    max_size=3,
)
TEXTS = st.lists(st.text(max_size=8), max_size=3)


@st.composite
def turns(draw: st.DrawFn) -> dict[str, Any]:
    calls = [{"name": name, **({} if args is None else {"args": args})} for name, args in draw(CALLS)]
    made: dict[str, Any] = {"user_content": {"parts": [{"text": text} for text in [*draw(TEXTS), "x"]]}}
    if draw(st.booleans()):
        made["final_response"] = {"parts": [{"text": text} for text in draw(TEXTS)]}
    if draw(st.booleans()):
        made["intermediate_data"] = {"tool_uses": calls}
    elif calls:
        events = [{"author": "a", "content": {"parts": [{"text": "hm"}, {"function_call": call}]}} for call in calls]
        made["intermediate_data"] = {"invocation_events": events}
    return made


@settings(max_examples=150)
@given(conversation=st.lists(turns(), min_size=1, max_size=3), case_id=st.text(min_size=1, max_size=5))
def test_whatever_a_case_is_its_form_brings_it_back(conversation: list[dict[str, Any]], case_id: str) -> None:
    case = read_noun({"eval_id": case_id.strip() or "x", "conversation": conversation}, EvalCase)
    form = forms.form_of(case)
    sent = {name: value.replace("\n", "\r\n") for name, value in forms.fields_of(form)}
    back, problems = forms.case_from(forms.read_form(sent), case)
    assert not problems
    assert back == case


@settings(max_examples=200)
@given(
    sent=st.dictionaries(
        st.lists(
            st.sampled_from(["turns", "0", "1", "calls", "name", "rubrics", "-1", "origin", "x", "99999"]), max_size=7
        ).map(".".join),
        st.text(max_size=4),
        max_size=6,
    ),
    do=st.text(max_size=20)
    | st.sampled_from(["remove turns.0", "add turns.0.calls", "up turns", "copy turns.5", "add x"]),
)
def test_whatever_a_browser_sends_is_a_form(sent: dict[str, str], do: str) -> None:
    form = forms.act(forms.read_form(sent), do)
    forms.case_from(form, EvalCase(eval_id="a", conversation=[]))


def test_a_case_that_cannot_be_run_is_saved_all_the_same(site: AppSite) -> None:
    browser = site.browser()
    values = fields(browser.get(case_url("price-question")).text) | {"turns.0.user.0.text": "How much?", "do": "run"}
    answer = send(browser, case_url("price-question"), values | {"agent": "", "agent_typed": "nobody.py:agent"})
    assert answer.status_code == 422
    assert "nobody.py" in answer.text
    assert "How much?" in str(on_disk(site)["price-question"])
    again = fields(answer.text) | {"do": "save", "turns.0.user.0.text": "And how much now?"}
    assert send(browser, case_url("price-question"), again).status_code == 303
