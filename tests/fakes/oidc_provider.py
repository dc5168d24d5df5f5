"""A provider of OpenID Connect on this machine: discovery, a page to choose a user, codes with PKCE, signed tokens, new keys."""

import base64
import hashlib
import html
import json
import secrets
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import ECKey, Key, KeySet, RSAKey

USERS: dict[str, dict[str, Any]] = {
    "ann": {"email": "ann@example.org", "email_verified": True, "groups": ["lab"]},
    "bob": {"email": "bob@example.org", "email_verified": True, "groups": []},
    "eve": {"email": "eve@example.org", "email_verified": False, "groups": ["chiefs"]},
    "root": {"email": "root@example.org", "groups": ["chiefs", "lab"]},
}


class OidcProvider:
    """Serves until `close`.

    Attributes:
        claims: changes the claims of the next ID tokens.
        token: changes the next ID tokens themselves.
        userinfo: what is said at the user-info endpoint only.
        asked: the paths that were asked for.
    """

    def __init__(self, client: str = "proctor", secret: str = "s/ecret&1", host: str = "localhost") -> None:
        self.client, self.secret = client, secret
        self.claims: Callable[[dict[str, Any]], dict[str, Any]] = lambda claims: claims
        self.token: Callable[[str], str] = lambda token: token
        self.about: dict[str, Any] = {}
        self.userinfo: dict[str, Any] = {}
        self.asked: list[str] = []
        self.codes: dict[str, dict[str, str]] = {}
        self.keys: list[Key] = [RSAKey.generate_key(2048, {"kid": "one", "use": "sig", "alg": "RS256"})]
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: Any) -> None: ...

            def do_GET(self) -> None:
                provider.answer(self, {})

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
                provider.answer(self, {name: values[0] for name, values in parse_qs(body).items()})

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.issuer = f"http://{host}:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def change_keys(self) -> None:
        self.keys = [ECKey.generate_key("P-256", {"kid": "two", "use": "sig", "alg": "ES256"})]

    def code(self, address: str, user: str) -> str:
        """Return where a browser is sent after `user` signed in at the address of a login."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        assert asked["client_id"] == self.client
        assert (asked["response_type"], asked["code_challenge_method"]) == ("code", "S256")
        assert "openid" in asked["scope"].split()
        code = secrets.token_urlsafe(16)
        self.codes[code] = {**asked, "user": user}
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state'], 'iss': self.issuer})}"

    def answer(self, to: BaseHTTPRequestHandler, form: dict[str, str]) -> None:
        parts = urlsplit(to.path)
        self.asked.append(parts.path)
        match parts.path:
            case "/.well-known/openid-configuration":
                self._json(to, 200, {**self._about(), **self.about})
            case "/keys":
                self._json(to, 200, KeySet(self.keys).as_dict(private=False))
            case "/authorize" if "user" in form:
                to.send_response(303)
                to.send_header("location", self.code(to.headers["referer"], form["user"]))
                to.end_headers()
            case "/authorize":
                buttons = "".join(f"<button name=user value={one}>{one}</button>" for one in USERS)
                self._send(to, 200, "text/html", f"<form method=post action=/authorize?{html.escape(parts.query)}>{buttons}</form>")  # fmt: skip
            case "/token":
                self._token(to, form)
            case "/userinfo":
                self._json(to, 200, self.userinfo)
            case _:
                self._json(to, 404, {})

    def _about(self) -> dict[str, Any]:
        names = {"authorization": "authorize", "token": "token", "userinfo": "userinfo"}
        return {
            "issuer": self.issuer,
            "jwks_uri": f"{self.issuer}/keys",
            "authorization_response_iss_parameter_supported": True,
            "scopes_supported": ["openid", "email", "profile", "groups"],
            **{f"{name}_endpoint": f"{self.issuer}/{path}" for name, path in names.items()},
        }

    def _token(self, to: BaseHTTPRequestHandler, form: dict[str, str]) -> None:
        asked = self.codes.pop(form.get("code", ""), None)  # a code is taken once
        kind, _, both = to.headers.get("authorization", "").partition(" ")
        who = [unquote(one) for one in base64.b64decode(both).decode().split(":")] if kind == "Basic" else []
        challenge = base64.urlsafe_b64encode(hashlib.sha256(form.get("code_verifier", "").encode()).digest()).rstrip(
            b"="
        )
        if who != [self.client, self.secret]:
            self._json(to, 401, {"error": "invalid_client"})
        elif (
            asked is None
            or challenge.decode() != asked["code_challenge"]
            or form.get("redirect_uri") != asked["redirect_uri"]
        ):
            self._json(to, 400, {"error": "invalid_grant"})
        else:
            self._json(to, 200, {"token_type": "Bearer", "access_token": "at", "id_token": self._id_token(asked)})

    def _id_token(self, asked: dict[str, str]) -> str:
        now = int(time.time())
        claims = {
            "iss": self.issuer, "aud": self.client, "sub": asked["user"], "nonce": asked["nonce"], "iat": now, "exp": now + 300,
            **USERS[asked["user"]],
        }  # fmt: skip
        key = self.keys[0]
        header = {"alg": str(key.get("alg")), "kid": str(key.kid)}
        return self.token(jwt.encode(header, self.claims(claims), key, algorithms=[header["alg"]]))

    def _json(self, to: BaseHTTPRequestHandler, status: int, value: object) -> None:
        self._send(to, status, "application/json", json.dumps(value))

    def _send(self, to: BaseHTTPRequestHandler, status: int, kind: str, text: str) -> None:
        body = text.encode()
        to.send_response(status)
        to.send_header("content-type", kind)
        to.send_header("content-length", str(len(body)))
        to.send_header("referrer-policy", "unsafe-url")
        to.end_headers()
        to.wfile.write(body)
