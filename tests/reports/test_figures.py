"""Plots by matplotlib: what is on the axes is what was measured, in both languages."""

import sys
from typing import Any

import example_runs
import pytest
from memory_store import MemoryStore

import proctor
from proctor import BadInput, Run, Sample, Task
from proctor_adapters.exports import figures

TASK = Task(
    name="奇偶 $x_1$",
    samples=[Sample.ask(str(n), str(n), target=str(n % 2), tags={"kind": f"k{n % 2}"}) for n in range(40)],
    scorers=["exact"],
)
LANGUAGES = pytest.mark.parametrize("lang", ["en", "zh"])


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    store = str(tmp_path_factory.mktemp("figures") / "runs.db")

    def agent(question: str) -> str:
        return str(int(question) % 2) if now != "old" else "0"

    for now in ("old", "new", "newest"):
        proctor.evaluate(TASK, agent=agent, store=store, run_id=now)
    return store


def texts(figure: object) -> list[str]:
    assert hasattr(figure, "findobj")
    from matplotlib.text import Text

    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]


def lines_of(figure: Any) -> Any:
    """Return the lines of a figure; the types of their data are those of NumPy."""
    return figure.axes[0].lines


def png(figure: object) -> bytes:
    assert hasattr(figure, "_repr_png_")
    picture: bytes = figure._repr_png_()
    assert picture.startswith(b"\x89PNG")
    return picture


@LANGUAGES
def test_a_run_is_drawn_with_its_intervals(store: str, lang: str) -> None:
    run = proctor.open_run("old", store=store)
    figure = run.plot(lang=lang)
    found = run.estimate("accuracy")
    ends = [line.get_xdata() for line in lines_of(figure)]
    assert [100 * (found.low or 0), 100 * (found.high or 0)] in [[*each] for each in ends]
    label = {"en": "accuracy", "zh": "准确率"}[lang]
    assert {label, f"kind=k0 · {label}"} <= {*texts(figure)}
    assert any("奇偶 $x_1$" in text for text in texts(figure))
    png(figure)
    assert {label, f"kind=k0 · {label}"} <= {*texts(run.plot(by="kind", lang=lang))}
    with pytest.raises(BadInput, match="No tag is called 'level'"):
        run.plot(by="level", lang=lang)


@LANGUAGES
def test_a_comparison_is_drawn_by_its_differences_and_what_is_shown_is_marked(store: str, lang: str) -> None:
    comparison = proctor.compare(*(proctor.open_run(id, store=store) for id in ("old", "new")))
    figure = comparison.plot(lang=lang)
    points = [line for line in lines_of(figure) if line.get_marker() in "^vo"]
    assert [[*line.get_xdata()] for line in points] == [[100 * row.difference.value] for row in comparison.rows]
    assert points[0].get_marker() == "^"
    png(figure)


@LANGUAGES
def test_a_plan_is_drawn_as_power_by_samples(store: str, lang: str) -> None:
    plan = proctor.plan(TASK, detect=0.3, store=store)
    figure = plan.plot(lang=lang)
    assert [*lines_of(figure)[0].get_xdata()] == [one.samples for one in plan.curve]
    assert {"en": "Samples", "zh": "样本"}[lang] in texts(figure)
    png(figure)


def test_the_power_of_a_plan_is_drawn_up_to_the_samples_that_reach_it(store: str) -> None:
    plan = proctor.plan(TASK, detect=0.01, store=store)
    assert plan.best is None
    assert lines_of(plan.plot())[0].get_xdata()[-1] == plan.choices[0].samples > plan.total


@LANGUAGES
def test_a_trend_is_drawn_with_the_baseline(store: str, lang: str) -> None:
    figure = proctor.trends(store=store, baseline="old").plot(lang=lang)
    assert {"en": "Baseline", "zh": "基线"}[lang] in texts(figure)
    png(figure)
    png(proctor.trends(store=store).plot(lang=lang))


async def test_hostile_names_are_drawn_as_texts() -> None:
    store = MemoryStore()
    record, _ = await example_runs.hostile_run(store)
    png(Run(record, store).plot(lang="zh"))


async def test_what_has_no_number_says_so() -> None:
    store = MemoryStore()
    record = example_runs.record("empty")
    await store.begin(record)
    with pytest.raises(BadInput, match="nothing to plot"):
        Run(record, store).plot()


def test_without_a_chinese_font_the_figure_is_english_and_says_so(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "_chinese_font", lambda: None)
    with pytest.warns(UserWarning, match="没有找到中文字体"):
        figure = proctor.open_run("old", store=store).plot(lang="zh")
    assert "accuracy" in texts(figure)
    png(figure)


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(BadInput, match="plots"):
        figures._check_installed()
