"""The scoring service over HTTP: a real client against the real service, with good and hostile submissions."""

import asyncio
import base64
import io
import itertools
import json
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.applications import Starlette

from proctor.core.errors import BadInput
from proctor_benchmarks.multi import submission
from proctor_compat.multi import service
from proctor_compat.multi.__main__ import main
from proctor_web.serving import make_server

TOKEN = "right-token"
HEADERS = {"Authorization": f"Bearer {TOKEN}"}
PROBLEMS = {
    "x_1": {
        "subject": ["驾考"],
        "education": "社会",
        "problem_content": "题[IMAGE_1]",
        "problem_content_list": ["甲", "乙"],
        "problem_type_list": ["单选", "多选"],
        "problem_answer_list": ["A", "AB"],
        "problem_analysis_list": ["secret analysis", ""],
    }
}


def zipped(members: Mapping[str, bytes | str], method: int = zipfile.ZIP_DEFLATED) -> str:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return base64.b64encode(packed.getvalue()).decode()


def predictions(**answers: str) -> str:
    return json.dumps({id: {"question_id": id, "prediction": text} for id, text in answers.items()})


def body(**changes: Any) -> dict[str, Any]:
    usual = {"zip_file": zipped({"prediction.json": predictions(x_1_0="A", x_1_1="A")}), "email": "a@b.c"}
    return {**usual, "version": "problem_v1.json", **changes}


@pytest.fixture
def labels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    folder = tmp_path / "labels"
    folder.mkdir()
    for name in ("problem_v1.json", "problem_v2.json", "knowledge.json"):
        (folder / name).write_text(json.dumps(PROBLEMS), encoding="utf-8")
    (tmp_path / "problem_outside.json").write_text(json.dumps(PROBLEMS), encoding="utf-8")
    return folder


@contextmanager
def served(app: Starlette) -> Iterator[str]:
    """The address of the service, which runs in a thread of its own."""
    server = make_server(app)
    with socket.create_server(("127.0.0.1", 0)) as on:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [on]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{on.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture
def url(labels: Path) -> Iterator[str]:
    with served(service.application(labels, TOKEN)) as url:
        yield url


async def post(url: str, path: str, sent: Any, headers: Mapping[str, str] = HEADERS) -> tuple[int, Any]:
    async with httpx2.AsyncClient(timeout=60) as client:
        encoded = [(name.encode(), value.encode()) for name, value in headers.items()]
        reply = await client.post(f"{url}/{path}", json=sent, headers=encoded)
        return reply.status_code, reply.json()


def leftovers(labels: Path) -> list[Path]:
    return list((labels.parent / "temporary").iterdir())


async def test_the_versions_are_the_label_files(url: str) -> None:
    assert await post(url, "get_version", {}) == (
        200,
        {"result": "true", "data": {"versions": ["problem_v1.json", "problem_v2.json"]}, "message": "success"},
    )


async def test_a_submission_is_scored_without_telling_the_answers(url: str, labels: Path) -> None:
    members = {"prediction.json": predictions(x_1_0="A", x_1_1="A"), "args.json": '{"model": "m"}', "notes.txt": "x"}
    status, reply = await post(url, "generate", body(zip_file=zipped(members)))
    assert (status, reply["result"]) == (200, "true")
    assert "Absolute Score: 2.00/3, 66.67%" in reply["message"]
    assert list(reply["data"]) == ["zip_file", "other"]
    with zipfile.ZipFile(io.BytesIO(base64.b64decode(reply["data"]["zip_file"]))) as archive:
        names = set(archive.namelist())
        texts = b"".join(archive.read(name) for name in names)
    assert {"prediction.json", "args.json", "statistics.csv", "summary.md", "leaderboard.json"} <= names
    assert not names & {"score.json", "detail.json", "notes.txt"}
    assert b"secret analysis" not in texts
    assert not leftovers(labels)


async def test_callers_never_see_each_other(url: str) -> None:
    rejecting = body(zip_file=zipped({"prediction.json": predictions(x_1_0="缺少图片信息")}))
    replies = [await post(url, "generate", one) for one in (rejecting, rejecting, body())]
    messages = [reply["message"] for _, reply in replies]
    assert "Rejected (SI): 1 points" in messages[0]
    assert messages[0] == messages[1]
    assert "Rejected" not in messages[2]
    assert all(message.count("Absolute Score") == 1 for message in messages)


async def test_an_email_is_no_path(url: str, labels: Path) -> None:
    before = sorted(labels.parent.rglob("*"))
    emails = ("../x", ["a\0b" * 1000])
    replies = await asyncio.gather(*(post(url, "generate", body(email=email)) for email in emails))
    assert [reply["result"] for _, reply in replies] == ["true", "true"]
    assert sorted(labels.parent.rglob("*")) == before


ENCRYPTED = base64.b64encode(
    base64.b64decode(zipped({"prediction.json": "{}"})).replace(b"PK\1\2\x14\3\x14\0\0\0", b"PK\1\2\x14\3\x14\0\1\0")
).decode()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"zip_file": None}, "zip_file is None"),
        ({"version": None}, "version is None"),
        ({"email": None}, "email is None"),
        ({"version": "problem"}, "version is invalid"),
        ({"version": "../problem_outside.json"}, "version is invalid"),
        ({"version": "knowledge.json"}, "version is invalid"),
        ({"version": 3}, "version is invalid"),
        ({"version": ["problem_v1.json"]}, "version is invalid"),
        ({"zip_file": 3}, "unzip error"),
        ({"zip_file": "no zip"}, "unzip error"),
        ({"zip_file": "é"}, "unzip error"),
        ({"zip_file": ""}, "unzip error"),
        ({"zip_file": base64.b64encode(base64.b64decode(zipped({"prediction.json": "{}"}))[:-30]).decode()}, "unzip"),
        ({"zip_file": zipped({"other.json": "{}"})}, "prediction.json not exists"),
        ({"zip_file": zipped({"../prediction.json": "{}"})}, "prediction.json not exists"),
        ({"zip_file": zipped({"run/prediction.json": "{}"})}, "prediction.json not exists"),
        ({"zip_file": zipped({"prediction.json": "{}"}, zipfile.ZIP_BZIP2)}, "unzip error"),
        ({"zip_file": ENCRYPTED}, "unzip error"),
        ({"zip_file": zipped({"prediction.json": "["})}, "prediction.json: "),
        ({"zip_file": zipped({"prediction.json": "[" * 100_000})}, "prediction.json: "),
        ({"zip_file": zipped({"prediction.json": '{"a": 3}'})}, "prediction.json: "),
        ({"zip_file": zipped({"prediction.json": "{}"})}, "holds no prediction for a problem of problem_v1.json"),
    ],
    ids=itertools.count(),
)
async def test_a_bad_submission_gets_a_message_and_leaves_nothing(
    url: str, labels: Path, changes: dict[str, Any], message: str
) -> None:
    status, reply = await post(url, "generate", body(**changes))
    assert (status, reply["result"], reply["data"]) == (200, "false", None)
    assert message in reply["message"]
    assert str(labels.parent) not in reply["message"]
    assert not leftovers(labels)


async def test_a_zip_bomb_is_not_unpacked(url: str, labels: Path) -> None:
    bomb = {"zip_file": zipped({"prediction.json": b" " * 100_000_001})}
    message = "prediction.json is larger than 100000000 bytes"
    await test_a_bad_submission_gets_a_message_and_leaves_nothing(url, labels, bomb, message)


def test_a_zip_with_too_many_members_is_not_listed() -> None:
    data = base64.b64decode(zipped({str(number): "" for number in range(submission.MOST_MEMBERS + 1)}))
    with pytest.raises(BadInput, match="unzip error"):
        submission.members(data)


def test_a_zip_above_the_limit_is_not_opened() -> None:
    with pytest.raises(BadInput, match="larger than 25000000 bytes"):
        submission.members(bytes(submission.MOST_ZIP_BYTES + 1))


async def test_scoring_that_takes_too_long_is_stopped(labels: Path) -> None:
    with pytest.raises(BadInput, match=r"longer than 0\.01 seconds"):
        await submission.scored(body()["zip_file"], labels / "problem_v1.json", 0.01, service.SCORING)
    assert not leftovers(labels)


@pytest.mark.parametrize("header", [None, "Bearer wrong", "Bearer", TOKEN, "Bearer é"])
async def test_a_token_is_needed_for_both(url: str, header: str | None) -> None:
    for path in ("get_version", "generate", "elsewhere"):
        status, reply = await post(url, path, {}, {} if header is None else {"Authorization": header})
        assert (status, reply["result"]) == (401, "false")
        assert "Authorization: Bearer TOKEN" in reply["message"]


async def test_without_a_token_everybody_is_served(labels: Path) -> None:
    with served(service.application(labels, None)) as url:
        assert (await post(url, "get_version", {}, {}))[1]["result"] == "true"


@pytest.mark.parametrize(
    ("data", "kind", "status"),
    [
        (b"{", "application/json", 400),
        (b"[]", "application/json", 400),
        (b'{"version": ' + b"[" * 100_000, "application/json", 400),
        (b"{}", "text/plain", 415),
        (b" " * (service.MOST_REQUEST_BYTES + 1), "application/json", 413),
    ],
    ids=["no JSON", "no object", "deep", "no JSON type", "too large"],
)
async def test_a_bad_request_gets_the_status_that_says_why(url: str, data: bytes, kind: str, status: int) -> None:
    headers = {**HEADERS, "Content-Type": kind}
    async with httpx2.AsyncClient(timeout=60) as client:
        reply = await client.post(f"{url}/generate", content=data, headers=headers)
        assert reply.status_code == status
        assert reply.json()["result"] == "false"


def test_the_command_serves_on_this_machine_with_a_new_token_and_ends_when_asked(labels: Path) -> None:
    command = [sys.executable, "-W", "error", "-m", "proctor_compat.multi", "serve", "--port", "0"]
    with subprocess.Popen([*command, "--label-folder", str(labels)], stdout=subprocess.PIPE, text=True) as served:
        assert served.stdout is not None
        address, token = served.stdout.readline().strip(), served.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/generate", address)
        name, _, value = token.partition(": ")
        status, reply = asyncio.run(post(address.removesuffix("/generate"), "generate", body(), {name: value}))
        assert (status, reply["result"]) == (200, "true")
        served.send_signal(signal.SIGTERM)
        assert served.wait(30) == 0


def test_the_service_needs_label_files_and_a_free_address(labels: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--label-folder", str(labels.parent / "temporary")]) == 2
    assert "holds no label file" in capsys.readouterr().err
    assert main(["serve", "--label-folder", str(labels), "--host", "203.0.113.1", "--port", "0"]) == 2
    assert "203.0.113.1:0 cannot be served" in capsys.readouterr().err
