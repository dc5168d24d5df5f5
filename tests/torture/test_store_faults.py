"""A disk that is full, read-only, locked, torn or damaged: what was acknowledged is kept, and the run goes on later."""

import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path

import pytest
from batch_servers import OpenAIServer
from stage import QUESTIONS, RUN, Model, Stage, answer_to, assert_sound, served, wait_until

import proctor
from proctor import BadInput
from proctor.stores.sqlite import SqliteStore

RUN_OF_BATCHES = "batches"
NOISY = """
import os, re, time
calls = os.open("calls.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

def answer(messages):
    number = int(re.search(r"[0-9]+", messages[-1]["content"])[0])
    os.write(calls, f"{number}\\n".encode())
    noise = os.urandom(4_000).hex()
    return [{"role": "assistant", "content": noise}, {"role": "assistant", "content": str(number) if number % 4 else "no idea"}]
"""
HOLDS = """
import sqlite3, sys, time
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("BEGIN IMMEDIATE")
print("held", flush=True)
time.sleep(float(sys.argv[2]))
database.execute("ROLLBACK")
"""
posix = pytest.mark.skipif(sys.platform == "win32", reason="needs signals and rights as POSIX has them")


def finished(stage: Stage) -> set[int]:
    with closing(proctor.open_run(RUN, store=str(stage.store)).store) as store:
        return {int(id[1:]) for id, _ in store.finished(RUN)}


def called(stage: Stage) -> list[int]:
    file = stage.folder / "calls.txt"
    return list(map(int, file.read_text(encoding="ascii").split())) if file.exists() else []


def assert_goes_on(stage: Stage, *more: str) -> None:
    """The run goes on as the message says, ends as if nothing had been, and calls for nothing that was finished."""
    done, before = finished(stage), called(stage)
    well = stage.run_alone(stage.go_on(*more))
    assert well.code == 0, well.error
    assert_sound(stage)
    assert not done & set(called(stage)[len(before) :])


# A full disk


@posix
@pytest.mark.fault(
    "disk full while committing",
    "a limit on the size of files",
    "exit 2, what was acknowledged is kept; goes on when there is room",
)
def test_a_file_that_cannot_grow_loses_nothing_acknowledged(stage: Stage) -> None:
    stage.samples = 300
    stage.script("agents.py", NOISY)
    stage.run(["runs"])  # makes the store
    assert_full(stage, stage.command("./agents.py:answer"), before=["sh", "-c", 'ulimit -f 1200; exec "$@"', "sh"])
    assert_goes_on(stage)


def small_disk(folder: Path, size: str) -> bool:
    """Mount a disk of that size; False where we may not."""
    return sys.platform == "linux" and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], capture_output=True, check=False
    ).returncode == 0  # fmt: skip


@pytest.fixture
def disk(stage: Stage) -> Iterator[Path]:
    """A disk of 1 MB, with the store of the stage on it."""
    folder = stage.folder / "disk"
    folder.mkdir()
    if not small_disk(folder, "1m"):
        pytest.skip("needs the right to mount a disk")
    stage.keep_in(folder / "runs.db")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.fault(
    "disk full while committing, of 1 MB",
    "a small disk",
    "exit 2, what was acknowledged is kept; goes on when there is room",
)
def test_a_small_disk_loses_nothing_acknowledged(stage: Stage, disk: Path) -> None:
    stage.samples = 300
    stage.script("agents.py", NOISY)
    assert_full(stage, stage.command("./agents.py:answer"))
    still = stage.run_alone(stage.go_on())
    assert still.code == 2
    assert "is full" in still.error or "No space left" in still.error
    subprocess.run(["mount", "-o", "remount,size=50m", str(disk)], check=True)
    assert_goes_on(stage)


@pytest.mark.fault("disk full before the first sample", "a small disk", "exit 2; goes on when there is room")
def test_a_disk_that_is_full_from_the_start_is_named(stage: Stage, disk: Path) -> None:
    stage.samples = 20
    stage.script("agents.py", NOISY)
    stage.run_alone(["runs"])
    with suppress(OSError), (disk / "rest").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(1_000))
    broken = stage.run_alone(stage.command("./agents.py:answer"))
    assert broken.code == 2
    assert any(word in broken.error for word in ("is full", "No space left", "could not be read or written"))
    (disk / "rest").unlink()
    well = stage.run_alone(stage.command("./agents.py:answer"))
    assert well.code == 0, well.error
    assert_sound(stage)


def assert_full(stage: Stage, command: Sequence[str], *, before: Sequence[str] = ()) -> None:
    broken = stage.run_alone(command, before=before)
    assert broken.code == 2, broken
    assert "is full" in broken.error or "limits on file size" in broken.error
    assert str(stage.store) in broken.error
    assert f"proctor run --run {RUN}" in broken.error
    done = finished(stage)
    assert 0 < len(done) < stage.samples
    assert done <= set(called(stage))
    assert len(called(stage)) - len(done) <= 2 * 16
    assert_sound(stage, dict.fromkeys(set(range(stage.samples)) - done, ""))


@pytest.mark.fault(
    "disk full of the folders of the user",
    "a small disk with the reply cache and the journal of batches",
    "a run goes on without the cache; no batch is sent that cannot be noted",
)
def test_a_full_disk_of_the_caches_costs_no_result_and_no_request_twice(stage: Stage, disk: Path) -> None:
    stage.keep_in(stage.folder / "runs.db")
    stage.environment |= {"PROCTOR_CACHE": str(disk / "cache"), "XDG_DATA_HOME": str(disk / "data")}
    with suppress(OSError), (disk / "rest").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(1_000))
    model = Model()
    with served(model) as endpoint:
        done = stage.run_alone(stage.model(endpoint.url, "--cache"))
    assert done.code == 0, done.error
    assert "reply cache" in done.error
    assert_sound(stage)
    batches = OpenAIServer()
    command = [RUN_OF_BATCHES if word == RUN else word for word in stage.model("", "--batch")]
    with served(batches) as endpoint:
        command[command.index("/v1")] = f"{endpoint.url}/v1"
        refused = stage.run_alone(command)
        assert refused.code == 2, refused
        assert "batches" in refused.error
        assert not batches.questions
        (disk / "rest").unlink()
        assert stage.run_alone(command).code in (0, 3)
    assert sorted(batches.questions) == sorted(set(batches.questions))
    assert len(batches.questions) == stage.samples


# Read-only


def as_anybody() -> list[str]:
    """The words before a command that make root obey rights as others do."""
    if os.getuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("needs setpriv, as root")
    return ["setpriv", "--bounding-set=-dac_override"]


@posix
@pytest.mark.parametrize(
    ("name", "mode_of_file", "mode_of_folder", "said"),
    [
        pytest.param(*row, marks=pytest.mark.fault(row[0], "rights on a file and its folder", "exit 2, nothing is changed; goes on when it can be written"), id=row[0].replace(" ", "-"))
        for row in (
            ("read-only store", 0o444, 0o755, "cannot be written: it is read-only"),
            ("read-only folder of the store", 0o644, 0o555, "cannot be written: it is read-only"),
            ("store that may not be read", 0o000, 0o755, "Change its rights"),
        )
    ],
)  # fmt: skip
def test_a_store_that_cannot_be_written_says_so(
    stage: Stage, name: str, mode_of_file: int, mode_of_folder: int, said: str
) -> None:
    folder = stage.folder / "kept"
    folder.mkdir()
    stage.keep_in(folder / "runs.db")
    stage.script("agents.py", NOISY)
    half = stage.command("./agents.py:answer", "--budget", "minutes=0.000001")
    assert stage.run_alone(half).code == 3
    before = stage.store.read_bytes()
    stage.store.chmod(mode_of_file)
    folder.chmod(mode_of_folder)
    try:
        broken = stage.run_alone(stage.go_on("--budget", "minutes=9"), before=as_anybody())
    finally:
        folder.chmod(0o755)
        stage.store.chmod(0o644)
    assert broken.code == 2, broken
    assert said in broken.error
    assert str(folder) in broken.error
    assert stage.store.read_bytes() == before
    assert_goes_on(stage, "--budget", "minutes=9")


@pytest.mark.fault(
    "read-only disk", "a disk mounted again as read-only", "exit 2, nothing is changed; goes on when it can be written"
)
def test_a_read_only_disk_says_so(stage: Stage, disk: Path) -> None:
    stage.samples = 20
    stage.script("agents.py", NOISY)
    assert stage.run_alone(stage.command("./agents.py:answer", "--budget", "minutes=0.000001")).code == 3
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    broken = stage.run_alone(stage.go_on("--budget", "minutes=9"))
    assert broken.code == 2, broken
    assert str(stage.store) in broken.error
    subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
    assert_goes_on(stage, "--budget", "minutes=9")


# Locked


class Locker:
    """An agent in whose middle another process writes to the store, for so many seconds."""

    def __init__(self, stage: Stage, seconds: float) -> None:
        self._stage = stage
        self._seconds = seconds
        self._process: subprocess.Popen[str] | None = None

    def run(self, question: str) -> str:
        number = int(question.removeprefix("What is ").rstrip("?"))
        if number == self._stage.samples // 2 and self._process is None:
            command = [sys.executable, "-c", HOLDS, str(self._stage.store), str(self._seconds)]
            self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            assert self._process.stdout is not None
            assert self._process.stdout.readline() == "held\n"
        return answer_to(number)

    def release(self) -> None:
        """End the other process."""
        assert self._process is not None
        self._process.kill()
        self._process.communicate()


def questions(stage: Stage) -> proctor.Task:
    made: dict[str, Callable[[int], proctor.Task]] = {}
    exec(QUESTIONS, made)
    return made["questions"](stage.samples)


@pytest.mark.fault(
    "store locked by another process for too long",
    "a transaction of another process",
    "exit 2, what was acknowledged is kept; goes on when it is free",
)
def test_a_store_that_stays_locked_stops_the_run_which_goes_on_later(stage: Stage) -> None:
    agent = Locker(stage, 60)
    with closing(SqliteStore(stage.store, busy_seconds=0.3)) as store:
        with pytest.raises(BadInput, match=r"locked by another process\. Wait until it is done, or end it") as raised:
            proctor.evaluate(questions(stage), agent=agent, store=store, run_id=RUN, concurrency=1, order="official")
        assert raised.value.run_id == RUN
    done = finished(stage)
    assert 0 < len(done) <= stage.samples // 2
    assert_sound(stage, dict.fromkeys(set(range(stage.samples)) - done, ""))
    agent.release()
    with closing(SqliteStore(stage.store)) as store:
        assert (
            proctor.evaluate(questions(stage), agent=agent, store=store, run_id=RUN, order="official").record.state
            == "finished"
        )
    assert_sound(stage)


@pytest.mark.fault(
    "store locked by another process for a moment", "a transaction of another process", "waited for; all scored"
)
def test_a_store_that_is_locked_for_a_moment_is_waited_for(stage: Stage) -> None:
    agent = Locker(stage, 0.5)
    with closing(SqliteStore(stage.store)) as store:
        run = proctor.evaluate(questions(stage), agent=agent, store=store, run_id=RUN)
        assert run.record.state == "finished"
    agent.release()
    assert_sound(stage)


@posix
@pytest.mark.fault(
    "run that is open in another process",
    "two processes with one run id",
    "exit 2, names the process; the first ends undisturbed",
)
def test_a_run_is_open_once(stage: Stage) -> None:
    stage.samples = max(
        stage.samples, 600
    )  # so many that the second start falls into the first run on a busy machine too
    stage.script("agents.py", NOISY.replace("noise =", "time.sleep(0.05); noise ="))
    first = stage.start(stage.command("./agents.py:answer", "--concurrency", "4"))
    wait_until(lambda: len(called(stage)) >= 5)
    second = stage.run_alone(stage.go_on())
    assert second.code == 2
    assert f"open in process {first.pid}" in second.error
    assert first.wait(timeout=60) == 0
    first.communicate()
    assert_sound(stage)
    assert len(called(stage)) == stage.samples


# Torn and damaged


@posix
@pytest.mark.fault(
    "torn last write",
    "kill -9, then cutting and spoiling the end of the log",
    "only what was torn is run again; all scored once",
)
def test_a_torn_log_costs_what_was_torn_and_no_more(stage: Stage, long: bool) -> None:
    stage.samples = 400
    stage.script("agents.py", NOISY.replace("noise =", "time.sleep(0.01); noise ="))
    draw = random.Random(5)
    log = stage.store.with_name("runs.db-wal")
    for _ in range(12 if long else 3):
        before = len(called(stage))
        process = stage.start(stage.command("./agents.py:answer", "--concurrency", "4"))
        while process.poll() is None and len(called(stage)) < before + 15:
            time.sleep(0.002)
        process.kill()
        process.communicate()
        copy = shutil.copy(stage.store, stage.folder / "copy.db")
        shutil.copy(log, f"{copy}-wal")
        whole = rows(Path(copy))
        tear(log, draw)
        left = finished(stage)
        assert integrity_of(stage) == "ok"
        assert left <= whole
        assert len(whole - left) <= 40
    assert_goes_on(stage)


def tear(log: Path, draw: random.Random) -> None:
    """Cut the log within its last 64 KB, or spoil some of that, as a machine does that loses power while it writes."""
    size = log.stat().st_size
    place = draw.randrange(max(0, size - 65_536), size)
    if draw.random() < 0.5:
        os.truncate(log, place)
    with log.open("r+b") as file:
        file.seek(place)
        file.write(draw.randbytes(draw.randrange(1, 4_096)))
    log.with_name("runs.db-shm").write_bytes(draw.randbytes(32_768))


def rows(store: Path) -> set[int]:
    with closing(sqlite3.connect(store)) as database:
        names = database.execute("SELECT samples.name FROM trials JOIN samples ON samples.id = trials.sample")
        return {int(name[1:]) for (name,) in names}


def integrity_of(stage: Stage) -> str:
    with closing(sqlite3.connect(stage.store)) as database:
        return str(database.execute("PRAGMA integrity_check").fetchone()[0])


@pytest.mark.parametrize(
    ("name", "spoil", "said"),
    [
        pytest.param(name, spoil, said, marks=pytest.mark.fault(name, "writing over the file", "exit 2, the file is named; a copy put back goes on"), id=name.replace(" ", "-"))
        for name, spoil, said in (
            ("damaged store", lambda data: data[:4_096] + b"\xff" * (len(data) - 4_096), "is damaged"),
            ("store cut in half", lambda data: data[: len(data) // 2 // 4_096 * 4_096], "is damaged"),
            ("letter instead of a store", lambda data: b"Dear reader, " * 1_000, "no SQLite file"),
        )
    ],
)  # fmt: skip
def test_a_damaged_store_is_named_and_a_copy_of_it_goes_on(
    stage: Stage, name: str, spoil: Callable[[bytes], bytes], said: str
) -> None:
    stage.script("agents.py", NOISY)
    assert stage.run_alone(stage.command("./agents.py:answer", "--budget", "minutes=0.000001")).code == 3
    whole = stage.store.read_bytes()
    stage.store.write_bytes(spoil(whole))
    broken = stage.run_alone(stage.go_on("--budget", "minutes=9"))
    assert broken.code == 2, broken
    assert said in broken.error
    assert str(stage.store) in broken.error
    stage.store.write_bytes(whole)
    assert_goes_on(stage, "--budget", "minutes=9")
