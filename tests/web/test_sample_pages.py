"""The page of one sample: what it shows and sends, its forms, and hostile text in every field."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
import told_trials
from starlette.testclient import TestClient
from told_trials import RUN
from web_site import AppSite

from proctor_adapters.evalsets.read import read

SHOP = f"/runs/{RUN}/samples/shop/umbrella"
HOSTILE = f"/runs/{RUN}/samples/" + quote('<img src=x onerror="alert(1)">?a=1#b')
SAMPLES = [SHOP, f"/runs/{RUN}/samples/zh/{quote('北京')}?attempt=1", HOSTILE, f"/runs/{RUN}/samples/broken"]
PARTS = ["steps", "runs", "judges", "record", "text&entry=0&piece=0"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppSite]:
    made = _site(tmp_path_factory.mktemp("told"))
    yield made
    made.workspace.close()


@pytest.fixture(scope="module")
def browser(site: AppSite) -> TestClient:
    return site.browser("ann")


@pytest.fixture
def own(tmp_path: Path) -> Iterator[AppSite]:
    """A site that a test may write to."""
    made = _site(tmp_path)
    yield made
    made.workspace.close()


def _site(folder: Path, *, read_only: bool = False) -> AppSite:
    told_trials.write(folder)
    return AppSite(folder, read_only=read_only)


def csrf(page: str) -> str:
    return page.partition('name="csrf" value="')[2].partition('"')[0]


def send(client: TestClient, path: str, **fields: str) -> str:
    """Send a form of the page of the umbrella, and return where it leads."""
    given = {"csrf": csrf(client.get(SHOP).text), "sample": "shop/umbrella", "attempt": "0", "filter": "", **fields}
    came = client.post(f"/runs/{RUN}/{path}", data=given, follow_redirects=False)
    assert came.status_code == 303, came.text
    return came.headers["location"]


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("path", SAMPLES)
def test_every_page_and_part_of_a_sample_is_there(site: AppSite, path: str, lang: str) -> None:
    browser = site.browser()
    join = "&" if "?" in path else "?"
    for address in (path, *(f"{path}{join}part={part}" for part in PARTS)):
        for headers in ({}, {"hx-request": "true"}):
            came = browser.get(f"{address}{'&' if '?' in address else '?'}lang={lang}", headers=headers)
            if "part=text" in address and "broken" in path and came.status_code == 404:
                continue
            assert came.status_code == 200, address
            assert "style=" not in came.text
            assert "<script>alert" not in came.text
            assert not re.search(r"<img[^>]+(?:evil|onerror)", came.text)
            assert 'href="javascript' not in came.text


def test_the_head_says_how_many_scorers_it_passed(browser: TestClient) -> None:
    def head(sample: str) -> str:
        page = browser.get(f"/runs/{RUN}/samples/{sample}").text
        return page.partition('class="sample-head"')[2].partition('class="facts"')[0]

    assert '<span class="badge bad">passed by 1 of 2 scorers</span>' in head("shop/umbrella")
    assert '<span class="badge bad">failed · 0.0%</span>' in head(f"zh/{quote('北京')}")
    assert '<span class="badge good">passed</span>' in head("picture")
    assert "agent failed" in head("broken")
    assert "not applicable" in head("?sample=../up")


def test_an_odd_id_has_an_address_of_its_own(browser: TestClient) -> None:
    came = browser.get(f"/runs/{RUN}/samples/", params={"sample": "../up"})
    assert came.status_code == 200
    assert "<h1><code>../up</code></h1>" in came.text
    assert 'href="/runs/told/samples/?sample=..%2Fup' in came.text


def test_what_differs_in_the_texts_is_marked(browser: TestClient) -> None:
    page = browser.get(SHOP).text
    assert "<pre>2. Two red umbrellas are in your cart.</pre>" in page
    assert "Two red umbrellas are <ins>now </ins>in your cart.</pre>" in page
    other = browser.get(f"/runs/{RUN}/samples/picture").text
    assert "<pre>red</pre>" in other
    assert "<pre>It is red.</pre>" in other, "nearly all of it is other words"


def test_the_filter_of_the_list_stays_in_every_address(browser: TestClient) -> None:
    page = browser.get(f"{SHOP}?error_class=extra_call&tag=a%3Db&tag=c%3Dd").text
    assert 'href="/runs/told/samples?error_class=extra_call&amp;tag=a%3Db&amp;tag=c%3Dd"' in page
    two = browser.get(f"/runs/{RUN}/samples/zh/{quote('北京')}?tag=a%3Db").text
    assert f'href="/runs/{RUN}/samples/zh/{quote("北京")}?attempt=1&amp;tag=a%3Db"' in two


def test_a_long_conversation_has_pages_and_a_search(browser: TestClient) -> None:
    page = browser.get(f"/runs/{RUN}/samples/long?step=120&find=needle").text
    assert 'id="entry-100"' in page
    assert 'id="entry-99"' not in page
    assert "Later entries (150)" in page
    assert len(page) < 150_000
    assert 'href="/runs/told/samples/long?step=293#entry-293"' in page
    more = browser.get(f"/runs/{RUN}/samples/long?part=steps&step=150&way=down", headers={"hx-request": "true"}).text
    assert 'id="entry-150"' in more
    assert "Later entries" in more
    assert "Earlier entries" not in more
    assert "<html" not in more


def test_pictures_and_sound_are_sent_as_such_and_anything_else_only_to_be_kept(browser: TestClient) -> None:
    def sent(piece: int, entry: int = 0) -> tuple[int, str, str]:
        came = browser.get(f"/runs/{RUN}/attachments/picture?entry={entry}&piece={piece}")
        assert came.headers["x-content-type-options"] == "nosniff"
        return came.status_code, came.headers["content-type"], came.headers.get("content-disposition", "")

    assert sent(1) == (200, "image/png", "")
    assert sent(2) == (200, "application/octet-stream", "attachment; filename*=UTF-8''drawing.svg")
    assert sent(3) == (200, "application/octet-stream", "attachment; filename*=UTF-8''page.html")
    assert [sent(piece)[0] for piece in (0, 4, 5, 9, 99)] == [404] * 5
    assert sent(0, entry=1)[0] == 404, "the text of a tool's result, whose files follow it"
    assert sent(1, entry=1) == (200, "image/png", "")
    assert sent(2, entry=1) == (200, "application/octet-stream", "attachment; filename*=UTF-8''drawing.svg")
    assert sent(6) == (200, "audio/wav", "")
    assert sent(7) == (200, "application/octet-stream", "attachment; filename*=UTF-8''paper.pdf")
    assert sent(8) == (200, "application/octet-stream", "attachment; filename*=UTF-8''page.mp3")
    page = browser.get(f"/runs/{RUN}/samples/picture").text
    assert page.count("<audio controls") == page.count('preload="none"') == 1
    assert page.count("<img") == page.count('loading="lazy"') == 2
    assert "not shown: this page loads nothing from elsewhere" in page


def test_a_mark_for_review_is_kept_and_taken_away(own: AppSite) -> None:
    ann, bob = own.browser("ann"), own.browser("bob")
    assert send(ann, "marks", comment="the price?") == f"{SHOP}?saved=mark"
    assert "marked for review</span> <b>ann</b>: the price?" in bob.get(SHOP).text
    send(bob, "marks", marked="false")
    assert "marked for review" in bob.get(SHOP).text, "only one's own mark is taken away"
    send(ann, "marks", marked="false")
    assert "marked for review" not in bob.get(SHOP).text


def test_a_verdict_of_a_person_is_kept_next_to_that_of_the_scorer(own: AppSite) -> None:
    ann = own.browser("ann")
    where = send(ann, "labels", scorer="trajectory", value="other", percent="75", comment="nearly", filter="text=red")
    assert where == f"{SHOP}?text=red&saved=label"
    [label] = own.workspace.stores["runs"].annotations(RUN, kind="label")
    assert (label.sample_id, label.name, label.value, label.comment, label.by) == (
        "shop/umbrella",
        "trajectory",
        0.75,
        "nearly",
        "ann",
    )
    page = own.browser("bob").get(SHOP).text
    assert "<b>ann</b>: 75.0%" in page
    assert "instead of 50.0%" in page
    send(ann, "labels", scorer="trajectory", value="1")
    send(ann, "labels", scorer="trajectory", remove="1")
    assert own.workspace.stores["runs"].annotations(RUN, kind="label") == []


@pytest.mark.parametrize(
    "fields",
    [
        {"scorer": "trajectory", "value": "2"},
        {"scorer": "trajectory", "value": "other", "percent": "many"},
        {"scorer": "trajectory", "value": "other", "percent": "nan"},
        {"scorer": "nobody", "value": "1"},
        {"scorer": "trajectory"},
    ],
)
def test_a_label_that_is_none_is_refused_and_what_was_written_stays(own: AppSite, fields: dict[str, str]) -> None:
    ann = own.browser("ann")
    given = {"csrf": csrf(ann.get(SHOP).text), "sample": "shop/umbrella", "comment": "my words", **fields}
    came = ann.post(f"/runs/{RUN}/labels", data=given)
    assert came.status_code == 422
    assert 'role="alert"' in came.text
    assert fields["scorer"] == "nobody" or "my words" in came.text
    assert own.workspace.stores["runs"].annotations(RUN, kind="label") == []


def test_a_sample_is_open_next_to_its_list_with_the_filters_that_hold(own: AppSite) -> None:
    page = own.browser().get(f"/runs/{RUN}/samples?open=shop%2Fumbrella&text=umbrella&tag=a%3Db&min_value=0.5")
    assert page.status_code == 200
    assert 'id="pane"' in page.text
    assert page.text.count('title="Take this filter away"') == 3
    assert f'href="/runs/{RUN}/samples?text=umbrella&amp;tag=a%3Db"' in page.text


def test_an_attempt_becomes_a_case_of_an_eval_set(own: AppSite) -> None:
    ann = own.browser("ann")
    where = send(ann, "cases", file="new/shop.evalset.json")
    assert where == f"{SHOP}?saved=case&file=new%2Fshop.evalset.json&case=shop%2Fumbrella"
    assert "Added to the eval set." in ann.get(where).text
    [case] = read(own.evalsets / "new" / "shop.evalset.json").eval_set.eval_cases
    assert case.conversation is not None
    first, second = case.conversation
    assert first.user_content.parts is not None
    assert first.user_content.parts[0].text == "Find me a **red** umbrella below $20 and put it into my cart."
    assert first.intermediate_data is not None
    assert [call.name for call in first.intermediate_data.calls()] == ["search", "add_to_cart", "add_to_cart"]
    assert second.final_response is not None
    send(ann, "cases", file="new/shop.evalset.json")
    assert len(read(own.evalsets / "new" / "shop.evalset.json").eval_set.eval_cases) == 2
    assert 'action="/evalsets/undo"' in ann.get("/evalsets/set?file=new/shop.evalset.json").text


@pytest.mark.parametrize(
    "file", ["../out.evalset.json", "/tmp/out.evalset.json", "a.json", ".hidden.evalset.json", "../out", ""]
)
def test_a_case_cannot_be_written_elsewhere(own: AppSite, file: str) -> None:
    ann = own.browser("ann")
    given = {"csrf": csrf(ann.get(SHOP).text), "sample": "shop/umbrella", "file": file}
    assert ann.post(f"/runs/{RUN}/cases", data=given).status_code == 422
    assert not list(own.evalsets.parent.rglob("out.evalset.json"))


def test_a_file_of_this_machine_is_not_copied_into_a_case(own: AppSite) -> None:
    ann = own.browser("ann")
    given = {"csrf": csrf(ann.get(SHOP).text), "sample": "picture", "file": "a.evalset.json"}
    came = ann.post(f"/runs/{RUN}/cases", data=given)
    assert came.status_code == 422
    assert "The attachment passwd cannot be read from here" in came.text
    assert not list(own.evalsets.iterdir())


def test_nothing_is_written_where_all_is_read_only(tmp_path: Path) -> None:
    site = _site(tmp_path, read_only=True)
    page = site.browser("ann").get(SHOP).text
    assert "<form" not in page.partition('id="verdicts"')[2].partition("</main>")[0]
    program = site.program("ann")
    mark = {"sample": "shop/umbrella"}
    assert program.post(f"/api/v1/runs/{RUN}/marks", json=mark).status_code == 403
    site.workspace.close()


def test_programs_read_and_write_the_same(own: AppSite) -> None:
    program = own.program("robot")
    of = {"sample": "shop/umbrella"}
    view = program.get(f"/api/v1/runs/{RUN}/sample", params=of).json()
    assert (view["sample"], view["judged"][0]["finding"]["value"], len(view["entries"])) == ("shop/umbrella", 0.5, 15)
    record = program.get(f"/api/v1/runs/{RUN}/sample/record", params=of).json()
    assert record["trial"]["trajectory"]["steps"][0]["message"]["parts"][0]["type"] == "reasoning"
    label = {**of, "scorer": "trajectory", "value": 1, "comment": "fine"}
    assert program.post(f"/api/v1/runs/{RUN}/labels", json=label).status_code == 204
    [kept] = program.get(f"/api/v1/runs/{RUN}/sample", params=of).json()["judged"][0]["labels"]
    assert (kept["value"], kept["by"]) == (1, "robot")
    assert program.delete(f"/api/v1/runs/{RUN}/labels", params={**of, "scorer": "trajectory"}).status_code == 204
    made = program.post(f"/api/v1/runs/{RUN}/cases", json={**of, "file": "a.evalset.json", "case_id": "mine"}).json()
    assert (made["file"], made["case"]) == ("a.evalset.json", "mine")
    assert json.loads((own.evalsets / "a.evalset.json").read_text())["eval_cases"][0]["eval_id"] == "mine"


def test_the_page_becomes_a_file_with_its_pictures_and_without_its_forms(browser: TestClient) -> None:
    saved = browser.get("/save", params={"view": f"/runs/{RUN}/samples/picture"}).text
    assert "What is in the picture?" in saved
    assert 'src="data:image/png;base64,' in saved
    assert "<form" not in saved
    assert "Is this verdict right?" not in saved
