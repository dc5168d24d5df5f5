"""Define the destination of requests: the address, and what all requests to it share."""

from collections.abc import Iterator, Mapping

import msgspec

from proctor.core.errors import BadInput
from proctor.core.near import did_you_mean
from proctor.core.sentence import Sentence
from proctor.transport.address import Address, parse, proxy_of
from proctor.transport.faults import shown
from proctor.transport.redact import SHORTEST
from proctor.transport.terms import RequestTerms
from proctor.transport.tls import check_certificate
from proctor.transport.wire import check_headers

_OPEN_HEADERS = ("accept", "accept-encoding", "accept-language", "content-type", "user-agent", "anthropic-version")


class RequestTarget:
    """The destination of requests and what they share; made once, used often.

    Args:
        url: the complete address.
        advice: what to check when the endpoint refuses, as a sentence; names variables, never values.
        certificate: a PEM file with a client certificate and its key.
    """

    def __init__(
        self,
        url: str,
        *,
        method: str = "POST",
        headers: Mapping[str, str] | None = None,
        terms: RequestTerms = RequestTerms(),  # noqa: B008 - frozen
        advice: Sentence | str = "",
        certificate: str | None = None,
    ) -> None:
        self.url = _checked(url)
        self.method = method
        given = {"User-Agent": "proctor", **(headers or {})}
        # the last one counts
        self.headers = dict({name.lower(): (name, value) for name, value in given.items()}.values())
        check_headers(self.headers)
        self.terms = terms
        self.advice = advice
        self.host = f"{self.url.host}:{self.url.port}"
        self.where = str(msgspec.structs.replace(self.url, query=""))
        self.key = f"{self.url.scheme}://{self.host} {terms.bounds}"
        self.proxy = proxy_of(self.url)
        self.certificate = certificate
        if certificate is not None:
            check_certificate(certificate)
        self.secrets = tuple(_secrets(self.headers))
        self.secret_bytes = tuple(secret.encode() for secret in self.secrets)

    def at(self, url: str, *, method: str | None = None, headers: Mapping[str, str] | None = None) -> "RequestTarget":
        """Return the same target at another path or query of the same address; headers replace those of the same name."""
        other = object.__new__(RequestTarget)
        other.__dict__.update(self.__dict__)
        other.url = msgspec.structs.replace(_checked(url), authorization=self.url.authorization)
        other.method = method or self.method
        if headers:
            named = {name.lower(): (name, value) for name, value in (*self.headers.items(), *headers.items())}
            other.headers = dict(named.values())
            check_headers(other.headers)
        return other


def _secrets(headers: Mapping[str, str]) -> Iterator[str]:
    """Yield the values of headers that may be keys: all but the usual ones and what is too short."""
    for name, value in headers.items():
        secret = value.removeprefix("Bearer ").strip()
        if name.lower() not in _OPEN_HEADERS and len(secret) >= SHORTEST:
            yield secret


def _checked(url: str) -> Address:
    try:
        return parse(url)
    except ValueError:
        raise no_address(url) from None


def no_address(url: str) -> BadInput:
    """Return the error for what is no address of a server, with the one that may be meant."""
    meant = [] if "://" in url else [f"http://{shown(url)}"]
    return BadInput(
        "'{url}' is no address: it has to begin with http:// or https:// and name a host.{near}",
        url=shown(url),
        near=did_you_mean(meant),
    )
