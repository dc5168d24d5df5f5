"""Workers: what a call returns, where it runs, and how several share them."""

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from proctor.core.errors import BadInput, EnvironmentFailed
from proctor.isolation import WorkerLimits, WorkerRaised, Workers, child, find_packages
from proctor.isolation.workers import default_size

PROGRAM = Path(__file__).parent / "worker_program_of_tests.py"


@pytest.fixture
async def workers() -> AsyncIterator[Workers]:
    async with Workers(PROGRAM, size=2) as workers:
        yield workers


@pytest.fixture
def confined() -> None:
    """Skip where the machine makes no namespaces."""
    if subprocess.run(["unshare", "--user", "--net", "--pid", "--fork", "true"], check=False).returncode:
        pytest.skip("needs namespaces")


async def test_arguments_and_values_are_json(workers: Workers) -> None:
    values: dict[str, Any] = {"a": [1, 2.5, None, True], "text": "é\n中", "large": 10**40, "function": {"call": 1}}
    assert await workers.run("echo", **values) == values


async def test_what_a_function_raises_is_raised_with_its_name(workers: Workers) -> None:
    with pytest.raises(WorkerRaised, match="TypeError") as raised:
        await workers.run("counter")
    assert raised.value.type == "TypeError"
    assert "start" in raised.value.message
    for name, type in (("no_such", "AttributeError"), ("_private", "AttributeError"), ("no_json", "TypeError"), ("not_a_number", "ValueError"), ("deep", "RecursionError"), ("leaves", "SystemExit")):  # fmt: skip
        with pytest.raises(WorkerRaised) as raised:
            await workers.run(name)
        assert raised.value.type == type
    assert await workers.run("echo") == {}


async def test_an_argument_may_hold_a_lone_surrogate(workers: Workers) -> None:
    assert await workers.run("number_of_lines", text="\ud800\n", seconds=0) == 1


async def test_an_instance_stays_in_its_worker(workers: Workers) -> None:
    one, other = await workers.open("counter", start=1), await workers.open("counter", start=100)
    assert [await one.call("add", by=1), await other.call("add", by=1), await one.call("add", by=1)] == [2, 101, 3]
    with pytest.raises(WorkerRaised, match="no such thing"):
        await one.call("raises")
    assert await one.call("add", by=0) == 4
    await one.close()
    with pytest.raises(EnvironmentFailed, match="closed"):
        await one.call("add", by=1)


async def test_instances_are_spread_over_the_workers_and_calls_wait_their_turn(workers: Workers) -> None:
    instances = [await workers.open("counter", start=0) for _ in range(8)]
    pids = [await instance.call("does", what="pid") for instance in instances]
    assert len(set(pids)) <= 2
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(instances[n % 8].call("add", by=1)) for n in range(400)]
    assert sorted(task.result() for task in tasks) == sorted(list(range(1, 51)) * 8)


async def test_what_is_called_at_once_runs_at_once(workers: Workers) -> None:
    await asyncio.wait([asyncio.create_task(workers.run("number_of_lines", text="", seconds=0.05)) for _ in range(2)])
    took: list[float] = []
    while min(took, default=1.0) >= 0.9 and len(took) < 10:  # the machine may be busy at some of them, not at all
        started = time.monotonic()
        calls = [workers.run("number_of_lines", text="", seconds=0.5) for _ in range(2)]
        await asyncio.wait([asyncio.create_task(call) for call in calls])
        took.append(time.monotonic() - started)
    assert min(took) < 0.9


async def test_what_a_program_prints_is_read_and_thrown_away(workers: Workers) -> None:
    with pytest.raises(WorkerRaised, match="EOFError"):
        await workers.run("prints")
    assert await workers.run("echo") == {}


async def test_a_worker_sees_nothing_of_ours(workers: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-user")
    seen = await workers.run("looks_around")
    assert "sk-of-the-user" not in str(seen)
    assert set(seen["environment"]) <= {"PYTHONHASHSEED", "LANG", "PATH", "HOME", "TMPDIR", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "LC_CTYPE"}  # fmt: skip
    assert not [name for name in seen["modules"] if name.partition(".")[0] in ("proctor", "msgspec", "site")]
    assert seen["folder"] == seen["environment"]["HOME"]
    assert Path(seen["folder"]).name.startswith("proctor-worker-")


async def test_a_worker_has_variables_and_packages_only_where_they_are_given() -> None:
    async with Workers(PROGRAM, size=1) as workers:
        with pytest.raises(WorkerRaised, match="No module named 'msgspec'"):
            await workers.run("imports", name="msgspec")
    async with Workers(PROGRAM, size=1, paths=find_packages("msgspec"), variables={"GIVEN": "1"}) as workers:
        assert await workers.run("imports", name="msgspec") == "msgspec"
        assert (await workers.run("looks_around"))["environment"]["GIVEN"] == "1"


def test_a_package_that_is_not_installed_is_bad_input() -> None:
    with pytest.raises(BadInput, match="'no_such_package' is not installed"):
        find_packages("msgspec", "no_such_package")


async def test_a_worker_has_no_network(workers: Workers, confined: None) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        with pytest.raises(WorkerRaised, match="refused"):  # by the loopback of its own
            await workers.run("connects", port=server.getsockname()[1])
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()


async def test_a_worker_writes_into_its_folder_only(workers: Workers, confined: None, tmp_path: Path) -> None:
    assert await workers.run("writes", path="here") == 1_000
    for path in (tmp_path / "there", PROGRAM.parent / "there", "/dev/shm/there"):
        with pytest.raises(WorkerRaised, match="Read-only"):
            await workers.run("writes", path=str(path))
    with pytest.raises(WorkerRaised, match="OSError"):
        await workers.run("fills", megabytes=100)


async def test_a_program_that_cannot_be_imported_is_said_each_time(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("import no_such_module\n", encoding="utf-8")
    async with Workers(tmp_path / "broken.py", size=1) as workers:
        for _ in range(3):
            with pytest.raises(WorkerRaised, match="ModuleNotFoundError: No module named 'no_such_module'"):
                await workers.run("anything")


async def test_workers_can_be_entered_several_times_and_again(workers: Workers) -> None:
    pid = await workers.run("pid")
    async with workers:
        assert await workers.run("pid") == pid
    assert await workers.run("pid") == pid
    again = Workers(PROGRAM, size=1)
    for _ in range(2):
        async with again:
            assert await again.run("echo") == {}
    with pytest.raises(RuntimeError, match="enter"):
        await again.run("echo")


def test_workers_work_under_uvloop() -> None:
    uvloop = pytest.importorskip("uvloop")

    async def main() -> Any:
        async with Workers(PROGRAM, size=2) as workers:
            instance = await workers.open("counter", start=1)
            with pytest.raises(EnvironmentFailed):
                await workers.run("exits")
            return await instance.call("add", by=1)

    assert uvloop.run(main()) == 2


def test_there_are_as_many_workers_as_cores_and_as_memory_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    assert default_size(WorkerLimits()) * WorkerLimits().memory_bytes <= 1.5 * 2**30
    assert default_size(WorkerLimits(memory_bytes=2**34)) == 1
    monkeypatch.setenv("PROCTOR_ISOLATED_WORKERS", "5")
    assert default_size(WorkerLimits()) == 5
    monkeypatch.setenv("PROCTOR_ISOLATED_WORKERS", "0")
    with pytest.raises(BadInput, match="PROCTOR_ISOLATED_WORKERS has to be a number from 1, not '0'"):
        default_size(WorkerLimits())


async def test_a_worker_that_cannot_be_started_fails_its_call_only(
    workers: Workers, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("tempfile.tempdir", str(tmp_path / "not there"))
        with pytest.raises(EnvironmentFailed, match="--concurrency") as failed:
            await workers.run("echo")
    assert failed.value.kind == "machine"
    assert await workers.run("echo") == {}


async def test_a_reply_that_came_while_our_own_loop_was_blocked_counts() -> None:
    async with Workers(PROGRAM, size=1, limits=WorkerLimits(seconds=1.0)) as workers:
        assert await workers.run("echo") == {}
        call = asyncio.create_task(workers.run("number_of_lines", text="", seconds=0.1))
        asyncio.get_running_loop().call_later(0.05, time.sleep, 1.5)
        assert await call == 0


WITHOUT = """
import asyncio, logging, subprocess, sys, tempfile
from pathlib import Path
from proctor.isolation import Workers, confine

logging.basicConfig(format="%(message)s")

async def main():
    for _ in range(2):
        async with Workers(Path(sys.argv[1]), size=1) as workers:
            assert await workers.run("echo", a=1) == {"a": 1}
            assert "OPENAI_API_KEY" not in (await workers.run("looks_around"))["environment"]

asyncio.run(main())
done = subprocess.run(confine(["echo", "ran"], tempfile.mkdtemp()), capture_output=True, text=True)
assert (done.returncode, done.stdout) == (1, "")
assert "cannot confine a command" in done.stderr
"""


def test_a_worker_removes_its_folder_where_the_parent_ended_before_it_said_anything(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    ended = subprocess.run([sys.executable, child.__file__, str(folder)], stdin=subprocess.DEVNULL, check=False)
    assert ended.returncode == 1
    assert not folder.exists()


def test_where_there_are_no_namespaces_workers_work_and_it_is_said_once(confined: None) -> None:
    forbid = 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"'
    command = ["unshare", "--user", "--map-root-user", "sh", "-c", forbid, "sh", sys.executable, "-c", WITHOUT]
    done = subprocess.run([*command, str(PROGRAM)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("This machine gives worker processes no namespaces of their own") == 1
    assert "can use the network" in done.stderr
