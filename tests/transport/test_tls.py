"""Whom a TLS context trusts."""

import ssl
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import truststore

from proctor.transport.tls import context_of

CERTIFICATE = Path(__file__).parents[1] / "data" / "localhost.pem"


@pytest.fixture(autouse=True)
def _nothing_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("platform", ["win32", "darwin"])
def test_where_the_system_keeps_authorities_itself_it_is_asked(platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    context = context_of()
    assert isinstance(context, truststore.SSLContext)
    assert context.verify_mode == ssl.CERT_REQUIRED
    assert context.check_hostname


@pytest.mark.parametrize("platform", ["darwin", "linux"])
def test_authorities_that_the_environment_names_are_those_that_count(
    platform: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    context = context_of()
    assert not isinstance(context, truststore.SSLContext)
    (found,) = context.get_ca_certs()
    assert "'localhost'" in repr(found)


def test_a_python_whose_openssl_looks_in_a_folder_that_is_not_there_asks_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    paths = SimpleNamespace(cafile=None, capath=str(tmp_path))
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: paths)
    assert isinstance(context_of(), truststore.SSLContext)
    (tmp_path / "0a1b2c3d.0").touch()
    assert not isinstance(context_of(), truststore.SSLContext)
