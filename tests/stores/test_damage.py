"""Damaged records: each is named, the others can be read, and no figure changes without a word."""

import asyncio
import json
import random
import shutil
import sqlite3
from pathlib import Path

import pytest
from click.testing import CliRunner

from proctor import Sample, Task, Trajectory, evaluate
from proctor.cli import app
from proctor.core.errors import BadInput
from proctor.core.sample import File, Message
from proctor.core.trajectory import Step
from proctor.core.trial import Trial
from proctor.stores.check import check_file, check_run
from proctor.stores.sqlite import SqliteStore
from proctor.testing.records import a_sample, a_trial, begun

SAMPLES = [Sample.ask(f"s{n}", f"What is {n}? {'Think well. ' * 200}", target=str(n)) for n in range(40)]


def long_or_short(question: str) -> str:
    number = int(question.split("?", maxsplit=1)[0].rpartition(" ")[2])
    return str(number) if number % 4 else f"no {'idea ' * 400}"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stores") / "whole.db"
    task = Task(name="t", samples=SAMPLES, scorers=["exact"])
    evaluate(task, agent=long_or_short, store=str(path), run_id="r")
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    return path


@pytest.fixture
def store(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(whole, tmp_path / "runs.db"))


def damage(path: Path, sample: str, table: str = "trials") -> None:
    """Cut the record of a trial, or the content of its sample, short."""
    with sqlite3.connect(path) as db:
        if table == "trials":
            db.execute(
                "UPDATE records SET data = substr(data, 1, length(data) - 9) WHERE id = (SELECT record FROM trials JOIN samples ON samples.id = sample WHERE name = ?)",
                (sample,),
            )
        else:
            db.execute("UPDATE contents SET data = substr(data, 1, length(data) - 9) WHERE name = ?", (sample,))
    db.close()


def proctor(*words: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, words)
    return done.exit_code, done.stdout, done.stderr


def test_a_damaged_record_is_named_with_what_to_do(store: Path, tmp_path: Path) -> None:
    damage(store, "s7")
    code, _, said = proctor("runs", "samples", "r", "--store", str(store))
    assert code == 2
    assert "'s7'" in said
    assert "--skip-damaged" in said
    assert "Internal error" not in said


@pytest.mark.parametrize("table", ["trials", "contents"])
def test_what_is_damaged_is_left_out_on_demand(store: Path, table: str) -> None:
    damage(store, "s7", table)
    code, lines, said = proctor("runs", "samples", "r", "--jsonl", "--skip-damaged", "--store", str(store))
    assert code == 0, said
    assert {json.loads(line)["sample"] for line in lines.splitlines()} >= {f"s{n}" for n in range(40) if n != 7}
    code, _, said = proctor(
        "runs", "report", "r", "--skip-damaged", "--store", str(store), "--out", str(store.parent / "r.html")
    )
    assert (code, "s7" in said) == (0, True), said


def test_a_check_names_what_is_damaged_and_fails(store: Path) -> None:
    assert proctor("runs", "check", "--store", str(store))[:2] == (0, "r: every record is whole\n")
    damage(store, "s7")
    damage(store, "s9", "contents")
    with sqlite3.connect(store) as db:
        sample = db.execute("SELECT id FROM samples WHERE name = 's11'").fetchone()[0]
        db.execute("UPDATE scores SET points = 1 - points WHERE sample = ?", (sample,))
    db.close()
    code, lines, said = proctor("runs", "check", "r", "--store", str(store))
    assert code == 1
    assert all(f"'{id}'" in lines for id in ("s7", "s9", "s11"))
    assert len(lines.splitlines()) == 3
    assert "--skip-damaged" in said


def test_what_can_be_read_is_copied_and_the_rest_is_run_again(store: Path, tmp_path: Path) -> None:
    damage(store, "s7")
    new = tmp_path / "new.db"
    assert proctor("runs", "copy", "r", "--to", str(new), "--store", str(store))[0] == 2
    code, _, said = proctor("runs", "copy", "r", "--to", str(new), "--skip-damaged", "--store", str(store))
    assert (code, "s7" in said) == (0, True), said
    copied = SqliteStore(new)
    assert {trial.sample_id for trial in copied.trials("r")} == {f"s{n}" for n in range(40) if n != 7}
    assert copied.finished("r") == {(f"s{n}", 0) for n in range(40) if n != 7}
    assert list(check_run(copied, "r")) == []
    copied.close()


def test_flipped_bits_change_no_figure_without_a_word(whole: Path, tmp_path: Path) -> None:
    def figures(path: Path) -> object:
        opened = SqliteStore(path)
        try:
            values = [(value.sample_id, value.value, value.why) for value in opened.values("r", "exact")]
            answers = [(trial.sample_id, trial.outcome) for trial in opened.trials("r")]
        finally:
            opened.close()
        return values, answers

    raw, chance = whole.read_bytes(), random.Random(7)
    good = figures(whole)
    silent = []
    for number in range(150):
        flipped = bytearray(raw)
        place = chance.randrange(4_096, len(raw))
        flipped[place] ^= 1 << chance.randrange(8)
        path = tmp_path / f"{number}.db"
        path.write_bytes(flipped)
        try:
            if figures(path) == good:
                continue
            opened = SqliteStore(path)
            if not [*check_file(opened), *check_run(opened, "r")]:
                silent.append(place)
            opened.close()
        except BadInput:
            continue
    assert not silent


def test_a_store_without_damage_is_read_as_before(store: Path) -> None:
    opened = SqliteStore(store)
    opened.skips_damaged = True
    assert len(list(opened.trials("r"))) == len(list(opened.verdicts("r"))) == len(list(opened.planned("r"))) == 40
    assert opened.damaged == set()
    assert isinstance(next(opened.trials("r")).trajectory, Trajectory)
    opened.close()


@pytest.mark.parametrize("damage", ["DELETE FROM files", "UPDATE files SET data = x'00'"])
def test_a_file_that_is_missing_or_has_other_bytes_is_a_damaged_record(tmp_path: Path, damage: str) -> None:
    store = SqliteStore(tmp_path / "runs.db")
    shot = File(name="a.png", data=b"\x89PNG")
    answer = Message(role="assistant", parts=(shot,))
    asyncio.run(begun(store, [a_sample("a")]))
    asyncio.run(_add(store, a_trial("a", trajectory=Trajectory(steps=(Step(message=answer),)))))
    with sqlite3.connect(tmp_path / "runs.db") as db:
        db.execute(damage)
    db.close()
    with pytest.raises(BadInput, match=r"'a' .*a\.png"):
        list(store.trials("r"))
    assert [str(fault) for fault in check_run(store, "r")] == ["sample 'a' (attempt 0): its record cannot be read"]
    store.close()


async def _add(store: SqliteStore, trial: Trial) -> None:
    await store.add(trial)
