"""Count what a run sends before anything is sent: requests, characters, images, and an estimate of the tokens."""

import re
from collections.abc import Iterable

import msgspec

from proctor.core.sample import File, Message, Sample, Tool
from proctor.core.sentence import Sentence, say
from proctor.core.trajectory import ToolStyle
from proctor.engine.episode import turn_for_agent

_WIDE = re.compile("[\u2e80-\uffef\U00020000-\U0003ffff]")  # Chinese, Japanese, Korean, and their punctuation
CHARACTERS_A_TOKEN = 4


class InputSize(msgspec.Struct):
    """The input that samples send; replies and tool results, which later requests repeat, are not known yet and not counted.

    Attributes:
        requests: turns sent; an agent that calls tools makes more.
        characters: of messages and tools, those of earlier turns again with each later one.
        tokens: estimated, see `about_tokens`; images have none.
    """

    requests: int = 0
    characters: int = 0
    tokens: int = 0
    images: int = 0
    files: int = 0

    def add(self, sample: Sample, tools: ToolStyle, attempts: int = 1) -> None:
        """Count a sample in the form that an agent of that kind receives."""
        before = InputSize()
        for turn in sample.turns:
            shown = turn_for_agent(turn, tools)
            for message in shown.messages:
                before._add_message(message, attempts)
            self._add(before)
            for tool in shown.tools:
                self._add_text(msgspec.json.encode(tool).decode(), attempts)
            self.requests += attempts

    def add_tools(self, tools: Iterable[Tool]) -> None:
        """Count tools of an environment, which go with each request; those of other samples may be others."""
        for tool in tools:
            self._add_text(msgspec.json.encode(tool).decode(), self.requests)

    def sentence(self) -> Sentence:
        return say(
            "Input: {requests} requests or more, {characters} characters (about {tokens} tokens), {images} images, {files} other files; replies and tool results come on top.",
            **{name: f"{count:,}" for name, count in msgspec.structs.asdict(self).items()},
        )

    def _add(self, other: "InputSize") -> None:
        self.characters += other.characters
        self.tokens += other.tokens
        self.images += other.images
        self.files += other.files

    def _add_message(self, message: Message, times: int) -> None:
        self._add_text(message.text, times)
        for part in message.parts:
            if isinstance(part, File):
                is_image = part.media_type.startswith("image/")
                self.images += times * is_image
                self.files += times * (not is_image)

    def _add_text(self, text: str, times: int) -> None:
        self.characters += times * len(text)
        self.tokens += times * about_tokens(text)


def about_tokens(text: str) -> int:
    """Estimate the tokens of a text: one per Chinese character, one per four others; code and formulas have more.

    >>> about_tokens("What is the capital of France?"), about_tokens("法国的首都是哪里？")
    (8, 9)
    """
    narrow = len(text) if text.isascii() else len(_WIDE.sub("", text))
    return len(text) - narrow + -(-narrow // CHARACTERS_A_TOKEN)
