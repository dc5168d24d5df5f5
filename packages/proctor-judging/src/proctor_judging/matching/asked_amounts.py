"""What a question asks of an amount: its units and dimensions, and whose it is."""

from proctor_judging.matching import amount_wording as wording
from proctor_judging.matching.amounts import HOW_MANY
from proctor_judging.matching.question_words import MOST_CHARACTERS, echo, interrogative
from proctor_judging.matching.unit_table import read_unit


def units_asked(question: str) -> list[str]:
    """Return the units that a question names, and `%` where it asks for a share.

    >>> units_asked("How many kilometres is it in a day?"), units_asked("温度是多少摄氏度？"), units_asked("百分之几？")
    (['kilometres'], ['摄氏度'], ['%'])
    """
    names = [match[1] or match[2] for match in wording.UNIT_ASKED.finditer(question[:MOST_CHARACTERS])]
    for how in HOW_MANY.finditer(question[:MOST_CHARACTERS]):
        longest_first = (how[1][:size] for size in range(len(how[1]), 0, -1))
        names += [name for name in longest_first if read_unit(name) is not None][:1]
    names += ["kcal"] * any("calorie" in name for name in names)
    return [name for name in names if read_unit(name) is not None] + ["%"] * (
        wording.ASKS_SHARE.search(question) is not None
    )


def dimensions_asked(question: str) -> object:
    """Return the dimensions of the unit in which what is asked can be given; None where the question does not tell."""
    asked = wording.HOW_BIG.search(interrogative(question)) if question else None
    unit = read_unit("km" if asked["length"] else "kg") if asked is not None else None
    return None if unit is None else unit.dimensions


def words_in(text: str) -> set[str]:
    """Return the words of a text that a question may share, those in Chinese also as pairs of characters."""
    return (echo(text) - wording.PRONOUNS) | set(wording.HAN_PAIR.findall(text[:MOST_CHARACTERS]))
