"""The pace: what cuts it, what does not, and the fixed limits of a user."""

import asyncio
import heapq
import random
import time
from collections.abc import Callable
from itertools import pairwise
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from proctor.core.around import around
from proctor.transport import pace
from proctor.transport.deadline import Deadline
from proctor.transport.pace import START, Bucket, Endpoint, PaceBounds


class World:
    """An endpoint under load in a time of its own: as many requests as the pace allows, for some seconds."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, workers: int = 128) -> None:
        self.now = 1000.0
        monkeypatch.setattr(pace, "time", SimpleNamespace(monotonic=lambda: self.now))
        self.endpoint = Endpoint()
        self.limits: list[int] = []
        self._workers = workers
        self._random = random.Random(0)

    def run(self, seconds: float, *, latency: Callable[[int], float], refused: Callable[[int], float]) -> int:
        """Good replies in that time, with a latency and a share of refusals that depend on the number in flight."""
        end, good = self.now + seconds, 0
        flying: list[tuple[float, int, float]] = []
        while self.now < end:
            while self.endpoint.in_flight < min(self.endpoint.room, self._workers):
                self.endpoint.in_flight += 1
                took = latency(self.endpoint.in_flight) * self._random.uniform(0.7, 1.3)
                heapq.heappush(flying, (self.now + took, self.endpoint.in_flight, took))
            self.now, level, took = heapq.heappop(flying)
            if self._random.random() < refused(level):
                self.endpoint.refused(None)
            else:
                self.endpoint.answered(took)
                good += 1
            self.limits.append(self.endpoint.limit)
        for _ in flying:
            self.endpoint.leave()
        return good


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    return World(monkeypatch)


def test_the_pace_grows_slowly_while_all_goes_well(world: World) -> None:
    world.run(60, latency=lambda level: 1.0, refused=lambda level: 0.0)
    steps = [after - before for before, after in pairwise(world.limits)]
    assert world.limits[-1] >= 64
    assert max(steps) <= max(2, max(world.limits) // 8)
    assert min(steps) == 0


@pytest.mark.parametrize("share", [0.02, 0.1, 0.25])
def test_a_constant_share_of_stray_refusals_never_cuts_the_pace(world: World, share: float) -> None:
    world.run(60, latency=lambda level: 0.5, refused=lambda level: share)
    assert min(world.limits) == START
    assert world.limits[-1] >= 64


def test_a_large_share_that_is_the_same_at_a_lower_level_is_not_blamed_on_the_pace(world: World) -> None:
    world.run(120, latency=lambda level: 0.5, refused=lambda level: 0.5)
    assert min(world.limits) >= START // 2, "one try at a lower level, no more"
    assert world.limits[-1] > START


@pytest.mark.parametrize("capacity", [4, 10, 40])
def test_the_pace_settles_near_what_the_endpoint_allows(world: World, capacity: int) -> None:
    world.run(60, latency=lambda level: 0.5, refused=lambda level: float(level > capacity))
    settled = world.limits[len(world.limits) // 2 :]
    assert capacity * 0.5 <= sum(settled) / len(settled) <= capacity * 1.5


def test_cuts_are_a_second_apart(world: World) -> None:
    cut_at: list[float] = []
    before = world.endpoint.limit
    for _ in range(400):
        world.run(0.05, latency=lambda level: 0.02, refused=lambda level: min(1.0, level / 16))
        if world.endpoint.limit < before:
            cut_at.append(world.now)
        before = world.endpoint.limit
    assert len(cut_at) >= 2
    assert all(later - earlier >= 0.9 for earlier, later in pairwise(cut_at))


def test_the_pace_stops_growing_where_more_in_flight_only_waits_longer(world: World) -> None:
    world.run(120, latency=lambda level: 0.5 * max(1.0, level / 20), refused=lambda level: 0.0)
    assert max(world.limits[len(world.limits) // 2 :]) <= 50


def test_a_latency_that_is_high_at_every_level_changes_nothing(world: World) -> None:
    world.run(300, latency=lambda level: 8.0, refused=lambda level: 0.0)
    assert min(world.limits) == START
    assert world.limits[-1] >= 64


def test_a_fixed_number_is_in_force_from_the_start_and_never_changes() -> None:
    endpoint = Endpoint(256)
    for _ in range(1000):
        endpoint.in_flight += 1
        endpoint.refused(5.0)
    assert (endpoint.limit, endpoint.room, endpoint.in_flight) == (256, 256, 0)


def test_the_narrower_of_two_fixed_limits_counts() -> None:
    endpoint = Endpoint(8)
    endpoint.bound(PaceBounds(concurrency=32))
    assert endpoint.limit == 8
    endpoint.bound(PaceBounds(concurrency=2))
    assert endpoint.limit == 2
    free = Endpoint()
    free.bound(PaceBounds(concurrency=64))
    assert (free.limit, free.adaptive) == (64, False)


async def test_places_are_given_in_the_order_of_coming() -> None:
    endpoint, order = Endpoint(1), []

    async def caller(number: int) -> None:
        await endpoint.enter()
        order.append(number)
        await asyncio.sleep(0)
        endpoint.leave()

    await asyncio.gather(*(caller(number) for number in range(20)))
    assert order == list(range(20))
    assert endpoint.in_flight == 0


async def test_one_who_gives_up_waiting_takes_no_place() -> None:
    endpoint = Endpoint(1)
    await endpoint.enter()
    waiting = asyncio.create_task(endpoint.enter())
    await asyncio.sleep(0)
    waiting.cancel()
    endpoint.leave()  # gives the place to one who is about to leave
    await asyncio.gather(waiting, return_exceptions=True)
    assert endpoint.in_flight == 0
    await asyncio.wait_for(endpoint.enter(), 1)


async def test_nobody_goes_out_during_a_pause_and_everybody_after_it() -> None:
    endpoint = Endpoint(4)
    endpoint.pause(0.1)
    assert endpoint.in_flight >= endpoint.room, "the quick path is closed"
    started = time.monotonic()
    await asyncio.gather(*(endpoint.enter() for _ in range(4)))
    assert 0.1 <= time.monotonic() - started < 10
    assert endpoint.room == 4
    endpoint.close()


async def test_a_pause_of_a_day_is_not_made() -> None:
    endpoint = Endpoint(1)
    endpoint.pause(86_400)
    await asyncio.wait_for(endpoint.enter(), 1)


async def test_requests_per_minute_are_spread_evenly() -> None:
    endpoint = Endpoint(100)
    endpoint.bound(PaceBounds(requests_per_minute=60 * 50))
    started = time.monotonic()
    for _ in range(70):
        await endpoint.enter()
        endpoint.leave()
    assert 0.35 <= time.monotonic() - started < 10, "50 at once, 20 more at 50 a second"
    endpoint.close()


async def test_few_requests_per_minute_are_one_at_a_time() -> None:
    endpoint = Endpoint(100)
    endpoint.bound(PaceBounds(requests_per_minute=30))
    await endpoint.enter()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(endpoint.enter(), 0.1)
    endpoint.close()


async def test_tokens_that_were_used_make_the_next_call_wait() -> None:
    endpoint = Endpoint(100)
    endpoint.bound(PaceBounds(tokens_per_minute=6000))  # 100 a second, 1000 at once
    await endpoint.enter()
    endpoint.leave()
    endpoint.spent(1200)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(endpoint.enter(), 0.1)
    endpoint.close()


async def test_the_first_call_says_how_many_go_out_at_once_under_a_limit_of_tokens() -> None:
    endpoint = Endpoint(100)
    endpoint.bound(PaceBounds(tokens_per_minute=6000))  # 100 a second, 1000 at once
    await endpoint.enter()
    endpoint.answered(0.1)
    endpoint.spent(100)
    entering = [asyncio.ensure_future(endpoint.enter()) for _ in range(50)]
    await asyncio.sleep(0.05)
    assert 9 <= sum(one.done() for one in entering) <= 10
    for one in entering:
        one.cancel()
    endpoint.close()


def test_a_bucket_says_how_long_to_wait() -> None:
    bucket, now = Bucket(600, burst_seconds=10), time.monotonic()  # 10 a second, 100 at once
    assert bucket.wait(now, 100) == 0
    bucket.take(130)
    assert bucket.wait(now, 20) == pytest.approx(5.0, abs=0.01)
    assert bucket.wait(now + 4, 20) == pytest.approx(1.0, abs=0.01)
    assert bucket.wait(now + 1000, 5000) == 0, "what is larger than the bucket waits for a full one only"


async def test_waiting_for_a_place_stops_the_clock_of_the_attempt() -> None:
    endpoint = Endpoint(1)
    await endpoint.enter()
    asyncio.get_running_loop().call_later(0.2, endpoint.leave)
    with Deadline(0.1) as limit:
        around.set(replace(around.get(), deadline=limit))
        await endpoint.enter()
    around.set(replace(around.get(), deadline=None))
