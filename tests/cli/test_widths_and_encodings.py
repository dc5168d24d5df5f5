"""Every command at 60, 80 and 200 columns, in encodings that lack characters, in both languages."""

import io
import json
import sys
import time
from collections.abc import Sequence

import pytest
from rich.cells import cell_len

from proctor import Sample, Task, evaluate
from proctor.api import at, compare, open_run
from proctor.cli import app, tree, words
from proctor.reports.samples import ReportFilter, select_samples
from proctor.reports.verdicts import MetricRow
from proctor.reports.words import ReportWords

ENCODINGS = ("utf-8", "gbk", "cp1252", "ascii")
LONG_ID = "a-run-with-a-name-that-says-what-and-when-1122-161222-b699"
ITALY = "Oslo −\x1b[31m 意大利 \U0001f600"


def _capitals() -> Task:
    rows = [("France", "Paris"), ("Norway", "Oslo"), ("Italy", "Rome"), ("Japan − 日本 ✓", "Tokyo")]
    samples = [
        Sample.ask(
            f"capital-of-{place}", f"Capital of {place}?", target=city, tags={"continent": "old" if number else "new"}
        )
        for number, (place, city) in enumerate(rows)
    ]
    return Task(name="capitals-of-the-world", samples=samples, scorers=["exact"])


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("terminal") / "runs.db")
    answers = {"France": "Paris", "Norway": "Oslo", "Italy": ITALY}
    evaluate(_capitals(), agent=lambda asked: answers.get(asked[11:-1], "?"), run_id=LONG_ID, store=path)
    evaluate(_capitals(), agent=lambda asked: "Rome", run_id="b", store=path)
    return path


def _say(arguments: list[str], monkeypatch: pytest.MonkeyPatch, *, encoding: str = "utf-8", width: int = 80) -> str:
    """What a command prints on a stream of that encoding, read as that encoding (Chinese on others is UTF-8)."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding=encoding) for _ in range(2))
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    with pytest.raises(SystemExit) as left:
        app.main(arguments, prog_name="proctor")
    assert left.value.code in (0, 1, 2, 3), arguments
    for stream in (out, err):
        stream.flush()
    assert isinstance(out.buffer, io.BytesIO)
    # click writes its help as UTF-8 where it finds ASCII
    return out.buffer.getvalue().decode("utf-8" if out.encoding == "ascii" else out.encoding)


def _shown(store: str) -> list[list[str]]:
    where = ["--store", store]
    return [
        ["runs", *where],
        ["show", LONG_ID, *where],
        ["show", LONG_ID, "--failures", *where],
        ["runs", "samples", LONG_ID, *where],
        ["runs", "samples", LONG_ID, "--json", *where],
        ["runs", "explain", LONG_ID, "capital-of-Italy", *where],
        ["compare", LONG_ID, "b", *where],
        ["compare", LONG_ID, "b", "--json", *where],
        ["list", "scorers"],
        ["show", "−nope−", *where],
    ]


@pytest.fixture(autouse=True)
def english_again() -> object:
    yield
    words.choose("en")


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_command_can_be_read_in_every_encoding(
    encoding: str, language: str, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for arguments in [*_shown(store), *([*path.split(), "--help"] for path in tree.COMMANDS), ["--help"]]:
        said = _say(["--lang", language, *arguments], monkeypatch, encoding=encoding)
        assert "\x1b" not in said
        if "--json" in arguments:
            found = json.loads(said)
            assert "samples" not in found or found["samples"][2]["answer"] == ITALY


def test_a_minus_that_the_encoding_lacks_becomes_a_hyphen(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ["--lang", "en", "compare", LONG_ID, "b", "--store", store]
    assert "(-25.0 points)" in _say(arguments, monkeypatch, encoding="gbk")
    assert "−25.0" in _say(arguments, monkeypatch)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_nothing_is_wider_than_the_terminal_and_nothing_is_dropped(
    width: int, language: str, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {
        name: _say(["--lang", language, *arguments], monkeypatch, width=width)
        for arguments in _shown(store)[:7]
        if (name := " ".join(arguments[:3])) and "--json" not in arguments
    }
    for name, text in said.items():
        assert not [line for line in text.splitlines() if cell_len(line) > width], name
    speak = ReportWords(language).t
    compared = said[f"compare {LONG_ID} b"]
    for text in ("1 / 2 / 1", speak("no significant difference"), speak("Lost by B")):
        assert "".join(text.split()) in "".join(compared.split())  # at 40 columns the sentence goes over two lines
    p = next(one.p_adjusted for one in compare_rows(store))
    assert p is not None
    assert f"{p:.3f}" in compared
    whole = "".join(said["runs --store " + store].split()) if width < len(LONG_ID) else said["runs --store " + store]
    assert LONG_ID in whole
    assert f"{speak('accuracy')} 50.0%" in said["runs --store " + store]
    assert speak("accuracy") in said[f"show {LONG_ID} --store"].splitlines()[-1 if width > 40 else -2]


def compare_rows(store: str) -> Sequence[MetricRow]:
    return compare(open_run(LONG_ID, store=store), open_run("b", store=store)).rows


def test_the_samples_of_a_run_are_filtered(store: str) -> None:
    run = open_run(LONG_ID, store=store)

    def ids(**wanted: object) -> list[str]:
        return [one.sample_id for one in select_samples(run.record, run.store, ReportFilter(**wanted))]  # type: ignore[arg-type]

    every = [sample.id for sample in run.store.planned(run.id)]
    assert ids() == every
    assert ids(max_score=0.5) == every[2:]
    assert ids(scorer="exact", outcome="scored") == every
    assert ids(tags={"continent": "new"}) == every[:1]
    assert ids(search="PARIS") == every[:1]
    assert ids(search="意大利") == every[2:3]
    assert ids(limit=2) == every[:2]
    assert [one.findings[0].value for one in select_samples(run.record, run.store, ReportFilter())] == [1, 1, 0, 0]
    assert [one.findings[0].value for one in select_samples(run.record, run.store, ReportFilter(max_score=0))] == [0, 0]


def test_the_first_samples_of_a_large_run_cost_a_few_reads(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run = open_run(LONG_ID, store=store)
    read: list[str] = []
    sample = run.store.sample

    def counted(run_id: str, name: str) -> Sample | None:
        read.append(name)
        return sample(run_id, name)

    monkeypatch.setattr(run.store, "sample", counted)
    assert len(list(select_samples(run.record, run.store, ReportFilter(limit=1)))) == 1
    assert len(read) == 1


def test_the_store_is_named_below_the_runs(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        app.main(["--lang", "en", "runs", "--store", store], prog_name="proctor")
    assert capsys.readouterr().err == f"Kept in {at(store).url}\n"


def test_a_sample_that_was_not_drawn_is_said_to_be_so(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    evaluate(_capitals(), agent=lambda asked: "Rome", run_id="part", store=store, first=1)
    for run_id, said in (("part", "took 1 samples of its task, and this was not among them"), ("b", "")):
        with pytest.raises(SystemExit):
            app.main(
                ["--lang", "en", "runs", "explain", run_id, "capital-of-Spain", "--store", store], prog_name="proctor"
            )
        told = capsys.readouterr().err
        assert said in told
        assert ("not among them" in told) == bool(said)


def test_times_are_local_with_their_distance_from_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = []
    for zone in ("UTC", "Asia/Shanghai", "Asia/Kolkata", "America/New_York"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        shown.append(ReportWords("en").when(1_700_000_000))
    monkeypatch.undo()
    time.tzset()
    assert shown == [
        "2023-11-14 22:13 UTC",
        "2023-11-15 06:13 UTC+8",
        "2023-11-15 03:43 UTC+5:30",
        "2023-11-14 17:13 UTC-5",
    ]
