"""Part what a model thought aloud from what it answered."""

OPEN, CLOSE = "<think>", "</think>"


def parted(text: str) -> tuple[str, str]:
    """The reasoning and the answer in a text with `<think>…</think>` blocks.

    A block that is never closed was cut off: all of it is reasoning. A `</think>` without its beginning (the chat
    template wrote it) ends the reasoning too.

    >>> parted("<think>2 + 2</think>\\n4"), parted("so 4</think>4"), parted("<think>so"), parted("4")
    (('2 + 2', '4'), ('so 4', '4'), ('so', ''), ('', '4'))
    """
    if OPEN not in text and CLOSE not in text:
        return "", text
    thoughts: list[str] = []
    kept: list[str] = []
    rest = text
    if CLOSE in text.partition(OPEN)[0]:
        thought, _, rest = text.partition(CLOSE)
        thoughts.append(thought)
    while rest:
        before, opened, rest = rest.partition(OPEN)
        kept.append(before)
        if opened:
            thought, _, rest = rest.partition(CLOSE)
            thoughts.append(thought)
    return "\n".join(thought.strip() for thought in thoughts), "".join(kept).strip()
