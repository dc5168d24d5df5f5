"""Names near to one that is misspelt."""

from collections.abc import Iterable

CUTOFF = 0.65  # 'giaa' is near to 'gaia', 'nope' to nothing
FEWEST = 3  # letters that a longer name may begin with


def near(name: str, known: Iterable[str], *, most: int = 3) -> list[str]:
    """Return the names that go on where this one ends, else those that are written much like it; the nearest first.

    >>> near("simple", ["simple_java", "simple_python", "parallel"]), near("giaa", ["gaia"]), near("nope", ["mine"])
    (['simple_java', 'simple_python'], ['gaia'], [])
    """
    from difflib import get_close_matches  # only where something is misspelt

    by_lower = {one.lower(): one for one in known}
    lower = name.lower()
    longer = [one for one in by_lower if len(lower) >= FEWEST and one.startswith(lower)]
    return [by_lower[one] for one in (longer[:most] or get_close_matches(lower, by_lower, n=most, cutoff=CUTOFF))]
