"""Make the prompt of a question: the official system prompt, the question, and the attachment as a part or a note."""

from functools import cache
from importlib.resources import files
from pathlib import Path

from msgspec.structs import replace

from proctor.core.sample import File, Message, Part, Sample, Text, Turn
from proctor_benchmarks.gaia.dataset import attachment_part

INLINE_BYTES = 20_000
INLINE_TYPES = ("text/", "application/json", "application/xml")


@cache
def system_prompt() -> str:
    """Return the prompt of the GAIA paper (arXiv 2311.12983), verbatim."""
    return files("proctor_benchmarks.gaia").joinpath("system_prompt.txt").read_text(encoding="utf-8")


def present(sample: Sample) -> Sample:
    """Return the sample as it is sent: attachments as parts; for agents that read text only, small ones inline, others named."""
    path = sample.meta.get("attachment")
    file = attachment_part(Path(path)) if path else None
    system = Message.of("system", system_prompt())
    parts: tuple[Part, ...] = (Text(text=sample.question),)
    if file is not None:
        hint = Text(text=f"\n\nThe attached file is at {file.path}")
        asked = Message(role="user", parts=(*parts, hint, file))
        as_text = Message(role="user", parts=(*parts, Text(text=_in_words(file))))
    else:
        asked = as_text = Message(role="user", parts=parts)
    turn = Turn(messages=(system, asked), as_text=(system, as_text), reference=sample.target)
    return replace(sample, turns=(turn,))


def _in_words(file: File) -> str:
    data = file.data or b""
    note = f"\n\nThe attached file is at {file.path}"
    if len(data) <= INLINE_BYTES and file.media_type.startswith(INLINE_TYPES):
        return f"{note}. Its content:\n{data.decode('utf-8', errors='replace')}"
    return f"{note} ({file.media_type}, {len(data):,} bytes)."
