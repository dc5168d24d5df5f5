"""Play card games in a worker process: the official judge, its game logic and a baseline against our player; knows nothing of Proctor.

Source: THUDM/AgentBench, v0.2, commit 41e6807349f7, `src/server/tasks/card_game/task.py` and `server.py`.
"""

import json
import os
import socket
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

PLAYER = str(Path(__file__).with_name("cards_player.py"))
GIVEN_UP = "### LLM ERROR EXIT ###"  # which the official player reads as no reply
ERROR = "#[ERROR]"
SECONDS = 600  # of a whole game, officially
CONTEXT_LIMIT = 3
MOST_BYTES = 1_000_000  # of a prompt
STUBS = ("requests", "websockets")  # imported by the official code, and not used in a game


def open_game(folder: str, python: str, stage: int, base: str, seat: int) -> "Game":
    """Return a game that has begun."""
    return Game(folder, python, stage, base, seat)


def _listen(path: Path) -> tuple[socket.socket, str]:
    """Return a socket that listens, and where: a file, or `HOST:PORT` of the loopback of a worker that has no Unix sockets."""
    try:
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    except OSError:
        listening = socket.create_server(("127.0.0.1", 0), backlog=1)
        return listening, f"127.0.0.1:{listening.getsockname()[1]}"
    listening.bind(str(path))
    listening.listen(1)
    return listening, str(path)


class Game:
    """One game; a baseline has the other seat."""

    def __init__(self, folder: str, python: str, stage: int, base: str, seat: int) -> None:
        self._work = Path(tempfile.mkdtemp(dir=os.environ.get("TMPDIR")))
        self._save = self._work / "save"
        self._save.mkdir()
        for name in STUBS:
            (self._work / f"{name}.py").write_text("")
        self._seat = seat
        self._status = 0
        listening, where = _listen(self._work / "s")
        listening.settimeout(1)
        script = "basline1.py" if base == "baseline1" else "basline2.py"
        own = "+".join([python, PLAYER, folder, where, str(stage), "0", str(self._save)])
        other = f"{python}+{folder}/AI/{script}+{stage}+1+{self._save}"
        seats = (own, other) if seat == 0 else (other, own)
        command = [python, f"{folder}/judger/judger.py", f"{folder}/logic/bin/main", *seats, "config", str(self._save / "replay.json")]  # fmt: skip
        environment = {**os.environ, "PYTHONPATH": str(self._work), "PYTHONDONTWRITEBYTECODE": "1"}
        self._said, errors = (self._work / "said").open("w+b"), (self._work / "errors").open("w+b")
        self._judge = subprocess.Popen(command, cwd=self._save, env=environment, stdin=subprocess.DEVNULL, stdout=self._said, stderr=errors)  # fmt: skip  # noqa: S603
        self._player = self._joined(listening)
        if self._player is None:
            errors.seek(0)
            raise RuntimeError(f"the official player does not start: {errors.read(4_000).decode('utf-8', 'replace')[-600:]}")  # fmt: skip
        self._player.settimeout(SECONDS)

    def _joined(self, listening: socket.socket) -> socket.socket | None:
        with listening:
            while self._judge.poll() is None:
                with suppress(TimeoutError):
                    return listening.accept()[0]
        return None

    def turn(self, reply: str | None, first: bool) -> dict[str, object]:
        """Give the player a reply, none where it did not fit; return what it asks next, or how the game ended."""
        if not first:
            self._status = CONTEXT_LIMIT if reply is None else self._status
            self._send(GIVEN_UP if reply is None else reply)
        while (text := self._receive()) is not None:
            if text.startswith(ERROR):
                self._status = int(text[-1])
            elif text:
                return {"history": json.loads(text)}
        return {"status": self._status, **self._ended()}

    def _ended(self) -> dict[str, object]:
        try:
            self._judge.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self._judge.kill()
        self._said.seek(0)
        said = self._said.read(1 << 20).decode("utf-8", "replace")
        tries = {
            path.stem: [json.loads(line)["try_times"] for line in path.read_text("utf-8").splitlines()]
            for path in self._save.glob("*_process_*.jsonl")
        }
        rounds = json.loads((self._save / "replay.json").read_text("utf-8"))  # without one, the game broke
        replay = [{} for _ in rounds[:-2]] + rounds[-2:]  # what is counted: their number, and the last but one
        return {"winner": "1" if '"0" : 0' in said else "0", "replay": replay, "tries": tries}

    def _send(self, text: str) -> None:
        data = text.encode("utf-8", "replace")
        assert self._player is not None
        try:
            self._player.sendall(len(data).to_bytes(4, "big") + data)
        except OSError:
            self._player = None

    def _receive(self) -> str | None:
        head = self._read(4)
        body = None if head is None else self._read(min(int.from_bytes(head, "big"), MOST_BYTES))
        return None if body is None else body.decode("utf-8", "replace")

    def _read(self, size: int) -> bytes | None:
        data = b""
        while self._player is not None and len(data) < size:
            try:
                more = self._player.recv(size - len(data))
            except OSError:
                return None
            if not more:
                return None
            data += more
        return None if self._player is None else data
