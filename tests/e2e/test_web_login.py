"""A login in a real browser: off to a provider of another site and back, a page that was linked to, tokens, and the end of a session."""

import json
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from oidc_provider import OidcProvider
from playwright.sync_api import Page, expect
from web_site import AppSite

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser-2")]


@pytest.fixture
def oidc() -> Iterator[OidcProvider]:
    provider = OidcProvider(host="localhost")  # another site than 127.0.0.1
    yield provider
    provider.close()


@pytest.fixture
def address(tmp_path: Path, oidc: OidcProvider) -> Iterator[str]:
    site = AppSite(tmp_path)
    site.run()
    site.workspace.close()
    (tmp_path / "secret").write_text(oidc.secret)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    login = ("--oidc", oidc.issuer, "--oidc-client", oidc.client, "--oidc-secret-file", "secret", "--url", url)
    grants = ("--grant", "reader=*", "--grant", "runner=lab", "--grant", "admin=chiefs")
    command = [sys.executable, "-m", "proctor", "--lang", "en", "web", "--json", "--no-open", "--port", str(port)]
    server = subprocess.Popen(
        [*command, "--store", site.store, *login, *grants], stdout=subprocess.PIPE, text=True, cwd=tmp_path
    )
    assert server.stdout is not None
    said = json.loads(server.stdout.readline())
    assert said["people"] == [], "whoever reads the log of the server would come in by a link"
    yield url
    server.terminate()
    server.communicate(timeout=60)


def sign_in(page: Page, oidc: OidcProvider, user: str) -> None:
    expect(page.get_by_role("button", name=user)).to_be_visible()
    assert page.url.startswith(oidc.issuer)
    page.get_by_role("button", name=user).click()


def test_a_user_signs_in_at_another_site_works_and_is_signed_out(
    visit: Callable[..., Page], oidc: OidcProvider, address: str, request: pytest.FixtureRequest
) -> None:
    page = visit(f"{address}/runs/first?lang=en", viewport={"width": 1280, "height": 800})
    sign_in(page, oidc, "ann")
    expect(page.locator("h1")).to_contain_text("capitals")
    assert page.url == f"{address}/runs/first?lang=en"
    assert page.locator("form[action$='/delete']").count() == 0, "a runner deletes no runs"
    page.get_by_role("link", name="ann@example.org").click()
    page.get_by_label("What it is for").fill("nightly")
    page.get_by_role("button", name="Make the token").click()
    expect(page.locator(".address code")).to_be_visible()
    pictures(page, f"{address}/account", "account", request)

    admin = visit(f"{address}/team", viewport={"width": 1280, "height": 800})
    sign_in(admin, oidc, "root")
    expect(admin.locator("table").last).to_contain_text("POST /account/tokens")
    expect(admin.locator("table").last).to_contain_text("signed in")
    pictures(admin, f"{address}/team", "team", request)
    rows = admin.locator("table").first.locator("tr", has_text="ann@example.org").filter(has_text="Session")
    rows.get_by_role("button", name="Revoke").click()
    expect(rows).to_have_count(0)
    page.goto(f"{address}/runs")
    expect(page.get_by_role("button", name="bob")).to_be_visible()

    admin.goto(f"{address}/account?lang=en")
    admin.get_by_role("button", name="Sign out").click()
    expect(admin.locator("h1")).to_have_text("You are signed out.")
    admin.goto(f"{address}/runs")
    assert admin.url.startswith(oidc.issuer)


def pictures(page: Page, address: str, name: str, request: pytest.FixtureRequest) -> None:
    """Every page fits, wide and on a phone, in both languages."""
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 800})
        for lang in ("zh", "en"):
            page.goto(f"{address}?lang={lang}")
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (name, width)
            if folder := request.config.getoption("--rewrite-golden") and Path("/tmp"):
                page.screenshot(path=folder / f"team-{name}-{lang}-{width}.png", full_page=True)
