"""Scripts of simulated users, and how they are read."""

from pathlib import Path
from typing import Any

import pytest

from proctor.core.errors import BadInput, EpisodeOver
from proctor.core.sample import Message, Sample
from proctor.core.scenario import ScriptedLine
from proctor.core.trajectory import Step, Trajectory
from proctor.users import scripted

ASKED = Sample.ask("a", "A room?")


async def said_to(user: Any, *answers: str, sample: Sample = ASKED) -> list[str | None]:
    """What the user says to each answer, one after the other."""
    steps: list[Step] = []
    words: list[str | None] = []
    for turn, answer in enumerate(answers):
        if answer:
            steps.append(Step(message=Message.of("assistant", answer), turn=turn))
        reply = await user.reply(sample, Trajectory(steps=tuple(steps)))
        words.append(None if reply is None else reply.messages[-1].text)
        if reply is None:
            break
        number = turn + 1 if sample.turns else turn
        steps += [Step(message=message, turn=number, author="user") for message in reply.messages]
    return words


async def test_lines_come_in_order_and_rules_whenever_they_fit() -> None:
    user = scripted.ScriptedUser(
        ["One.", ScriptedLine(when="Which CITY", say="Rome."), "Two.", ScriptedLine(when="bye", say=None)]
    )
    assert await said_to(user, "Hi.", "which city?", "Ok.", "Which city again?", "Bye!") == [
        "One.",
        "Rome.",
        "Two.",
        "Rome.",
        None,
    ]


async def test_a_line_that_is_null_ends_the_conversation() -> None:
    assert await said_to(scripted.ScriptedUser(["One.", None, "never"]), "a", "b") == ["One.", None]


async def test_a_script_for_a_sample_goes_before_that_of_the_others() -> None:
    user = scripted.ScriptedUser({"a": ["Mine."], "*": ["Others'."]})
    assert await said_to(user, "Hi.") == ["Mine."]
    assert await said_to(user, "Hi.", sample=Sample.ask("b", "?")) == ["Others'."]


async def test_the_script_may_come_with_the_sample_and_begin_with_a_system_message() -> None:
    scenario = {"script": ["One.", {"when": "x", "say": "y"}], "opening": "Hello.", "system": "Be brief."}
    sample = Sample(id="s", turns=(), meta={"scenario": scenario})
    user = scripted.make("", {})
    first = await user.reply(sample, Trajectory())
    assert first is not None
    assert [(one.role, one.text) for one in first.messages] == [("system", "Be brief."), ("user", "Hello.")]
    assert await said_to(user, "", sample=sample) == ["Hello."]


async def test_a_rule_that_always_fits_ends_at_the_limit() -> None:
    user = scripted.make("", {"max_turns": 3, "at_limit": "score"})
    user = scripted.ScriptedUser([ScriptedLine(when="e", say="Yes.")], user._options)
    with pytest.raises(EpisodeOver):
        await said_to(user, "one", "three", "five", "seven")


@pytest.mark.parametrize(
    "text",
    [
        '["One.", {"when": "x", "say": null}]',
        '"One."\n{"when": "x", "say": null}\n',
        '{"*": ["One.", {"when": "x", "say": null}]}',
        '{"a": ["One."]}',
        '"One."',
    ],
)
async def test_a_file_is_json_or_json_lines(text: str, tmp_path: Path) -> None:
    path = tmp_path / "user.json"
    path.write_text(text, encoding="utf-8")
    assert await said_to(scripted.make(str(path), {}), "Hi.", "x") == ["One.", None]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is no script"),
        ("[1]", "is no script"),
        ('[{"say": "x", "wen": "y"}]', "wen"),
        ('["  "]', r"the script of '\*': a line of a simulated user is empty"),
        ('{"a": "One."}', "is no script"),
        ("", "is no script"),
    ],
)
def test_a_script_that_cannot_be_read_says_why(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "user.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=said):
        scripted.make(str(path), {})


def test_a_missing_script_and_a_wrong_option_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        scripted.make(str(tmp_path / "none.json"), {})
    with pytest.raises(BadInput, match="Did you mean 'max_turns'"):
        scripted.make("", {"max_turn": 3})
