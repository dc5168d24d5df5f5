"""A login by OpenID Connect against a provider on this machine: who comes in, as what, and everything that must not hold."""

import base64
import json
import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner
from joserfc import jwt
from joserfc.jwk import KeySet, OctKey, RSAKey
from oidc_provider import OidcProvider
from starlette.testclient import TestClient
from web_site import AppSite

from proctor.cli import app
from proctor.core.errors import BadInput
from proctor_web.auth import Access, UserNaming
from proctor_web.commands.team_options import TeamOptions
from proctor_web.site import site as app_of
from proctor_web.team.oidc import Provider, checked_url
from proctor_web.users.database import InFile
from proctor_web.users.ledger import Ledger
from proctor_web.users.roles import read_grants

URL = "http://127.0.0.1:7860"
GRANTS = ["reader=user:bob@example.org", "runner=lab", "admin=chiefs"]


@pytest.fixture(scope="module")
def provider() -> Iterator[OidcProvider]:
    provider = OidcProvider()
    yield provider
    provider.close()


@pytest.fixture
def oidc(provider: OidcProvider) -> OidcProvider:
    """The provider, which is honest until the test has it lie."""
    provider.claims, provider.token, provider.about, provider.userinfo = (
        lambda claims: claims,
        lambda token: token,
        {},
        {},
    )
    return provider


class LoginSite(AppSite):
    def __init__(
        self, folder: Path, oidc: OidcProvider, *, url: str = URL, ledger: Path | None = None, **more: Any
    ) -> None:
        super().__init__(folder)
        self.url = url
        self.ledger = Ledger(InFile(str(ledger or folder / "ledger")), session_seconds=3600.0)
        self.provider = Provider(oidc.issuer, oidc.client, oidc.secret, **more)
        self.access = Access(
            7860, ledger=self.ledger, naming=UserNaming(grants=read_grants(GRANTS), has_login=True), url=url
        )
        self.app = app_of(self.workspace, self.access, "en", provider=self.provider)

    def new_browser(self) -> TestClient:
        return TestClient(self.app, base_url=self.url, follow_redirects=False)

    def close(self) -> None:
        self.workspace.close()
        self.ledger.close()


@pytest.fixture
def site(tmp_path: Path, oidc: OidcProvider) -> Iterator[LoginSite]:
    site = LoginSite(tmp_path, oidc)
    yield site
    site.close()


def sign_in(browser: TestClient, oidc: OidcProvider, user: str = "ann", path: str = "/runs") -> Any:
    off = browser.get(path)
    assert off.headers["location"].startswith("/login?next=")
    to = browser.get(off.headers["location"])
    assert to.headers["location"].startswith(f"{oidc.issuer}/authorize?")
    return browser.get(oidc.code(to.headers["location"], user))


def test_a_stranger_signs_in_comes_back_to_the_page_and_has_the_role_of_the_groups(
    site: LoginSite, oidc: OidcProvider
) -> None:
    browser = site.new_browser()
    back = sign_in(browser, oidc, "ann", "/runs?task=a%20b&lang=zh")
    assert (back.status_code, back.headers["location"]) == (303, "/runs?task=a%20b&lang=zh")
    assert "samesite=lax" in back.headers["set-cookie"].lower()
    assert "httponly" in back.headers["set-cookie"].lower()
    account = browser.get("/account").text
    assert "ann@example.org" in account
    assert "Your role here: runner" in account
    assert [(one.what, one.name, one.role, one.status) for one in site.ledger.entries()] == [
        ("LOGIN", "ann@example.org", "runner", 303)
    ]
    assert browser.post("/logout").status_code == 403, "a write needs the token of a form"


@pytest.mark.parametrize("path", ["/runs/a/samples/x%3Fy%23z%25", "/runs/a/samples/%E4%B8%AD/b?view=x%26y"])
def test_a_login_comes_back_to_an_address_as_it_was_written(site: LoginSite, oidc: OidcProvider, path: str) -> None:
    assert sign_in(site.new_browser(), oidc, "ann", path).headers["location"] == path


def test_who_has_no_session_is_sent_to_the_login_and_programs_are_refused(site: LoginSite) -> None:
    browser = site.new_browser()
    assert browser.get("/api/v1/runs").status_code == 401
    refused = browser.post("/runs")
    assert refused.status_code == 401
    assert refused.text == f"You are not signed in, or your session has ended. Sign in at {URL}."
    assert browser.get("/runs", headers={"sec-fetch-dest": "image"}).status_code == 401
    assert browser.get("/static/app.css").status_code == 200


def test_who_has_no_role_is_turned_away_by_name_and_it_is_noted(
    tmp_path: Path, site: LoginSite, oidc: OidcProvider
) -> None:
    oidc.claims = lambda claims: {**claims, "email": "mallory@example.org", "groups": ["user:bob@example.org"]}
    browser = site.new_browser()
    back = sign_in(browser, oidc)
    assert back.status_code == 403
    assert "mallory@example.org has no role here" in back.text
    assert browser.get("/runs").status_code == 303
    assert site.ledger.entries()[0].what == "LOGIN REFUSED"


def test_a_revoked_session_ends_on_every_server_of_the_ledger(
    tmp_path: Path, site: LoginSite, oidc: OidcProvider
) -> None:
    (tmp_path / "other").mkdir()
    other = LoginSite(tmp_path / "other", oidc, ledger=tmp_path / "ledger")
    browser = site.new_browser()
    off = browser.get(browser.get("/runs").headers["location"])
    elsewhere = other.new_browser()
    elsewhere.cookies = browser.cookies
    assert elsewhere.get(oidc.code(off.headers["location"], "root")).status_code == 303, "back at the other server"
    browser.cookies = elsewhere.cookies
    assert browser.get("/team").status_code == 200
    (issued,) = site.ledger.issued()
    assert other.ledger.revoke(issued.id)
    assert [one.get("/runs").status_code for one in (browser, elsewhere)] == [303, 303]
    other.close()


def test_a_role_that_is_taken_away_is_gone_at_the_next_request(site: LoginSite, oidc: OidcProvider) -> None:
    browser = site.new_browser()
    sign_in(browser, oidc, "root")
    assert browser.get("/team").status_code == 200
    site.access._grants = read_grants(["reader=chiefs"])
    assert browser.get("/team").status_code == 403
    site.access._grants = read_grants(["reader=nobody"])
    assert browser.get("/runs").status_code == 303


def test_logins_that_were_begun_and_left_do_not_pile_up(site: LoginSite, oidc: OidcProvider) -> None:
    browser = site.new_browser()
    browser.cookies.set("proctor-team-login-x", "no login of ours", domain="127.0.0.1", path="/")
    begun = [browser.get("/login").headers["location"] for _ in range(9)]
    kept = [name for name in browser.cookies if "-login-" in name]
    assert len(kept) == 4
    assert "proctor-team-login-x" not in kept
    assert browser.get(oidc.code(begun[0], "ann")).status_code == 400, "the oldest is gone"
    assert browser.get(oidc.code(begun[-4], "ann")).status_code == 303
    assert browser.get(oidc.code(begun[-1], "ann")).status_code == 303


def test_a_login_of_one_browser_is_not_finished_by_another_nor_twice(site: LoginSite, oidc: OidcProvider) -> None:
    browser, victim = site.new_browser(), site.new_browser()
    back = oidc.code(browser.get("/login").headers["location"], "ann")
    assert victim.get(back).status_code == 400
    assert browser.get(back.replace("state=", "state=x")).status_code == 400
    assert browser.get(back).status_code == 303
    assert browser.get(back).status_code == 400


def test_a_cookie_of_a_login_that_was_changed_or_is_old_is_none(
    site: LoginSite, oidc: OidcProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = site.new_browser()
    back = oidc.code(browser.get("/login").headers["location"], "ann")
    name = next(one for one in browser.cookies if "login" in one)
    whole = browser.cookies[name]
    browser.cookies.set(name, "x" + whole[1:], domain="127.0.0.1")
    assert browser.get(back).status_code == 400
    later = time.time() + 700
    monkeypatch.setattr(time, "time", lambda: later)
    browser = site.new_browser()
    browser.cookies.set(name, whole, domain="127.0.0.1")
    assert browser.get(back).status_code == 400


def without(name: str) -> Any:
    return lambda claims: {key: value for key, value in claims.items() if key != name}


def changed(**more: Any) -> Any:
    return lambda claims: {
        **claims,
        **{name: value(claims) if callable(value) else value for name, value in more.items()},
    }


@pytest.mark.parametrize(
    "claims",
    [
        changed(iss="https://evil.example"), changed(aud="other"), changed(nonce="n"), without("nonce"), without("exp"),
        without("sub"), without("iat"), changed(exp=lambda claims: claims["iat"] - 100), changed(iat=lambda claims: claims["iat"] + 500),
        changed(aud=["proctor", "other"]), changed(azp="other"), changed(exp="soon"), changed(email=None),
    ],
)  # fmt: skip
def test_a_token_that_does_not_hold_lets_nobody_in(site: LoginSite, oidc: OidcProvider, claims: Any) -> None:
    oidc.claims = claims
    browser = site.new_browser()
    assert sign_in(browser, oidc).status_code == 502
    assert browser.get("/runs").status_code == 303
    assert site.ledger.issued() == []


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        (changed(email_verified=False), "has not verified your e-mail address"), (changed(email_verified=None), "has not verified"),
        (changed(email="a" * 300), "names no user"), (changed(email="a\x1bb"), "names no user"),
        (changed(email=["ann"]), "names no user"),
    ],
)  # fmt: skip
def test_a_user_who_may_not_come_in_is_told_why_and_the_provider_is_not_blamed(
    site: LoginSite, oidc: OidcProvider, claims: Any, said: str
) -> None:
    oidc.claims = claims
    browser = site.new_browser()
    back = sign_in(browser, oidc)
    assert back.status_code == 403
    assert said in back.text
    assert browser.get("/runs").status_code == 303
    assert site.ledger.issued() == []


@pytest.mark.parametrize(
    "claims",
    [
        changed(email_verified="true"), changed(aud=["proctor"]), changed(aud=["proctor", "other"], azp="proctor"), without("email_verified"),
        changed(exp=lambda claims: claims["iat"] - 30), changed(iat=lambda claims: claims["iat"] + 30, nbf=lambda claims: claims["iat"] + 30),
    ],
)  # fmt: skip
def test_a_clock_may_be_a_minute_off_and_an_audience_a_list(site: LoginSite, oidc: OidcProvider, claims: Any) -> None:
    oidc.claims = claims
    assert sign_in(site.new_browser(), oidc).status_code == 303


def _unsigned(token: str) -> str:
    head = base64.urlsafe_b64encode(json.dumps({"alg": "none", "kid": "one"}).encode()).rstrip(b"=").decode()
    return f"{head}.{token.split('.')[1]}."


def _claims_of(token: str) -> dict[str, Any]:
    part = token.split(".")[1]
    found: dict[str, Any] = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    return found


def _by_another_key(token: str) -> str:
    return jwt.encode({"alg": "RS256", "kid": "one"}, _claims_of(token), RSAKey.generate_key(2048))


def _by_the_public_key(token: str) -> str:
    return jwt.encode(
        {"alg": "HS256", "kid": "one"}, _claims_of(token), OctKey.import_key("s/ecret&1-s/ecret&1-s/ecret&1")
    )


@pytest.mark.parametrize(
    "forge", [_unsigned, _by_another_key, _by_the_public_key, lambda token: token[:-8], lambda _: "x.y.z", lambda _: ""]
)
def test_a_token_that_the_provider_did_not_sign_lets_nobody_in(site: LoginSite, oidc: OidcProvider, forge: Any) -> None:
    oidc.token = forge
    assert sign_in(site.new_browser(), oidc).status_code == 502


def test_new_keys_of_the_provider_are_fetched_when_they_sign(
    site: LoginSite, oidc: OidcProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sign_in(site.new_browser(), oidc).status_code == 303
    before = oidc.keys
    oidc.change_keys()
    monkeypatch.setattr("proctor_web.team.oidc.LEAST_SECONDS", 0.0)
    oidc.asked.clear()
    assert sign_in(site.new_browser(), oidc).status_code == 303
    assert sign_in(site.new_browser(), oidc).status_code == 303
    assert oidc.asked.count("/keys") == 1
    oidc.keys = before


def test_groups_may_be_deep_in_the_token_or_at_the_user_info(
    tmp_path: Path, site: LoginSite, oidc: OidcProvider
) -> None:
    oidc.claims = lambda claims: {**without("groups")(claims), "realm_access": {"roles": ["chiefs"]}}
    oidc.userinfo = {"sub": "ann", "groups": ["lab"]}
    browser = site.new_browser()
    sign_in(browser, oidc)
    assert "Your role here: runner" in browser.get("/account").text
    oidc.userinfo = {"sub": "eve", "groups": ["chiefs"]}
    assert sign_in(site.new_browser(), oidc).status_code == 502
    (tmp_path / "deep").mkdir()
    deep = LoginSite(tmp_path / "deep", oidc, groups_claim="realm_access.roles")
    browser = deep.new_browser()
    sign_in(browser, oidc)
    assert "sees who did what" in browser.get("/account").text
    deep.close()


@pytest.mark.parametrize(
    ("query", "status", "said"),
    [
        ({"error": "access_denied"}, 403, "refused: access_denied"), ({"error": "server_error<b>"}, 502, "server_error&lt;b&gt;"), ({}, 502, "no code"),
        ({"code": "wrong"}, 502, "cannot be asked"), ({"code": "x", "iss": "https://evil.example"}, 502, "another login provider"),
    ],
)  # fmt: skip
def test_what_the_provider_refuses_is_said(
    site: LoginSite, oidc: OidcProvider, query: dict[str, str], status: int, said: str
) -> None:
    browser = site.new_browser()
    state = oidc.codes[
        oidc.code(browser.get("/login").headers["location"], "ann").partition("code=")[2].partition("&")[0]
    ]["state"]
    answer = browser.get("/login/callback", params={"iss": oidc.issuer, **query, "state": state})
    assert answer.status_code == status
    assert said in answer.text
    assert oidc.secret not in answer.text


def test_a_ledger_that_breaks_during_a_login_is_not_described_to_the_user(
    site: LoginSite, oidc: OidcProvider, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    browser = site.new_browser()
    off = browser.get(browser.get("/runs").headers["location"])
    with sqlite3.connect(tmp_path / "ledger") as db:
        db.execute("DROP TABLE audit")
    back = browser.get(oidc.code(off.headers["location"], "ann"))
    assert back.status_code == 503
    assert "The database of the server does not answer." in back.text
    assert "ledger" not in back.text
    assert "no such table: audit" in caplog.text


@pytest.mark.parametrize(
    "about",
    [
        {"issuer": "https://evil.example"},
        {"authorization_endpoint": "http://evil.example/a"},
        {"authorization_endpoint": 5},
        {"authorization_endpoint": "https://[bad"},
        {"authorization_endpoint": "https://a:port/"},
    ],
)
def test_a_provider_that_is_another_is_not_used(tmp_path: Path, oidc: OidcProvider, about: dict[str, Any]) -> None:
    oidc.about = about
    site = LoginSite(tmp_path, oidc)
    assert site.new_browser().get("/login").status_code == 502
    site.close()


@pytest.mark.parametrize(
    ("about", "status"),
    [
        ({"token_endpoint": "https://[bad"}, 502), ({"token_endpoint": "http://localhost:99999/"}, 502), ({"userinfo_endpoint": 5}, 502),
        ({"token_endpoint_auth_methods_supported": 5}, 303), ({"token_endpoint_auth_methods_supported": []}, 303),
    ],
)  # fmt: skip
def test_what_a_provider_says_oddly_about_itself_is_no_crash(
    tmp_path: Path, oidc: OidcProvider, about: dict[str, Any], status: int
) -> None:
    oidc.about = about
    if "userinfo_endpoint" in about:
        oidc.claims = without("groups")
    site = LoginSite(tmp_path, oidc)
    assert sign_in(site.new_browser(), oidc).status_code == status
    site.close()


def test_a_key_of_a_kind_that_is_not_known_hides_no_other(
    site: LoginSite, oidc: OidcProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = [
        {"kty": "EC", "crv": "brainpoolP256r1", "x": "AA", "y": "AA", "kid": "b"},
        {"kty": "RSA", "kid": "c"},
        {},
        None,
    ]
    as_dict = KeySet.as_dict
    monkeypatch.setattr(KeySet, "as_dict", lambda self, **more: {"keys": [*odd, *as_dict(self, **more)["keys"]]})
    assert sign_in(site.new_browser(), oidc).status_code == 303
    monkeypatch.setattr(KeySet, "as_dict", lambda *_, **__: {"keys": odd})
    site.provider._keys = None
    assert sign_in(site.new_browser(), oidc).status_code == 502


def test_a_provider_that_is_away_is_said_and_the_server_goes_on(tmp_path: Path) -> None:
    oidc = OidcProvider()
    oidc.close()
    site = LoginSite(tmp_path, oidc)
    assert site.new_browser().get("/login").status_code == 502
    assert site.new_browser().get("/healthz").status_code == 200
    site.close()


@pytest.mark.parametrize("url", ["https://eval.example.org", "HTTPS://eval.example.org"])
def test_behind_tls_the_cookie_is_for_this_host_and_tls_only(tmp_path: Path, oidc: OidcProvider, url: str) -> None:
    site = LoginSite(tmp_path, oidc, url=url)
    browser = site.new_browser()
    back = sign_in(browser, oidc)
    assert back.headers["set-cookie"].startswith("__Host-proctor=")
    assert "; secure" in back.headers["set-cookie"].lower()
    assert "path=/;" in back.headers["set-cookie"].lower()
    site.close()


@pytest.mark.parametrize(
    "url",
    [
        "http://eval.example.org",
        "ftp://a",
        "https://",
        "https://a?b=c",
        "https://u@a",
        "eval.example.org",
        "https://[",
        "https://a\n",
    ],
)
def test_secrets_are_sent_by_tls_only(url: str) -> None:
    with pytest.raises(BadInput, match="https://"):
        checked_url(url, "--url")


def options(oidc: OidcProvider, **more: object) -> TeamOptions:
    texts = {"issuer": oidc.issuer, "client": oidc.client, "url": URL, "user_claim": "email", "groups_claim": "groups"}
    none = dict.fromkeys(("trusted_header", "groups_header", "secret_file"))
    given = {**texts, **none, "proxies": (), "grant_texts": ("reader=*",), "aliases": (), "session_hours": 1.0, **more}
    return msgspec.convert(given, TeamOptions)


@pytest.mark.parametrize("is_in_file", [False, True])
def test_agents_that_the_server_starts_do_not_see_the_secret_of_the_client(
    oidc: OidcProvider, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, is_in_file: bool
) -> None:
    monkeypatch.setenv("PROCTOR_OIDC_SECRET", "another" if is_in_file else oidc.secret)
    (tmp_path / "secret").write_text(f"{oidc.secret}\n")
    provider = options(oidc, secret_file=tmp_path / "secret" if is_in_file else None).provider()
    assert provider is not None
    assert provider._secret == oidc.secret
    assert "PROCTOR_OIDC_SECRET" not in os.environ


def test_options_that_nobody_could_sign_in_with_are_refused(oidc: OidcProvider, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("\n")
    with pytest.raises(BadInput, match="secret is empty"):
        options(oidc, secret_file=tmp_path / "secret").provider()
    with pytest.raises(BadInput, match="not below '/proctor'"):
        options(oidc, url=f"{URL}/proctor/").provider()
    assert options(oidc, url=f"{URL}/").provider() is not None


def test_users_and_their_log_are_with_the_first_store_or_nowhere(oidc: OidcProvider, tmp_path: Path) -> None:
    (tmp_path / "broken.db").write_text("no store")
    stores = [f"--store={tmp_path / name}" for name in ("broken.db", "runs.db")]
    login = [f"--oidc={oidc.issuer}", f"--oidc-client={oidc.client}", f"--url={URL}", "--grant=reader=*"]
    refused = CliRunner().invoke(app, ["web", *stores, *login])
    assert refused.exit_code == 2
    assert "broken.db" in refused.stderr
    assert not (tmp_path / "runs.db.team").exists()


def test_who_asks_the_log_for_what_is_no_text_is_shown_nothing(tmp_path: Path) -> None:
    InFile(str(tmp_path / "runs.db.team")).close()
    asked = CliRunner().invoke(app, ["team", "audit", f"--store={tmp_path / 'runs.db'}", "--by=\udcff", "--run=\udcff"])
    assert (asked.exit_code, asked.stderr) == (0, "The audit log has no such entry.\n")
