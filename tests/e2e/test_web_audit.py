"""Findings of an audit in a real browser: from the page of the run to a sample, accepted with a reason; on a phone in Chinese."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import audited
import pytest
from audited import FINDINGS, RUN
from playwright.sync_api import Page, expect

from proctor_audit.ignoring import FILE

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}


@pytest.fixture(scope="module")
def exam(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exam")
    audited.write_exam(folder)
    audited.run_exam(folder)
    audited.audit_exam(folder)
    return folder


@pytest.fixture
def server(web: Callable[..., Any], exam: Path, tmp_path: Path) -> Any:
    shutil.copytree(exam, tmp_path / "copy")
    return web("--store", tmp_path / "copy" / "runs.db")


def test_a_finding_is_followed_to_its_sample_and_accepted_there(
    server: Any, visit: Callable[..., Page], exam: Path
) -> None:
    (exam / FILE).unlink(missing_ok=True)
    page = visit(server.link)
    page.goto(f"{server.address}/runs/{RUN}")
    expect(page.locator("#content")).to_contain_text("without the 4 samples that proved findings concern: 0.0%")
    page.get_by_role("link", name="2 proved").click()
    page.locator(".audited").first.get_by_role("link", name="q1").click()
    finding = page.locator("#audit .audited")
    finding.get_by_text("Witness").click()
    expect(finding).to_contain_text(f"--replay {FINDINGS[0]}")
    finding.get_by_text("Accept it …").click()
    finding.get_by_label("Why").fill("both are right")
    finding.get_by_role("button", name="Accept").click()
    expect(page.locator("#audit .accepted")).to_contain_text("both are right")
    assert FINDINGS[0] in (exam / FILE).read_text(encoding="utf-8")
    (exam / FILE).unlink()


def test_a_phone_shows_an_audit_in_chinese_within_its_width(server: Any, visit: Callable[..., Page]) -> None:
    page = visit(server.link, **PHONE)
    page.goto(f"{server.address}/runs/{RUN}/audit?lang=zh")
    expect(page.locator("h1")).to_contain_text("任务审计")
    for summary in page.get_by_text("证据").all():
        summary.tap()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.goto(f"{server.address}/runs/{RUN}/samples/q4")
    expect(page.locator("#audit .badge")).to_have_text("已证明")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
