"""What every box promises, on each backend that this machine has: bubblewrap, and real engines of docker and podman."""

import io
import os
import signal
import socket
import subprocess
import tarfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager
from typing import cast

import pytest
from machine_image import import_image

from proctor.core.errors import EnvironmentDied
from proctor_benchmarks.boxes import engines
from proctor_benchmarks.boxes.archives import archive_of, check_archive, read_files
from proctor_benchmarks.boxes.bubblewrap import BubblewrapBox
from proctor_benchmarks.boxes.contract import Box, BoxLimits, CommandResult, TooMuch
from proctor_benchmarks.boxes.engines import LABEL, Engine, EngineBox, own_limits, owner_of_boxes, start_arguments

LIMITS = BoxLimits(memory_mb=256, disk_mb=64, processes=64, output_bytes=1_000)


def new_box(backend: str, limits: BoxLimits = LIMITS) -> AbstractAsyncContextManager[Box]:
    if backend == "bubblewrap":
        return BubblewrapBox(limits)
    engine = cast("Engine", backend)
    return EngineBox(engine, import_image(engine), limits)


@pytest.fixture
async def box(backend: str) -> AsyncIterator[Box]:
    async with new_box(backend) as opened:
        yield opened


async def sh(box: Box, command: str, seconds: float = 20.0, user: str | None = None) -> CommandResult:
    return await box.run(["bash", "-c", command], seconds, user=user)


KILL = "for p in /proc/[0-9]*; do grep -qzx 4323 $p/cmdline && id=${{p#/proc/}}; done; kill {} $id"


async def test_commands_have_results_whatever_becomes_of_them(box: Box) -> None:
    ended = await box.run(["sh", "-c", "echo $X; pwd; exit 3"], 20, folder="/tmp", variables={"X": "y z"})
    assert (ended.code, ended.output, ended.was_late) == (3, "y z\n/tmp\n", False)
    late = await sh(box, "echo begun; sleep 60", 0.5)
    assert (late.was_late, late.code, late.head) == (True, 137, "begun\n")
    stubborn = await sh(box, "trap '' TERM; echo begun; while true; do sleep 1; done", 0.5)
    assert (stubborn.was_late, stubborn.code, stubborn.seconds < 15) == (True, 137, True)
    killed = await sh(box, "kill -9 $$")
    assert (killed.code, killed.was_late, killed.was_out_of_memory) == (137, False, False)
    much = await sh(box, "seq 100000")
    assert (much.head[:4], much.tail[-7:], much.dropped_bytes > 500_000) == ("1\n2\n", "100000\n", True)
    assert (await box.run(["none"], 20)).code in (126, 127)
    assert (await sh(box, "echo here", user="ghost")).code != 0
    background = await sh(box, "(sleep 1; echo done > /tmp/done) > /dev/null 2>&1 & echo begun")
    assert background.head == "begun\n"
    assert (await sh(box, "sleep 2; cat /tmp/done")).head == "done\n"


async def test_memory_and_processes_are_bounded_together(box: Box) -> None:
    if {"memory_mb", "processes"} & set(box.not_held):
        pytest.skip("needs control groups")
    assert (await sh(box, "python3 -c 'bytearray(600 << 20)'")).was_out_of_memory
    halves = (
        "for i in 1 2 3 4; do python3 -c 'import time; x = bytearray(100 << 20); time.sleep(5)' & done; wait; echo over"
    )
    assert (await sh(box, halves)).was_out_of_memory
    many = await sh(box, "for i in $(seq 200); do sleep 30 & done; echo all", 15)
    assert (await sh(box, "echo still here")).head.strip().endswith("still here"), many


async def test_processes_that_have_ended_are_not_counted(box: Box) -> None:
    for _ in range(5):
        await sh(box, "for i in $(seq 30); do (sleep 0.1 > /dev/null 2>&1 &); done; sleep 0.5")
    after = await sh(box, "echo a | cat | cat | cat; ls /proc | grep -c '^[0-9]'")
    assert after.head.startswith("a\n"), after
    assert int(after.head.split()[1]) < 20


async def test_files_go_up_and_down_and_links_out_stay(box: Box) -> None:
    await box.put(archive_of({"app/a.txt": (b"A", 0o644)}))
    await box.put(archive_of({"app/new/folder/deep/b.txt": (b"B", 0o755)}))
    await sh(
        box, "cd /app; ln -s /etc/shadow out; ln -s a.txt in; ln -s /usr/bin/env env; mkfifo pipe; touch 'with space'"
    )
    checked = check_archive(await box.take(["/app", "/none"]), ["/app"])
    assert "/app/out" in checked.left_out
    assert read_files(checked.archive, 100) == {
        "/app/a.txt": b"A",
        "/app/new/folder/deep/b.txt": b"B",
        "/app/with space": b"",
    }
    with tarfile.open(fileobj=io.BytesIO(checked.archive)) as archive:
        assert {entry.name: entry.mode & 0o111 for entry in archive if entry.name.endswith(".txt")} == {
            "app/a.txt": 0,
            "app/new/folder/deep/b.txt": 0o111,
        }
    with pytest.raises(TooMuch):
        await box.take(["/app"], most_bytes=0)
    await box.put(archive_of({}))


async def test_processes_are_listed_until_they_have_ended_whatever_a_command_makes_of_its_programs(box: Box) -> None:
    assert await box.list_processes() == frozenset()
    await sh(box, "(setsid sleep 4323 > /dev/null 2>&1 &)")
    left = await box.list_processes()
    assert len(left) == 1
    await sh(box, "mkdir -p /usr/local/sbin; echo '#!/bin/bash' > /usr/local/sbin/ps; chmod +x /usr/local/sbin/ps")
    await sh(box, KILL.format("-STOP") + "; cp /usr/local/sbin/ps /usr/local/sbin/sh; (setsid -f sleep 4324)")
    assert left < await box.list_processes()
    await sh(box, KILL.format("-KILL") + "; sleep 1")
    assert left.isdisjoint(await box.list_processes())


async def test_all_that_commands_left_running_is_ended_and_the_files_stay(box: Box) -> None:
    await sh(box, "setsid sleep 4321 > /dev/null 2>&1 & touch /app-file")
    await box.stop_processes()
    assert read_files(await box.take(["/app-file"]), 100) == {"/app-file": b""}
    await box.put(archive_of({"app/late.txt": (b"", 0o644)}))
    assert "4321" not in (await sh(box, "cat /proc/[0-9]*/cmdline | tr '\\0' ' '")).head.replace("cat /proc", "")
    assert (await sh(box, "ls /app-file")).code == 0


PROBE = """
import socket
def reach(family, address):
    try:
        with socket.socket(family) as s:
            s.settimeout(1); s.connect(address)
    except OSError as error:
        return "refused"
    return "reached"
print(reach(socket.AF_UNIX, "\\0proctor-probe"), reach(socket.AF_INET, ("127.0.0.1", PORT)), reach(socket.AF_INET, ("169.254.169.254", 80)), reach(socket.AF_INET, ("192.0.2.1", 53)), reach(socket.AF_INET6, ("2001:db8::1", 53)))
"""


@pytest.fixture
def listening() -> Iterator[int]:
    with socket.socket(socket.AF_UNIX) as abstract, socket.create_server(("127.0.0.1", 0)) as server:
        abstract.bind("\0proctor-probe")
        abstract.listen()
        yield server.getsockname()[1]


async def test_it_reaches_nothing_outside(box: Box, listening: int) -> None:
    result = await box.run(["python3", "-c", PROBE.replace("PORT", str(listening))], 30)
    assert result.output.split() == ["refused"] * 5
    assert (await sh(box, "python3 -c 'import socket; socket.getaddrinfo(\"example.com\", 80)'")).code != 0
    assert (await sh(box, "ls -d ~/.ssh /var/run/docker.sock /run/podman/podman.sock 2>/dev/null")).head == ""
    for command in (
        "mount -t tmpfs none /tmp",
        "mknod /d b 7 0 && cat /d",
        "unshare -Urm true",
        "echo x > /proc/sysrq-trigger",
    ):
        assert (await sh(box, command)).code != 0, command


async def test_a_command_may_run_as_another_user(box: Box) -> None:
    user = "nobody" if box.backend == "bubblewrap" else "plain"
    assert (await sh(box, "whoami; touch /etc/x 2> /dev/null || echo may not", user=user)).head == f"{user}\nmay not\n"


async def test_a_box_that_is_gone_is_no_result_of_a_command(box: Box) -> None:
    if box.backend == "bubblewrap":
        for line in _processes("ppid,pid,args").splitlines():
            parent, process, command = line.split(maxsplit=2)
            if parent == str(os.getpid()) and "bwrap" in command:
                os.kill(int(process), signal.SIGKILL)
    else:
        subprocess.run([box.backend, "rm", "-f", *_containers(box.backend)], check=True, capture_output=True)  # noqa: ASYNC221
    with pytest.raises(EnvironmentDied):
        await sh(box, "true")


async def test_a_box_takes_nothing_with_it(backend: str) -> None:
    async with new_box(backend) as opened:
        await sh(opened, "setsid sleep 4322 > /dev/null 2>&1 &")
    deadline = time.monotonic() + 10
    while "sleep 4322" in _processes() and time.monotonic() < deadline:
        time.sleep(0.1)  # noqa: ASYNC251 - the kernel ends them meanwhile
    assert "sleep 4322" not in _processes()
    if backend != "bubblewrap":
        assert _containers(backend) == []


async def test_the_box_of_a_dead_process_is_removed_and_that_of_a_live_one_is_not(backend: str) -> None:
    if backend == "bubblewrap":
        return  # it ends with its process
    engine = cast("Engine", backend)
    names = [f"proctor-test-{os.getpid()}-{owner}" for owner in ("dead", "ours")]
    for name, owner in zip(names, (f"{socket.gethostname()}:4194303", owner_of_boxes()), strict=True):
        arguments = start_arguments(name, import_image(engine), LIMITS)
        words = [f"{LABEL}={owner}" if word.startswith(LABEL) else word for word in arguments]
        own = own_limits() if backend == "podman" else []
        subprocess.run([backend, words[0], *own, *words[1:]], check=True, capture_output=True)  # noqa: ASYNC221
    engines._cleared.discard(engine)
    try:
        await engines.remove_left_boxes(engine)
        listed = subprocess.run([backend, "ps", "-a", "--format", "{{.Names}}"], check=True, capture_output=True, text=True).stdout  # noqa: ASYNC221  # fmt: skip
    finally:
        for name in names:
            subprocess.run([backend, "rm", "-f", name], check=False, capture_output=True)  # noqa: ASYNC221
    assert [name for name in names if name in listed.split()] == names[1:]


def _processes(columns: str = "args") -> str:
    return subprocess.run(["ps", "axwwo", columns], check=True, capture_output=True, text=True).stdout


def _containers(engine: str) -> list[str]:
    """Return the containers of this process."""
    command = [engine, "ps", "-aq", "--filter", f"label={LABEL}={owner_of_boxes()}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
