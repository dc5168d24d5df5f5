"""Define a shard: the share of a run's samples that one of several machines plays."""

import re

import msgspec

from proctor.core.errors import BadInput

MOST = 100_000
_TEXT = re.compile(r"([0-9]{1,6})/([0-9]{1,6})")


class Shard(msgspec.Struct, frozen=True, kw_only=True):
    """Number `number` (from 1) of the `of` shares of a run; every sample is in exactly one."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def shard_at(place: int, of: int) -> int:
    """Return the number of the shard that holds the sample at a position of the plan.

    Of `of` samples in a row each is in another shard, and each row begins with another one, so that no pattern in the data
    puts samples of one kind into one shard.

    >>> [shard_at(place, 3) for place in range(9)]
    [1, 2, 3, 1, 2, 3, 3, 1, 2]
    """
    turn = place // of * 40_503 % 65_521
    return (place + turn) % of + 1


def place_of(row: int, number: int, of: int) -> int:
    """Return the position of a sample in the plan from its shard, and how many samples of that shard precede it.

    >>> [shard_at(place_of(row, 2, 3), 3) for row in range(5)], [place_of(row, 2, 3) for row in range(5)]
    ([2, 2, 2, 2, 2], [1, 4, 8, 11, 12])
    """
    return row * of + (number - 1 - row * 40_503 % 65_521) % of


def shard_of(given: Shard | str | None) -> Shard | None:
    """Return the shard that a text names.

    Raises:
        BadInput: it names none.

    >>> str(shard_of("3/10"))
    '3/10'
    """
    if given is None or isinstance(given, Shard):
        return given
    parts = _TEXT.fullmatch(given)
    shard = None if parts is None else Shard(number=int(parts[1]), of=int(parts[2]))
    if shard is None or not 1 <= shard.number <= shard.of <= MOST:
        raise BadInput("'{shard}' names no shard. Write its number and how many there are: --shard 3/10", shard=given)
    return shard
