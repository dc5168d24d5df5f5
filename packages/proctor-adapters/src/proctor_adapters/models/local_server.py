"""llama.cpp's server as a subprocess, through xllamacpp.

One thread by default, and `OMP_WAIT_POLICY=passive` always: on shared cores two threads that spin at a barrier
made a reply of 0.7 s take 12 s.
"""

import asyncio
import contextlib
import json
import os
import secrets
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Self, TypeVar

from proctor.core.errors import BadInput, ProviderFailed
from proctor.runtime.program import reap, start_whole, state_of_process

T = TypeVar("T")

START_SECONDS = 120.0
STOP_SECONDS = 5.0
END_SECONDS = 0.5
LOG_BYTES = 2_000


class LocalServer:
    """llama.cpp's server for one model file, on the loopback address and a free port.

    It ends when we do, however we end: it reads its standard input until that closes. The key keeps others on
    this machine out; it goes through standard input, as a command line can be read by all.
    """

    def __init__(self, path: Path, *, name: str, threads: int = 1, slots: int = 1, context_tokens: int = 8_192) -> None:
        self.address = ""
        self.key = secrets.token_hex(16)
        self._settings = {
            "path": str(path),
            "alias": name,
            "threads": threads,
            "slots": slots,
            "context_tokens": context_tokens,
        }
        self._process: asyncio.subprocess.Process | None = None
        self._log = b""
        self._reader: asyncio.Task[None] | None = None

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.returncode is None

    @property
    def process_id(self) -> int | None:
        return self._process.pid if self._process is not None else None

    async def start(self) -> None:
        """Start the server and wait until it answers.

        Raises:
            BadInput: it does not start; the last lines of its log are in the message.
        """
        await self.stop()
        starting = asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "proctor_adapters.models._llama"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "OMP_WAIT_POLICY": "passive"},
            start_new_session=True,  # Ctrl-C is ours to handle
        )
        self._process = await start_whole(starting, state_of_process)
        self._reader = asyncio.create_task(self._read_log(self._process))
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({**self._settings, "key": self.key}).encode() + b"\n")
        try:
            async with asyncio.timeout(START_SECONDS):
                self.address = await self._first_line(self._process)
        except TimeoutError:
            await self.stop()
            raise BadInput(
                "The model {path} did not start within {seconds} seconds.",
                path=self._settings["path"],
                seconds=f"{START_SECONDS:g}",
            ) from None
        except BaseException:
            await self.stop()
            raise
        if not self.address:
            await self.stop()
            raise BadInput(
                "The model {path} could not be loaded: {log}", path=self._settings["path"], log=self._last_words()
            )

    async def stop(self) -> None:
        """End the server; waits a moment, then kills it."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(STOP_SECONDS):
                    await process.wait()
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await reap(process)
        if self._reader is not None:
            await self._reader

    async def watched(self, work: Coroutine[object, object, T]) -> T:
        """Return the result of `work`, which talks to the server.

        Raises:
            ProviderFailed: the server ended meanwhile; nobody waits for the retries of a connection then.
        """
        if self._process is None:
            work.close()
            raise ProviderFailed("The local model's server is not running.", kind="server_ended")
        process = self._process
        asked = asyncio.ensure_future(work)
        ended = asyncio.ensure_future(process.wait())
        try:
            await asyncio.wait({asked, ended}, return_when=asyncio.FIRST_COMPLETED)
            if asked.done() and asked.exception() is not None:  # perhaps because the server is just ending
                await asyncio.wait({ended}, timeout=END_SECONDS)
            if ended.done() and (not asked.done() or asked.exception() is not None):
                if self._reader is not None:
                    await asyncio.wait({self._reader}, timeout=END_SECONDS)
                raise ProviderFailed(
                    "The local model's server ended with code {code}: {log}",
                    kind="server_ended",
                    code=process.returncode,
                    log=self._last_words(),
                )
            return asked.result()
        finally:
            asked.cancel()
            ended.cancel()
            await asyncio.wait({asked, ended})

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def _first_line(self, process: asyncio.subprocess.Process) -> str:
        assert process.stdout is not None
        return (await process.stdout.readline()).decode("ascii", "replace").strip()

    async def _read_log(self, process: asyncio.subprocess.Process) -> None:
        assert process.stderr is not None
        while chunk := await process.stderr.read(1 << 16):
            self._log = (self._log + chunk)[-LOG_BYTES:]

    def _last_words(self) -> str:
        lines = self._log.decode("utf-8", "replace").splitlines()
        words = " | ".join(line.strip() for line in lines if line.strip())
        return "".join(character if character.isprintable() else "\ufffd" for character in words) or "-"
