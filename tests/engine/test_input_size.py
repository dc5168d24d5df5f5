"""What a dry run counts is what the messages and tools of the turns hold."""

from proctor.core.sample import File, Message, Sample, Text, Tool, Turn
from proctor.engine.input_size import InputSize, about_tokens

PICTURE = File(name="a.png", media_type="image/png", data=b"x")
TABLE = File(name="a.csv", media_type="text/csv", data=b"x")


def turn(*parts: Text | File, tools: tuple[Tool, ...] = (), as_text: tuple[Message, ...] | None = None) -> Turn:
    return Turn(messages=(Message(role="user", parts=parts),), tools=tools, as_text=as_text)


def size_of(*turns: Turn, tools: str = "native") -> InputSize:
    size = InputSize()
    size.add(Sample(id="a", turns=turns), "native" if tools == "native" else "text")
    return size


def test_a_question_counts_its_characters_images_and_other_files() -> None:
    size = size_of(turn(Text(text="What is this?"), PICTURE, TABLE))
    assert (size.requests, size.characters, size.images, size.files) == (1, 13, 1, 1)


def test_a_later_turn_sends_the_earlier_ones_again() -> None:
    size = size_of(turn(Text(text="1234"), PICTURE), turn(Text(text="12")))
    assert (size.requests, size.characters, size.images) == (2, 4 + 6, 2)


def test_tools_are_sent_with_each_request_unless_they_are_told_in_the_text() -> None:
    tool = Tool(name="f", parameters={})
    shown = turn(Text(text="12"), tools=(tool,), as_text=(Message.of("user", "12345"),))
    native = size_of(shown)
    assert native.characters > 2 + len("f")
    assert size_of(shown, shown).characters == 3 * 2 + 2 * (native.characters - 2)
    assert size_of(shown, tools="text").characters == 5


def test_tokens_are_one_for_a_chinese_character_and_one_for_four_others() -> None:
    assert (about_tokens("abcd" * 10), about_tokens("一二三，"), about_tokens("一a"), about_tokens("")) == (10, 4, 2, 0)
