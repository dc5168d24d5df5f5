"""However a program behind an environment misbehaves, the sample ends as a failure of the environment, and the program is gone."""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from shops import FILE, http_server

from proctor.core.errors import BadInput, EnvironmentDied, EnvironmentFailed
from proctor.core.sample import File, Sample, ToolCall, ToolResult
from proctor_adapters.environments import mcp, process
from proctor_adapters.environments.programs import LINE_BYTES

SAMPLE = Sample.ask("a", "?")
LINES = f"{sys.executable} {FILE} lines"
STDIO = f"{sys.executable} {FILE} stdio"


@pytest.fixture(params=["process", "mcp", "mcp http", "mcp events"])
def kind(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Give what enters an environment of a kind, with these options."""

    @asynccontextmanager
    async def entered(**options: Any) -> AsyncIterator[Any]:
        async with make(where, options) as makers, makers(SAMPLE) as environment:
            yield environment

    make: Any = process.make if request.param == "process" else mcp.make
    if request.param in ("mcp http", "mcp events"):
        with http_server() as (url, _):
            where = url.replace("/mcp", "/events") if request.param == "mcp events" else url
            yield entered
    else:
        where = LINES if request.param == "process" else STDIO
        yield entered


async def call(environment: Any, name: str, **arguments: object) -> ToolResult:
    result: ToolResult = await environment.call(ToolCall(name=name, arguments=arguments))
    return result


def is_gone(pid: int) -> bool:
    try:
        return (
            Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()[0] == "Z"
        )
    except OSError:
        return not Path(f"/proc/{pid}").exists()


async def eventually_gone(pid: int) -> bool:
    for _ in range(200):
        if is_gone(pid):
            return True
        await asyncio.sleep(0.02)
    return False


async def test_one_that_exits_is_a_failure_with_what_it_said(kind: Any) -> None:
    async with kind() as environment:
        with pytest.raises(EnvironmentFailed) as failure:
            await call(environment, "exit")
        if "http" not in str(failure.value) and failure.value.kind != "mcp":
            assert failure.value.kind == "exited"
            assert "code 3" in str(failure.value)
            assert "the shop burns" in str(failure.value)
        with pytest.raises(EnvironmentFailed):
            await call(environment, "buy", item="tea")


async def test_the_model_is_told_of_a_late_call_if_others_are_answered_and_else_it_is_a_failure(
    kind: Any, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proctor.environments.call_failures.HEALTH_SECONDS", 2.0)
    started = time.perf_counter()
    async with kind(seconds=0.5) as environment:
        if "http" in request.node.name or "events" in request.node.name:  # a server of many threads
            late = await call(environment, "hang")
            assert (late.is_error, late.content.partition(". ")[0]) == (True, "The call timed out after 0.5 s")
            bought = await environment._connection.call("buy", {"item": "tea"}, 20)
            assert bought.text == '{"left": 2}', "the late answer is no one's"
            return
        with pytest.raises(EnvironmentDied, match=r"within 0\.5 seconds") as failure:
            await call(environment, "hang")
        assert failure.value.kind == "late"
        with pytest.raises(EnvironmentFailed, match="failed earlier"):
            await call(environment, "buy", item="tea")
    assert time.perf_counter() - started < 20


async def test_a_result_of_fifty_megabytes_is_told_to_the_model(kind: Any) -> None:
    async with kind() as environment:
        result = await call(environment, "flood")
        assert result.is_error
        assert result.content == f"The result has more than {LINE_BYTES} bytes."
        assert not (await call(environment, "buy", item="tea")).is_error


async def test_an_answer_that_is_garbage_is_a_failure(kind: Any) -> None:
    async with kind() as environment:
        with pytest.raises(EnvironmentFailed):
            await call(environment, "garbage")


async def test_a_program_that_does_not_end_is_killed_with_all_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOTE", str(tmp_path / "pid"))
    monkeypatch.setenv("STAY", "1")
    async with mcp.make(STDIO, {"variables": ["NOTE", "STAY"]}) as makers, makers(SAMPLE) as environment:  # type: ignore[attr-defined]
        await call(environment, "orphan")
        server = environment._connection._program._process.pid
        assert not is_gone(server)
    child = int((tmp_path / "pid").read_text(encoding="utf-8"))
    assert await eventually_gone(server)
    assert await eventually_gone(child)


async def test_it_is_given_little_of_our_environment_and_a_folder_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-1234567890")
    monkeypatch.setenv("GIVEN", "yes")
    code = """
import json, os, sys
for line in sys.stdin:
    print(json.dumps({"ok": True, "tools": [], "state": {"names": sorted(os.environ), "folder": os.environ["TMPDIR"], "given": os.environ["GIVEN"]}}))
"""
    (tmp_path / "look.py").write_text(code, encoding="utf-8")
    make = process.make(f"{sys.executable} {tmp_path / 'look.py'}", {"variables": ["GIVEN"]})
    folders = set()
    for _ in range(2):
        async with make(SAMPLE) as environment:  # type: ignore[attr-defined]
            state = await environment.state()
            assert state["given"] == "yes"
            assert "OPENAI_API_KEY" not in state["names"]
            assert Path(state["folder"]).is_dir()
        assert not Path(state["folder"]).exists()
        folders.add(state["folder"])
    assert len(folders) == 2


async def test_a_program_sends_files_with_a_result(tmp_path: Path) -> None:
    answers = {
        "open": '{"ok": true}',
        "tools": '{"tools": []}',
        "close": '{"ok": true}',
        "call": '{"result": "Done.", "files": [{"name": "a.png", "media_type": "image/png", "data": "aGk="}]}',
    }
    code = f"import json, sys\nfor line in sys.stdin: print({answers!r}[json.loads(line)['do']], flush=True)"
    (tmp_path / "camera.py").write_text(code, encoding="utf-8")
    async with process.make(f"{sys.executable} {tmp_path / 'camera.py'}", {})(SAMPLE) as environment:  # type: ignore[attr-defined]
        result = await call(environment, "shoot")
    assert (result.content, result.files) == ("Done.", (File(name="a.png", media_type="image/png", data=b"hi"),))


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({"open": '{"error": "no table"}'}, "cannot go on: no table"),
        ({"tools": '{"ok": true}'}, "'tools' is missing"),
        ({"tools": '{"tools": [{"title": "x"}]}'}, "'name' is missing"),
        ({"call": '{"ok": true}'}, "'result' is missing"),
        ({"call": '{"broken": "sk-abcdef123456 expired"}'}, r"cannot go on: \[hidden\] expired"),
        ({"call": "[" * 9000}, "that is no answer"),
    ],
)
async def test_lines_that_are_no_answer_are_failures(tmp_path: Path, answers: dict[str, str], message: str) -> None:
    usual = {"open": '{"ok": true}', "tools": '{"tools": []}', "close": '{"ok": true}'}
    code = f"import json, sys\nanswers = {usual | answers!r}\nfor line in sys.stdin: print(answers[json.loads(line)['do']])"
    (tmp_path / "odd.py").write_text(code, encoding="utf-8")
    make = process.make(f"{sys.executable} {tmp_path / 'odd.py'}", {})
    with pytest.raises(EnvironmentFailed, match=message):
        async with make(SAMPLE) as environment:  # type: ignore[attr-defined]
            await call(environment, "f")


async def test_a_program_that_cannot_be_started_or_says_nothing_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no program 'nosuch'"):
        process.make("nosuch x", {})
    with pytest.raises(BadInput, match="NOT_SET, which is not set"):
        process.make(LINES, {"variables": ["NOT_SET"]})
    broken = tmp_path / "broken"
    broken.write_text("#!/nowhere\n", encoding="utf-8")
    broken.chmod(0o755)
    for make in (process.make, mcp.make):
        with pytest.raises(EnvironmentFailed, match="cannot be started"):
            async with make(str(broken), {})(SAMPLE):  # type: ignore[attr-defined]
                pass
        with pytest.raises(EnvironmentFailed, match="ended with code 1"):
            async with make("false", {})(SAMPLE):  # type: ignore[attr-defined]
                pass


async def test_a_server_that_never_answers_is_told_and_killed() -> None:
    started = time.perf_counter()
    with pytest.raises(EnvironmentFailed, match=r"'initialize' within 0\.5 seconds"):
        async with mcp.make("sleep 60", {"start_seconds": 0.5})(SAMPLE):  # type: ignore[attr-defined]
            pass
    assert time.perf_counter() - started < 10
    assert os.waitpid is not None
