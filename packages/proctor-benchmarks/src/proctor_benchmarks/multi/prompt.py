"""Compose what is sent: a system part, the question with its images, knowledge, and a closing line.

The composition is that of OpenDFM/MULTI-Benchmark at aa40c5b, `eval/prompts.py`; the wordings are ours (`wording.py`).
Corrected: image tokens are renumbered all at once, knowledge images are numbered after those of the question,
captions begin on a line of their own, and `few_shot` gives as many examples as it says, in both languages.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from proctor.core.sample import File, Message, Part, Text, Turn
from proctor_benchmarks.multi import images
from proctor_benchmarks.multi.dataset import KnowledgePiece, SubQuestion
from proctor_benchmarks.multi.images import TOKEN, NumberedText
from proctor_benchmarks.multi.wording import WORDS, Language, PromptWords

Place = Literal["inline", "before", "after"]


class Style(msgspec.Struct, frozen=True, kw_only=True):
    """How questions are asked; fields are named like the original's flags.

    Attributes:
        input_type: 0 text, 1 captions in place of images, 2 text with images, 3 images without the text.
        lang: of the prompts.
        few_shot: how many worked examples.
        cot: think step by step first. in_turn: several images one after the other.
        cap_in_cnt: captions where the images were, not below the text.
        blank_image: send a black picture with questions that have none. missing_image: or instead of a lost one.
        image_place: images after their tokens (`inline`), or `before` or `after` the text.
        no_background, no_sys, split_sys: leave out the role, leave out the system part, or put it into the question.
    """

    input_type: Literal[0, 1, 2, 3] = 0
    lang: Language = "zh"
    few_shot: Literal[0, 1, 2, 3] = 0
    cot: bool = False
    in_turn: bool = False
    cap_in_cnt: bool = False
    blank_image: bool = False
    no_background: bool = False
    no_sys: bool = False
    split_sys: bool = True
    image_place: Place = "inline"
    missing_image: images.Missing = "error"


class Material(msgspec.Struct, frozen=True, kw_only=True):
    """What prompts draw on: the folder of images, captions by path, knowledge by key."""

    root: Path
    captions: Mapping[str, str] = {}
    knowledge: Mapping[str, KnowledgePiece] = {}


class Prompted(msgspec.Struct, frozen=True, kw_only=True):
    """The turns of a question, and the images in them in the order of their tokens ('' is the blank one)."""

    turns: tuple[Turn, ...]
    images: tuple[str, ...] = ()


def compose(question: SubQuestion, style: Style, material: Material) -> Prompted:
    """Return the turns that ask a question.

    Raises:
        BadInput: an image that is missing, or a token without an image.
    """
    words = WORDS[style.lang]
    asked = images.renumber(question.text, question.images, where=question.id)
    piece = next((material.knowledge[key] for key in question.knowledge[:1] if key in material.knowledge), None)
    extra = NumberedText(text="")
    if piece is not None:
        first = 1 + len(asked.images)
        extra = images.renumber(piece.knowledge_content, piece.knowledge_images, first=first, where=question.id)
    shown = style.input_type >= 2
    listed = asked.images + extra.images if shown else ()
    if style.input_type == 1:
        asked = images.add_captions(asked, material.captions, inside=style.cap_in_cnt)
        extra = images.add_captions(extra, material.captions, inside=style.cap_in_cnt) if extra.images else extra
    in_turn = style.in_turn and len(listed) > 1
    count = len(asked.images) + len(extra.images)
    blank = style.blank_image and style.input_type == 2 and not count
    system = "" if style.no_sys else _system(question, style, words, count, in_turn=in_turn)
    user = _user(question, style, words, asked, extra)
    parts = [images.part(material.root, image, missing=style.missing_image, where=question.id) for image in listed]
    if blank:
        parts, listed = [images.blank()], ("",)
    if system and not style.split_sys:
        user, system = f"{system}\n{user}", ""
    contents = _in_turn(user, parts) if in_turn else [_place_images(user, parts, style.image_place)]
    if in_turn and _thinks(question, style):
        contents.append((Text(text=words.final),))
    return Prompted(turns=_turns(contents, system, question.label), images=listed)


def _system(question: SubQuestion, style: Style, words: PromptWords, count: int, *, in_turn: bool) -> str:
    rule = words.format.get(question.type, "")
    role = words.role.format(topic=question.topic, type=words.types.get(question.type, question.type))
    sentences = [rule if style.no_background else "\n".join(filter(None, (role, rule)))]
    sentences.append(_image_sentence(style, words, count, in_turn=in_turn))
    examples = words.examples.get(question.type, ())[: style.few_shot]
    for example in examples:
        sentences += [words.example, example.question, words.example_answer, example.answer]
    if examples:
        sentences.append(words.real_question)
    return "\n".join(filter(None, sentences))


def _image_sentence(style: Style, words: PromptWords, count: int, *, in_turn: bool) -> str:
    if not count:
        return words.blank_image if style.blank_image and style.input_type == 2 else words.pure_text
    if in_turn:
        return words.in_turn
    return (words.no_image, words.captions, words.images, words.images_only)[style.input_type]


def _user(question: SubQuestion, style: Style, words: PromptWords, asked: NumberedText, extra: NumberedText) -> str:
    text = asked.text.strip()
    if style.input_type == 3:
        text = "".join(images.tokens_in(text))
    lines = [text]
    if extra.text:
        lines += [words.knowledge, extra.text]
    lines.append(words.think if _thinks(question, style) else words.answer_now)
    return "\n".join(lines)


def _thinks(question: SubQuestion, style: Style) -> bool:
    return style.cot and question.type != "解答"


def _place_images(text: str, files: Sequence[File], place: Place) -> tuple[Part, ...]:
    """Return the parts of a message: images after their tokens, or all of them before or after the text."""
    if not files:
        return (Text(text=text),)
    if place == "before":
        return (*files, Text(text=text))
    pieces = _split_after_tokens(text, len(files)) if place == "inline" else [text]
    if len(pieces) != len(files) + 1:
        return (Text(text=text), *files)
    parts: list[Part] = []
    for piece, file in zip(pieces, files, strict=False):
        parts += [Text(text=piece), file]
    return (*parts, Text(text=pieces[-1])) if pieces[-1] else tuple(parts)


def _in_turn(text: str, files: Sequence[File]) -> list[tuple[Part, ...]]:
    """Return one turn for each image; what is after the last token goes with the last."""
    pieces = _split_after_tokens(text, len(files))
    rounds: list[tuple[Part, ...]] = [
        (Text(text=piece.strip()), file) for piece, file in zip(pieces, files, strict=False)
    ]
    rest = pieces[-1].strip()
    return [*rounds[:-1], (*rounds[-1], Text(text=f"\n{rest}"))] if rest else rounds


def _split_after_tokens(text: str, count: int) -> list[str]:
    """Split the text after each of the first `count` image tokens."""
    ends = [match.end() for match in TOKEN.finditer(text)][:count]
    return [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]


def _turns(contents: Sequence[tuple[Part, ...]], system: str, label: str | None) -> tuple[Turn, ...]:
    messages = [Message(role="user", parts=parts) for parts in contents]
    first = (Message.of("system", system), messages[0]) if system else (messages[0],)
    rounds = [first, *((message,) for message in messages[1:])]
    return tuple(
        Turn(messages=said, reference=label if number == len(rounds) else None) for number, said in enumerate(rounds, 1)
    )
