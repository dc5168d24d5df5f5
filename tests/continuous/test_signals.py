"""What makes a watch run: times, commits, files, addresses."""

import json
import subprocess
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from proctor.core.errors import BadInput
from proctor_ci.schedule import Quiet, Schedule
from proctor_ci.signals import look


@pytest.fixture
def models() -> Iterator[tuple[str, dict[str, object]]]:
    """Yield an address, and what it answers as JSON."""
    answer: dict[str, object] = {"data": [{"id": "model-1", "a/b": 1}], "created": 1}

    class Models(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Models)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1/models", answer
    server.shutdown()
    thread.join()
    server.server_close()


def test_an_address_changes_with_its_reply_or_with_the_part_that_is_named(
    models: tuple[str, dict[str, object]],
) -> None:
    address, answer = models
    whole, part = look(address), look(f"{address}#/data/0/id")
    assert (look(address), look(f"{address}#/data/0/id")) == (whole, part)
    answer["created"] = 2
    assert look(address) != whole
    assert look(f"{address}#/data/0/id") == part
    answer["data"] = [{"id": "model-2", "a/b": 1}]
    assert look(f"{address}#/data/0/id") != part
    assert look(f"{address}#/data/0/a~1b") == look(f"{address}#/data/0/a~1b")
    for pointer in ("/data/1/id", "/data/x", "/nothing"):
        with pytest.raises(BadInput, match="has no"):
            look(f"{address}#{pointer}")


def test_what_cannot_be_seen_is_said() -> None:
    with pytest.raises(BadInput, match="does not answer"):
        look("http://127.0.0.1:9/version")


def test_a_commit_is_a_signal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match="commit"):
        look("git")
    who = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    subprocess.run(["git", "init", "-q"], check=True)
    seen = set()
    for number in range(2):
        subprocess.run(["git", *who, "commit", "-q", "--allow-empty", "-m", f"{number}"], check=True)
        seen.add(look("git"))
        assert look("git") in seen
    assert len(seen) == 2


def test_files_are_compared_by_what_is_in_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    none = look("prompts/*.md")
    (tmp_path / "prompts").mkdir()
    one = tmp_path / "prompts" / "a.md"
    one.write_text("a")
    first = look("prompts/*.md")
    assert first != none
    one.touch()
    assert look("prompts/*.md") == first
    assert look(str(tmp_path / "prompts" / "*.md")) == look(str(tmp_path / "prompts" / "*.md")) != none
    one.write_text("b")
    assert look("prompts/*.md") != first


def test_a_schedule_keeps_to_the_clock_of_its_zone() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    nightly = Schedule("30 2 * * *", berlin)
    before = datetime(2026, 3, 28, 12, tzinfo=berlin).timestamp()  # the clock leaps from 2:00 to 3:00 that night
    first = nightly.after(before)
    second = nightly.after(first)
    assert datetime.fromtimestamp(first, UTC).isoformat() == "2026-03-29T01:00:00+00:00"
    assert datetime.fromtimestamp(second, UTC).isoformat() == "2026-03-30T00:30:00+00:00"
    back = datetime(2026, 10, 24, 12, tzinfo=berlin).timestamp()  # and 2:30 comes twice
    twice = nightly.after(back)
    assert nightly.after(twice) - twice == 25 * 3_600
    assert Schedule("0 3 * * *", UTC).a_year(0.0) == pytest.approx(365, abs=14)
    assert Schedule("0 3 1 1 *", UTC).a_year(90 * 86_400.0) == 1.0


def test_quiet_hours_may_pass_midnight() -> None:
    quiet = Quiet.read("22:00-08:00", UTC)
    hours = [hour for hour in range(24) if quiet.covers(hour * 3_600.0)]
    assert hours == [0, 1, 2, 3, 4, 5, 6, 7, 22, 23]
    assert Quiet.read("12:00-13:00", UTC).covers(12.5 * 3_600)
