"""Boxes of docker and podman, by a stand-in for their command line that runs commands for real."""

import json
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from proctor.api import evaluate
from proctor.api.rehearse import tools_of
from proctor.core.errors import BadInput, EnvironmentDied, EnvironmentFailed
from proctor.core.sample import Sample, ToolCall
from proctor.core.score import Score, Unscored
from proctor.core.task import Task
from proctor.core.trajectory import Trajectory
from proctor_benchmarks import harbor, swebench
from proctor_benchmarks.boxes import blobs, engines, opening
from proctor_benchmarks.boxes.archives import FileSet, archive_of, read_files
from proctor_benchmarks.boxes.box_task import sample_of
from proctor_benchmarks.boxes.contract import BoxLimits, TooMuch
from proctor_benchmarks.boxes.engines import EngineBox, start_arguments
from proctor_benchmarks.boxes.environment import BoxEnvironment
from proctor_benchmarks.boxes.namespace import lacks
from proctor_benchmarks.boxes.opening import BoxOptions, choose_backend, image_of_folder
from proctor_benchmarks.boxes.verifier_scorer import VerifierScorer
from proctor_benchmarks.harbor.task_folder import read_task
from proctor_benchmarks.swebench.rows import read_rows

pytestmark = pytest.mark.skipif(bool(lacks()), reason=f"needs {lacks()}")
FAKE = Path(__file__).parents[2] / "fakes" / "fake_engine.py"
LIMITS = BoxLimits(memory_mb=256, processes=64, output_bytes=1_000)


@pytest.fixture(autouse=True)
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    home = tmp_path / "engine"
    (home / "images" / "plain").mkdir(parents=True)
    (home / "images" / "plain" / "app").mkdir()
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("docker", "podman"):
        (programs / name).write_text(FAKE.read_text("utf-8"), "utf-8")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setenv("FAKE_ENGINE", str(home))
    monkeypatch.setattr(blobs, "data_folder", lambda: tmp_path)
    engines._cleared.clear()
    engines._with_timeout.clear()
    opening.answers.cache_clear()
    yield home
    opening.answers.cache_clear()


def test_a_box_is_started_with_as_little_as_possible() -> None:
    assert start_arguments("n", "plain", LIMITS) == [
        *("run", "-d", "--name", "n", "--label", f"proctor.process={engines.owner_of_boxes()}", "--network", "none"),
        *("--cap-drop", "ALL", "--cap-add", "CHOWN", "--cap-add", "DAC_OVERRIDE", "--cap-add", "FOWNER"),
        *("--cap-add", "SETUID", "--cap-add", "SETGID", "--cap-add", "KILL", "--security-opt", "no-new-privileges"),
        *("--pids-limit", "64", "--memory", "256m", "--memory-swap", "256m", "--cpus", "1"),
        *("--stop-signal", "KILL", "--entrypoint", "sh", "plain", "-c", engines.FIRST_PROGRAM),
    ]


async def test_commands_and_files_are_those_of_every_box(engine: Path) -> None:
    async with EngineBox("docker", "plain", LIMITS) as box:
        told = await box.run(["sh", "-c", "echo $X; pwd; exit 3"], 10, folder="/app", variables={"X": "y z"})
        assert (told.code, told.output) == (3, "y z\n/app\n")
        late = await box.run(["sh", "-c", "echo begun; exec sleep 30"], 0.5)
        assert (late.was_late, late.code, late.head) == (True, 137, "begun\n")
        assert (await box.run(["seq", "100000"], 10)).dropped_bytes > 500_000
        await box.put(archive_of({"app/sub/a.txt": (b"A", 0o644)}))
        taken = read_files(await box.take(["/app", "/none"]), 100)
        assert taken == {"/app/sub/a.txt": b"A"}
        with pytest.raises(TooMuch):
            await box.take(["/app"], most_bytes=1)
    assert not list((engine / "containers").iterdir())


async def test_a_command_is_late_only_when_its_time_is_over_and_runs_once() -> None:
    async with EngineBox("docker", "plain", LIMITS) as box:
        own = await box.run(["sh", "-c", "exit 124"], 10)
        assert (own.was_late, own.code) == (False, 124)
        missing = await box.run(["sh", "-c", "echo x >> /app/runs; echo timeout: not found; exit 127"], 10)
        assert (missing.code, (await box.run(["cat", "/app/runs"], 10)).output) == (127, "x\n")


async def test_a_late_command_ends_also_in_an_image_without_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_ENGINE_FAULT", "lost timeout")
    async with EngineBox("docker", "plain", LIMITS) as box:
        assert (await box.run(["echo", "fine"], 10)).output == "fine\n"
        late = await box.run(["sleep", "30"], 0.5)
        assert (late.was_late, late.code, late.seconds < 5) == (True, 137, True)


async def test_what_fails_outside_is_no_result(engine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EnvironmentFailed, match="Unable to find image"):
        async with EngineBox("docker", "none", LIMITS):
            pass
    async with EngineBox("docker", "plain", LIMITS) as box:
        monkeypatch.setenv("FAKE_ENGINE_FAULT", "gone")
        with pytest.raises(EnvironmentDied, match="Cannot connect"):
            await box.run(["true"], 5)
        monkeypatch.delenv("FAKE_ENGINE_FAULT")
        imitated = await box.run(["sh", "-c", "echo 'Error response from daemon: no' >&2; exit 1"], 5)
        assert imitated.code == 1
    async with EngineBox("podman", "plain", LIMITS) as box:
        monkeypatch.setenv("FAKE_ENGINE_FAULT", "stuck")
        monkeypatch.setattr(engines, "ANSWER_SECONDS", 0.5)
        monkeypatch.setattr(engines, "KILL_SECONDS", 0.5)
        with pytest.raises(EnvironmentDied):
            await box.run(["true"], 0.5)
    monkeypatch.setattr(engines, "ANSWER_SECONDS", 20.0)
    monkeypatch.setenv("FAKE_ENGINE_FAULT", "gone")
    assert not engines.find_engine("docker")
    with pytest.raises(BadInput, match="no engine of docker answers"):
        choose_backend(BoxOptions(), needs_image=True)


async def test_the_boxes_of_dead_processes_are_removed_and_no_others(engine: Path) -> None:
    for name, owner in (
        ("dead", f"{socket.gethostname()}:4194303"),
        ("ours", engines.owner_of_boxes()),
        ("far", "elsewhere:1"),
    ):
        (engine / "containers" / name).mkdir(parents=True)
        (engine / "containers" / name / "label").write_text(f"proctor.process={owner}", "utf-8")
    await engines.remove_left_boxes("docker")
    assert sorted(path.name for path in (engine / "containers").iterdir()) == ["far", "ours"]


def write_task(folder: Path) -> Path:
    files = {
        "instruction.md": "<!-- a canary -->\nWrite 55 into sum.txt.\n",
        "task.toml": '[environment]\ndocker_image = "plain"\nworkdir = "/app"\n[metadata]\ndifficulty = "easy"\n',
        "tests/test.sh": "#!/bin/sh\n[ \"$(cat sum.txt)\" = 55 ] && echo 'ok 1 - sum' && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt\n",
        "solution/solve.sh": "#!/bin/sh\necho 55 > /app/sum.txt\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


@pytest.mark.parametrize("agent", ["baseline:oracle", "baseline:null"])
def test_a_task_of_harbor_is_done_and_judged_in_containers(agent: str, tmp_path: Path) -> None:
    made = harbor.task(f"harbor:{write_task(tmp_path / 'tasks' / 'sum').parent}")
    run = evaluate(made, agent=agent, store=":memory:")
    (verdict,) = run.verdicts()
    assert isinstance(verdict.result, Score)
    assert verdict.result.points == (agent == "baseline:oracle")
    (trial,) = run.trials()
    assert (trial.trajectory.state or {})["backend"] == "docker"


def calls_of(engine: Path) -> list[str]:
    return [json.loads(line)[0] for line in (engine / "calls").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("form", ["container", "harbor", "swebench"])
def test_an_image_that_cannot_be_had_is_said_before_the_first_sample(
    form: str, engine: Path, rows: Path, tmp_path: Path
) -> None:
    settings = write_task(tmp_path / "tasks" / "sum") / "task.toml"
    for file, name in ((settings, "plain"), (rows, "swe")):
        file.write_text(file.read_text("utf-8").replace(f'"{name}"', '"none:1"'), "utf-8")
    own = Task(
        name="own", samples=[Sample.ask("a", "?", target="1")], scorers=["exact"], environment="container:none:1"
    )
    tasks: dict[str, Task | str] = {
        "container": own,
        "harbor": f"harbor:{tmp_path / 'tasks'}",
        "swebench": f"swebench:{rows}",
    }
    with pytest.raises(BadInput, match=r"docker cannot fetch the image none:1\. Check its name.*not found"):
        evaluate(tasks[form], agent="baseline:null", store=":memory:")
    assert "run" not in calls_of(engine)


def test_of_several_images_only_one_has_to_be_there(engine: Path, tmp_path: Path) -> None:
    write_task(tmp_path / "tasks" / "a")
    other = write_task(tmp_path / "tasks" / "b") / "task.toml"
    other.write_text(other.read_text("utf-8").replace("plain", "none:1"), "utf-8")
    task = harbor.task(f"harbor:{tmp_path / 'tasks'}")
    assert not any(task.environment(sample).is_probe for sample in task.samples)  # type: ignore[misc,operator,union-attr]  # boxes
    run = evaluate(task, agent="baseline:oracle", store=":memory:")
    assert sorted(trial.outcome for trial in run.trials()) == ["environment_failed", "scored"]


async def test_a_dockerfile_that_is_a_link_is_copied_with_the_rest_of_what_is_built(
    engine: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "box"
    (folder / "tests").mkdir(parents=True)
    (tmp_path / "original").write_text("FROM plain", "utf-8")
    (folder / "Dockerfile").symlink_to("../original")
    tag = await image_of_folder("docker", folder, ["tests"])
    context = engine / "images" / tag.replace(":", "_") / "context"
    assert {path.name: path.read_text("utf-8") for path in context.iterdir()} == {"Dockerfile": "FROM plain"}
    (tmp_path / "original").write_text("FROM other", "utf-8")
    assert await image_of_folder("docker", folder, ["tests"]) != tag


def test_a_folder_that_cannot_be_built_is_said_before_the_first_sample(engine: Path, tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text("FROM none", "utf-8")
    (tmp_path / "unbuildable").touch()
    task = Task(name="own", samples=[Sample.ask("a", "?", target="1")], scorers=["exact"], environment=f"container:{tmp_path}")  # fmt: skip
    with pytest.raises(BadInput, match="docker cannot build"):
        evaluate(task, agent="baseline:null", store=":memory:")
    assert "run" not in calls_of(engine)


def test_a_plan_starts_nothing(engine: Path, tmp_path: Path) -> None:
    write_task(tmp_path / "tasks" / "sum")
    task = harbor.task(f"harbor:{tmp_path / 'tasks'}")
    (sample,) = task.samples  # type: ignore[misc]  # a list
    assert [tool.name for tool in tools_of(task.environment, sample)] == ["run", "read_file", "write_file"]
    assert set(calls_of(engine)) <= {"version"}


def test_a_program_that_is_not_in_the_box_ends_the_run_with_its_first_sample(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_task(tmp_path / "tasks" / name)
    with pytest.raises(BadInput, match=r"The way out of the box needs Python in it"):
        evaluate(f"harbor:{tmp_path / 'tasks'}", agent="cli:not-there {task}", agent_options={"upstream": "http://127.0.0.1:9"}, store=":memory:")  # fmt: skip


@pytest.mark.parametrize("fault", ["lost", "lost test.sh"])
async def test_an_engine_that_fails_the_verifier_gives_no_zero(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task, _ = read_task(write_task(tmp_path / "sum"))
    sample, options = sample_of("sum", task), BoxOptions(backend="docker")
    async with BoxEnvironment(task, options) as environment:
        await environment.state()
        state = await environment.state()
    monkeypatch.setenv("FAKE_ENGINE_FAULT", fault)
    verdict = await VerifierScorer(options)(sample, Trajectory(state=state))
    assert isinstance(verdict, Unscored), verdict


async def test_tests_that_are_late_in_an_image_without_timeout_are_no_dead_box(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_ENGINE_FAULT", "lost timeout")
    task, _ = read_task(write_task(tmp_path / "sum"))
    script = "#!/bin/sh\n[ -e slow ] && sleep 60\necho 1 > /logs/verifier/reward.txt\n"
    task = replace(task, tests=FileSet(texts={"test.sh": script}), verifier_seconds=3)
    options = BoxOptions(backend="docker")
    async with BoxEnvironment(task, options) as environment:
        await environment.state()
        await environment.call(ToolCall(name="run", arguments={"command": "touch slow"}))
        state = await environment.state()
    verdict = await VerifierScorer(options)(sample_of("sum", task), Trajectory(state=state))
    assert isinstance(verdict, Score), verdict
    assert (verdict.points, verdict.details["error_class"]) == (0, "slow_solution")


TEST_X = """#!/bin/bash
echo '>>>>> Start Test Output'
cd /testbed; if grep -q 'x = 2' mod.py; then echo PASSED t.py::test_x; else echo FAILED t.py::test_x; fi
echo '>>>>> End Test Output'
"""


@pytest.fixture
def rows(engine: Path, tmp_path: Path) -> Path:
    """Return a file with a row of SWE-bench whose image has a repository."""
    repository = engine / "images" / "swe" / "testbed"
    repository.mkdir(parents=True)

    def git(command: str) -> str:
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
        return subprocess.run(["sh", "-c", command], cwd=repository, check=True, env=environment, capture_output=True, text=True).stdout  # fmt: skip

    git("git init -q . && git config user.email a@b && git config user.name a && mkdir -p src/_pytest")
    git("echo 'x = 1' | tee mod.py src/_pytest/code.py; echo own > setup.cfg; echo '*.egg-info' > .gitignore")
    git("mkdir shared tests && echo own | tee shared/conf.py > tests/util.py && ln -s shared/conf.py conftest.py")
    git("git add . && git commit -qm a; mkdir a.egg-info; echo kept > a.egg-info/entry_points.txt")
    commit = git("git rev-parse HEAD").strip()
    patch = "diff --git a/mod.py b/mod.py\n--- a/mod.py\n+++ b/mod.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"
    row = {"instance_id": "a__b-1", "problem_statement": "x is wrong", "base_commit": commit, "FAIL_TO_PASS": '["t.py::test_x"]', "PASS_TO_PASS": [], "patch": patch, "image": "swe", "eval_script": TEST_X, "log_parser": "parse_log_pytest", "repo": "a/b"}  # fmt: skip
    (tmp_path / "rows.jsonl").write_text(json.dumps(row), "utf-8")
    return tmp_path / "rows.jsonl"


@pytest.mark.parametrize(("agent", "points"), [("baseline:oracle", 1), ("baseline:null", 0)])
def test_a_row_of_swe_bench_is_done_and_judged_in_its_image(agent: str, points: float, rows: Path) -> None:
    (verdict,) = evaluate(f"swebench:{rows}", agent=agent, store=":memory:").verdicts()
    assert isinstance(verdict.result, Score), verdict.result
    assert verdict.result.points == points, verdict.result.details


STEERED = """
echo 'x = 2' | tee mod.py src/_pytest/code.py > src/_pytest/new.py; echo stolen > setup.cfg; mkdir -p täst lib pluggy
echo > täst/conftest.py; printf '[ tool.pytest.ini_options ]\\n' > lib/pyproject.toml; echo '[tool.black]' > pyproject.toml
echo > pytest.py; echo > pluggy/__init__.py; mkdir b.egg-info; echo forged > b.egg-info/entry_points.txt; git add -f b.egg-info
"""
SEEN = "cat setup.cfg a.egg-info/entry_points.txt; git -c core.quotePath=false status --short --untracked-files=all"


LINKED = """
echo 'x = 2' > mod.py; echo changed > shared/conf.py; mkdir plain tests/util; echo > tests/util.abi3.so; echo > tests/util/__init__.py; echo > fast.so
echo '[build]' > plain/config.toml; ln -s plain .cargo; ln -s plain c.egg-info; ln -s plain _pytest; ln -s mod.py link.py; git add -f c.egg-info
printf '{"jest":\\n{}}' > package.json; echo '{"devDependencies": {"jest": "1"}}' > plain/package.json; echo > .mocharc.yml
echo '["tool".pytest.ini_options]' > settings; ln -s ../settings plain/pyproject.toml
"""
STEERING = {
    "files": (STEERED, ["setup.cfg", "täst/conftest.py", "lib/pyproject.toml", "pytest.py", "pluggy/__init__.py", "b.egg-info/entry_points.txt"],
        [" M mod.py", " M src/_pytest/code.py", "?? pyproject.toml", "?? src/_pytest/new.py"]),
    "links and modules": (LINKED, ["shared/conf.py", "tests/util.abi3.so", "tests/util/__init__.py", ".cargo", "c.egg-info", "_pytest", "package.json", ".mocharc.yml", "plain/pyproject.toml"],
        [" M mod.py", "?? fast.so", "?? link.py", "?? plain/config.toml", "?? plain/package.json", "?? settings"]),
}  # fmt: skip


@pytest.mark.parametrize("name", STEERING)
async def test_what_steers_the_tests_of_swe_bench_is_put_back_and_named(name: str, rows: Path) -> None:
    script, withheld, left = STEERING[name]
    _, instance, task = next(read_rows(rows))
    eval_script = f"#!/bin/bash\ncd /testbed; {{ {SEEN}; }} | sed 's/^/seen: /'\n{TEST_X}"
    task = replace(task, tests=FileSet(texts={**task.tests.texts, "eval.sh": eval_script}))
    options = BoxOptions(backend="docker")
    async with BoxEnvironment(task, options) as environment:
        await environment.state()
        await environment.call(ToolCall(name="run", arguments={"command": script}))
        state = await environment.state()
    sample = sample_of("a__b-1", task)
    sample = replace(sample, meta={**sample.meta, swebench.META: msgspec.to_builtins(instance)})
    verdict = await VerifierScorer(options, grade=swebench.grade_log)(sample, Trajectory(state=state))
    assert isinstance(verdict, Score), verdict
    assert sorted(verdict.details["withheld"]) == sorted(withheld), verdict.details["output"]
    seen = [line.removeprefix("seen: ") for line in verdict.details["output"].splitlines() if line.startswith("seen: ")]
    assert seen == ["own", "kept", *left]
    assert verdict.points == 1
