"""A worker whose program writes whenever it has something to say."""

from pathlib import Path
from typing import Any

import pytest

from proctor.core.errors import EnvironmentFailed
from proctor.isolation import TalkingWorker, WorkerProgram, WorkerRaised

PROGRAM = WorkerProgram(path=Path(__file__).with_name("talking_program_of_tests.py"))


async def heard(worker: TalkingWorker, count: int) -> list[Any]:
    lines = worker.heard()
    return [await anext(lines) for _ in range(count)]


async def test_both_sides_write_when_they_like() -> None:
    async with TalkingWorker(PROGRAM) as worker:
        worker.say({"n": 1})
        worker.say({"n": 2})
        assert await heard(worker, 4) == [
            {"back": {"n": 1}},
            {"more": {"n": 1}},
            {"back": {"n": 2}},
            {"more": {"n": 2}},
        ]
        folder = Path(worker._folder)
    assert not folder.exists()


async def test_a_worker_that_died_says_how(monkeypatch: pytest.MonkeyPatch) -> None:
    async with TalkingWorker(PROGRAM) as worker:
        worker.say({"do": "die"})
        with pytest.raises(EnvironmentFailed, match=r"ended \(SIGKILL\)") as raised:
            await heard(worker, 1)
    assert raised.value.kind == "worker_killed"
    assert worker.fault is raised.value


async def test_what_is_no_json_ends_the_conversation() -> None:
    async with TalkingWorker(PROGRAM) as worker:
        worker.say({"do": "garbage"})
        with pytest.raises(EnvironmentFailed, match="wrote something that is no reply"):
            await heard(worker, 1)


async def test_the_environment_of_a_worker_holds_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    async with TalkingWorker(PROGRAM) as worker:
        worker.say({"do": "environment"})
        (names,) = await heard(worker, 1)
    assert "HOME" in names
    assert not [name for name in names if "KEY" in name or "TOKEN" in name]


async def test_a_program_that_cannot_be_imported_says_why(tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("import nothing_of_that_name\n")
    with pytest.raises(WorkerRaised, match="No module named 'nothing_of_that_name'"):
        async with TalkingWorker(WorkerProgram(path=broken)):
            pass
