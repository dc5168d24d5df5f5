"""A run on a Ray cluster: results of one process, nothing listens to strangers or talks, and lost machines lose no trial.

One cluster for all tests, made by the code that `--on ray` starts one with; further nodes join it.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from proctor.core.trial import Trial
from proctor_adapters.ray.folder import MARK

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("ray")]  # one cluster for all
HERE = Path(__file__).parent
CLOCK_SECONDS = 0.01  # between two readings of one clock, by two names
KILLS = 20
KEY = "sk-proj-" + "a1B2c3D4e5F6g7H8"
TASK = """
import os, sys, time, pathlib
from proctor import Sample, Task
from words import WORD

def count(samples: int = 40) -> Task:
    return Task(name="count", samples=[Sample.ask(str(n), str(n), target=str(n)) for n in range(samples)], scorers=["exact"])

def busy(question: str) -> str:
    time.sleep(0.01)
    return question

def where(question: str) -> str:
    print("to nobody", os.environ["OPENAI_API_KEY"])
    names = sorted(str(path) for path in pathlib.Path(".").rglob("*"))
    return repr([os.environ.get("OPENAI_API_KEY")[::-1], os.environ.get("RAY_AUTH_TOKEN"), os.environ.get("DATABASE_PASSWORD"), os.getcwd(), os.getpid(), names])

def patient(question: str) -> str:
    pathlib.Path(os.environ["LLM_NOTES"], f"{question}-{time.monotonic_ns()}").touch()
    time.sleep(0.2)
    return question

def noted(question: str) -> str:
    notes = pathlib.Path(os.environ["LLM_NOTES"])
    (notes / f"{question}-begun-{time.monotonic_ns()}").touch()
    if not notes.with_name("over").exists():
        time.sleep(0.5)
    (notes / f"{question}-ended-{time.monotonic_ns()}").touch()
    return question

def deadly(question: str) -> str:
    if question == "7":
        os.kill(os.getpid(), 9)
    return question
"""


class Here(NamedTuple):
    """The cluster: how to join it, the process that started it, and the environment of what that process starts."""

    address: str
    variables: Mapping[str, str]
    started: "subprocess.Popen[str]"
    folder: Path
    inherited: Mapping[str, str]


def wait_until(is_so: Callable[[], object], seconds: float = 180) -> None:
    """Wait for what has to come; on a machine with much else to do it comes late."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.05)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Here]:
    temporary = Path("/tmp") / f"t-ray-{os.getpid()}"  # short, as the paths of sockets are
    temporary.mkdir()
    variables = {
        **os.environ,
        "TMPDIR": str(temporary),
        "OPENAI_API_KEY": KEY,
        "HOME": str(tmp_path_factory.mktemp("home")),
    }
    command = [sys.executable, str(HERE.parent / "fakes" / "ray_cluster_here.py")]
    started = subprocess.Popen(command, env=variables, stdin=-1, stdout=-1, text=True)
    assert started.stdin is not None
    assert started.stdout is not None
    said = json.loads(started.stdout.readline())
    joining = {**variables, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": said["token"]}
    yield Here(said["address"], joining, started, temporary, said["inherited"])
    started.stdin.close()
    assert started.wait(30) == 0
    assert started.stdout.read() == ""
    started.stdout.close()
    wait_until(lambda: not processes_in(temporary))
    left = [
        path for path in temporary.iterdir() if not path.name.startswith("proctor-project-")
    ]  # of workers that were killed
    assert not left, "sockets and logs were left"
    shutil.rmtree(temporary)


def processes_in(folder: Path) -> dict[int, str]:
    """The processes of Ray whose session is in a folder, and workers, which have it in their environment."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words, variables = (entry / "cmdline").read_bytes(), (entry / "environ").read_bytes()
        except OSError:
            continue
        if str(folder).encode() in words + variables and words:
            found[int(entry.name)] = words.replace(b"\0", b" ").decode()
    return found


def raylets(here: Here) -> dict[int, int]:
    """The processes that are nodes of the cluster, and how many workers of a run are on each."""
    ours = processes_in(here.folder)
    count = {pid: 0 for pid, words in ours.items() if "/raylet/raylet " in words}
    for pid, words in ours.items():
        above = pid if "api.worker" in words else 0
        while above > 1 and above not in count:
            above = parent_of(above)
        if above in count:
            count[above] += 1
    return count


def parent_of(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[1])
    except OSError:
        return 0


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "count.py").write_text(TASK, encoding="utf-8")
    (folder / "words.py").write_text("WORD = 1\n", encoding="utf-8")
    monkeypatch.chdir(folder)
    return folder


def begin(here: Here, *words: str, **more: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "proctor", "run", "./count.py:count", "--json", "--quiet", "--store", "runs.db"]
    on = ["--on", f"ray:{here.address}", *words]
    return subprocess.Popen([*command, *on], env={**here.variables, **more}, stdout=-1, stderr=-1, text=True)


def run(here: Here, *words: str, code: int = 0, **more: str) -> tuple[dict[str, object], str]:
    started = begin(here, *words, **more)
    out, err = started.communicate(timeout=300)
    assert started.returncode == code, err
    return json.loads(out) if out else {}, err


def trials(run_id: object) -> list[Trial]:
    from proctor import open_run

    opened = open_run(str(run_id), store="runs.db")
    try:
        return list(opened.trials())
    finally:
        opened.store.close()


def answers(run_id: object) -> list[str]:
    return [trial.trajectory.answer for trial in trials(run_id)]


def test_nothing_listens_to_other_machines_and_nothing_of_a_key_is_written(cluster: Here) -> None:
    ours = processes_in(cluster.folder)
    assert any("raylet" in words for words in ours.values())
    sockets = {str(link.readlink()) for pid in ours for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink()}
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text(encoding="ascii").splitlines()[1:]:
            _, local, _, state, *rest = line.split()
            if state == "0A" and f"socket:[{rest[5]}]" in sockets:
                assert local.partition(":")[0] in ("0100007F", "0000000000000000FFFF00000100007F"), line
    assert not Path(cluster.variables["HOME"], ".ray").exists(), "the token of the cluster is in a file"
    (folder,) = cluster.folder.iterdir()
    assert folder.stat().st_mode & 0o077 == 0
    run(cluster, "--agent", "./count.py:where", "--workers", "1", "--limit", "2")
    for path in folder.rglob("*"):
        if path.is_file():
            text = path.read_bytes()
            assert KEY.encode() not in text, path
            assert cluster.variables["RAY_AUTH_TOKEN"].encode() not in text, path
            assert b"usagestats" not in text.lower().replace(b"usagestatshead", b"") or b"is disabled" in text, path


def test_what_the_driver_starts_is_no_part_of_the_cluster(cluster: Here) -> None:
    assert cluster.variables["RAY_AUTH_TOKEN"] not in cluster.inherited.values()
    assert MARK not in cluster.inherited, "it would be killed with the cluster"


def test_the_results_are_those_of_one_process_and_only_the_project_is_sent(cluster: Here, project: Path) -> None:
    (project / ".env").write_text(f"OPENAI_API_KEY={KEY}", encoding="utf-8")
    (project / "keys.py").write_text(f"KEY = '{KEY}'", encoding="utf-8")
    (project / "secret.json").write_text("{}", encoding="utf-8")
    here, _ = run(cluster, "--agent", "./count.py:busy", "--workers", "2", "--run", "ray")
    _, err = run(cluster, "--agent", "./count.py:where", "--workers", "2", "--run", "where")
    assert here["outcomes"] == {"scored": 40}
    assert answers("ray") == [str(number) for number in range(40)]
    assert "keys.py holds a key" in err
    seen = [eval(answer) for answer in answers("where")]
    assert len({one[4] for one in seen}) == 2
    for key, token, password, folder, _, names in seen:
        assert (key, token, password) == (KEY[::-1], None, None)
        assert folder != str(project)
        assert [name for name in names if "__pycache__" not in name] == ["count.py", "words.py"]
        assert not Path(folder).exists(), "the project stays on the machine"


@pytest.mark.torture
def test_an_agent_that_kills_its_process_fails_alone(cluster: Here) -> None:
    summary, _ = run(cluster, "--agent", "./count.py:deadly", "--workers", "2", "--limit", "40")
    assert summary["outcomes"] == {"scored": 39, "agent_failed": 1}


def test_a_lost_node_loses_nothing_and_only_what_was_in_flight_is_repeated(cluster: Here, tmp_path: Path) -> None:
    notes, cores = tmp_path / "notes", cores_of(cluster)
    notes.mkdir()
    join(cluster, 1, tmp_path)
    started = begin(cluster, "--agent", "./count.py:patient", "--workers", "3", "--run", "lost", "--concurrency", "6", LLM_NOTES=str(notes))  # fmt: skip
    wait_until(lambda: len(list(notes.iterdir())) > 8)
    assert started.poll() is None
    write(cluster, "kill")
    out, err = started.communicate(timeout=300)
    assert started.returncode == 0, err
    assert json.loads(out)["outcomes"] == {"scored": 40}
    assert 40 <= len(list(notes.iterdir())) <= 46
    wait_until(lambda: cores_of(cluster) == cores)  # the cluster has noticed, too


@pytest.mark.torture
def test_one_of_two_nodes_is_killed_twenty_times_at_random(cluster: Here, tmp_path: Path) -> None:
    notes, drawn, samples, at_once = tmp_path / "notes", random.Random(20), 8_000, 8
    notes.mkdir()
    head, cores = set(raylets(cluster)), cores_of(cluster)

    def busy() -> list[int]:
        return [node for node, workers in raylets(cluster).items() if workers and node not in head]

    for _ in range(2):
        join(cluster, 1, tmp_path)
    words = ["--agent", "./count.py:noted", "--workers", str(round(cores) + 2), "--concurrency", str(at_once)]
    started = begin(cluster, *words, "--set", f"samples={samples}", "--run", "tortured", LLM_NOTES=str(notes))
    wait_until(lambda: len(list(notes.iterdir())) > 16)
    for _ in range(KILLS):
        join(cluster, 1, tmp_path)  # where the next worker finds a core
        wait_until(lambda: len(busy()) == 2 or started.poll() is not None)
        time.sleep(drawn.random())  # any moment may be the one
        assert started.poll() is None
        os.kill(drawn.choice(sorted(busy())), signal.SIGKILL)
        wait_until(lambda: cores_of(cluster) == cores + 2)
    notes.with_name("over").touch()
    out, err = started.communicate(timeout=240)
    for node in set(raylets(cluster)) - head:
        os.kill(node, signal.SIGKILL)
    assert started.returncode == 0, err
    assert json.loads(out)["outcomes"] == {"scored": samples}
    assert sorted(answers("tortured"), key=int) == [str(number) for number in range(samples)]
    calls = [path.name.split("-") for path in notes.iterdir()]
    begun, ended = (sum(what == which for _, what, _ in calls) for which in ("begun", "ended"))
    print(f"{begun - samples} calls were repeated, {ended - samples} of them had ended")
    assert begun - samples <= at_once * KILLS
    offset = time.time() - time.monotonic()
    accepted = {trial.sample_id: trial.started + trial.seconds - offset for trial in trials("tortured")}
    for name, what, at in calls:  # nothing is asked again whose result was accepted
        assert what == "ended" or int(at) / 1e9 < accepted[name] + CLOCK_SECONDS, f"{name} had finished"
    wait_until(lambda: cores_of(cluster) == cores)
    run(cluster, "--agent", "./count.py:busy", "--workers", "1", "--limit", "1")  # removes what killed workers left


def test_a_killed_driver_leaves_no_worker_and_its_run_is_resumed(cluster: Here, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    words = ["--agent", "./count.py:patient", "--workers", "2", "--run", "killed", "--concurrency", "4"]
    started = begin(cluster, *words, LLM_NOTES=str(notes))
    wait_until(lambda: len(list(notes.iterdir())) > 8)
    started.kill()
    started.communicate()
    wait_until(lambda: not [words for words in processes_in(cluster.folder).values() if "api.worker" in words])
    summary, _ = run(cluster, *words, LLM_NOTES=str(notes))
    assert not list(cluster.folder.glob("proctor-project-*")), "the project stays on the machine"
    assert summary["outcomes"] == {"scored": 40}
    assert 40 <= len(list(notes.iterdir())) <= 46


@pytest.mark.torture
def test_workers_and_the_driver_are_killed_at_random_and_the_run_is_resumed(cluster: Here, tmp_path: Path) -> None:
    notes, drawn, samples, at_once, drivers = tmp_path / "notes", random.Random(6), 160, 4, 8
    notes.mkdir()
    words = ["--agent", "./count.py:noted", "--workers", "2", "--run", "both", "--concurrency", str(at_once), "--set", f"samples={samples}"]  # fmt: skip
    finished: set[str] = set()

    def workers() -> list[int]:
        return [pid for pid, words in processes_in(cluster.folder).items() if "api.worker" in words]

    def begun(name: str) -> int:
        return sum(1 for _ in notes.glob(f"{name}-begun-*"))

    for number in range(drivers):
        before = len(list(notes.iterdir()))
        calls = {name: begun(name) for name in finished}
        started = begin(cluster, *words, LLM_NOTES=str(notes))
        wait_until(lambda before=before: len(list(notes.iterdir())) > before + 8, 120)  # type: ignore[misc]
        if number % 2 and (there := workers()):
            os.kill(drawn.choice(there), signal.SIGKILL)
        time.sleep(drawn.random())
        assert started.poll() is None, started.communicate()
        started.kill()
        started.communicate()
        wait_until(lambda: not workers())
        assert all(begun(name) == count for name, count in calls.items()), "what was accepted was asked again"
        now = {trial.sample_id for trial in trials("both")}
        assert finished <= now, "what was accepted is lost"
        finished = now
    notes.with_name("over").touch()
    summary, _ = run(cluster, *words, LLM_NOTES=str(notes))
    assert summary["outcomes"] == {"scored": samples}
    assert answers("both") == [str(number) for number in range(samples)]
    calls_begun = len(list(notes.glob("*-begun-*")))
    assert calls_begun - samples <= drivers * at_once * 2  # a killed worker and a killed driver each have theirs


@pytest.mark.torture
def test_sigterm_ends_a_run_as_it_does_without_ray(cluster: Here, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    started = begin(cluster, "--agent", "./count.py:patient", "--workers", "1", "--run", "s", "--concurrency", "1", LLM_NOTES=str(notes))  # fmt: skip
    wait_until(lambda: len(list(notes.iterdir())) > 2)
    started.terminate()
    _, err = started.communicate(timeout=60)
    assert started.returncode == 130, err
    assert "Traceback" not in err
    assert "--run s" in err


@pytest.mark.torture
def test_a_machine_with_another_version_is_refused(cluster: Here, tmp_path: Path) -> None:
    other = tmp_path / "proctor"
    other.mkdir()
    (other / "__init__.py").write_text("__version__ = '0.0.1'\n", encoding="utf-8")
    join(cluster, 6, tmp_path)
    _, err = run(cluster, "--agent", "./count.py:busy", "--workers", "5", code=2)
    assert "Proctor 0.0.1" in err
    write(cluster, "kill")


def test_a_cluster_that_is_not_there_is_said_at_once(cluster: Here) -> None:
    gone = cluster._replace(address="127.0.0.1:1")
    _, err = run(gone, "--agent", "./count.py:busy", "--workers", "1", code=2)
    assert "No Ray cluster answers at 127.0.0.1:1" in err


def write(here: Here, line: str) -> None:
    assert here.started.stdin is not None
    here.started.stdin.write(f"{line}\n")
    here.started.stdin.flush()


def cores_of(here: Here) -> float:
    assert here.started.stdout is not None
    write(here, "cores")
    return float(here.started.stdout.readline())


def join(here: Here, cores: int, path: Path) -> None:
    """Let another node join the cluster."""
    before = cores_of(here)
    write(here, f"add {cores} {path}")
    wait_until(lambda: cores_of(here) > before)
