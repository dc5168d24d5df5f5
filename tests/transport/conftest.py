"""Tests of connections run on both event loops that a run may use."""

import asyncio
from collections.abc import Callable, Mapping

import pytest

ON_BOTH = ("test_wire", "test_opening", "test_bodies")


@pytest.hookimpl(tryfirst=True)
def pytest_asyncio_loop_factories(
    config: pytest.Config,
    item: pytest.Item,
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    factories: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {"asyncio": asyncio.new_event_loop}
    if item.path.stem in ON_BOTH:
        import uvloop

        factories["uvloop"] = uvloop.new_event_loop
    return factories
