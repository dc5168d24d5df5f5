"""Read a folder of a task in the older form, that of Terminal-Bench 1.

    TASK/task.yaml             instruction, limits of time, `parser_name: pytest`
    TASK/Dockerfile            its context is the folder without tests and solution
    TASK/docker-compose.yaml   one service, which sleeps
    TASK/run-tests.sh          runs pytest on /tests; the verdict is read from what it prints
    TASK/tests/                what goes to /tests
    TASK/solution.sh           a right solution

Source: terminal-bench 0.2.18, `terminal_bench/handlers/trial_handler.py` and `terminal_bench/harness/harness.py`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from proctor.core.errors import BadInput
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.validation import in_words
from proctor_benchmarks.boxes.archives import FileSet
from proctor_benchmarks.boxes.box_task import LOGS, PUBLISHED, TESTS, BoxTask
from proctor_benchmarks.harbor.panes import all_passed, read_pane
from proctor_benchmarks.harbor.task_folder import NotRunnable, find_working_folder

SETTINGS, COMPOSE = "task.yaml", "docker-compose.yaml"
NOT_BUILT = ("tests", "run-tests.sh", "solution.sh", "solution.yaml", SETTINGS, COMPOSE)
_RUN = f'#!/bin/sh\ncommand -v bash > /dev/null && shell=bash || shell=sh\n"$shell" {TESTS}/run-tests.sh 2>&1 | tee {LOGS}/log.txt\n'
_SOLVE = "#!/bin/sh\ncommand -v bash > /dev/null && exec bash /solution/solution.sh\nexec sh /solution/solution.sh\n"
_OWN_VARIABLE = "${T_BENCH_"
T = TypeVar("T")
_SERVICE_FIELDS = {"build", "image", "container_name", "command", "environment", "volumes", "working_dir"}


class TerminalBenchSettings(msgspec.Struct, frozen=True, kw_only=True):
    """A `task.yaml`; other fields are left alone, as officially."""

    instruction: str
    parser_name: str = "pytest"
    difficulty: str = ""
    category: str = ""
    max_agent_timeout_sec: float = 360.0
    max_test_timeout_sec: float = 60.0


class TerminalBenchService(msgspec.Struct, frozen=True, kw_only=True):
    """The service of a `docker-compose.yaml`."""

    build: str | Mapping[str, Any] | None = None
    image: str | None = None
    command: str | list[str] | None = None
    environment: Mapping[str, str | int | float | None] | list[str] = []
    volumes: list[Any] = []
    working_dir: str | None = None


def is_terminal_bench_task(folder: Path) -> bool:
    return (folder / SETTINGS).is_file()


def read_terminal_bench_task(folder: Path) -> tuple[BoxTask, dict[str, str]]:
    """Return the task of a folder, and its difficulty and category.

    Raises:
        BadInput: a file is missing or cannot be read.
        NotRunnable: the task needs what boxes here do not have.
    """
    settings = _decode(folder / SETTINGS, TerminalBenchSettings)
    if settings.parser_name != "pytest":
        raise NotRunnable(say("it asks for {what}, which boxes here do not have", what=f"parser_name: {settings.parser_name}"))  # fmt: skip
    if (folder / "solution.yaml").is_file():
        raise NotRunnable(say("it asks for {what}, which boxes here do not have", what="solution.yaml"))
    service = _read_service(folder / COMPOSE)
    dockerfile = folder / "Dockerfile"
    image = None if service.image is None or _OWN_VARIABLE in service.image else service.image
    builds = dockerfile.is_file() and (service.build is not None or image is None)
    where = service.working_dir or (find_working_folder(dockerfile) if builds else None)
    if not builds and image is None:
        raise BadInput("{path} is missing: the box of the task is built from it.", path=dockerfile)
    if where is None:
        raise NotRunnable(say("the working folder of its image is not named (WORKDIR)"))
    variables = {"TEST_DIR": TESTS, **_variables(service)}
    solution = folder / "solution.sh"
    return BoxTask(
        instruction=settings.instruction,
        image=None if builds else image,
        build=str(folder) if builds else None,
        build_leaves_out=NOT_BUILT,
        folder=where,
        variables=variables,
        artefacts=(where, PUBLISHED),
        tests=FileSet(folder=str(folder / "tests") if (folder / "tests").is_dir() else None, texts={"test.sh": _RUN, "run-tests.sh": _text(folder / "run-tests.sh")}),
        solution=FileSet(texts={"solve.sh": _SOLVE, "solution.sh": _text(solution)}) if solution.is_file() else FileSet(),
        verdict="log",
        seconds=settings.max_agent_timeout_sec,
        verifier_seconds=settings.max_test_timeout_sec,
    ), {"difficulty": settings.difficulty, "category": settings.category}  # fmt: skip


def grade_pane(_: object, log: str) -> Score | Unscored:
    """Return the verdict on what the tests printed: all passed, or not; a summary that names none tells nothing."""
    details = {"output": log[-4_000:]}
    try:
        results = read_pane(log)
    except ValueError:
        return Unscored(why="scorer_failed", reason=say("The output of the tests has no summary of pytest."), details={**details, "kind": "parse_error"})  # fmt: skip
    if not results:
        return Unscored(why="scorer_failed", reason=say("The summary of pytest names no test."), details={**details, "kind": "no_tests"})  # fmt: skip
    passed = sum(status == "passed" for status in results.values())
    return Score(points=int(all_passed(results)), reason=say("{passed} of {total} tests passed.", passed=passed, total=len(results)), details={**details, "tests": results})  # fmt: skip


def _read_service(path: Path) -> TerminalBenchService:
    """Return the only service of a task.

    Raises:
        BadInput: the file cannot be read.
        NotRunnable: there are several, or the one asks for what boxes do not have.
    """
    if not path.is_file():
        return TerminalBenchService()
    services = _decode(path, dict[str, Any]).get("services")
    if not isinstance(services, dict) or len(services) != 1:
        raise NotRunnable(say("it asks for {what}, which boxes here do not have", what=f"{COMPOSE}: services"))
    written = next(iter(services.values()))
    try:
        service = msgspec.convert(written, TerminalBenchService)
    except msgspec.ValidationError as error:
        raise BadInput("{path}: {error}.", path=path, error=in_words(error)) from None
    lacks: Mapping[str, bool] = {
        **{name: True for name in written if name not in _SERVICE_FIELDS},
        "build": isinstance(service.build, Mapping) and (service.build.get("context", ".") != "." or service.build.get("dockerfile", "Dockerfile") != "Dockerfile" or "args" in service.build),
        "command": service.command is not None and "sleep" not in str(service.command),
        "volumes": not all(str(volume).startswith(_OWN_VARIABLE) for volume in service.volumes),
    }  # fmt: skip
    missing = [name for name, is_asked in lacks.items() if is_asked]
    if missing:
        raise NotRunnable(say("it asks for {what}, which boxes here do not have", what=f"{COMPOSE}: {', '.join(missing)}"))  # fmt: skip
    return service


def _variables(service: TerminalBenchService) -> dict[str, str]:
    """Return the variables of a service, without those of the harness.

    Raises:
        NotRunnable: one needs a variable of this machine.
    """
    written = service.environment
    pairs = [entry.partition("=")[::2] for entry in written] if isinstance(written, list) else list(written.items())
    variables = {name: "" if value is None else str(value) for name, value in pairs}
    for name, value in variables.items():
        if "${" in value and _OWN_VARIABLE not in value:
            raise NotRunnable(say("it needs the variable {name} of this machine, and no box is given any", name=name))
    return {name: value for name, value in variables.items() if _OWN_VARIABLE not in value}


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput("{path} cannot be read: {error}.", path=path, error=error) from None


def _decode(path: Path, kind: type[T]) -> T:
    import yaml

    try:
        return msgspec.convert(yaml.safe_load(_text(path)), kind)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark is not None else 1
        raise BadInput("{path}, line {line}: {error}.", path=path, line=line, error=error.problem) from None
    except (yaml.YAMLError, msgspec.ValidationError, RecursionError) as error:
        words = in_words(error) if isinstance(error, msgspec.ValidationError) else str(error)
        raise BadInput("{path}: {error}.", path=path, error=words) from None
