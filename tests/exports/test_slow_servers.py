"""A server that answers a byte at a time, for ever, holds up no command: the libraries' own limits begin again with each byte."""

import gc
import socket
import threading
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from memory_store import MemoryStore

from proctor.core.errors import BadInput
from proctor.runtime.files import write_whole
from proctor.testing.records import a_record, fill
from proctor.transport.retry import RetryPolicy
from proctor_adapters.exports import cozeloop, otel, prometheus
from proctor_adapters.exports.prometheus import Figures, Gateway, push


@pytest.fixture
def dripping() -> Iterator[str]:
    """The address of a server whose header has no end."""
    over = threading.Event()
    listening = socket.create_server(("127.0.0.1", 0))

    def drip(line: socket.socket) -> None:
        with suppress(OSError), line:
            line.sendall(b"HTTP/1.1 200 OK\r\nX: ")
            while not over.wait(0.05):
                line.sendall(b"x")

    def serve() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=drip, args=(listening.accept()[0],), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    over.set()
    listening.close()
    for thread in threading.enumerate():
        if thread.name == "proctor-thread":  # which was left alone, and ends now
            thread.join(10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # of the connection that its library did not close
        gc.collect()


async def test_traces_are_not_waited_for_without_end(dripping: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proctor_adapters.exports.otlp.MOST_SECONDS", 0.3)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "0.3")
    store = MemoryStore()
    await fill(store, ["a"])
    with pytest.raises(BadInput, match="no reply in time"):
        otel.send(a_record(), store, dripping)


def test_a_gateway_is_not_waited_for_without_end(dripping: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prometheus, "MOST_SECONDS", 0.3)
    figures = Figures(
        test_name="t", passed=1, failed=0, total=1, threshold=0.5, diff_threshold=0.2, cases=[], models={}
    )
    with pytest.raises(BadInput, match=r"could not be pushed to .*: no reply within 0\.3 seconds"):
        push(figures, Gateway(url=dripping))


async def test_an_upload_of_an_eval_set_is_not_waited_for_without_end(
    dripping: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cozeloop, "SECONDS", 0.3)
    monkeypatch.setattr(cozeloop, "POLICY", RetryPolicy(attempts=2, attempts_at_first=2, wait_seconds=0.01))
    item = cozeloop.CozeLoopItem(key="k", case="a", turn=1, fields={"input": "?"})
    to = cozeloop.Destination(workspace_id="7", evalset_id="42", api_key="secret", url=dripping)
    (rejected,) = await cozeloop.upload([item], to, cozeloop.UploadState(tmp_path / "state", to.place))
    assert "did not answer in time, tried 2 times" in str(rejected.reason)


def test_an_address_is_no_folder_to_write_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match="is an address"):
        write_whole(Path("https://reports.example/x.html"), "")
    assert not [*tmp_path.iterdir()]
