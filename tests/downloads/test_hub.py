"""Data sets of the hub: whole, at one commit, checked when they come and whenever they are used."""

import hashlib
import json
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from hub_here import COMMIT, Fault, Handler, Hub, served

from proctor.core.errors import BadInput, MissingExtra
from proctor_adapters.datasets import data_sets

ROWS = b"".join(b'{"id": %d}\n' % number for number in range(200))
FILES = {"README.md": b"about", "data/test.jsonl": ROWS, "data/\u4e2d 1.csv": b"a,b\n", "empty.json": b""}


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Hub]:
    made = Hub({"some/set": FILES})
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setenv("PROCTOR_CACHE", str(tmp_path / "cache"))
    with served(made) as url:
        monkeypatch.setenv("HF_ENDPOINT", url)
        yield made


def contents(found: data_sets.DataSet) -> dict[str, bytes]:
    files = (path for path in found.folder.rglob("*") if path.is_file() and path.name != data_sets.LIST)
    return {path.relative_to(found.folder).as_posix(): path.read_bytes() for path in files}


def test_a_set_is_fetched_at_one_commit_and_then_never_again(here: Hub) -> None:
    found = data_sets.fetch("some/set")
    assert contents(found) == FILES
    assert found.revision == COMMIT
    assert all(f"/{COMMIT}" in path for path in here.asked if "/revision/" not in path)
    here.asked.clear()
    here.sets["some/set"] = {"other.json": b"[]"}
    assert data_sets.fetch("some/set") == found
    assert here.asked == []
    assert found.provenance == {"data_set": "some/set", "revision": COMMIT, "digest": found.digest}


def test_without_the_library_the_extra_is_named_and_the_cache_still_read(
    here: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = data_sets.fetch("some/set")
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    assert data_sets.fetch("some/set") == found
    with pytest.raises(MissingExtra, match="needs the extra 'hub'"):
        data_sets.fetch("some/other")


def test_no_token_is_taken_out_of_a_file(here: Hub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("hf_of-another-tool")
    monkeypatch.setattr("huggingface_hub.constants.HF_TOKEN_PATH", str(tmp_path / "token"))
    data_sets.fetch("some/set")
    assert set(here.tokens) == {None}


def test_another_revision_is_another_set_beside_it(here: Hub) -> None:
    first = data_sets.fetch("some/set")
    second = data_sets.fetch("some/set", revision="refs/pr/3")
    assert "/api/datasets/some/set/revision/refs/pr/3" in here.asked
    assert first.folder != second.folder
    with pytest.raises(BadInput, match="no revision"):
        data_sets.fetch("some/set", revision="../x")


def cut_off(handler: Handler, data: bytes) -> None:
    handler.send(data[: len(data) // 3], length=len(data))


def cut_without_a_word(handler: Handler, data: bytes) -> None:
    handler.send(data[: len(data) // 3])


def other(handler: Handler, data: bytes) -> None:
    handler.send(data.replace(b"1", b"2"))


def rubbish(handler: Handler, data: bytes) -> None:
    handler.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n\r\n")


def nothing(handler: Handler, data: bytes) -> None:
    handler.close_connection = True


def nested(handler: Handler, data: bytes) -> None:
    handler.send(b"[" * 100_000)


def broken_chunks(handler: Handler, data: bytes) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab")


def wrong_length(handler: Handler, data: bytes) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: many\r\n\r\n" + data)


def naming(path: str) -> Fault:
    def answer(handler: Handler, data: bytes) -> None:
        handler.send(json.dumps([{"type": "file", "path": path, "oid": "", "size": 2}]).encode())

    return answer


@pytest.mark.parametrize(
    ("end", "fault"),
    [
        *(("test.jsonl", fault) for fault in (cut_off, cut_without_a_word, other, rubbish, nothing, broken_chunks)),
        *((f"tree/{COMMIT}", fault) for fault in (cut_off, rubbish, nothing, nested, wrong_length)),
        *((f"tree/{COMMIT}", naming(path)) for path in ("a\0b", "x" * 5000, "../out", "/etc/out", "\ud800")),
        ("revision/main", nested),
        ("revision/main", lambda handler, data: handler.send(b'{"sha": 7}')),
        ("README.md", lambda handler, data: handler.send(b"later", status=503)),
    ],
)
def test_what_goes_wrong_is_a_sentence_and_leaves_nothing_half(
    here: Hub, end: str, fault: Fault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "sleep", lambda seconds: None)  # the library waits between its tries
    here.faults[end] = fault
    with pytest.raises(BadInput):
        data_sets.fetch("some/set")
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file() and path.suffix != ".lock"]
    here.faults.clear()
    assert contents(data_sets.fetch("some/set")) == FILES


@pytest.mark.parametrize("name", ["data/test.jsonl", data_sets.LIST])
@pytest.mark.parametrize("damage", [b"", ROWS[:700], ROWS.replace(b"7", b"8")])
def test_a_damaged_cache_is_found_and_fetched_again(here: Hub, name: str, damage: bytes) -> None:
    found = data_sets.fetch("some/set")
    (found.folder / name).write_bytes(damage)
    assert contents(data_sets.fetch("some/set")) == FILES
    (found.folder / "empty.json").unlink()
    assert contents(data_sets.fetch("some/set")) == FILES


def test_several_who_want_it_at_once_get_the_same(here: Hub) -> None:
    found: list[data_sets.DataSet] = []
    threads = [threading.Thread(target=lambda: found.append(data_sets.fetch("some/set"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert len(set(map(str, found))) == 1
    assert here.asked.count("/api/datasets/some/set/revision/main") == 1


def test_the_token_goes_to_the_hub_and_to_nobody_else(here: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere: list[str | None] = []

    class Elsewhere(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            elsewhere.append(self.headers.get("Authorization"))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(ROWS)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def move(handler: Handler, data: bytes) -> None:
        handler.send_response(302)
        handler.send_header("Location", f"http://127.0.0.1:{server.server_port}/x")
        handler.send_header("X-Repo-Commit", COMMIT)
        handler.send_header("X-Linked-Size", str(len(data)))
        handler.send_header("X-Linked-ETag", f'"{hashlib.sha256(data).hexdigest()}"')
        handler.end_headers()

    here.faults["test.jsonl"] = move
    here.token = "hf_token-of-the-user"
    monkeypatch.setenv("HF_TOKEN", here.token)
    assert contents(data_sets.fetch("some/set")) == FILES
    server.shutdown()
    server.server_close()
    assert elsewhere == [None]
    assert set(here.tokens) == {f"Bearer {here.token}"}
