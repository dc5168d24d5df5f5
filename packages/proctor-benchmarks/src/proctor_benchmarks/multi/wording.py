"""The prompts, in Chinese and English. The wordings are ours, in the composition of the original.

Fixed by the original are the lead-in of discussions, the phrase for a missing image, and the line that ends a chain of
thought, because the scorer looks for them.
"""

from importlib.resources import files
from typing import Literal

import msgspec

Language = Literal["zh", "en"]


class WorkedExample(msgspec.Struct, frozen=True):
    """A worked question and its answer."""

    question: str
    answer: str


class PromptWords(msgspec.Struct, frozen=True, kw_only=True):
    """All sentences of one language; `format`, `types` and `examples` are keyed by question type."""

    role: str
    types: dict[str, str]
    format: dict[str, str]
    pure_text: str
    blank_image: str
    no_image: str
    captions: str
    images: str
    images_only: str
    in_turn: str
    example: str
    example_answer: str
    real_question: str
    knowledge: str
    answer_now: str
    think: str
    final: str
    examples: dict[str, tuple[WorkedExample, ...]]


WORDS = msgspec.toml.decode(
    files("proctor_benchmarks.multi").joinpath("wording.toml").read_bytes(), type=dict[str, PromptWords]
)
