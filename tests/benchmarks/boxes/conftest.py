"""Run tests on each backend of boxes that this machine has."""

import pytest
from machine_image import BACKENDS, skip_without


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    skip_without(name)
    return name
