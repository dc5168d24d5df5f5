"""Read a folder of a task: Harbor's form, or the same without `task.toml` as a form of our own.

    TASK/instruction.md                 what the agent is asked for
    TASK/environment/                   a Dockerfile with its context; or, without one, the files of the working folder /app
    TASK/tests/test.sh                  the verifier: writes a reward (Harbor), or ends with 0 if all is well (own form)
    TASK/solution/solve.sh              a right solution
    TASK/task.toml                      Harbor's settings

Source: harbor 0.24.0, `harbor/models/task/`.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence, say
from proctor.core.validation import in_words
from proctor_benchmarks.boxes.archives import FileSet
from proctor_benchmarks.boxes.box_task import PUBLISHED, BoxTask
from proctor_benchmarks.boxes.contract import BoxLimits
from proctor_benchmarks.boxes.host_proxy import can_be_listed

INSTRUCTION, SETTINGS = "instruction.md", "task.toml"
AGENT_SECONDS = 900.0  # where a task names none
_CANARY = re.compile(r"^(<!--.*canary.*-->|#.*canary.*)$", re.IGNORECASE)
_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
_SIZE = re.compile(r"^\s*([\d.]+)\s*([GMK])\s*$", re.IGNORECASE)
_MEGABYTES = {"G": 1024.0, "M": 1.0, "K": 1 / 1024}


class HarborEnvironment(msgspec.Struct, frozen=True, kw_only=True):
    """The table `[environment]`; other fields are left alone, as officially."""

    docker_image: str | None = None
    os: str = "linux"
    cpus: float | None = None
    memory_mb: int | None = None
    storage_mb: int | None = None
    memory: str | None = None
    storage: str | None = None
    gpus: int | None = None
    tpu: Mapping[str, Any] | None = None
    mcp_servers: list[Mapping[str, Any]] = []
    env: Mapping[str, str] = {}
    workdir: str | None = None
    healthcheck: Mapping[str, Any] | None = None
    network_mode: str | None = None
    allowed_hosts: list[str] | None = None
    allow_internet: bool | None = None


class HarborAgent(msgspec.Struct, frozen=True, kw_only=True):
    """The table `[agent]`."""

    timeout_sec: float | None = None
    user: str | int | None = None
    network_mode: str | None = None
    allowed_hosts: list[str] | None = None


class HarborVerifier(msgspec.Struct, frozen=True, kw_only=True):
    """The table `[verifier]`."""

    timeout_sec: float = 600.0
    env: Mapping[str, str] = {}
    user: str | int | None = None
    environment_mode: str | None = None
    environment: Mapping[str, Any] | None = None
    collect: list[Mapping[str, Any]] = []


class HarborArtefact(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of `artifacts`."""

    source: str
    service: str | None = None


class HarborSolution(msgspec.Struct, frozen=True, kw_only=True):
    """The table `[solution]`."""

    env: Mapping[str, str] = {}


class HarborSettings(msgspec.Struct, frozen=True, kw_only=True):
    """A `task.toml`."""

    task: Mapping[str, Any] = {}
    metadata: Mapping[str, Any] = {}
    agent: HarborAgent = HarborAgent()
    verifier: HarborVerifier = HarborVerifier()
    environment: HarborEnvironment = HarborEnvironment()
    solution: HarborSolution = HarborSolution()
    artifacts: list[str | HarborArtefact] = []
    steps: list[Mapping[str, Any]] = []


class NotRunnable(Exception):
    """A task asks for something that boxes here do not have; `reason` says what."""

    def __init__(self, reason: Sentence) -> None:
        super().__init__(str(reason))
        self.reason = reason


def network_of(settings: HarborSettings) -> tuple[str, Sequence[str]]:
    """Return what the agent of a task expects of a network, with the hosts of an `allowlist`, for any port.

    Raises:
        NotRunnable: hosts go with another mode, or one of them cannot be listed here, such as a range of addresses.
    """
    own, baseline = settings.agent, settings.environment
    for table in (own, baseline):
        if table.allowed_hosts and table.network_mode != "allowlist":
            raise NotRunnable(say("allowed_hosts goes with network_mode = 'allowlist'"))
    older = "no-network" if baseline.allow_internet is False else "public"
    if own.network_mode is not None:
        mode, names = own.network_mode, own.allowed_hosts or []
    else:
        mode, names = baseline.network_mode or older, baseline.allowed_hosts or []
    written = [name.strip() for name in names]
    hosts = [f"[{name}]:*" if ":" in name else f"{name}:*" for name in written]
    for name, host in zip(written, hosts, strict=True):
        if not can_be_listed(host):
            raise NotRunnable(say("boxes here cannot be let reach '{host}' alone", host=name))
    return mode, hosts


def is_task(folder: Path) -> bool:
    return (folder / INSTRUCTION).is_file() or (folder / SETTINGS).is_file()


def read_settings(folder: Path) -> HarborSettings | None:
    """Return the settings of a task; None if it has none.

    Raises:
        BadInput: they cannot be read.
    """
    path = folder / SETTINGS
    if not path.is_file():
        return None
    try:
        return msgspec.toml.decode(path.read_bytes(), type=HarborSettings)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadInput("{path}: {error}.", path=path, error=in_words(error) if isinstance(error, msgspec.ValidationError) else error) from None  # fmt: skip


def read_task(folder: Path) -> tuple[BoxTask, HarborSettings]:
    """Return the task of a folder, and its settings.

    Raises:
        BadInput: a file is missing or cannot be read.
        NotRunnable: the task needs what boxes here do not have.
    """
    written = read_settings(folder)
    settings = written or HarborSettings()
    _refuse(folder, settings)
    text, environment = _instruction(folder), folder / "environment"
    build, image = environment / "Dockerfile", settings.environment.docker_image
    builds = build.is_file() and image is None
    files = FileSet(folder=str(environment)) if environment.is_dir() and not (image or builds) else FileSet()
    of_build = find_working_folder(build) if builds else None
    where = settings.environment.workdir or of_build or (None if image else "/app")
    if where is None:
        raise NotRunnable(say("the working folder of its image is not named ([environment] workdir)"))
    tests = _scripts(folder / "tests", "test.sh")
    solution = _scripts(folder / "solution", "solve.sh", required=False)
    user = settings.agent.user, settings.verifier.user
    return BoxTask(
        instruction=text,
        image=image,
        build=str(environment) if builds else None,
        folder=where,
        files=files,
        variables=_resolved(settings.environment.env),
        artefacts=_artefacts(settings, where),
        tests=tests,
        solution=solution,
        verdict="exit code" if written is None else "rewards",
        verifier_variables=_resolved(settings.verifier.env),
        solution_variables=_resolved(settings.solution.env),
        agent_user=None if user[0] is None else str(user[0]),
        verifier_user=None if user[1] is None else str(user[1]),
        limits=_limits(settings.environment),
        seconds=settings.agent.timeout_sec or AGENT_SECONDS,
        verifier_seconds=settings.verifier.timeout_sec,
        hosts=tuple(network_of(settings)[1]),
        healthcheck=str(settings.environment.healthcheck["command"]) if settings.environment.healthcheck else None,
    ), settings  # fmt: skip


def _instruction(folder: Path) -> str:
    path = folder / INSTRUCTION
    try:
        lines = path.read_text("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput("{path} cannot be read: {error}.", path=path, error=error) from None
    while lines and _CANARY.match(lines[0].strip()):
        lines.pop(0)
    text = "\n".join(lines).lstrip("\n")
    if not text.strip():
        raise BadInput("{path} is empty: it says what the agent is asked for.", path=path)
    return text


def _refuse(folder: Path, settings: HarborSettings) -> None:
    """Raise `NotRunnable` for what is never left out of a task silently."""
    environment, verifier = settings.environment, settings.verifier
    services = [entry for entry in settings.artifacts if isinstance(entry, HarborArtefact) and entry.service not in (None, "main")]  # fmt: skip
    lacks: Mapping[str, bool] = {
        "steps": bool(settings.steps),
        "docker-compose.yaml": any((folder / "environment").glob("*compose*.y*ml")),
        "os = windows": environment.os.lower() != "linux",
        "gpus, tpu": bool(environment.gpus or environment.tpu),
        "mcp_servers": bool(environment.mcp_servers),
        "an image for the verifier": verifier.environment is not None or (folder / "tests" / "Dockerfile").is_file(),
        "collect": bool(verifier.collect),
        "artifacts of services": bool(services),
    }
    missing = [name for name, is_asked in lacks.items() if is_asked]
    if missing:
        raise NotRunnable(say("it asks for {what}, which boxes here do not have", what=", ".join(missing)))


def _scripts(folder: Path, script: str, *, required: bool = True) -> FileSet:
    if not (folder / script).is_file():
        if required:
            raise BadInput("{path} is missing: it judges what the agent did.", path=folder / script)
        return FileSet()
    return FileSet(folder=str(folder))


def _artefacts(settings: HarborSettings, where: str) -> tuple[str, ...]:
    """Return what goes to the verifier: what the task declares, and the working folder where it expects the agent's own box.

    Raises:
        NotRunnable: a path under the verifier's own, or above everything.
    """
    sources = [entry if isinstance(entry, str) else entry.source for entry in settings.artifacts]
    paths = [source if source.startswith("/") else f"{where}/{source}" for source in sources]
    own = [] if settings.verifier.environment_mode == "separate" else [where]
    chosen = tuple(dict.fromkeys(str(PurePosixPath(path)) for path in (*own, PUBLISHED, *paths)))
    for path in chosen:
        if path == "/" or ".." in PurePosixPath(path).parts or path.split("/")[1] in ("tests", "solution", "proc", "sys", "dev"):  # fmt: skip
            raise NotRunnable(say("the artefact {path} may not go to the verifier", path=path))
    return chosen


def _resolved(variables: Mapping[str, str]) -> dict[str, str]:
    """Return variables with their defaults.

    Raises:
        NotRunnable: one needs a variable of this machine, such as a key, which no box is given.
    """
    for value in variables.values():
        for name, default in _VARIABLE.findall(value):
            if not default and f"${{{name}:-}}" not in value:
                raise NotRunnable(
                    say("it needs the variable {name} of this machine, and no box is given any", name=name)
                )
    return {name: _VARIABLE.sub(lambda match: match[2] or "", value) for name, value in variables.items()}


def _limits(environment: HarborEnvironment) -> BoxLimits:
    usual = BoxLimits()
    return BoxLimits(
        cpus=environment.cpus or usual.cpus,
        memory_mb=environment.memory_mb or _megabytes(environment.memory) or usual.memory_mb,
        disk_mb=environment.storage_mb or _megabytes(environment.storage) or usual.disk_mb,
    )


def _megabytes(text: str | None) -> int | None:
    match = _SIZE.match(text or "")
    return int(float(match[1]) * _MEGABYTES[match[2].upper()]) if match else None


def find_working_folder(dockerfile: Path) -> str | None:
    """Return the working folder that a Dockerfile ends with."""
    lines = dockerfile.read_text("utf-8", "replace").splitlines()
    folder: str | None = None
    for words in (line.split(maxsplit=1) for line in lines):
        if len(words) == 2 and words[0].upper() == "FROM":
            folder = None
        elif len(words) == 2 and words[0].upper() == "WORKDIR":
            named = words[1].strip().strip("\"'")
            folder = named if named.startswith("/") or folder is None else f"{folder}/{named}"
    return folder if folder is None or folder.startswith("/") else f"/{folder}"
