"""Find the known names nearest to a misspelt one."""

from collections.abc import Iterable, Sequence

from proctor.core.sentence import Sentence, say

CUTOFF = 0.65  # 'giaa' is near to 'gaia', 'nope' to nothing
FEWEST = 3  # letters that a longer name may begin with


def near(name: str, known: Iterable[str], *, most: int = 3) -> list[str]:
    """Return the names that begin with this one, else those that are spelt similarly; the nearest first.

    >>> near("simple", ["simple_java", "simple_python", "parallel"]), near("giaa", ["gaia"]), near("nope", ["mine"])
    (['simple_java', 'simple_python'], ['gaia'], [])
    """
    from difflib import get_close_matches  # only where something is misspelt

    by_lower = {candidate.lower(): candidate for candidate in known}
    lower = name.lower()
    longer = [one for one in by_lower if len(lower) >= FEWEST and one.startswith(lower)]
    return [by_lower[one] for one in (longer[:most] or get_close_matches(lower, by_lower, n=most, cutoff=CUTOFF))]


def did_you_mean(names: Sequence[str]) -> Sentence | str:
    """Return the question whether one of these names was meant, '' without one; each name has its own quotation marks.

    >>> str(did_you_mean(["simple_java", "simple_python"]))
    " Did you mean 'simple_java', 'simple_python'?"
    """
    if not names:
        return ""
    listed: Sentence | str = names[-1]
    for name in reversed(names[:-1]):
        listed = say("{one}', '{other}", one=name, other=listed)
    return say(" Did you mean '{near}'?", near=listed)


def misspellings(name: str) -> set[str]:
    """Return the typing errors of a name: two letters swapped, one left out or one doubled, but not at its end.

    Other endings are no errors, as they make other words: `named`, `judges`.

    >>> sorted(misspellings("model"))[:3], "mode" in misspellings("model")
    (['mdel', 'mdoel', 'mmodel'], False)
    """
    inside = range(len(name) - 1)
    swapped = {name[:at] + name[at + 1] + name[at] + name[at + 2 :] for at in inside}
    dropped = {name[:at] + name[at + 1 :] for at in inside}
    doubled = {name[: at + 1] + name[at:] for at in inside}
    return (swapped | dropped | doubled) - {name}
