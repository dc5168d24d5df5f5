"""The pages of several runs: comparison, samples side by side, leaderboard, trends."""

import re
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from web_site import AppSite

from proctor import Sample, Task, evaluate
from proctor.api import Run
from proctor.core.errors import ProviderFailed
from proctor_ci.baselines import set_baseline
from proctor_web.comparing import background, pages

HOSTILE = "s/<script>alert(1)</script>?&\x1b[31m"


def text_of(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


class Lab:
    """A site with runs of one task, whose agents answer given questions right."""

    def __init__(self, folder: Path) -> None:
        self.site = AppSite(folder)
        self.client = self.site.browser()

    def run(
        self, name: str, right: set[int], *, count: int = 40, attempts: int = 1, says: str = "no", **given: object
    ) -> Run:
        samples = [
            Sample.ask(
                HOSTILE if n == 7 else f"q{n}",
                f"问题 {n}: what is it?",
                target="yes it is",
                tags={"half": "ab"[n % 2], "level": str(n % 4)},
            )
            for n in range(count)
        ]
        lost: object = given.get("lost", set())

        def agent(question: str) -> str:
            n = int(question.split()[1].rstrip(":"))
            if n in lost:  # type: ignore[operator]
                raise ProviderFailed("Overloaded.", kind="http_503")
            return "yes it is" if n in right else says

        agent.name = name  # type: ignore[attr-defined]
        task = Task(name=str(given.get("task", "t")), samples=samples, scorers=["exact"])
        return evaluate(task, agent=agent, store=self.site.store, run_id=name, attempts=attempts, max_failed=1.0)

    def get(self, path: str, *runs: str, status: int = 200, **query: str) -> str:
        fields = [*(("run", run) for run in runs), *query.items()]
        answer = self.client.get(f"{path}?{urlencode(fields)}")
        assert answer.status_code == status, text_of(answer.text)[:2_000]
        return answer.text


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    lab = Lab(tmp_path)
    yield lab
    lab.site.workspace.close()


@pytest.fixture
def three(lab: Lab) -> Lab:
    lab.run("old", set(range(20)))
    lab.run("new", set(range(32)) - {0}, says="yes it was 好")
    lab.run("same", set(range(1, 21)))
    return lab


def test_two_runs_show_the_difference_its_test_and_the_samples_that_moved(three: Lab) -> None:
    html = three.get("/compare", "old", "new")
    text = text_of(html)
    assert "accuracy 50.0% → 77.5% (+27.5 points): the second is better" in text
    assert "12 / 1 / 27" in text
    assert "half=a" in text
    assert "Samples 13" in text
    assert "Broken 1 Fixed 12" in text
    assert len(re.findall("<tr data-row>", html)) == 13


def test_equal_runs_say_so_and_how_many_samples_would_tell(three: Lab) -> None:
    text = text_of(three.get("/compare", "old", "same", detect="4"))
    assert "no significant difference" in text
    assert "The first row shows no difference, so the others are not tested" in text
    for points in ("2 points", "4 points", "5 points", "10 points"):
        assert points in text
    assert "more than now" in text


def test_a_margin_decides_in_three_ways(three: Lab) -> None:
    assert "inconclusive: whether B is worse by more than 5 points." in text_of(
        three.get("/compare", "old", "same", margin="5")
    )
    assert "met: B is not worse by more than 5 points." in text_of(three.get("/compare", "old", "new", margin="5"))
    assert "missed: B is worse by more than 5 points." in text_of(three.get("/compare", "new", "old", margin="5"))


def test_three_runs_are_tested_together_and_can_be_told_apart_by_letter(three: Lab) -> None:
    html = three.get("/compare", "old", "new", "same")
    text = text_of(html)
    assert "Each two runs are compared (3 differences), and all tests are corrected by Holm." in text
    assert "Distinguished: B is better than A; B is better than C." in text
    assert text.count("B → C") == 1
    assert "Slices are not tested among several runs" in text
    assert html.count("κ") == 6
    only_c = text_of(three.get("/compare", "old", "new", "same", of="C"))
    assert "Samples 2" in only_c


def test_samples_go_on_after_the_last_one_shown_and_can_be_filtered(three: Lab) -> None:
    ids: list[str] = []
    after = ""
    while True:
        html = three.get("/compare", "old", "new", group="all", size="15", after=after)
        ids += re.findall(r'<td class="asked"><a href="/compare/sample\?[^"]*">([^<]+)</a>', html)
        more = re.search(r'rel="next" href="[^"]*after=([^"&#]+)', html)
        if more is None:
            break
        after = more[1]
    assert len(ids) == 40
    assert len({*ids}) == 40
    by_tag = three.get("/compare", "old", "new", group="all", tag="half=a")
    assert len(re.findall("<tr data-row>", by_tag)) == 20
    assert len(re.findall("<tr data-row>", three.get("/compare", "old", "new", group="broken"))) == 1
    assert "No sample is in this group." in text_of(three.get("/compare", "old", "new", id="nowhere"))


def test_a_sample_shows_both_answers_and_the_words_that_differ(three: Lab) -> None:
    html = three.get("/compare/sample", "old", "new", sample="q0")
    assert '<pre class="answer">yes it <del>is</del></pre>' in html
    assert '<pre class="answer">yes it <ins>was 好</ins></pre>' in html
    assert "▼ 0.0%" in html
    assert 'rel="next"' in html
    assert 'rel="prev"' not in html
    assert "/runs/old/samples/q0" in html


def test_hostile_ids_and_answers_are_only_text(three: Lab) -> None:
    html = three.get("/compare", "old", "new", group="all")
    assert "<script>alert" not in html
    page = three.get("/compare/sample", "old", "new", sample=HOSTILE, group="all")
    assert "<script>alert" not in page
    assert "alert(1)" in page
    assert "/runs/old/samples/s/%3Cscript" in page


def test_the_runs_can_be_chosen_and_mistakes_are_said(three: Lab) -> None:
    three.run("other", {1}, task="other")
    assert "Choose two to six runs of one task." in text_of(three.get("/compare"))
    assert 'value="old" id="run-3" checked' in three.get("/compare", "old")
    for runs, said in (
        (("old", "old"), "A run cannot be compared with itself."),
        (("old", "nowhere"), "nowhere"),
        (("old", "other"), "The runs are of different tasks: t and other."),
        (("old", "new", "same", "other", "a", "b", "c"), "a"),
    ):
        assert said in text_of(three.get("/compare", *runs, status=400))
    assert "'BC' names none of the runs" in text_of(three.get("/compare", "old", "new", "same", of="BC", status=400))
    assert "'Z' names none of the runs" in text_of(three.get("/compare", "old", "new", of="Z", status=400))
    three.get("/compare", "old", "new", size="nine", status=400)
    three.get("/compare/sample", "old", "new", sample="nowhere", status=404)


def test_of_runs_chosen_in_a_list_the_oldest_is_the_first(three: Lab) -> None:
    assert "A old old" in text_of(three.get("/compare", "same", "new", "old", sort="created"))
    assert "A same same" in text_of(three.get("/compare", "same", "new", "old"))


def test_an_empty_store_says_what_to_do(lab: Lab) -> None:
    assert "a comparison needs two runs of one task" in text_of(lab.get("/compare"))
    assert "No run is finished yet." in text_of(lab.get("/leaderboard"))
    assert "No run has ended yet." in text_of(lab.get("/trends"))


def test_missing_scores_are_said_and_such_samples_can_be_listed(lab: Lab) -> None:
    lab.run("old", set(range(20)))
    lab.run("new", set(range(25)), lost=set(range(5)))
    text = text_of(lab.get("/compare", "old", "new", group="not_compared"))
    assert "Missing scores: 5 samples." in text
    assert "Not compared 5" in text
    assert "provider failed" in text_of(lab.get("/compare/sample", "old", "new", sample="q1", group="not_compared"))


def test_the_leaderboard_gives_ranges_of_ranks_by_paired_tests(three: Lab) -> None:
    html = three.get("/leaderboard")
    ranks = re.findall(r'<td class="n main">([\d–]+)</td>\s*<td[^>]*><input[^>]*value="(\w+)"', html)
    assert ranks == [("1", "new"), ("2–3", "old"), ("2–3", "same")]
    assert "all tests (3) are corrected by Holm" in text_of(html)
    assert "old" not in text_of(three.get("/leaderboard", task="unknown")).split("Leaderboard")[-1]


def test_only_the_newest_run_of_an_agent_is_on_the_leaderboard(lab: Lab) -> None:
    answers = {"yes": "yes it is", "no": "no"}
    for id, said in (("first", "no"), ("second", "yes")):
        task = Task(name="t", samples=[Sample.ask("q", "q", target="yes it is")], scorers=["exact"])
        evaluate(task, agent=_named("a", answers[said]), store=lab.site.store, run_id=id)
    text = text_of(lab.get("/leaderboard"))
    assert "100.0%" in text
    assert "Older runs of the same agents, not shown: 1." in text


def _named(name: str, answer: str) -> object:
    def agent(_: str) -> str:
        return answer

    agent.name = name  # type: ignore[attr-defined]
    return agent


def history(lab: Lab, right: Mapping[str, set[int]]) -> None:
    for id, numbers in right.items():
        samples = [Sample.ask(str(n), str(n), target="yes") for n in range(40)]

        def agent(question: str, numbers: set[int] = numbers) -> str:
            return "yes" if int(question) in numbers else "no"

        agent.name = "bot"  # type: ignore[attr-defined]
        task = Task(name="t", version=id[0], samples=samples, scorers=["exact"])
        evaluate(task, agent=agent, store=lab.site.store, run_id=id)


def test_a_trend_marks_the_run_that_fell(lab: Lab) -> None:
    history(lab, {"1a": set(range(30)), "1b": set(range(1, 31)), "1c": set(range(12)), "1d": set(range(13))})
    html = lab.get("/trends")
    text = text_of(html)
    assert "1c is worse than 1b: −45.0 points" in text
    assert len(re.findall(r'class="dot worse"', html)) == 1
    assert len(re.findall(r'class="dot better"', html)) == 0
    assert "All tests (3) are corrected by Holm together" in text


def test_a_run_that_measures_otherwise_is_not_compared_and_what_changed_is_said(lab: Lab) -> None:
    history(lab, {"1a": set(range(30)), "2b": set(range(12)), "2c": set(range(13))})
    html = lab.get("/trends")
    assert "task version" in text_of(html)
    assert html.count(">measures otherwise</td>") == 1
    assert 'class="dot worse"' not in html


def test_a_trend_is_compared_with_a_named_baseline(lab: Lab) -> None:
    history(lab, {"1a": set(range(30)), "1b": set(range(12)), "1c": set(range(13))})
    store = lab.site.workspace.find_run("1a").store
    set_baseline(store, "release", "1a")
    html = lab.get("/trends", baseline="release")
    assert len(re.findall(r'class="dot worse"', html)) == 2
    assert "1c is worse than 1a: −42.5 points" in text_of(html)
    assert "Other runs that are worse, marked below: 1." in text_of(html)
    assert "as long as a difference is found; tested: 2." in text_of(html)
    assert 'class="baseline"' in html
    assert '<option value="release" selected>' in html
    assert "No run" in text_of(lab.get("/trends", baseline="nowhere", status=404))


def test_a_baseline_is_compared_from_the_newest_run_back(lab: Lab) -> None:
    history(lab, {"1a": set(range(30)), "1b": set(range(12)), "1c": set(range(29)), "1d": set(range(11))})
    html = lab.get("/trends", baseline="1a")
    verdicts = re.findall(r'class="verdict">([^<]*)<', html)
    assert verdicts == ["worse", "no significant difference", "not tested"]


def test_a_comparison_of_two_runs_can_be_saved_as_one_file(three: Lab) -> None:
    answer = three.client.get("/compare/file?run=old&run=new")
    assert answer.headers["content-disposition"] == "attachment; filename*=utf-8''compare-old-new.html"
    assert "default-src 'none'" in answer.text
    assert "the second is better" in answer.text
    assert "<script>alert" not in answer.text


def test_a_page_that_waits_says_so_and_asks_again(three: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    may_begin = threading.Event()

    class Held(ThreadPoolExecutor):
        """Begins the work when it may, and not in the moment before the page is made."""

        def submit(self, work: Callable[..., Any], /, *arguments: Any) -> Any:  # type: ignore[override]
            return super().submit(lambda: (may_begin.wait(60), work(*arguments))[1])

    monkeypatch.setattr(background, "SECONDS", 0.0)
    monkeypatch.setattr(background, "ThreadPoolExecutor", Held)
    for path in ("/compare?run=old&run=new", "/leaderboard?task=t", "/trends?agent=old"):
        may_begin.clear()
        first = three.client.get(path).text
        may_begin.set()
        assert "Reading all samples of these runs." in text_of(first)
        assert f'hx-get="{path.replace("&", "&amp;")}"' in first
        while "Reading all samples" in (html := three.client.get(path).text):
            pass
        assert "<h1>" in html


def test_a_run_is_offered_with_the_one_before_it(three: Lab) -> None:
    """Two clicks lead from any page to the comparison that is usually meant."""
    for runs, link, said in (
        ((), "run=new&amp;run=same", "Compare same with the run before it, new"),
        (("same",), "run=new&amp;run=same", "Compare same with the run before it, new"),
        (("old",), "run=old&amp;run=new", "Compare new with the run before it, old"),
    ):
        html = three.get("/compare", *runs)
        assert f'href="/compare?{link}"' in html
        assert said in text_of(html)


def test_a_comparison_that_is_saved_is_waited_for(three: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "SECONDS", 0.0)
    saved = text_of(three.client.get("/save", params={"view": "/compare?run=old&run=new"}).text)
    assert "Reading all samples" not in saved
    assert "Broken" in saved


def test_a_file_of_too_many_trials_is_refused(three: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "MOST_IN_A_FILE", 10)
    assert "proctor compare old new -o compare.html" in text_of(three.get("/compare/file", "old", "new", status=400))


def test_programs_get_the_same_as_data(three: Lab) -> None:
    program = three.site.program()
    both = program.get("/api/v1/compare?run=old&run=new&margin=5").json()
    assert both["comparisons"][0]["rows"][0]["outcome"] == "better"
    assert both["decisions"] == ["go"]
    assert both["groups"]["fixed"] == 12
    rows = program.get("/api/v1/compare/samples?run=old&run=new&group=broken").json()
    assert [row["id"] for row in rows["rows"]] == ["q0"]
    sample = program.get("/api/v1/compare/sample?run=old&run=new&sample=q0").json()
    assert [side["value"] for side in sample["sides"]] == [1.0, 0.0]
    assert [rank["run"] for rank in program.get("/api/v1/leaderboard").json()["ranks"]] == ["new", "old", "same"]
    assert len(program.get("/api/v1/trends?agent=old").json()["points"]) == 1
    assert program.get("/api/v1/compare?run=old").status_code == 400


def test_chinese_pages_have_no_english_sentence(three: Lab) -> None:
    for path, runs in (("/compare", ("old", "new", "same")), ("/leaderboard", ()), ("/trends", ())):
        text = text_of(three.get(path, *runs, lang="zh"))
        assert not re.search(r"[a-z]+ [a-z]+ [a-z]+ [a-z]+ [a-z]+", text.replace("问题", "")), text


def test_two_runs_of_one_agent_are_told_apart_on_every_page(lab: Lab) -> None:
    for name in ("before", "after"):
        lab.run(name, {1, 2})
    for name in ("before", "after"):
        page = lab.client.get(f"/runs/{name}").text
        assert re.search(rf"<title>{name} ", page)
        assert re.search(rf"<h1>{name} ", page)
        assert f"<title>q3 · {name} " in lab.client.get(f"/runs/{name}/samples/q3").text
    for path in ("/compare?run=before&run=after", "/compare/why?run=before&run=after"):
        assert "<title>before / after · " in lab.client.get(path).text
    assert "<title>after · " in lab.client.get("/gate?run=after&against=before").text
    for path in ("/trends", "/leaderboard"):
        assert re.search(r'<a href="/runs/after">after</a>', lab.client.get(path).text)
    both = lab.get("/compare/sample", "before", "after", sample="q3")
    assert "q3 · before / after" in both
    assert [re.findall(rf"<b>{letter}</b> (\w+)", both) for letter in "AB"] == [["before"], ["after"]]


def test_a_field_that_is_not_known_is_refused(three: Lab) -> None:
    for path in (
        "/compare?run=old&run=new&margn=5",
        "/compare/sample?run=old&run=new&sample=q0&grup=all",
        "/compare/why?run=old&run=new&bi=kind",
        "/review?rum=old",
    ):
        answer = three.client.get(path)
        assert answer.status_code == 400
        assert "No field is called" in answer.text
    for path in ("/compare?run=old&run=new&group=all&id=q&margin=5", "/compare/sample?run=old&run=new&sample=q0"):
        assert three.client.get(path).status_code == 200
