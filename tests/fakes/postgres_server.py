"""A PostgreSQL server for tests: its own folder, on a socket only, as a user that is not root."""

import atexit
import os
import shutil
import signal
import subprocess
import tempfile
import time
import uuid
from functools import cache
from pathlib import Path

from proctor_adapters.postgresql import PostgresStore

USER = "nobody"


def binaries() -> Path | None:
    """Return the folder of the newest server that is installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[-3]))
    if found:
        return found[-1].parent
    there = shutil.which("postgres")
    return Path(there).parent if there else None


class PostgresServer:
    """Starts at once; `stop` ends it and removes its folder.

    Args:
        durable: with fsync, as the tests need that kill the server.
    """

    settings = ""  # further options of the server, from its next start on

    def __init__(self, *, durable: bool = False) -> None:
        found = binaries()
        assert found is not None, "PostgreSQL is not installed: apt-get install postgresql"
        self._binaries = found
        usual = tempfile.gettempdir()
        base = usual if len(usual) < 20 else "/tmp"  # a socket's path must be short
        self.folder = Path(tempfile.mkdtemp(prefix="proctor-pg-", dir=base))
        self.durable = durable
        if os.geteuid() == 0:
            shutil.chown(self.folder, USER)
        self._run(
            "initdb",
            "-D",
            self.folder / "data",
            "-U",
            "tester",
            "-A",
            "trust",
            "--no-sync",
            "-E",
            "UTF8",
            "--locale",
            "C",
        )
        self.start()

    def start(self) -> None:
        options = (
            f"-c listen_addresses='' -c unix_socket_directories={self.folder} -c autovacuum=off -c max_connections=60"
        )
        options += self.settings
        if not self.durable:
            options += " -c fsync=off -c full_page_writes=off"
        command = ("pg_ctl", "-D", self.folder / "data", "-w", "-l", self.folder / "log", "-o", options, "start")
        until = time.monotonic() + 60
        while True:
            try:
                self._run(*command)
            except subprocess.CalledProcessError:  # after a crash, until the last backend has noticed it
                if time.monotonic() > until:
                    raise
                time.sleep(0.05)
            else:
                return

    def kill(self) -> None:
        """Kill the server as a crash does."""
        pid = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
        os.kill(pid, signal.SIGKILL)

    def stop(self) -> None:
        self._run("pg_ctl", "-D", self.folder / "data", "-m", "immediate", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)

    def database(self) -> str:
        """Create a database and return its address."""
        import psycopg

        name = f"t{uuid.uuid4().hex}"
        with psycopg.connect(self.address("postgres"), autocommit=True) as db:
            db.execute(f"CREATE DATABASE {name}")
        return self.address(name)

    def address(self, database: str) -> str:
        return f"postgresql://tester@/{database}?host={self.folder}"

    def _run(self, program: str, *arguments: object) -> None:
        command = [str(self._binaries / program), *map(str, arguments)]
        if os.geteuid() == 0:
            command = ["setpriv", f"--reuid={USER}", "--clear-groups", *command]
        with (self.folder / "commands").open("a") as log:
            subprocess.run(command, check=True, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.folder)


@cache
def server() -> PostgresServer:
    """Return the server of this process, which ends with it."""
    started = PostgresServer()
    atexit.register(started.stop)
    return started


def store_at(folder: Path) -> PostgresStore:
    """Open the store that belongs to a folder: each has a database of its own."""
    return PostgresStore(_address(folder))


@cache
def _address(folder: Path) -> str:
    return server().database()
