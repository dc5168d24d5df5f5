"""A box of this machine's own programs: what it holds, and what it keeps away."""

import asyncio
import io
import os
import socket
import tarfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
import uvloop

from proctor.core.errors import EnvironmentFailed
from proctor_benchmarks.boxes import control_groups, namespace
from proctor_benchmarks.boxes.archives import archive_of, check_archive, read_files
from proctor_benchmarks.boxes.bubblewrap import BubblewrapBox
from proctor_benchmarks.boxes.contract import BoxLimits, CommandResult, TooMuch
from proctor_benchmarks.boxes.namespace import lacks

pytestmark = pytest.mark.skipif(bool(lacks()), reason=f"needs {lacks()}")
LIMITS = BoxLimits(memory_mb=256, disk_mb=64, processes=64, output_bytes=1_000)


@pytest.fixture
async def box() -> AsyncIterator[BubblewrapBox]:
    async with BubblewrapBox(LIMITS) as opened:
        yield opened


async def sh(box: BubblewrapBox, command: str, seconds: float = 10.0, user: str | None = None) -> CommandResult:
    return await box.run(["bash", "-c", command], seconds, user=user)


async def test_commands_have_results_whatever_becomes_of_them(box: BubblewrapBox) -> None:
    told = await sh(box, "echo hello; exit 3")
    assert (told.code, told.output, told.was_late) == (3, "hello\n", False)
    late = await sh(box, "echo begun; sleep 60", 0.5)
    assert (late.was_late, late.head) == (True, "begun\n")
    much = await sh(box, "seq 100000")
    assert (much.head[:4], much.tail[-7:], much.dropped_bytes > 500_000) == ("1\n2\n", "100000\n", True)
    assert (await box.run(["none"], 5)).code == 126
    assert (await box.run(["echo", "a" * 200_000], 5)).code == 126


async def test_what_it_may_use_is_bounded(box: BubblewrapBox) -> None:
    if "memory_mb" not in box.not_held:
        assert (await sh(box, "python3 -c 'bytearray(600 << 20)'")).was_out_of_memory
    assert "No space" in (await sh(box, "head -c 200M /dev/zero > ~/x; rm ~/x")).output
    await sh(box, "for i in $(seq 200); do sleep 30 & done", 5)
    assert (await sh(box, "echo still here")).output.strip().endswith("still here")


async def test_it_reaches_nothing_outside(box: BubblewrapBox) -> None:
    with socket.socket(socket.AF_UNIX) as abstract, socket.create_server(("127.0.0.1", 0)) as server:
        abstract.bind("\0proctor-probe")
        abstract.listen()
        port = server.getsockname()[1]
        probe = f"""
import socket
def reach(family, address):
    try:
        with socket.socket(family) as s:
            s.settimeout(1); s.connect(address)
    except OSError as error:
        return "refused"
    return "reached"
print(reach(socket.AF_UNIX, "\\0proctor-probe"), reach(socket.AF_INET, ("127.0.0.1", {port})), reach(socket.AF_INET, ("169.254.169.254", 80)), reach(socket.AF_INET, ("1.1.1.1", 53)), reach(socket.AF_INET6, ("2606:4700:4700::1111", 53)))
"""
        result = await box.run(["python3", "-c", probe], 20)
    assert result.output.split() == ["refused"] * 5
    assert (await sh(box, "getent hosts example.com")).code != 0
    assert (await sh(box, "find / -xdev -type s 2>/dev/null; ls -d ~/.ssh /var/run/docker.sock 2>/dev/null")).head == ""
    assert (await sh(box, "kill -9 1; mount -t tmpfs none /mnt; mknod ~/d b 7 0")).code != 0
    assert (await sh(box, "unshare -Urm true")).code != 0


async def test_files_go_up_and_down_and_links_out_stay(box: BubblewrapBox) -> None:
    await box.put(archive_of({"app/a.txt": (b"A", 0o644)}))
    await sh(
        box, "cd /app; ln -s /etc/shadow out; ln -s a.txt in; ln -s /usr/bin/env env; chmod u+s a.txt; mkfifo pipe"
    )
    checked = check_archive(await box.take(["/app", "/none"]), ["/app"])
    assert sorted(checked.left_out) == ["/app/out"]
    assert read_files(checked.archive, 100) == {"/app/a.txt": b"A"}
    with pytest.raises(TooMuch):
        await box.take(["/app"], most_bytes=0)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a box several users")
async def test_a_command_may_run_as_another_user(box: BubblewrapBox) -> None:
    assert (await sh(box, "whoami; d=/root; touch $d/x", user="nobody")).head.splitlines()[0] == "nobody"
    assert (await sh(box, "whoami", user="ghost")).code == 126


async def test_nothing_is_left_when_it_is_over() -> None:
    async with BubblewrapBox(LIMITS) as opened:
        await sh(opened, "setsid sleep 4321 & disown")
        assert _comes_to(lambda: bool(_processes("4321")))
    assert _comes_to(lambda: not _processes("4321"))
    assert not [path for path in Path("/sys/fs/cgroup").rglob(f"proctor-box-{os.getpid()}-*") if path.is_dir()]


def _comes_to(state: Callable[[], bool]) -> bool:
    """Wait, for half a minute at most, for what the kernel does in its own time."""
    for _ in range(600):
        if state():
            return True
        time.sleep(0.05)
    return False


def _processes(word: str) -> list[str]:
    def commands() -> Iterator[str]:
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                yield path.read_text("utf-8", "replace")
            except OSError:
                continue

    return [command for command in commands() if command.startswith("sleep") and word in command]


def test_hostile_archives_lose_what_leads_out() -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, kind, target in (
            ("../../etc/cron.d/x", tarfile.REGTYPE, ""),
            ("app/dev", tarfile.CHRTYPE, ""),
            ("app/link", tarfile.SYMTYPE, "../tests"),
            ("app/link/test.sh", tarfile.REGTYPE, ""),
            ("app/hard", tarfile.LNKTYPE, "etc/passwd"),
            ("app/fine", tarfile.SYMTYPE, "a"),
            ("app/d/e/c", tarfile.SYMTYPE, "/usr/lib"),  # with the next one: /usr/lib/../../tests
            ("app/d/e/x", tarfile.SYMTYPE, "c/../../tests"),
            ("app/out.txt", tarfile.SYMTYPE, "d/e/x/expected.txt"),
            ("app/d/e/up", tarfile.SYMTYPE, "../../a"),
            ("app/d/e/root", tarfile.SYMTYPE, "/app/d/../../tests"),
            (
                "app/d/e/moved",
                tarfile.SYMTYPE,
                "../../tests/expected.txt",
            ),  # leads elsewhere from where the next one is
            ("app/twin", tarfile.LNKTYPE, "app/d/e/moved"),
            ("app/far", tarfile.LNKTYPE, "app/d/e/c/../../tests/expected.txt"),
        ):
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = kind, target
            archive.addfile(entry)
    checked = check_archive(buffer.getvalue(), ["/app"])
    assert set(checked.left_out) == {"/../../etc/cron.d/x", "/app/dev", "/app/link", "/app/link/test.sh", "/app/hard", "/app/d/e/x", "/app/d/e/root", "/app/twin", "/app/far"}  # fmt: skip


async def test_a_box_whose_users_could_make_namespaces_is_not_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    if not namespace.has_users():
        pytest.skip("only root gives boxes users of their own")
    monkeypatch.setattr(namespace, "_NAMESPACES", "/proc/sys/user/max_net_namespaces; echo 7 #")
    with pytest.raises(EnvironmentFailed, match="max_net_namespaces"):
        async with BubblewrapBox(LIMITS):
            pass


def test_a_group_that_does_not_hold_its_bounds_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Path.mkdir

    def make_folder(folder: Path) -> None:
        real(folder)
        for name in ("memory.max", "memory.swap.max", "pids.max"):
            real(folder / name) if name == refused else (folder / name).write_text("max", "ascii")

    monkeypatch.setattr(control_groups, "_parents", lambda: [tmp_path])
    monkeypatch.setattr(Path, "mkdir", make_folder)
    refused = "memory.swap.max"
    assert control_groups.make_group(64, 8) is not None
    refused = "pids.max"
    assert control_groups.make_group(64, 8) is None


def test_what_is_asked_of_a_dead_box_fails_as_its_death_on_each_loop() -> None:
    async def ask_the_dead() -> None:
        first = namespace.Namespace(1_000_000)
        first._process = await asyncio.create_subprocess_exec("cat", stdin=-1, stdout=-1, stderr=-1)
        assert first._process.stdin is not None
        first._process.stdin.close()
        await first._process.stdin.wait_closed()
        with pytest.raises(EnvironmentFailed):
            await first.ask("run", 5)
        await first.end()

    for factory in (asyncio.new_event_loop, uvloop.new_event_loop):
        with asyncio.Runner(loop_factory=factory) as runner:
            runner.run(ask_the_dead())
