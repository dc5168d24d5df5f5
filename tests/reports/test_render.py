import json
import re
import time
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from html.parser import HTMLParser

import example_runs
import pytest
from memory_store import MemoryStore

from proctor.core.sample import Sample
from proctor.core.score import Score
from proctor.core.sentence import say
from proctor.i18n import LANGUAGES, catalogue
from proctor.reports import render, words
from proctor.reports.build import ReportData, build
from proctor.reports.listing import stories
from proctor.reports.words import ReportWords

VOID = {"meta", "br", "img", "link", "input", "hr"}
WITHOUT_SIGN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class Page(HTMLParser):
    """Reads a page strictly: every element is closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert not self.open, f"left open: {self.open}"

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        assert len({name for name, _ in attrs}) == len(attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


async def report_of(make: str) -> ReportData:
    store = MemoryStore()
    run, estimates = await getattr(example_runs, f"{make}_run")(store)
    return build(run, store, estimates)


@pytest.fixture(params=LANGUAGES)
def lang(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("make", ["small", "hostile", "large"])
async def test_a_page_is_well_formed_and_asks_nothing_of_anyone(make: str, lang: str) -> None:
    page = Page(render.html(await report_of(make), lang))
    assert "script" not in page.tags
    _assert_asks_nothing(page)


@pytest.mark.parametrize("make", ["small", "hostile"])
async def test_a_page_with_all_samples_runs_one_script_and_asks_nothing_of_anyone(make: str, lang: str) -> None:
    store = MemoryStore()
    run, estimates = await getattr(example_runs, f"{make}_run")(store)
    text = render.html(build(run, store, estimates), lang, stories(run, store))
    page = Page(text)
    assert page.tags.count("script") == 2  # the data, which no browser runs, and the script whose digest is allowed
    data, script = re.findall(r"<script[^>]*>(.*?)</script>", text, flags=re.DOTALL)
    assert "<" not in data
    assert json.loads(data)["rows"]
    digest = b64encode(sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in text
    assert not WITHOUT_SIGN.search(text)
    _assert_asks_nothing(page)


def _assert_asks_nothing(page: Page) -> None:
    assert not {"img", "link", "iframe", "object", "form", "base"} & set(page.tags)
    assert not {"src", "srcset", "action", "xlink:href"} & {name for name, _ in page.attributes}
    assert all((value or "").startswith("#") for name, value in page.attributes if name == "href")
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert "style" not in {name for name, _ in page.attributes}  # a strict policy forbids it


async def test_a_page_forbids_the_browser_everything_but_its_own_style(lang: str) -> None:
    text = render.html(await report_of("small"), lang)
    assert "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src data:\"" in text
    style = text.partition("<style>")[2].partition("</style>")[0]
    assert not [word for word in ("url(", "@import", "http", "expression") if word in style]


@pytest.mark.parametrize("write", [render.html, render.markdown])
async def test_no_hidden_character_of_a_model_reaches_a_page(write: object, lang: str) -> None:
    assert callable(write)
    text = write(await report_of("hostile"), lang)
    text.encode("utf-8")
    assert not WITHOUT_SIGN.search(text)
    assert "␛[31m" in text
    assert "⟨U+202E⟩" in text
    assert "⟨U+D800⟩" in text


async def test_hostile_text_is_text_on_the_page(lang: str) -> None:
    page = Page(render.html(await report_of("hostile"), lang))
    assert "<script>alert(1)</script>" in page.text
    assert "{n}" in page.text


async def test_hostile_text_means_nothing_in_markdown_outside_of_code(lang: str) -> None:
    text = render.markdown(await report_of("hostile"), lang)
    outside = re.sub(r"^(`{3,})text\n.*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL)
    outside = re.sub(r"(?<![`\\])(`+)(?!`).+?(?<!`)\1(?!`)", "", outside)
    assert set(re.findall(r"<\w+", outside)) == {"<details", "<summary"}
    assert not re.search(r"(?<!\\)\]\(|(?<!\\)!\[", outside)
    assert "://" not in outside


async def test_a_table_of_markdown_has_as_many_cells_in_each_row(lang: str) -> None:
    for make in ("small", "hostile"):
        text = render.markdown(await report_of(make), lang)
        text = re.sub(r"^(`{3,})text\n.*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL)
        tables = re.findall(r"(?:^\|.*\|\n)+", text, flags=re.MULTILINE)
        assert len(tables) > 5
        for table in tables:
            assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1, table


def test_a_fence_cannot_be_closed_by_what_is_in_it() -> None:
    fence = render._fence("```\n````\n<b>")
    assert fence.startswith("`````text\n")
    assert fence.endswith("\n`````")


async def test_the_page_shows_what_was_measured() -> None:
    text = Page(render.html(await report_of("small"), "en")).text
    for shown in (
        "20.0%", "3.6–62.4%", "14.3–42.9%", "5 / 7", "agent failed (counts as 0)", "wrong parameter value",
        "value_error:others", "Expected 5, got 50.", "geometry.area", "parameter accuracy", "overall, official tool", "4.2%",
        "not run: live, agentic", "2,884", "The endpoint answered 503 four times.", "cut by the length limit", "2026.3.23", "Wilson",
    ):  # fmt: skip
        assert shown in text, shown
    assert "sk-very-secret" not in text


async def test_each_estimate_has_a_plot_that_is_told_in_words() -> None:
    report = await report_of("small")
    text = render.html(report, "en")
    rows = sum(len(section.estimates) for section in report.sections)
    assert text.count('role="img"') == rows
    assert 'aria-label="simple_python: 50.0%, interval 9.5–90.5%"' in text


async def test_the_chinese_page_has_no_english_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    said: set[str] = set()
    monkeypatch.setattr(words, "speak", lambda sentence, lang, /, **values: _listen(said, sentence, lang, values))
    report = await report_of("small")
    render.html(report, "zh")
    render.markdown(report, "zh")
    theirs = {
        "A call was made.", "A file differs.", "The agent raised ValueError: no", "The endpoint answered 503 four times.",
        "The scorer raised KeyError: 'x'", "The second call is missing.", "",
    }  # fmt: skip
    assert said - set(catalogue("zh")) - theirs == {"Expected {target}, got {answer}."} - set(catalogue("zh"))


def test_every_name_in_the_tables_of_words_is_translated() -> None:
    tables = [value for name, value in vars(words).items() if name.startswith("_") and name[1:].isupper()]
    assert len(tables) >= 9
    assert not {said for table in tables for said in table.values()} - set(catalogue("zh"))


@pytest.mark.parametrize("name", ["wrong_function", "brand_new_class", ""])
def test_a_class_without_a_word_is_shown_with_spaces(name: str) -> None:
    assert ReportWords("en").error(name) == {"": "no class given"}.get(name, name.replace("_", " "))


def test_a_stored_sentence_without_its_values_is_shown_and_does_not_raise() -> None:
    assert ReportWords("en").t(say("{a} and {b}", a=1)) == "{a} and {b}"


@pytest.mark.parametrize(
    ("seconds", "shown"), [(None, "–"), (0.0, "0.00 s"), (59.94, "59.9 s"), (60, "1 min 0 s"), (3_725, "1 h 2 min")]
)
def test_lengths_of_time(seconds: float | None, shown: str) -> None:
    assert ReportWords("en").seconds(seconds) == shown


def test_a_number_that_is_no_share_is_shown_as_it_is() -> None:
    assert ReportWords("en").percent(3.14159) == "3.142"


async def test_a_large_run_is_a_page_in_a_moment() -> None:
    store = MemoryStore()
    run, estimates = await example_runs.large_run(store, 5_000)
    start = time.thread_time()
    text = render.html(build(run, store, estimates), "en")
    assert time.thread_time() - start < 5
    assert len(text) < 400_000


def _listen(said: set[str], sentence: object, lang: str, values: dict[str, object]) -> str:
    from proctor.core.sentence import Sentence
    from proctor.i18n import speak

    said.add(sentence.text if isinstance(sentence, Sentence) else str(sentence))
    return speak(sentence if isinstance(sentence, Sentence) else str(sentence), lang, **values)


@pytest.mark.parametrize(
    ("details", "label"),
    [({"sides": []}, "precision of calls"), ({"parameter_accuracy": 1.0}, "precision of calls"), ({}, "precision")],
)
async def test_the_precision_of_words_is_not_called_that_of_calls(details: dict[str, object], label: str) -> None:
    store = MemoryStore()
    run = example_runs.record("r", planned=1)
    sample = Sample.ask("q", "Why?", target="x")
    one = example_runs.played("r", sample, Score(points=1, details={"precision": 0.5, **details}), answer="y")
    report = build(run, store, await example_runs.fill(store, run, [one]))
    assert f"<td>{label}</td>" in render.html(report, "en")
