"""When to come back, by the headers of a reply."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.transport.headers import REMAINING_AND_RESET, asked_seconds, used_up_seconds

NOW = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after": format_datetime(NOW + timedelta(seconds=90), usegmt=True)}, 90.0),
        ({"retry-after": format_datetime(NOW - timedelta(seconds=90), usegmt=True)}, 0.0),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": ""}, None),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "6m0s"}, 360.0),
        ({"x-ratelimit-remaining-tokens": "3", "x-ratelimit-reset-tokens": "6m0s"}, None),
    ],
)
def test_what_a_refusal_asks_for(headers: dict[str, str], seconds: float | None) -> None:
    assert asked_seconds({**headers, "date": format_datetime(NOW, usegmt=True)}) == seconds


@pytest.mark.parametrize(
    ("reset", "seconds"),
    [
        ("1s", 1.0),
        ("20ms", 0.02),
        ("1h2m3.5s", 3723.5),
        ("17", 17.0),
        ("2026-11-21T12:00:30Z", 30.0),
        ("1s later", None),
        ("", None),
    ],
)
@pytest.mark.parametrize("names", REMAINING_AND_RESET)
def test_a_quota_that_is_used_up_says_when_it_is_filled_again(
    names: tuple[str, str], reset: str, seconds: float | None
) -> None:
    headers = {names[0]: "0", names[1]: reset, "date": format_datetime(NOW, usegmt=True)}
    assert used_up_seconds(headers) == seconds


def test_a_reset_in_unix_time_is_a_date() -> None:
    later = datetime.now(UTC).timestamp() + 40
    found = used_up_seconds({"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(later)})
    assert found == pytest.approx(40, abs=2)


def test_of_several_quotas_the_longest_wait_counts() -> None:
    headers = {
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "2s",
        "x-ratelimit-remaining-tokens": "0",
        "x-ratelimit-reset-tokens": "9s",
    }
    assert used_up_seconds(headers) == 9.0


@given(st.text(max_size=60), st.text(max_size=60))
def test_hostile_values_never_raise(one: str, other: str) -> None:
    for value in (
        asked_seconds({"retry-after": one, "date": other}),
        used_up_seconds({"ratelimit-remaining": "0", "ratelimit-reset": one}),
    ):
        assert value is None or value >= 0
