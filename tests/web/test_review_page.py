"""The pages of a review: what a reviewer sees and does, blind to others, in two languages."""

import json
import re
from pathlib import Path

import pytest
import review_data
from review_data import SCORES
from review_site import Site, csrf
from starlette.testclient import TestClient

from proctor_judging.review import labels
from proctor_judging.review.queue import Review, Reviewers
from proctor_web.app import app
from proctor_web.reviewing.item_pages import ReviewPages
from proctor_web.users.ledger import Person


def fields(client: TestClient, **other: str) -> dict[str, str]:
    """A whole form, with the token of the browser's session."""
    scores = {f"score:{name}": str(score) for name, score in SCORES.items()}
    return {**scores, "status": "approved", "comments": "", "csrf": csrf(client)} | other


def text_of(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(review_data.write(tmp_path))


def test_the_first_page_is_the_first_item_that_is_to_do(site: Site) -> None:
    site.review.label("gen_aime_1", "", SCORES, "approved")
    answer = site.browser().get("/")
    assert answer.url.path == "/items/2"
    assert "<mfrac><mi>m</mi><mi>n</mi></mfrac>" in answer.text
    assert "1 of 3 reviewed" in text_of(answer.text)


def test_nothing_is_chosen_before_somebody_chooses(site: Site) -> None:
    text = site.browser().get("/items/1").text
    assert "checked" not in text
    assert re.findall(r'type="range"[^>]* value="(\S+)"', text) == ["0"] * 4


def test_saving_keeps_the_label_and_goes_on(site: Site) -> None:
    client = site.browser()
    answer = client.post("/items/1?show=all", data=fields(client, comments="good <b>"), follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/items/2?show=all&saved=1")
    [kept] = labels.read(site.review.file)
    assert (kept.item, kept.scores, kept.status, kept.comments) == ("gen_aime_1", SCORES, "approved", "good <b>")


def test_what_was_saved_is_there_again(site: Site) -> None:
    site.review.label("gen_aime_1", "", {**SCORES, "clarity": 2}, "needs_revision", "why <?")
    text = site.browser().get("/items/1").text
    assert re.findall(r'type="range"[^>]* value="(\S+)"', text) == ["5", "2", "4", "5"]
    assert re.search(r'value="needs_revision" checked', text)
    assert "why &lt;?</textarea>" in text


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"score:clarity": "0"}, "Give a score for: Clarity."),
        ({"score:clarity": ""}, "Give a score for: Clarity."),
        ({"score:clarity": "x"}, "Give a score for: Clarity."),
        ({"score:clarity": "nan"}, "Give a score for: Clarity."),
        ({"score:clarity": "6"}, "clarity is scored from 1 to 5, not 6."),
        ({"score:clarity": "inf"}, "clarity is scored from 1 to 5, not inf."),
        ({"status": ""}, "Choose approved, rejected or needs revision."),
        ({"status": "perfect"}, "Choose approved, rejected or needs revision."),
        ({"comments": "x" * 10_001}, "at most 10000 characters"),
    ],
)
def test_a_form_that_is_not_whole_comes_back_with_what_is_missing(site: Site, other: dict[str, str], said: str) -> None:
    client = site.browser()
    answer = client.post("/items/1", data=fields(client, **{"comments": "kept", **other}))
    assert answer.status_code == 422
    assert said in text_of(answer.text)
    assert other.get("comments", "kept") in answer.text
    assert not site.review.file.exists()


def test_saving_leads_to_the_next_that_is_to_do_and_at_last_to_the_statistics(site: Site) -> None:
    client = site.browser()
    ways = []
    for number in (2, 3, 1):
        answer = client.post(f"/items/{number}", data=fields(client), follow_redirects=False)
        ways.append(answer.headers["location"].partition("?")[0])
    assert ways == ["/items/3", "/items/1", "/statistics"]
    assert "Everything is reviewed." in client.get("/statistics").text


def test_previous_and_next_keep_to_the_filter(site: Site) -> None:
    site.review.label("gen_aime_2", "", SCORES, "approved")
    client = site.browser()
    assert 'rel="next" href="/items/2?show=all"' in client.get("/items/1").text
    todo = client.get("/items/1?show=todo").text
    assert 'rel="next" href="/items/3?show=todo"' in todo
    assert 'rel="prev"' not in todo
    assert 'rel="prev" href="/items/2?show=approved"' in client.get("/items/3?show=approved").text


def test_undo_shows_the_item_whose_label_was_taken_back(site: Site) -> None:
    client = site.browser()
    client.post("/items/1", data=fields(client))
    answer = client.post("/undo", data={"csrf": csrf(client)})
    assert answer.url.path == "/items/1"
    assert "The last label was taken back" in answer.text
    assert labels.read(site.review.file) == []
    assert client.post("/undo", data={"csrf": csrf(client)}, follow_redirects=False).headers["location"] == "/"


def test_the_list_finds_by_words_and_status(site: Site) -> None:
    site.review.label("gen_aime_2", "", SCORES, "rejected")
    client = site.browser()
    assert re.findall(r"<code>(\w+)</code>", client.get("/items?show=rejected").text) == ["gen_aime_2"]
    assert re.findall(r"<code>(\w+)</code>", client.get("/items?q=AIME_3").text) == ["gen_aime_3"]
    assert "No item is like that" in client.get("/items?q=nothing").text


def test_a_long_list_comes_in_pages(tmp_path: Path) -> None:
    client = Site(review_data.write(tmp_path, 250)).browser()
    text = client.get("/items").text
    assert text.count("<tr>") == 101
    assert "after=100" in text
    assert client.get("/items?after=200").text.count("<tr>") == 51


@pytest.mark.parametrize("path", ["/items/0", "/items/4", "/items/x", "/items/99999999999999999999", "/items/-1"])
def test_an_item_that_is_not_there_is_no_page(site: Site, path: str) -> None:
    answer = site.browser().get(path)
    assert answer.status_code == 404
    assert "There is no such page." in answer.text


@pytest.mark.parametrize(
    "query", ["show=x", "saved=999", "saved=-1", "saved=x", "after=x", "lang=xx", "saved=" + "9" * 30]
)
def test_strange_queries_are_harmless(site: Site, query: str) -> None:
    client = site.browser()
    assert client.get(f"/items/1?{query}").status_code == 200
    assert client.get(f"/items?{query}").status_code == 200


def test_reviewers_are_blind_to_each_other(tmp_path: Path) -> None:
    site = Site(review_data.write(tmp_path), reviewers=["ann", "bob"])
    site.review.label("gen_aime_1", "ann", SCORES, "rejected", "what ann thinks")
    bob = site.browser(Person(name="bob"))
    for path in ("/items/1", "/items", "/statistics"):
        text = bob.get(path).text
        assert "what ann thinks" not in text
        assert ">ann<" not in text
        assert "0 of 3 reviewed" in text_of(text)
    assert 'class="state rejected"' not in bob.get("/items").text
    assert bob.get("/conflicts").status_code == 404
    assert bob.get("/conflicts/1").status_code == 404


def test_an_item_of_another_reviewer_is_no_page(tmp_path: Path) -> None:
    data = review_data.write(tmp_path, 6)
    site = Site(data)
    from proctor_judging.review.queue import Review

    Review(data, Reviewers(names=["ann", "bob"], each=1))
    [not_hers, *_] = [item for item in site.review.items if item not in site.review.queue("ann")]
    assert site.browser(Person(name="ann")).get(f"/items/{not_hers.number}").status_code == 404


def test_an_adjudicator_sees_all_and_decides(tmp_path: Path) -> None:
    site = Site(review_data.write(tmp_path), reviewers=["ann", "bob"])
    site.review.label("gen_aime_1", "ann", SCORES, "approved", "fine")
    site.review.label("gen_aime_1", "bob", {**SCORES, "clarity": 1}, "rejected", "unclear")
    zoe = site.browser(Person(name="zoe", reviews=False, decides=True))
    assert zoe.get("/").url.path == "/conflicts"
    page = text_of(zoe.get("/conflicts/1").text)
    assert "fine" in page
    assert "unclear" in page
    statistics = text_of(zoe.get("/statistics").text)
    assert "Agreement between reviewers" in statistics
    assert "ann 1 / 3 4.50" in statistics
    answer = zoe.post("/conflicts/1", data=fields(zoe, status="rejected", comments="no"), follow_redirects=False)
    assert answer.headers["location"] == "/conflicts"
    assert "There is no open conflict" in zoe.get("/conflicts").text
    assert [one.status for one in labels.verdicts(site.review.file)] == ["rejected"]
    assert zoe.post("/undo", data={"csrf": csrf(zoe)}).url.path == "/conflicts/1"


def test_a_link_for_another_browser_is_of_the_same_person(tmp_path: Path) -> None:
    site = Site(review_data.write(tmp_path), reviewers=["ann", "bob"])
    ann = site.browser(Person(name="ann"))
    text = ann.post("/link", data={"csrf": csrf(ann)}).text
    [address] = re.findall(r'class="address">([^<]+)<', text)
    other = site.stranger()
    other.get(address)
    other.post("/items/1", data=fields(other))
    assert [one.reviewer for one in labels.read(site.review.file)] == ["ann"]


def test_the_page_speaks_chinese_and_remembers_it(site: Site) -> None:
    client = site.browser()
    assert "保存并继续" in client.get("/items/1?lang=zh").text
    assert '<html lang="zh-CN">' in client.get("/items/2").text
    assert (
        "未保存。请为以下维度评分：清晰度" in client.post("/items/1", data=fields(client, **{"score:clarity": ""})).text
    )
    assert "Save and next" in client.get("/items/1?lang=en").text
    assert "没有这个页面" in client.get("/nowhere?lang=zh").text


def test_the_language_of_the_server_is_the_first_one(tmp_path: Path) -> None:
    site = Site(review_data.write(tmp_path), lang="zh")
    assert "审核" in site.browser().get("/items/1").text
    assert "请打开终端中显示的链接" in site.stranger().get("/").text


def test_items_with_missing_fields_say_so(tmp_path: Path) -> None:
    data = review_data.write(tmp_path, 0, {"id": "a", "problem": "P"}, {"id": "b", "turns": [1]})
    client = Site(data).browser()
    assert client.get("/items/1").text.count("(not in the data)") == 2
    assert "turns" in client.get("/items/2").text


def test_hidden_characters_and_markup_of_names_are_shown(tmp_path: Path) -> None:
    data = review_data.write(
        tmp_path, 0, {"id": '"><script>x</script>', "problem": "a\u202eb", "topic": "<i>", "<b>": "<u>"}
    )
    text = Site(data).browser().get("/items/1").text
    assert "<script>x" not in text
    assert "<i>" not in text
    assert "<u>" not in text
    assert "a⟨U+202E⟩b" in text


def test_two_browsers_that_save_one_item_keep_both_labels(tmp_path: Path) -> None:
    site = Site(review_data.write(tmp_path), reviewers=["ann", "bob"])
    for name in ("ann", "bob"):
        client = site.browser(Person(name=name))
        client.post("/items/1", data=fields(client, comments=name))
    assert [(one.reviewer, one.comments) for one in labels.read(site.review.file)] == [("ann", "ann"), ("bob", "bob")]


def test_what_another_process_saved_is_seen_at_once(site: Site, tmp_path: Path) -> None:
    from proctor_judging.review.queue import Review

    client = site.browser()
    assert "0 of 3" in client.get("/items/1").text
    Review(site.review.data).label("gen_aime_1", "", SCORES, "approved")
    assert "1 of 3" in client.get("/items/1").text


def test_a_broken_verification_file_is_told_and_not_written_over(site: Site) -> None:
    client = site.browser()
    token = fields(client)
    site.review.file.write_text("broken")
    answer = client.post("/items/1", data=token)
    assert answer.status_code in (400, 422)
    assert "no verification file" in text_of(answer.text)
    assert site.review.file.read_text() == "broken"


def test_a_rubric_gives_dimensions_in_both_languages(tmp_path: Path) -> None:
    from proctor_judging.review.dimensions import ReviewDimension, ReviewWords
    from proctor_judging.review.queue import Review

    site = Site(review_data.write(tmp_path))
    tone = ReviewDimension(
        name="tone",
        low=0,
        high=10,
        words_by_lang={"en": ReviewWords(title="Tone", asks="Polite?"), "zh": ReviewWords(title="语气")},
    )
    site.review.dimensions = (tone,)
    client = site.browser()
    assert 'min="-1" max="10" step="1" value="-1"' in client.get("/items/1").text
    assert "语气" in client.get("/items/1?lang=zh").text
    client.post("/items/1", data=fields(client, **{"score:tone": "0"}))
    assert labels.read(site.review.file)[0].scores == {"tone": 0}
    assert json.loads(site.review.file.read_text())["gen_aime_1"]["total_score"] == 0
    assert Review(site.review.data).progress().done == 1


@pytest.mark.parametrize(
    ("accepts", "follows", "lang"),
    [("zh-CN,zh;q=0.9,en;q=0.8", True, "zh-CN"), ("en-GB", True, "en"), ("de", True, "en"), ("zh-CN", False, "en")],
)
def test_the_page_speaks_the_language_of_the_browser_unless_one_was_chosen(
    tmp_path: Path, accepts: str, follows: bool, lang: str
) -> None:
    site = Site(review_data.write(tmp_path))
    site.app = app(ReviewPages(site.review, site.access).routes(), site.access, "en", follows_browser=follows)
    client = site.browser()
    assert f'<html lang="{lang}">' in client.get("/items", headers={"accept-language": accepts}).text
    assert '<html lang="zh-CN">' in client.get("/items?lang=zh", headers={"accept-language": "en"}).text


def test_the_link_to_the_other_language_stays_after_an_incomplete_save(site: Site) -> None:
    client = site.browser()
    answer = client.post("/items/1", data={"csrf": csrf(client)})
    assert answer.status_code == 422
    assert 'href="/items/1?lang=zh"' in answer.text
    assert client.get("/items/1?lang=zh").status_code == 200


def test_the_list_shows_mathematics_as_such(tmp_path: Path) -> None:
    data = tmp_path / "items.json"
    data.write_text('[{"id": "a", "problem": "Where is $b > 9$?", "answer": 1}]', encoding="utf-8")
    text = Site(data).browser().get("/items").text
    assert "$b" not in text
    assert "<math" in text


def test_a_score_that_is_not_set_says_so(site: Site) -> None:
    assert site.browser().get("/items/1").text.count(">not scored yet</output>") == 4


def test_a_restart_remembers_the_adjudicator(tmp_path: Path) -> None:
    data = review_data.write(tmp_path)
    assert Review(data, Reviewers(names=["ann", "bob"], adjudicator="zoe")).adjudicator == "zoe"
    assert Review(data).adjudicator == "zoe"
    assert Review(data, Reviewers(adjudicator="yan")).adjudicator == "yan"
    assert Review(data).adjudicator == "yan"
