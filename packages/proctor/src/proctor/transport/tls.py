"""Make the TLS context that all connections of a client share."""

import os
import ssl
import sys
from pathlib import Path

from proctor.core.errors import BadInput
from proctor.transport.faults import shown


def context_of(certificate: str | None = None) -> ssl.SSLContext:
    """Return a context that trusts whom OpenSSL trusts where SSL_CERT_FILE or SSL_CERT_DIR is set, else whom the system trusts.

    Args:
        certificate: a PEM file with a client certificate and its key.
    """
    if _openssl_finds_authorities():
        context = ssl.create_default_context()
    else:
        import truststore

        context = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if certificate is not None:
        _load(context, certificate)
    return context


def check_certificate(path: str) -> None:
    """Refuse a client certificate that cannot be used.

    Raises:
        BadInput: the file cannot be read, or is not a certificate with its key.
    """
    try:
        _load(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), path)
    except (OSError, ValueError) as error:
        raise BadInput(
            "The client certificate {path} cannot be used: {error}. It has to be a PEM file with the certificate and its key, without a password.",
            path=path,
            error=shown(str(error)),
        ) from None


def _load(context: ssl.SSLContext, certificate: str) -> None:
    context.load_cert_chain(certificate, password="")  # without a password here, OpenSSL would ask on the terminal


def _openssl_finds_authorities() -> bool:
    """True if OpenSSL's own files are what a user means.

    Windows and macOS keep authorities elsewhere. On other systems, OpenSSL reads them once, and `truststore` once for
    each connection (27 ms); it is needed where this Python looks for them in a folder that the system does not have.
    """
    if any(os.environ.get(name) for name in ("SSL_CERT_FILE", "SSL_CERT_DIR")):
        return True
    if sys.platform in ("win32", "darwin"):
        return False
    paths = ssl.get_default_verify_paths()
    return paths.cafile is not None or (paths.capath is not None and any(Path(paths.capath).glob("*.0")))
