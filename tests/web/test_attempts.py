"""Wrong tokens are counted by address, and for a while no more of them are looked at."""

import pytest

from proctor_web.attempts import MOST_ADDRESSES, MOST_WRONG, WINDOW_SECONDS, Attempts


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def guess(attempts: Attempts, address: str, count: int = MOST_WRONG) -> None:
    for number in range(count):
        attempts.count(address, f"guess {number}")


def test_who_guesses_often_waits_and_others_do_not(clock: Clock) -> None:
    attempts = Attempts(clock)
    guess(attempts, "192.0.2.1", MOST_WRONG - 1)
    assert attempts.seconds_to_wait("192.0.2.1") == 0
    attempts.count("192.0.2.1", "one more")
    assert 0 < attempts.seconds_to_wait("192.0.2.1") <= WINDOW_SECONDS + 1
    assert attempts.seconds_to_wait("192.0.2.2") == 0


def test_after_the_window_tokens_are_looked_at_again(clock: Clock) -> None:
    attempts = Attempts(clock)
    guess(attempts, "192.0.2.1")
    clock.now = attempts.seconds_to_wait("192.0.2.1")
    assert attempts.seconds_to_wait("192.0.2.1") == 0


def test_an_old_token_sent_again_and_again_is_one_attempt(clock: Clock) -> None:
    attempts = Attempts(clock)
    for _ in range(1_000):
        attempts.count("127.0.0.1", "of yesterday")
    assert attempts.seconds_to_wait("127.0.0.1") == 0


def test_a_network_of_version_six_is_one_address(clock: Clock) -> None:
    attempts = Attempts(clock)
    for number in range(MOST_WRONG):
        attempts.count(f"2001:db8::{number:x}", f"guess {number}")
    assert attempts.seconds_to_wait("2001:db8::ffff") > 0
    assert attempts.seconds_to_wait("2001:db8:0:1::1") == 0


def test_what_is_counted_is_bounded(clock: Clock) -> None:
    attempts = Attempts(clock)
    guess(attempts, "192.0.2.1", 10_000)
    for number in range(MOST_ADDRESSES + 50):
        attempts.count(f"10.0.{number // 256}.{number % 256}", "x")
    assert len(attempts._seconds_by_token) == MOST_ADDRESSES
    assert all(len(tokens) <= MOST_WRONG for tokens in attempts._seconds_by_token.values())
