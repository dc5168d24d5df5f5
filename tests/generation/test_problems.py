"""Generation as a run: what is taken, what is sent back, what stays empty, and how it goes on after a stop."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from writers import data_file, item, text, writer

from proctor.api import open_run
from proctor.core.errors import BadInput
from proctor_judging.generation.problems import (
    GenerationPlan,
    ItemProgress,
    accepted_of,
    generate,
    outcome,
    plan_of,
    written,
)

LATEX = r'{"problem": "Let $\frac{1}{2}\beta \theta$ and \nabla be given, a b c d e.", "answer": 7, "solution": "It is 7, clearly.", "topic": "Algebra"}'


def test_every_place_is_filled_and_saved_as_the_source_names_it(tmp_path: Path) -> None:
    made = generate(GenerationPlan(generator="aime", count=4), agent=writer(), folder=tmp_path / "out")
    assert made.path is not None
    assert made.report is not None
    assert made.path.name.startswith("aime_generated_")
    assert made.report.name.startswith("generation_report_")
    saved = json.loads(made.path.read_text(encoding="utf-8"))
    assert [one["id"] for one in saved] == [f"gen_aime_{number}" for number in range(1, 5)]
    assert all({"problem", "answer", "solution", "topic", "generated_at"} <= one.keys() for one in saved)
    assert saved[0]["generation"]["tries"] == 1
    report = made.report.read_text(encoding="utf-8")
    assert "| Algebra | 2 | 50.0% |" in report
    assert "gen_aime_4" in report
    assert not list((tmp_path / "out").glob("*.part"))


def test_latex_in_a_reply_arrives_unharmed() -> None:
    made = written(GenerationPlan(generator="aime", count=1), agent=writer([LATEX]))
    assert made.items[0]["problem"] == r"Let $\frac{1}{2}\beta \theta$ and \nabla be given, a b c d e."


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (item(1, answer=1234), "breaks maximum 999"),
        (item(1, answer="about five"), "is no integer"),
        ({"problem": "x" * 30}, "is missing"),
        ("I would rather not.", "holds no JSON"),
        ('{"problem": "cut of', "unfinished"),
        (" ", "empty"),
    ],
)
def test_a_bad_item_goes_back_with_the_reason_and_is_asked_again(bad: Any, reason: str) -> None:
    seen: list[str] = []
    write = writer([bad], start=10)

    def agent(prompt: str) -> str:
        seen.append(prompt)
        return write(prompt)

    made = written(GenerationPlan(generator="aime", count=1), agent=agent)
    assert made.items[0]["answer"] == 10, "1234 was not made 999"
    assert made.items[0]["generation"]["tries"] == 2
    assert reason in seen[1]
    assert seen[1].startswith(seen[0]), "an agent that remembers nothing sees the whole task again"


def test_after_the_last_try_the_place_is_empty_and_counted_never_filled() -> None:
    made = written(
        GenerationPlan(generator="aime", count=3, tries=2), agent=lambda prompt: json.dumps(item(1, answer=1000))
    )
    assert made.items == []
    assert [one.kind for one in made.missing] == ["schema"] * 3
    assert "maximum 999" in str(made.missing[0].reason)
    assert made.run.estimate("accuracy").value == 0
    assert all(len({step.turn for step in trial.trajectory.steps}) == 2 for trial in made.run.trials())


def test_when_nothing_is_made_no_data_file_is_written(tmp_path: Path) -> None:
    made = generate(GenerationPlan(generator="aime", count=1, tries=1), agent=lambda prompt: "no", folder=tmp_path)
    assert made.path is None
    assert not list(tmp_path.glob("*.json"))
    assert made.report is not None
    assert "unreadable" in made.report.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "copy", [{}, {"problem": rf"Let $x=\frac{{1}}{{2}}$ and {text(3).upper()}!"}], ids=["the same", "in capitals"]
)
def test_an_item_is_never_repeated_within_a_run(copy: dict[str, str]) -> None:
    made = written(GenerationPlan(generator="aime", count=8, tries=1), agent=lambda prompt: json.dumps(item(3, **copy)))
    assert len(made.items) == 1
    assert {one.kind for one in made.missing} == {"copy:exact"}


def test_a_copy_of_the_reference_set_is_sent_back(tmp_path: Path) -> None:
    real = [{"id": f"r{seed}", **item(seed)} for seed in range(5)]
    reference = data_file(tmp_path / "real.json", real)
    made = written(
        GenerationPlan(generator="aime", count=2, reference=str(reference)),
        agent=writer([item(3), item(4)], start=50),
        concurrency=1,
    )
    assert [one["generation"]["tries"] for one in made.items] == [3, 1]
    assert made.run.record.provenance["reference"]["items"] == 5


def test_prompts_show_examples_and_go_round_the_topics(tmp_path: Path) -> None:
    real = [{"id": f"r{seed}", "problem": f"Real problem {seed}: {text(seed)}", "answer": seed} for seed in range(6)]
    reference = data_file(tmp_path / "real.jsonl", [])
    reference.write_text("\n".join(json.dumps(one) for one in real), encoding="utf-8")
    seen: list[str] = []
    write = writer(start=100)

    def agent(prompt: str) -> str:
        seen.append(prompt)
        return write(prompt)

    plan = GenerationPlan(generator="aime", count=6, reference=str(reference), topics=("Knots", "Tilings"))
    first = written(plan, agent=agent)
    prompts = sorted(seen)
    assert sum("Knots" in prompt for prompt in seen) == sum("Tilings" in prompt for prompt in seen) == 3
    assert all("Real problem" in prompt for prompt in seen)
    assert first.run.trials()
    seen.clear()
    written(plan, agent=agent)
    assert sorted(seen) == prompts, "the same seed draws the same examples"
    seen.clear()
    written(GenerationPlan(generator="aime", count=2, reference=str(reference), examples=False), agent=agent)
    assert not any("Real problem" in prompt for prompt in seen)


def test_progress_tells_topic_answer_and_seconds() -> None:
    lines: list[str] = []
    progress = ItemProgress(tell=lambda sentence: None, show=lines.append)
    written(
        GenerationPlan(generator="aime", count=2, tries=1),
        agent=writer([item(1), "no"]),
        concurrency=1,
        progress=progress,
    )
    assert lines[0].startswith("✓ gen_aime_1 · Geometry · 1 · ")
    assert lines[0].endswith(" s")
    assert lines[1].startswith("✗ gen_aime_2 · unreadable")


AGENT = """
import json, os, sys
sys.path.insert(0, {fakes!r})
from writers import item

def write(prompt):
    with open("calls", "a") as calls:
        calls.write("x")
    done = os.path.getsize("calls")
    if done == 4 and os.environ.get("DIE"):
        os._exit(9)
    return json.dumps(item(done))
"""


def test_a_run_that_was_killed_goes_on_and_asks_for_nothing_twice(tmp_path: Path) -> None:
    fakes = str(Path(__file__).parents[1] / "fakes")
    (tmp_path / "agent.py").write_text(AGENT.format(fakes=fakes), encoding="utf-8")
    command = [sys.executable, "-m", "proctor", "data", "generate"]
    begun = ["aime", "-n", "7", "--agent", "./agent.py:write", "--concurrency", "1", "--run", "mine", "-o", "out"]
    environment = {**os.environ, "PROCTOR_STORE": str(tmp_path / "runs.db")}
    killed = subprocess.run([*command, *begun], cwd=tmp_path, env={**environment, "DIE": "1"}, check=False)
    assert killed.returncode == 9
    gone_on = subprocess.run(
        [*command, "--run", "mine", "-o", "out", "--concurrency", "1", "--json"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        check=False,
    )
    assert gone_on.returncode == 0, gone_on.stderr.decode()
    told = json.loads(gone_on.stdout)
    assert (told["generated"], told["planned"]) == (7, 7)
    saved = json.loads((tmp_path / told["data"]).read_text(encoding="utf-8"))
    assert [one["answer"] for one in saved] == [1, 2, 3, 5, 6, 7, 8], (
        "call 4 was lost with the process, and asked again"
    )


def test_what_a_run_has_written_is_not_written_again_beside_it(tmp_path: Path) -> None:
    store = str(tmp_path / "runs.db")
    first = generate(
        GenerationPlan(generator="aime", count=2), agent=writer(), folder=tmp_path, store=store, run_id="mine"
    )
    again = generate(agent=writer(), folder=tmp_path, store=store, run_id="mine")
    assert first.path is not None
    assert again.path == first.path, "verifications lie beside this file"
    assert len(list(tmp_path.glob("aime_generated_*.json"))) == 1


def test_going_on_keeps_the_plan_and_refuses_another(tmp_path: Path) -> None:
    store = str(tmp_path / "runs.db")
    plan = GenerationPlan(generator="aime", count=2)
    first = written(plan, agent=writer(), store=store, run_id="mine")
    assert plan_of(first.run) == plan
    with pytest.raises(BadInput, match="other values of: count"):
        written(GenerationPlan(generator="aime", count=3), agent=writer(), store=store, run_id="mine")
    assert outcome(open_run("mine", store=store), plan)[0] == first.items


def test_what_was_accepted_before_is_not_repeated_later() -> None:
    first = written(GenerationPlan(generator="aime", count=2), agent=writer(), concurrency=1)
    later = written(
        GenerationPlan(generator="aime", count=2, first=3, tries=1),
        agent=writer([item(0)], start=20),
        earlier=accepted_of(first.run),
        concurrency=1,
    )
    assert [one["id"] for one in later.items] == ["gen_aime_4"]
    assert later.missing[0].kind == "copy:exact"


def test_a_run_that_generated_nothing_cannot_be_gone_on_with() -> None:
    from proctor import Sample, Task, evaluate

    task = Task(name="t", samples=[Sample.ask("a", "?", target="x")], scorers=["exact"])
    run = evaluate(task, agent=lambda question: "x")
    with pytest.raises(BadInput, match="generated nothing"):
        plan_of(run)


@pytest.mark.parametrize("values", [{"count": 0}, {"tries": 0}, {"near": 0}])
def test_numbers_that_make_no_sense_are_refused(values: dict[str, Any]) -> None:
    from proctor.config import converted

    with pytest.raises(BadInput):
        written(converted({"generator": "aime", **values}, GenerationPlan, "generate"), agent=writer())


def test_an_empty_reference_set_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="holds no items"):
        written(
            GenerationPlan(generator="aime", reference=str(data_file(tmp_path / "none.json", []))),
            agent=lambda prompt: pytest.fail("nothing is asked"),
        )


def test_other_kinds_are_generated_alike(tmp_path: Path) -> None:
    code = {
        "problem": f"Write a function about {text(1)}.",
        "answer": "def f(x):\n    return x",
        "tests": ["assert f(1) == 1", "assert f(2) == 2", "assert f('') == ''"],
        "topic": "Strings",
    }
    made = generate(GenerationPlan(generator="code", count=1), agent=writer([code]), folder=tmp_path)
    assert made.items[0]["answer"].startswith("def f")
    assert made.path is not None
    assert made.path.name.startswith("code_generated_")
    few = {**code, "tests": ["assert True"]}
    again = written(GenerationPlan(generator="code", count=1, tries=1), agent=writer([few]))
    assert again.missing[0].kind == "schema"
