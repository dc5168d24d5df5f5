"""Have pages wait for what they compute, however busy the machine is: that they say so after a moment has tests of its own."""

import pytest

PATIENT_SECONDS = 30.0


@pytest.fixture(autouse=True)
def pages_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proctor_web.comparing.background.SECONDS", PATIENT_SECONDS)
    monkeypatch.setattr("proctor_web.results.report.PATIENT_SECONDS", PATIENT_SECONDS)
    monkeypatch.setattr("proctor_web.results.report.WRITTEN_SECONDS", PATIENT_SECONDS)
    monkeypatch.setattr("proctor_web.runs.panel.SOON_SECONDS", PATIENT_SECONDS)
