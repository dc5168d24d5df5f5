"""The task of τ²-bench: what is played, and agents that know nothing or everything."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from proctor import api
from proctor.core.errors import BadInput
from proctor.core.run import Limits
from proctor.core.trial import Trial
from proctor.models.scripted import ScriptedModel
from proctor_benchmarks.tau2 import PART, pull
from proctor_benchmarks.tau2.dataset import raw_tasks

ARCHIVE = Path(__file__).parents[2] / "data" / "tau2" / "tau2-bench.tar.xz"
NEVER_PASSED = {"mock/update_task_with_history_and_env_assertions", "mock/update_task_with_user_tools"}


def _run(task: str, played: object, **options: object) -> api.Run:
    return api.evaluate(task, agent=played, options=options, store=":memory:", seed=1)


def _trials(run: api.Run) -> Mapping[str, Trial]:
    return {trial.sample_id: trial for trial in run.store.trials(run.id)}


def _rewards(run: api.Run) -> Mapping[str, float]:
    return {one.sample_id: one.value for one in run.store.values(run.id, "tau2") if one.value is not None}


def test_the_expected_actions_get_the_whole_reward_but_where_they_officially_fail(tau2_data: Path) -> None:
    rewards = _rewards(_run("tau2/mock", "baseline:oracle", user="gold"))
    assert len(rewards) == 10
    assert {id for id, reward in rewards.items() if reward < 1} == NEVER_PASSED


def test_the_expected_actions_of_agent_and_user_repair_every_phone(tau2_data: Path) -> None:
    run = api.evaluate("tau2/telecom", agent="baseline:oracle", options={"user": "gold"}, store=":memory:", limit=24)
    assert _rewards(run).values() == pytest.approx([1.0] * 24)
    assert any(step.author == "user" and step.message.role == "tool" for one in _trials(run).values() for step in one.trajectory.steps)  # fmt: skip


def test_agents_without_a_user_are_given_the_tools_of_both(tau2_data: Path) -> None:
    rewards = _rewards(_run("tau2/mock", "baseline:oracle", agent="solo"))
    assert len(rewards) == 7
    assert {id for id, reward in rewards.items() if reward < 1} == {
        "mock/update_task_with_user_tools",
        "mock/update_task_with_initialization_data",  # something has to be said, and nobody listens
    }


def test_an_agent_that_says_nothing_fails_and_a_random_one_is_scored(tau2_data: Path) -> None:
    silent = _run("tau2/mock", "baseline:null", user="gold")
    assert {trial.outcome for trial in _trials(silent).values()} == {"agent_failed", "scored"}
    assert silent.estimate("accuracy").value == 0
    drawn = _run("tau2/mock", "baseline:random", user="gold")
    assert {trial.outcome for trial in _trials(drawn).values()} == {"scored"}
    assert sum(_rewards(drawn).values()) < 5


def test_a_user_whose_model_says_nothing_is_no_fault_of_the_agent(tau2_data: Path, tmp_path: Path) -> None:
    (tmp_path / "user.jsonl").write_text('{"content": "  "}\n', encoding="utf-8")
    user = {"user": f"scripted:{tmp_path / 'user.jsonl'}"}
    run = api.evaluate("tau2/mock", agent="baseline:null", options=user, store=":memory:", seed=1, limit=4)
    trials = _trials(run).values()
    assert {(trial.outcome, trial.failure.kind) for trial in trials if trial.failure} == {("user_failed", "no_reply")}


def test_without_a_judge_a_task_with_judged_assertions_is_unscored_and_with_one_it_is_scored(
    tau2_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROCTOR_TAU2_DATA", str(_with_judged_task(tau2_root, tmp_path / "copy")))
    without = _run("tau2/mock", "baseline:oracle", user="gold")
    (verdict,) = without.store.verdicts(without.id, sample_id="mock/create_task_1")
    assert verdict.result.known.kind == "no_judge"
    judge = tmp_path / "judge.jsonl"
    for met, reward in ((True, 1.0), (False, 0.0)):
        results = [{"expectedOutcome": "o", "reasoning": "r", "metExpectation": met}]
        judge.write_text(json.dumps({"content": json.dumps({"results": results})}), encoding="utf-8")
        judged = api.evaluate("tau2/mock", agent="baseline:oracle", options={"user": "gold"}, judge=f"scripted:{judge}", store=":memory:")  # fmt: skip
        assert _rewards(judged)["mock/create_task_1"] == reward
    judge.write_text(json.dumps({"content": "```json\n{}\n```"}), encoding="utf-8")
    fenced = api.evaluate("tau2/mock", agent="baseline:oracle", options={"user": "gold"}, judge=f"scripted:{judge}", store=":memory:")  # fmt: skip
    (verdict,) = fenced.store.verdicts(fenced.id, sample_id="mock/create_task_1")
    assert verdict.result.known.kind == "unreadable"


def _with_judged_task(root: Path, copy: Path) -> Path:
    import shutil

    shutil.copytree(root, copy, ignore=shutil.ignore_patterns("airline", "retail"), dirs_exist_ok=True)
    shutil.copytree(root / "src", copy / "src", dirs_exist_ok=True)
    path = copy / "data/tau2/domains/mock/tasks.json"
    tasks = json.loads(path.read_text(encoding="utf-8"))
    for task in tasks:
        if task["id"] == "create_task_1":
            task["evaluation_criteria"] |= {"nl_assertions": ["It is done."], "reward_basis": ["DB", "NL_ASSERTION"]}
    path.write_text(json.dumps(tasks), encoding="utf-8")
    return copy


def test_a_run_without_a_model_for_the_user_says_how_to_name_one(tau2_data: Path) -> None:
    with pytest.raises(BadInput, match="--set user=openai:MODEL"):
        _run("tau2/mock", "baseline:null")


@pytest.mark.parametrize(
    ("category", "options", "words"),
    [
        ("retial", {}, "cannot be 'retial'"),
        ("mock", {"splt": "base"}, "no option 'splt'"),
        ("mock", {"split": "small"}, "no split 'small'"),
        ("retail", {"agent": "solo"}, "cannot be played without a user"),
    ],
)
def test_a_wrong_name_is_refused(tau2_data: Path, category: str, options: Mapping[str, object], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        PART.task(category, **options)


def test_a_folder_that_is_no_clone_is_refused_with_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="expected src/tau2/domains"):
        PART.task("mock", data=str(tmp_path))


def test_a_changed_file_is_noted_and_makes_another_version(tau2_root: Path, tmp_path: Path) -> None:
    changed = PART.task("mock", data=str(_with_judged_task(tau2_root, tmp_path / "copy")))
    usual = PART.task("mock", data=str(tau2_root))
    assert changed.version != usual.version
    assert any("mock/tasks.json" in str(note) for note in changed.notes)


def test_a_turn_may_hold_as_many_replies_as_the_conversation_has_steps(tau2_data: Path) -> None:
    calls = ScriptedModel(lambda messages, tools: '{"x": 1}', name="agent")
    assert calls.name
    sample = PART.task("mock", max_steps=7).samples[0]  # type: ignore[index]
    assert sample.known.max_steps == 7
    assert Limits().steps == 50


def test_tasks_of_the_small_split_that_an_older_file_lacks_are_added(tau2_root: Path) -> None:
    assert len(raw_tasks(tau2_root, "telecom")) == 114
    assert len(raw_tasks(tau2_root, "telecom", "small")) == 20


def test_the_official_repository_is_pulled_from_an_archive_or_a_folder(
    tau2_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROCTOR_CACHE", str(tmp_path))
    made = pull.pull(ARCHIVE, lambda _: None)
    assert (made / "src/tau2/domains/telecom/tools.py").is_file()
    assert pull.pull(None, lambda _: None) == made
    assert pull.pull(tau2_root, lambda _: None) == made
    with pytest.raises(BadInput, match="holds no tau2-bench"):
        pull.pull(tmp_path / "packages", lambda _: None)
