"""Run the official player of the card game with the Python that its library is built for; knows nothing of Proctor.

    cards_player.py FOLDER SOCKET STAGE ORDER SAVE_DIR

Its prompts go to a socket in place of the official TCP port, each message with its length before it.
"""

import socket
import sys
import threading
from typing import Any


def main(folder: str, path: str, stage: str, order: str, save_dir: str) -> None:
    """Play one game; the judge is at standard input and output."""
    sys.path.insert(0, f"{folder}/AI")
    player, client = __import__("AI_En"), __import__("client")
    piped = _piped(client.Client)(path)
    player.Agent(piped, int(stage), int(order), save_dir).run()
    piped.stop()


def _piped(official: Any) -> Any:
    class Piped(official):
        def __init__(self, path: str) -> None:
            host, _, port = path.rpartition(":")
            if host and port.isdigit():
                self.socket = socket.create_connection((host, int(port)))
            else:
                self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                self.socket.connect(path)
            self.stop_flag = threading.Event()

        def send_message(self, message: str) -> None:
            data = message.encode()
            self.socket.sendall(len(data).to_bytes(4, "big") + data)

        def receive_messages(self) -> str:
            return self._read(int.from_bytes(self._read(4), "big")).decode()

        def _read(self, size: int) -> bytes:
            data = b""
            while len(data) < size:
                more = self.socket.recv(size - len(data))
                if not more:
                    sys.exit(1)
                data += more
            return data

    return Piped


if __name__ == "__main__":
    main(*sys.argv[1:])
