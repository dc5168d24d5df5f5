"""A model file is looked at before anything starts, and a server that ends says why."""

import asyncio
import os
import signal
import struct
import sys
from pathlib import Path
from typing import Any

import pytest

from proctor.core.errors import BadInput, MissingExtra, ProviderFailed
from proctor_adapters.datasets import fetch
from proctor_adapters.models import local, local_server
from proctor_adapters.models.local_server import LocalServer

HEAD = struct.Struct("<4sIQQ")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "no GGUF file"),
        (b"GGUF", "no GGUF file"),
        (b"<html>404 not found</html>....", "no GGUF file.*<html>40"),
        (b"version https://git-lfs.github.com/spec/v1", "git-lfs"),
        (HEAD.pack(b"GGUF", 1, 3, 3), "version 1"),
        (HEAD.pack(b"GGUF", 99, 3, 3), "version 99"),
        (HEAD.pack(b"GGUF", 3, 0, 3), "0 tensors"),
        (struct.pack(">4sIQQ", b"GGUF", 3, 3, 3), "cannot be used"),
    ],
)
def test_a_file_that_is_no_usable_gguf_is_told(tmp_path: Path, data: bytes, words: str) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(data)
    with pytest.raises(BadInput, match=words):
        local.check(str(path))


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read: No such file"):
        local.check(str(tmp_path / "none.gguf"))


def test_a_misspelt_model_is_told_with_the_nearest_name() -> None:
    with pytest.raises(BadInput, match="Did you mean 'smollm2-135m'"):
        local.check("smollm-135m")


def test_a_known_model_or_a_good_head_passes(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(HEAD.pack(b"GGUF", 3, 3, 3))
    local.check("smollm2-135m")
    local.check(str(path))


def test_without_xllamacpp_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "is_installed", lambda name: False)
    with pytest.raises(MissingExtra, match=r"\[local\]"):
        local.check("smollm2-135m")


def test_a_known_model_is_taken_out_of_its_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(HEAD.pack(b"GGUF", 3, 3, 3))
    asked: list[fetch.Package] = []

    def pull(package: fetch.Package, **options: Any) -> Path:
        asked.append(package)
        return path

    monkeypatch.setattr(fetch, "pull", pull)
    assert local.file_of("smollm2-135m") == path
    assert asked == [local.MODELS["smollm2-135m"]]


FAKE = """
import sys
print({first!r}, flush=True)
print("loading", "x" * 1_000_000, file=sys.stderr)
print("out of memory", file=sys.stderr, flush=True)
{then}
"""


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Puts a small program in the place of llama.cpp's server."""
    real = asyncio.create_subprocess_exec

    def put(first: str, then: str) -> None:
        async def start(*command: str, **options: Any) -> asyncio.subprocess.Process:
            return await real(sys.executable, "-c", FAKE.format(first=first, then=then), **options)

        monkeypatch.setattr(asyncio, "create_subprocess_exec", start)

    return put


async def test_a_server_that_does_not_start_says_why(fake: Any, tmp_path: Path) -> None:
    fake("", "sys.exit(1)")
    server = LocalServer(tmp_path / "m.gguf", name="m")
    with pytest.raises(BadInput, match=r"could not be loaded.*out of memory") as caught:
        await server.start()
    assert len(str(caught.value)) < 3_000
    assert not server.running


async def test_a_server_that_takes_too_long_is_ended(
    fake: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(local_server, "START_SECONDS", 0.3)
    fake("", "")
    slow = LocalServer(tmp_path / "m.gguf", name="m")

    async def never(process: object) -> str:
        await asyncio.sleep(60)
        return ""

    monkeypatch.setattr(slow, "_first_line", never)
    with pytest.raises(BadInput, match="did not start within"):
        await slow.start()
    assert not slow.running


async def test_a_server_that_ends_while_it_is_asked_is_told_at_once(fake: Any, tmp_path: Path) -> None:
    fake("http://127.0.0.1:1", "import time; time.sleep(0.2); sys.exit(7)")
    async with LocalServer(tmp_path / "m.gguf", name="m") as server:
        with pytest.raises(ProviderFailed, match=r"ended with code 7: .*out of memory") as caught:
            await server.watched(asyncio.sleep(60))
    assert caught.value.kind == "server_ended"


async def test_a_failure_of_the_connection_is_told_as_the_end_of_the_server(fake: Any, tmp_path: Path) -> None:
    async def asks() -> None:
        raise ProviderFailed("Connection refused.")

    fake("http://127.0.0.1:1", "import time; time.sleep(0.2); sys.exit(7)")
    async with LocalServer(tmp_path / "m.gguf", name="m") as server:
        with pytest.raises(ProviderFailed, match="ended with code 7"):
            await server.watched(asks())


async def test_results_and_failures_of_a_running_server_pass(fake: Any, tmp_path: Path) -> None:
    async def asks(fail: bool) -> int:
        if fail:
            raise ValueError("mine")
        return 42

    fake("http://127.0.0.1:1", "sys.stdin.read()")
    async with LocalServer(tmp_path / "m.gguf", name="m") as server:
        assert server.address == "http://127.0.0.1:1"
        assert await server.watched(asks(False)) == 42
        with pytest.raises(ValueError, match="mine"):
            await server.watched(asks(True))
    assert not server.running


async def test_a_server_that_does_not_end_is_killed(fake: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(local_server, "STOP_SECONDS", 0.2)
    fake("http://127.0.0.1:1", "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)")
    async with LocalServer(tmp_path / "m.gguf", name="m") as server:
        assert server.running
    assert not server.running


async def test_nothing_can_be_asked_of_a_server_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ProviderFailed, match="not running"):
        await LocalServer(tmp_path / "m.gguf", name="m").watched(asyncio.sleep(0))


@pytest.mark.model
@pytest.mark.slow
async def test_a_real_server_serves_and_its_end_is_told() -> None:
    path = await asyncio.to_thread(local.file_of, "smollm2-135m")
    async with LocalServer(path, name="smollm2-135m") as server:
        assert server.address.startswith("http://127.0.0.1:")
        assert server.process_id is not None
        os.kill(server.process_id, signal.SIGKILL)
        with pytest.raises(ProviderFailed, match="ended with code -9"):
            await server.watched(asyncio.sleep(60))
        await server.start()
        assert server.running


@pytest.mark.model
@pytest.mark.slow
async def test_a_file_cut_short_is_told_by_the_real_server(tmp_path: Path) -> None:
    whole = await asyncio.to_thread(local.file_of, "smollm2-135m")
    path = tmp_path / "cut.gguf"
    with whole.open("rb") as file:
        path.write_bytes(file.read(5_000_000))
    with pytest.raises(BadInput, match=r"could not be loaded: .*file bounds.*cut\.gguf"):
        await LocalServer(path, name="cut").start()
