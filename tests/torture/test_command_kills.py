"""Commands that are killed in the middle of what they write: scoring again, copying, importing, exporting and reports."""

import random
import sqlite3
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path

import pytest
from stage import RUN, Stage, integrity, wait_until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals as POSIX has them")

SLOW = """
import time
from proctor import Score

def slow(sample, trajectory):
    time.sleep(0.0005)
    return Score(points=int(sample.id[1:]) % 2)
"""


@pytest.fixture
def stored(stage: Stage, long: bool) -> Stage:
    """A run of which every sample was answered and scored."""
    stage.samples = 3_000 if long else 1_200
    done = stage.run(stage.command("baseline:oracle"))
    assert done.code == 0, done.error
    return stage


def rows(store: Path, table: str) -> int:
    """Count the rows of a table, which may not be there yet."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as db:
        return int(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
    return 0


def kill_after(stage: Stage, command: Sequence[str], reached: Callable[[], bool], seconds: float = 0.0) -> bool:
    """Kill a command a moment after it has come so far; return whether it was still at it."""
    process = stage.start(command)
    wait_until(lambda: reached() or process.poll() is not None)
    time.sleep(seconds)
    was_running = process.poll() is None
    process.kill()
    process.communicate()
    return was_running


def shown(stage: Stage, *more: str) -> dict[str, object]:
    done = stage.run(["show", RUN, "--json", *more])
    assert done.code == 0, done.error
    summary: dict[str, object] = done.summary
    return summary


def number(summary: dict[str, object], name: str) -> dict[str, object]:
    estimates = summary["estimates"]
    assert isinstance(estimates, list)
    return next(one for one in estimates if one["name"] == name and not one["slice"])


@pytest.mark.fault(
    "kill -9 while a run is scored again",
    "SIGKILL at 12 moments (1 in the short form) between two writes",
    "old numbers unchanged; the new one says what is missing; scored again it is whole",
)
def test_scoring_again_that_is_killed_says_what_is_missing(stored: Stage, long: bool) -> None:
    before, draw, planned = shown(stored), random.Random(5), stored.samples
    stored.script("scorers.py", SLOW)
    command = ["score", "--run", RUN, "--scorer", "./scorers.py:slow", "--quiet"]
    for _ in range(12 if long else 1):
        had = rows(stored.store, "scores")
        if not kill_after(stored, command, lambda had=had: rows(stored.store, "scores") > had, draw.random() * 0.2):  # type: ignore[misc]
            break
        assert integrity(stored.store) == "ok"
        scored = rows(stored.store, "scores") - planned
        assert 0 < scored <= planned
        summary = shown(stored)
        assert number(summary, "exact.accuracy") == {**number(before, "accuracy"), "name": "exact.accuracy"}
        assert summary["outcomes"] == before["outcomes"]
        slow = number(summary, "slow.accuracy")
        assert (slow["scored"], slow["planned"]) == (scored, planned)
        if scored < planned:
            assert slow["floor"] == pytest.approx(scored / 2 / planned, abs=1 / planned)
            assert slow["ceiling"] == pytest.approx((planned - scored / 2) / planned, abs=1 / planned)
            assert f"the scorer slow has not seen: {planned - scored}" in " ".join(
                stored.run(["show", RUN]).out.split()
            )
        assert "every record is whole" in stored.run(["runs", "check", RUN]).out
    again = stored.run_alone(command)
    assert again.code == 0, again.error
    whole = number(shown(stored), "slow.accuracy")
    assert (whole["scored"], whole["value"], whole["floor"], whole["ceiling"]) == (planned, 0.5, 0.5, 0.5)
    assert "has not seen" not in stored.run(["show", RUN]).out


@pytest.mark.fault(
    "kill -9 while a run is scored again by a changed scorer",
    "SIGKILL between two writes",
    "the report says that verdicts are of two versions; scored again they are of one",
)
def test_verdicts_of_two_versions_of_a_scorer_are_named(stored: Stage) -> None:
    command = ["score", "--run", RUN, "--scorer", "./scorers.py:slow", "--quiet"]
    stored.script("scorers.py", SLOW)
    assert stored.run_alone(command).code == 0
    stored.script("scorers.py", SLOW.replace("% 2", "% 2 == 0"))
    had = rows(stored.store, "records")
    assert kill_after(stored, command, lambda: rows(stored.store, "records") > had)
    assert "come from several versions of it" in " ".join(stored.run(["show", RUN]).out.split())
    assert stored.run_alone(command).code == 0
    assert "several versions" not in stored.run(["show", RUN]).out


@pytest.mark.fault(
    "kill -9 while a log is imported",
    "SIGKILL at 12 moments",
    "half an import is never read; imported again it is whole",
)
def test_half_an_import_is_never_taken_for_a_run(stored: Stage, long: bool) -> None:
    assert stored.run(["runs", "export", RUN, "--format", "inspect", "--out", "log.eval"]).code == 0
    store, draw = stored.folder / "imported.db", random.Random(9)
    command = ["runs", "import", "log.eval", "--run", RUN, "--store", str(store)]
    for _ in range(12 if long else 1):
        if not kill_after(stored, command, lambda: rows(store, "runs") > 0, draw.random() * 0.3):
            store.unlink()
            continue
        refused = stored.run(["show", RUN, "--store", str(store)])
        assert refused.code == 2
        assert "only half there" in refused.error
        assert "only half there" in stored.run(["run", "--run", RUN, "--store", str(store)]).error
    done = stored.run_alone(command)
    assert done.code == 0, done.error
    assert integrity(store) == "ok"
    assert number(shown(stored, "--store", str(store)), "accuracy")["scored"] == stored.samples


@pytest.mark.parametrize(
    ("name", "words"),
    [
        pytest.param(name, words, id=name, marks=pytest.mark.fault(f"kill -9 while {name} is written", "SIGKILL at 10 random moments", "the file is the old one or the new one, whole"))
        for name, words in (
            ("report.html", ["runs", "report", RUN, "--out"]),
            ("table.csv", ["runs", "export", RUN, "--format", "table", "--out"]),
            ("table.xlsx", ["runs", "export", RUN, "--format", "xlsx", "--out"]),
            ("table.parquet", ["runs", "export", RUN, "--format", "parquet", "--out"]),
            ("log.eval", ["runs", "export", RUN, "--format", "inspect", "--out"]),
            ("spans.jsonl", ["runs", "export", RUN, "--format", "otel", "--out"]),
        )
    ],
)  # fmt: skip
def test_a_file_is_the_old_one_or_the_new_one(stored: Stage, name: str, words: Sequence[str], long: bool) -> None:
    file, draw = stored.folder / name, random.Random(3)
    started = time.monotonic()
    done = stored.run_alone([*words, name])
    assert done.code == 0, done.error
    seconds, size = time.monotonic() - started, file.stat().st_size
    for _ in range(10 if long else 1):
        file.write_bytes(b"the old one")
        process = stored.start([*words, name])
        time.sleep(seconds * (0.4 + 0.6 * draw.random()))
        process.kill()
        process.communicate()
        content = file.read_bytes()
        assert content == b"the old one" or len(content) == pytest.approx(size, rel=0.01)


@pytest.mark.fault(
    "disk full while files are written",
    "limits on the size of files, of reports, exports and copies",
    "exit 2 with the name of the file, which is the old one; no half copy of a run is read",
)
def test_a_full_disk_leaves_old_files_and_says_which(stored: Stage, long: bool) -> None:
    limited = ["sh", "-c", 'ulimit -f 40; exec "$@"', "sh"]
    written = (
        ("table.csv", ["runs", "export", RUN, "--format", "table", "--out"]),
        ("table.xlsx", ["runs", "export", RUN, "--format", "xlsx", "--out"]),
        ("spans.jsonl", ["runs", "export", RUN, "--format", "otel", "--out"]),
        ("table.parquet", ["runs", "export", RUN, "--format", "parquet", "--out"]),
        ("report.html", ["runs", "report", RUN, "--out"]),
        ("log.eval", ["runs", "export", RUN, "--format", "inspect", "--out"]),
    )
    for name, words in written if long else written[1:2]:
        file = stored.folder / name
        file.write_bytes(b"the old one")
        with closing(
            sqlite3.connect(stored.folder / "runs.db")
        ) as reader:  # or the files next to the store would be too large as well
            reader.execute("SELECT count(*) FROM runs").fetchone()
            done = stored.run_alone([*words, name], before=limited)
        assert done.code == 2, (name, done)
        assert name in done.error
        assert "Traceback" not in done.error
        assert file.read_bytes() == b"the old one"
        assert not [path.name for path in stored.folder.iterdir() if path.name.endswith(".part")]
