"""What it costs to say hello."""

from collections.abc import Iterator

from bench.figure import Figure, cpu_of, in_turn


def measure() -> Iterator[Figure]:
    """CPU of `--help` and of `import proctor` over that of what they cannot do without."""
    floor, help_ = in_turn(
        lambda: cpu_of(["-c", "import click, msgspec"]), lambda: cpu_of(["-m", "proctor", "--help"]), rounds=9
    )
    yield Figure(what="CPU of proctor --help over import click, msgspec", value=help_ / floor, at_most=1.3)
    floor, imported = in_turn(
        lambda: cpu_of(["-c", "import msgspec"]), lambda: cpu_of(["-c", "import proctor"]), rounds=9
    )
    yield Figure(what="CPU of import proctor over import msgspec", value=imported / floor, at_most=1.3)
