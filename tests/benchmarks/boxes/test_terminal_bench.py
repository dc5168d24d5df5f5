"""Folders of Terminal-Bench 1: read, done and judged by the door of `harbor:`."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from proctor.api import evaluate
from proctor.core.errors import BadInput
from proctor.core.score import Score, Unscored
from proctor_benchmarks import harbor
from proctor_benchmarks.boxes import blobs, engines, opening
from proctor_benchmarks.boxes.namespace import lacks
from proctor_benchmarks.harbor.task_folder import NotRunnable
from proctor_benchmarks.harbor.terminal_bench_folder import grade_pane, read_terminal_bench_task

FAKE = Path(__file__).parents[2] / "fakes" / "fake_engine.py"
COMPOSE = """services:
  client:
    build:
      dockerfile: Dockerfile
    image: ${T_BENCH_TASK_DOCKER_CLIENT_IMAGE_NAME}
    container_name: ${T_BENCH_TASK_DOCKER_CLIENT_CONTAINER_NAME}
    command: [ "sh", "-c", "sleep infinity" ]
    environment:
      - TEST_DIR=${T_BENCH_TEST_DIR}
      - GREETING=Hello
    volumes:
      - ${T_BENCH_TASK_LOGS_PATH}:${T_BENCH_CONTAINER_LOGS_PATH}
      - ${T_BENCH_TASK_AGENT_LOGS_PATH}:${T_BENCH_CONTAINER_AGENT_LOGS_PATH}
"""
FILES = {
    "task.yaml": """# canary
instruction: |-
  Create a file called hello.txt in the current directory. Write "Hello, world!" to it.
author_name: somebody
author_email: unknown
difficulty: easy
category: file-operations
tags:
  - file-operations
parser_name: pytest
max_agent_timeout_sec: 360.0
max_test_timeout_sec: 60.0
run_tests_in_same_shell: false
disable_asciinema: false
""",
    "Dockerfile": "FROM ghcr.io/laude-institute/t-bench/ubuntu-24-04:latest\nWORKDIR /app\nCOPY notes.txt .\n",
    "notes.txt": "notes\n",
    "docker-compose.yaml": COMPOSE,
    "run-tests.sh": """#!/bin/bash
echo "=========== short test summary info ============"
if [ "$(cat hello.txt 2>/dev/null)" = "$GREETING, world!" ] && [ -f "$TEST_DIR/test_outputs.py" ]; then
  echo "PASSED $TEST_DIR/test_outputs.py::test_hello_file_content"
else
  echo "FAILED $TEST_DIR/test_outputs.py::test_hello_file_content - AssertionError: no greeting"
fi
""",
    "tests/test_outputs.py": "def test_hello_file_content():\n    ...\n",
    "solution.sh": "#!/bin/bash\n\necho 'Hello, world!' > hello.txt\n",
}


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    home, programs = tmp_path / "engine", tmp_path / "programs"
    (home / "images").mkdir(parents=True)
    programs.mkdir()
    (programs / "docker").write_text(FAKE.read_text("utf-8"), "utf-8")
    (programs / "docker").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setenv("FAKE_ENGINE", str(home))
    monkeypatch.setattr(blobs, "data_folder", lambda: tmp_path)
    engines._cleared.clear()
    opening.answers.cache_clear()
    yield home
    opening.answers.cache_clear()


def write(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


@pytest.mark.skipif(bool(lacks()), reason=f"needs {lacks()}")
@pytest.mark.parametrize("agent", ["baseline:oracle", "baseline:null"])
def test_a_task_is_done_and_judged_by_what_its_tests_print(agent: str, engine: Path, tmp_path: Path) -> None:
    tasks = write(tmp_path / "tasks" / "hello-world", FILES).parent
    run = evaluate(harbor.task(f"harbor:{tasks}"), agent=agent, store=":memory:")
    (verdict,) = run.verdicts()
    assert isinstance(verdict.result, Score), verdict.result
    assert verdict.result.points == (agent == "baseline:oracle")
    assert verdict.result.details["tests"] == {"test_hello_file_content": "passed" if agent == "baseline:oracle" else "failed"}  # fmt: skip
    (image,) = (engine / "images").iterdir()
    assert sorted(path.name for path in (image / "context").iterdir()) == ["Dockerfile", "notes.txt"]


def test_a_task_is_read_as_its_folder_says(tmp_path: Path) -> None:
    task, tags = read_terminal_bench_task(write(tmp_path, FILES))
    assert task.instruction.startswith("Create a file called hello.txt")
    assert (task.folder, task.seconds, task.verifier_seconds, task.verdict) == ("/app", 360, 60, "log")
    assert task.variables == {"TEST_DIR": "/tests", "GREETING": "Hello"}
    assert sorted(task.tests.contents()) == ["run-tests.sh", "test.sh", "test_outputs.py"]
    assert tags == {"difficulty": "easy", "category": "file-operations"}
    before = task.digest()
    write(tmp_path, {"notes.txt": "other\n"})
    assert task.digest() != before


REFUSED = {
    "several services": {"docker-compose.yaml": COMPOSE + "  database:\n    image: postgres\n"},
    "privileged": {"docker-compose.yaml": COMPOSE + "    privileged: true\n"},
    "a mounted folder": {"docker-compose.yaml": COMPOSE + "      - ./data:/data\n"},
    "a service that runs": {"docker-compose.yaml": COMPOSE.replace("sleep infinity", "nginx")},
    "another parser": {"task.yaml": FILES["task.yaml"].replace("pytest", "swebench")},
    "keystrokes": {"solution.yaml": "- command: ls\n"},
    "a key of this machine": {"docker-compose.yaml": COMPOSE.replace("GREETING=Hello", "KEY=${OPENAI_API_KEY}")},
    "no working folder": {"Dockerfile": "FROM debian\n"},
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_boxes_do_not_have_is_left_out_by_name(name: str, tmp_path: Path) -> None:
    with pytest.raises(NotRunnable):
        read_terminal_bench_task(write(tmp_path, {**FILES, **REFUSED[name]}))


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"task.yaml": "parser_name: pytest\n"}, "task.yaml: .*instruction"),
        ({"task.yaml": "instruction: [\n"}, "task.yaml, line 2: "),
        ({"docker-compose.yaml": "services: {client: {volumes: 3}}\n"}, "docker-compose.yaml: "),
    ],
)
def test_what_cannot_be_read_is_said_with_its_file(files: Mapping[str, str], message: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=message):
        read_terminal_bench_task(write(tmp_path, {**FILES, **files}))


def test_output_that_names_no_test_is_no_verdict() -> None:
    for log, kind in (("bash: pytest: not found\n", "parse_error"), ("=== short test summary info ===\n", "no_tests")):
        verdict = grade_pane(None, log)
        assert isinstance(verdict, Unscored)
        assert verdict.details["kind"] == kind
