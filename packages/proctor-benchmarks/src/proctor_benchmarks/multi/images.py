"""Image tokens of a text: `[IMAGE_n]` counts from 1 into a list of paths."""

import mimetypes
import re
import struct
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sample import File
from proctor.runtime.file_names import can_be_a_file

TOKEN = re.compile(r"\[IMAGE_([0-9]{1,6})\]")
BLANK_SIZE = 24

Missing = Literal["error", "placeholder"]


class NumberedText(msgspec.Struct, frozen=True, kw_only=True):
    """A text with its tokens numbered as they come, and the images in that order."""

    text: str
    images: tuple[str, ...] = ()


def tokens_in(text: str) -> list[str]:
    """Return the image tokens of a text, in order."""
    return [match[0] for match in TOKEN.finditer(text)]


def renumber(text: str, images: Sequence[str], *, first: int = 1, where: str = "") -> NumberedText:
    """Number image tokens in their order, beginning with `first`; all at once, so that none is replaced twice.

    >>> renumber("x[IMAGE_2]y[IMAGE_1]", ["a.png", "b.png"])
    NumberedText(text='x[IMAGE_1]y[IMAGE_2]', images=('b.png', 'a.png'))

    Raises:
        BadInput: a token that no image belongs to.
    """
    order: list[str] = []

    def number(match: re.Match[str]) -> str:
        index = int(match[1]) - 1
        if not 0 <= index < len(images):
            raise BadInput(
                "{where}: {token} names an image, but there are {count}.",
                where=where,
                token=match[0],
                count=len(images),
            )
        order.append(images[index])
        return f"[IMAGE_{first + len(order) - 1}]"

    return NumberedText(text=TOKEN.sub(number, text), images=tuple(order))


def add_captions(placed: NumberedText, captions: Mapping[str, str], *, inside: bool) -> NumberedText:
    """Add the captions: within the tokens, or in lines below the text; unknown images have an empty text.

    >>> add_captions(NumberedText(text="see [IMAGE_1]", images=("a.png",)), {"a.png": "a cat"}, inside=False).text
    'see [IMAGE_1]\\n[IMAGE_1]: a cat'
    """
    texts = dict(zip(tokens_in(placed.text), (captions.get(image, "") for image in placed.images), strict=True))
    if inside:
        text = TOKEN.sub(lambda match: f"{match[0][:-1]}:{texts[match[0]]}]", placed.text)
    else:
        text = "\n".join([placed.text, *(f"{token}: {caption}" for token, caption in texts.items())])
    return NumberedText(text=text, images=placed.images)


def part(root: Path, image: str, *, missing: Missing, where: str) -> File:
    """Return an image as a part of a message, read when it is sent; or the placeholder, where that is allowed.

    Raises:
        BadInput: it is not there, or lies outside the data folder.
    """
    if not can_be_a_file(image):
        image = image.replace("\0", "␀")[:200]  # as the message shows it
    path = (root / image).resolve()
    if not path.is_relative_to(root.resolve()):
        raise BadInput("{where}: the image '{name}' lies outside the data folder.", where=where, name=image)
    if path.is_file():
        media_type = mimetypes.guess_type(path.name)[0] or "image/png"
        return File(name=path.name, media_type=media_type, path=str(path))
    if missing == "placeholder":
        return blank()
    raise BadInput(
        "{where}: the image '{name}' is not in {folder}. With --set missing_image=placeholder a black picture is sent instead.",
        where=where,
        name=image,
        folder=root,
    )


def blank() -> File:
    """Return the official placeholder: a black picture of 24 x 24."""
    rows = b"".join(b"\0" + b"\0\0\0" * BLANK_SIZE for _ in range(BLANK_SIZE))
    header = struct.pack(">IIBBBBB", BLANK_SIZE, BLANK_SIZE, 8, 2, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(rows)) + _chunk(b"IEND", b"")
    return File(name="blank.png", media_type="image/png", data=data)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
