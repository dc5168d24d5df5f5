"""`proctor adk chat`: lines come in, answers and calls go out, conversations become cases."""

import os
import pty
import subprocess
import sys
import time
from pathlib import Path

import pytest

from proctor_adapters.evalsets.read import read
from proctor_adapters.evalsets.schema import texts

AGENT = """
from proctor import Message
from proctor.core.sample import Text, ToolCall, ToolResult
from proctor.core.trajectory import Step


def answer(messages):
    said = messages[-1]["content"]
    if said == "break":
        raise RuntimeError("cannot do that")
    if said == "look":
        return [
            {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": {"name": "lookup", "arguments": '{"x": 1}'}}]},
            {"role": "tool", "tool_call_id": "1", "name": "lookup", "content": "\\x1b[31mred"},
            {"role": "assistant", "content": "found"},
        ]
    return f"{sum(one['role'] == 'user' for one in messages)}: {said}"
"""


def chat(folder: Path, said: str | bytes, *words: str) -> subprocess.CompletedProcess[bytes]:
    (folder / "agent.py").write_text(AGENT, encoding="utf-8")
    given = said.encode() if isinstance(said, str) else said
    command = [sys.executable, "-m", "proctor", "adk", "chat", "--agent", "./agent.py:answer", *words]
    return subprocess.run(command, input=given, cwd=folder, capture_output=True, timeout=60, check=False)


def cases(folder: Path) -> list[tuple[str, list[str]]]:
    """Each case with what the user says in it."""
    return [
        (case.eval_id, ["".join(texts(turn.user_content)) for turn in case.conversation or []])
        for case in read(folder / "shop.evalset.json").eval_set.eval_cases
    ]


SAVE = ("--save", "shop.evalset.json")


def test_a_conversation_that_is_piped_in_is_answered_and_kept(tmp_path: Path) -> None:
    done = chat(tmp_path, "你好\n\n  second  \nlook\n", *SAVE)
    assert done.returncode == 0, done.stderr.decode()
    lines = done.stdout.decode().splitlines()
    assert lines == ["1: 你好", "2: second", '→ lookup({"x": 1})', "← lookup: ␛[31mred", "found"]
    [(id, said)] = cases(tmp_path)
    assert id.startswith("chat_")
    assert said == ["你好", "second", "look"]
    [case] = read(tmp_path / "shop.evalset.json").eval_set.eval_cases
    last = (case.conversation or [])[-1]
    assert last.intermediate_data is not None
    assert [(call.name, call.args) for call in last.intermediate_data.calls()] == [("lookup", {"x": 1})]


def test_commands_save_begin_anew_leave_out_and_end(tmp_path: Path) -> None:
    done = chat(tmp_path, "one\n/save first\n/new\ntwo\n/new\nthree\n/drop\n//four\n/quit\nnever\n", *SAVE)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode().splitlines() == ["1: one", "1: two", "1: three", "1: /four"]
    found = cases(tmp_path)
    assert [said for _, said in found] == [["one"], ["two"], ["/four"]]
    assert found[0][0] == "first"
    assert len({id for id, _ in found}) == 3


def test_a_conversation_that_goes_on_after_it_was_saved_takes_its_own_place(tmp_path: Path) -> None:
    assert chat(tmp_path, "one\n/save mine\ntwo\n/save\nthree\n", *SAVE).returncode == 0
    assert cases(tmp_path) == [("mine", ["one", "two", "three"])]


def test_cases_are_added_to_what_is_there(tmp_path: Path) -> None:
    assert chat(tmp_path, "one\n/save a\n", *SAVE).returncode == 0
    done = chat(tmp_path, "two\n/save a\n", *SAVE)
    assert done.returncode == 2
    assert "has a case 'a' already" in done.stderr.decode()
    assert [said for _, said in cases(tmp_path)] == [["one"], ["two"]]  # under another id: nothing is lost


def test_without_a_file_nothing_is_written(tmp_path: Path) -> None:
    assert chat(tmp_path, "one\n").returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix) == ["agent.py"]
    done = chat(tmp_path, "one\n/save x\n")
    assert done.returncode == 2
    assert "There is no file to save to" in done.stderr.decode()


def test_what_breaks_ends_a_piped_chat_and_keeps_what_was_said_before(tmp_path: Path) -> None:
    done = chat(tmp_path, "one\nbreak\ntwo\n", *SAVE)
    assert done.returncode == 2
    assert "The agent raised RuntimeError: cannot do that" in done.stderr.decode()
    assert [said for _, said in cases(tmp_path)] == [["one"]]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--save", "broken.evalset.json"), "broken.evalset.json"),
        (("--session", "nothing.json"), "nothing.json"),
        (("--agent-set", "x=1"), "Options go with an agent given by name"),
    ],
)
def test_what_cannot_be_used_is_told_before_anything_is_said(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    (tmp_path / "broken.evalset.json").write_text("{", encoding="utf-8")
    done = chat(tmp_path, "one\n", *words)
    assert done.returncode == 2
    assert said in done.stderr.decode()
    assert not done.stdout


def test_a_command_that_is_not_there_is_named(tmp_path: Path) -> None:
    done = chat(tmp_path, "one\n/sav\ntwo\n", *SAVE)
    assert done.returncode == 2
    assert [said for _, said in cases(tmp_path)] == [["one", "two"]]
    assert "There is no command /sav. Known: /save, /new, /drop, /quit." in done.stderr.decode()


def test_the_session_of_a_file_goes_into_the_case(tmp_path: Path) -> None:
    (tmp_path / "session.json").write_text('{"app_name": "shop", "user_id": "u", "state": {"lang": "zh"}}')
    assert chat(tmp_path, "one\n", *SAVE, "--session", "session.json").returncode == 0
    [case] = read(tmp_path / "shop.evalset.json").eval_set.eval_cases
    assert case.session_input is not None
    assert (case.session_input.user_id, case.session_input.state) == ("u", {"lang": "zh"})


def test_text_that_is_no_utf_8_is_not_the_end(tmp_path: Path) -> None:
    done = chat(tmp_path, b"caf\xe9\n", *SAVE)
    assert done.returncode == 0
    assert done.stdout.decode().strip() == "1: caf�"


def test_a_person_at_a_terminal_may_go_on_after_a_mistake(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(AGENT, encoding="utf-8")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "proctor", "adk", "chat", "--agent", "./agent.py:answer", *SAVE]
    with subprocess.Popen(
        command, cwd=tmp_path, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        os.close(theirs)
        for line in ("one", "break", "/nothing", "two"):
            time.sleep(0.2)
            os.write(ours, f"{line}\n".encode())
        os.write(ours, b"\x04")
        out, error = process.communicate(timeout=60)
    os.close(ours)
    assert process.returncode == 0, error.decode()
    assert "The agent raised RuntimeError" in error.decode()
    assert "There is no command /nothing" in error.decode()
    assert "1: one" in out.decode()
    assert [said for _, said in cases(tmp_path)] == [["one", "two"]]
