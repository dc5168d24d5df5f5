"""Runs, comparisons and numbers as a notebook shows them: escaped, in both languages, without scripts."""

import re
from html.parser import HTMLParser

import example_runs
import pytest
from memory_store import MemoryStore

import proctor
from proctor import Run, Sample, Task
from proctor.core.run import Estimate
from proctor.reports import notebook

PARITY = Task(
    name="parity",
    samples=[Sample.ask(str(n), str(n), target=str(n % 2), tags={"kind": f"<b>{n % 2}"}) for n in range(40)],
    scorers=["exact"],
)


@pytest.fixture(scope="module")
def runs() -> tuple[Run, Run]:
    old = proctor.evaluate(PARITY, agent=lambda question: "0", store=":memory:", run_id="old")
    new = proctor.evaluate(PARITY, agent=lambda question: str(int(question) % 2), store=":memory:", run_id="new")
    return old, new


class Elements(HTMLParser):
    """Collects the names of elements and attributes, and the text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names |= {tag, *(name for name, _ in attrs)}

    def handle_data(self, data: str) -> None:
        self.text += data + " "


FORBIDDEN = {"script", "img", "b", "a", "href", "src", "class", "onerror", "iframe", "link"}


def test_a_run_shows_its_numbers_with_plots_in_both_languages(runs: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    shown = Elements(runs[0]._repr_html_())
    assert {"table", "svg", "circle"} <= shown.names
    assert not shown.names & FORBIDDEN
    assert "kind · <b>0" in shown.text
    assert "50.0%" in shown.text
    monkeypatch.setenv("PROCTOR_LANG", "zh")
    assert "准确率" in Elements(runs[0]._repr_html_()).text


def test_a_comparison_shows_its_verdict_and_what_it_cannot_show(runs: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    comparison = proctor.compare(*runs)
    shown = Elements(comparison._repr_html_())
    assert not shown.names & FORBIDDEN
    assert "the second is better" in shown.text
    assert "+50.0" in shown.text
    monkeypatch.setenv("PROCTOR_LANG", "zh")
    assert "后者更好" in Elements(comparison._repr_html_()).text


async def test_hostile_texts_are_texts() -> None:
    store = MemoryStore()
    record, estimates = await example_runs.hostile_run(store)
    pages = [Run(record, store)._repr_html_(), *(one._repr_html_() for one in estimates)]
    for page in pages:
        assert not Elements(page).names & FORBIDDEN
        assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\ud800-\udfff]", page)


def test_many_slices_are_cut_and_counted(monkeypatch: pytest.MonkeyPatch, runs: tuple[Run, Run]) -> None:
    monkeypatch.setattr(notebook, "MOST_ROWS", 1)
    shown = Elements(runs[0]._repr_html_())
    assert "2 more rows" in shown.text


def test_a_number_shows_its_interval_and_its_denominator() -> None:
    number = Estimate(name="accuracy", value=0.5, low=0.25, high=0.75, scored=8, planned=1000)
    assert Elements(number._repr_html_()).text.split() == ["accuracy", "50.0%", "[25.0%,", "75.0%]", "·", "8", "/", "1,000"]  # fmt: skip
    assert "–" in Estimate(name="accuracy", value=None)._repr_html_()
