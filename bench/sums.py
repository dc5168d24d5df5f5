"""The questions that floor and pipeline ask: sums, with a right answer each."""


def question(number: int) -> tuple[str, str]:
    """The text and the right answer of a sample.

    >>> question(0)
    ('Sample 0. What is 1000 + 17? Reply with the number only.', '1017')
    """
    one, other = 1000 + (number * 7919) % 90001, 17 + (number * 104729) % 70001
    return f"Sample {number}. What is {one} + {other}? Reply with the number only.", str(one + other)


def expected_right(count: int, wrong_every: int = 10) -> int:
    """How many answers of the mock server are right: sums that `wrong_every` divides are answered wrongly."""
    return sum(int(question(number)[1]) % wrong_every != 0 for number in range(count))
