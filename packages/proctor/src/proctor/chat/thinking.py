"""Separate a model's reasoning from its answer."""

OPEN, CLOSE = "<think>", "</think>"


def parted(text: str) -> tuple[str, str]:
    """Return the reasoning and the answer in a text with `<think>…</think>` blocks.

    A block that is never closed was cut off: all of it is reasoning. A `</think>` without its beginning (the chat
    template wrote it) ends the reasoning too.

    >>> parted("<think>2 + 2</think>\\n4"), parted("so 4</think>4"), parted("<think>so"), parted("4")
    (('2 + 2', '4'), ('so 4', '4'), ('so', ''), ('', '4'))
    """
    if OPEN not in text and CLOSE not in text:
        return "", text
    thoughts: list[str] = []
    kept: list[str] = []
    at, opened, closed = 0, text.find(OPEN), text.find(CLOSE)
    if closed >= 0 and (opened < 0 or closed < opened):
        thoughts.append(text[:closed])
        at = closed + len(CLOSE)
    while (opened := text.find(OPEN, at)) >= 0:  # by index: to cut the rest off each time is quadratic
        kept.append(text[at:opened])
        at = opened + len(OPEN)
        closed = text.find(CLOSE, at)
        thoughts.append(text[at:closed] if closed >= 0 else text[at:])
        at = closed + len(CLOSE) if closed >= 0 else len(text)
    kept.append(text[at:])
    return "\n".join(thought.strip() for thought in thoughts), "".join(kept).strip()
