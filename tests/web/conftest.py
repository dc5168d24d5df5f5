"""Have pages wait for what they compute, however busy the machine is: that they say so after a moment has tests of its own."""

import pytest
from patient_web import MANY_SECONDS, WAITS


@pytest.fixture(autouse=True)
def pages_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in WAITS:
        monkeypatch.setattr(name, MANY_SECONDS)
