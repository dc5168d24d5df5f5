"""Ask a provider of OpenID Connect who the user is: authorization code with PKCE, and an ID token that is checked whole.

Sources: OpenID Connect Core 1.0 (3.1.2, 3.1.3.7), OpenID Connect Discovery 1.0, RFC 7636 (PKCE), RFC 9207 (`iss` of the answer).
Signatures are checked by joserfc.
"""

import asyncio
import base64
import hashlib
import secrets
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from proctor.core.errors import BadInput, ProctorError, needs
from proctor.transport.client import Client
from proctor.transport.retry import RetryPolicy
from proctor.transport.target import RequestTarget
from proctor.transport.terms import RequestTerms

if TYPE_CHECKING:
    from joserfc.jwk import Key, KeySet

# no shared keys, never none
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
SKEW_SECONDS = 60
KEPT_SECONDS = 3_600.0  # of what the provider says about itself
LEAST_SECONDS = 10.0  # between two looks at its keys
REQUEST_SECONDS = 15.0
MOST_REPLY_BYTES = 500_000
MOST_AT_ONCE = 8  # logins that ask the provider
MOST_GROUPS = 1_000
MOST_CHARACTERS = 200  # of a name, of a group
# errors that the user ends with, there: RFC 6749, 4.1.2.1, and OpenID Connect Core 1.0, 3.1.2.6
OF_USERS = ("access_denied", "account_selection_required", "consent_required", "interaction_required", "login_required")
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
_AGAIN, _ONCE = RetryPolicy(attempts=2, attempts_at_first=2), RetryPolicy(attempts=1, attempts_at_first=1)


class LoginFailed(BadInput):
    """Nobody came in: the provider refused, could not be asked, or said what does not hold."""


class LoginRefused(LoginFailed):
    """Nobody came in, and the provider works: it is the user who may not, or not by what it knows of them."""


class Begun(NamedTuple):
    """A login under way: where the browser goes, and what is compared when it comes back."""

    url: str
    state: str
    nonce: str
    verifier: str


class LoggedIn(NamedTuple):
    """A user as the provider knows them."""

    name: str
    groups: tuple[str, ...]


def checked_url(url: str, option: str) -> str:
    """Return an address that secrets may be sent to: https, or http on this machine.

    Raises:
        BadInput: it is none.
    """
    try:
        parts = urlsplit(url)
        is_fine = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)
        if is_fine and parts.hostname and not (parts.query or parts.fragment or parts.username) and url.isprintable():
            return url.rstrip("/")
    except ValueError:
        pass
    raise BadInput("{option} has to be an address that begins with https://, not '{url}'.", option=option, url=url)


class Provider:
    """A provider, and what it says about itself."""

    def __init__(
        self,
        issuer: str,
        client: str,
        secret: str = "",
        *,
        user_claim: str = "email",
        groups_claim: str = "groups",
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Read the options of the command line; the provider is asked at the first login.

        Raises:
            BadInput: the issuer is no address.
            MissingExtra: joserfc is not installed.
        """
        with needs("oidc", "A login by OpenID Connect"):
            import joserfc  # noqa: F401 - asked now, not at the first login
        checked_url(issuer, "--oidc")
        self._issuer = issuer
        self._client = client
        self._secret = secret
        self._user_claim = user_claim
        self._groups_claim = groups_claim
        self._clock = clock
        self._about: tuple[float, Mapping[str, Any]] | None = None
        self._keys: tuple[float, KeySet] | None = None
        self._places = asyncio.Semaphore(MOST_AT_ONCE)

    async def begin(self, redirect: str) -> Begun:
        """Begin a login that comes back to an address.

        Raises:
            LoginFailed: the provider cannot be asked.
        """
        about = await self._discovered()
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        known = about.get("scopes_supported")
        query = {
            "response_type": "code",
            "client_id": self._client,
            "redirect_uri": redirect,
            "scope": "openid email profile" + (" groups" if isinstance(known, list) and "groups" in known else ""),
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        address = self._endpoint(about, "authorization_endpoint")
        return Begun(f"{address}{'&' if '?' in address else '?'}{urlencode(query)}", state, nonce, verifier)

    async def finish(self, answer: Mapping[str, str], begun: Begun, redirect: str) -> LoggedIn:
        """Return the user of a login that came back with an answer.

        Raises:
            LoginFailed: the provider refused, or what it says does not hold.
        """
        about = await self._discovered()
        issuer = answer.get("iss")
        needs_issuer = about.get("authorization_response_iss_parameter_supported") is True
        if issuer != self._issuer and (issuer is not None or needs_issuer):
            raise LoginFailed("The answer is of another login provider.")
        if "error" in answer:
            kind = LoginRefused if answer["error"] in OF_USERS else LoginFailed
            raise kind("The login provider refused: {error}.", error=answer["error"][:MOST_CHARACTERS])
        if not answer.get("code"):
            raise LoginFailed("The login provider sent no code.")
        async with self._places:
            tokens = await self._exchange(about, answer["code"], begun.verifier, redirect)
            claims = await self._verified(about, tokens.get("id_token"), begun.nonce)
            if self._claim(claims, self._groups_claim) is None or self._claim(claims, self._user_claim) is None:
                claims = {**await self._userinfo(about, tokens.get("access_token"), claims["sub"]), **claims}
        return LoggedIn(self._name(claims), self._groups(claims))

    def _name(self, claims: Mapping[str, object]) -> str:
        name = self._claim(claims, self._user_claim)
        is_verified = str(claims.get("email_verified", True)).lower() == "true"  # some send a text
        if self._user_claim == "email" and not is_verified:
            raise LoginRefused("The login provider has not verified your e-mail address. Have it verified there, and sign in again.")  # fmt: skip
        if not isinstance(name, str) or not name.strip() or len(name) > MOST_CHARACTERS or not name.isprintable():
            raise LoginRefused("The login provider names no user in '{claim}'; --oidc-user names another claim.", claim=self._user_claim)  # fmt: skip
        return name.strip()

    def _groups(self, claims: Mapping[str, object]) -> tuple[str, ...]:
        claim = self._claim(claims, self._groups_claim)
        groups = [claim] if isinstance(claim, str) else claim if isinstance(claim, list) else []
        return tuple(
            group for group in groups[:MOST_GROUPS] if isinstance(group, str) and len(group) <= MOST_CHARACTERS
        )

    @staticmethod
    def _claim(claims: Mapping[str, object], name: str) -> object:
        """Return a claim by its name, which may be a path with dots: `realm_access.roles`."""
        if name in claims:
            return claims[name]
        claim: object = claims
        for part in name.split("."):
            claim = claim.get(part) if isinstance(claim, dict) else None
        return claim

    async def _discovered(self) -> Mapping[str, Any]:
        now = time.monotonic()
        if self._about is None or now - self._about[0] > KEPT_SECONDS:
            about = await self._json(f"{self._issuer.rstrip('/')}/.well-known/openid-configuration")
            if about.get("issuer") != self._issuer:
                raise LoginFailed("The login provider calls itself {other}, not {issuer}. Name it so with --oidc.", other=str(about.get("issuer"))[:MOST_CHARACTERS], issuer=self._issuer)  # fmt: skip
            self._about = (now, about)
        return self._about[1]

    def _endpoint(self, about: Mapping[str, object], name: str) -> str:
        url = about.get(name)
        is_local = urlsplit(self._issuer).hostname in LOOPBACK
        try:
            parts = urlsplit(url) if isinstance(url, str) else None
            host = parts.hostname if parts is not None and parts.port != 0 else None  # a port that is none is refused
        except ValueError:
            parts = host = None
        is_safe = parts is not None and (parts.scheme == "https" or (is_local and host in LOOPBACK))
        if parts is None or not host or parts.fragment or not is_safe:
            raise LoginFailed("The login provider has no usable {name}.", name=name)
        return str(url)

    async def _exchange(
        self, about: Mapping[str, object], code: str, verifier: str, redirect: str
    ) -> Mapping[str, Any]:
        fields = {"grant_type": "authorization_code", "code": code, "redirect_uri": redirect, "code_verifier": verifier}
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
        methods = about.get("token_endpoint_auth_methods_supported")
        is_basic = not methods or not isinstance(methods, list) or "client_secret_basic" in methods  # the default
        if self._secret and is_basic:
            both = f"{quote(self._client, safe='')}:{quote(self._secret, safe='')}"  # RFC 6749, 2.3.1
            headers["Authorization"] = f"Basic {base64.b64encode(both.encode()).decode()}"
        else:
            fields |= {"client_id": self._client, **({"client_secret": self._secret} if self._secret else {})}
        address = self._endpoint(about, "token_endpoint")
        return await self._json(address, headers, urlencode(fields).encode(), method="POST")  # a code is taken once

    async def _userinfo(self, about: Mapping[str, Any], token: object, subject: str) -> Mapping[str, Any]:
        if "userinfo_endpoint" not in about or not isinstance(token, str) or not token.isascii():
            return {}
        address = self._endpoint(about, "userinfo_endpoint")
        claims = await self._json(address, {"Authorization": f"Bearer {token}", "Accept": "application/json"})
        if claims.get("sub") != subject:
            raise LoginFailed("What the login provider says does not hold: {why}.", why="sub")
        return claims

    async def _verified(self, about: Mapping[str, object], token: object, nonce: str) -> Mapping[str, Any]:
        """Return the claims of an ID token that the provider signed for us, now, for this login."""
        from joserfc import jwt
        from joserfc.errors import InvalidKeyIdError, JoseError

        if not isinstance(token, str):
            raise LoginFailed("What the login provider says does not hold: {why}.", why="id_token")
        rules = jwt.JWTClaimsRegistry(
            now=lambda: int(self._clock()),
            leeway=SKEW_SECONDS,
            iss={"essential": True, "value": self._issuer},
            aud={"essential": True, "value": self._client},
            exp={"essential": True},
            iat={"essential": True},
            sub={"essential": True},
            nonce={"essential": True, "value": nonce},
        )
        try:
            try:
                claims = jwt.decode(token, await self._signers(about), algorithms=ALGORITHMS).claims
            except InvalidKeyIdError:  # its keys may have been changed
                claims = jwt.decode(token, await self._signers(about, is_new=True), algorithms=ALGORITHMS).claims
            rules.validate(claims)
        except (JoseError, ValueError, TypeError, RecursionError) as error:
            raise LoginFailed("What the login provider says does not hold: {why}.", why=str(error)[:MOST_CHARACTERS]) from None  # fmt: skip
        several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
        if claims.get("azp", None if several else self._client) != self._client:
            raise LoginFailed("What the login provider says does not hold: {why}.", why="azp")
        return claims

    async def _signers(self, about: Mapping[str, object], *, is_new: bool = False) -> "KeySet":
        from joserfc.jwk import KeySet

        now = time.monotonic()
        age = now - self._keys[0] if self._keys is not None else KEPT_SECONDS
        if self._keys is None or age >= KEPT_SECONDS or (is_new and age >= LEAST_SECONDS):
            keys: Any = await self._json(self._endpoint(about, "jwks_uri"))
            self._keys = (now, KeySet(_keys_of(keys)))
        return self._keys[1]

    async def _json(
        self, url: str, headers: Mapping[str, str] | None = None, body: bytes | None = None, *, method: str = "GET"
    ) -> Mapping[str, Any]:
        policy = _AGAIN if body is None else _ONCE
        try:
            terms = RequestTerms(seconds=REQUEST_SECONDS, connect_seconds=REQUEST_SECONDS, policy=policy)
            target = RequestTarget(url, method=method, headers=headers, terms=terms)
            async with Client(concurrency=1, most_reply_bytes=MOST_REPLY_BYTES) as client:
                return await client.post(target, body, msgspec.json.Decoder(dict[str, Any]).decode)
        except ProctorError as error:
            raise LoginFailed("The login provider cannot be asked: {error}", error=error.sentence) from None


def _keys_of(found: Mapping[str, Any]) -> "list[Key]":
    """Return the keys that can be read; one of a kind that we do not know hides no other (RFC 7517, section 5)."""
    from joserfc.errors import JoseError
    from joserfc.jwk import KeySet

    keys: list[Key] = []
    why = ""
    for key in found["keys"] if isinstance(found.get("keys"), list) else ():
        try:
            keys += KeySet.import_key_set({"keys": [key]}).keys
        except (JoseError, ValueError, TypeError, KeyError, AttributeError) as error:
            why = str(error)[:MOST_CHARACTERS]
    if not keys:
        raise LoginFailed("The keys of the login provider cannot be read: {error}.", error=why or "keys")
    return keys
