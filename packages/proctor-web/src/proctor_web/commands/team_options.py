"""The options of `proctor web` for a team: who names the users, and what each may do."""

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import msgspec

from proctor.cli.derived import derived
from proctor.core.errors import BadInput
from proctor.core.run_fields import Bounds, Flag
from proctor.core.sentence import say
from proctor.runtime.files import reading

if TYPE_CHECKING:
    from proctor_web.auth import Access
    from proctor_web.team.oidc import Provider
    from proctor_web.users.ledger import Ledger


class TeamOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What the options say; `url` is the address at which browsers reach the server."""

    trusted_header: Annotated[
        str | None,
        Flag(
            say(
                "The header in which a login proxy names the user, for example X-Forwarded-User; users of it need no link."
            ),
            metavar="NAME",
        ),
    ] = None
    proxies: Annotated[
        tuple[str, ...],
        Flag(
            say(
                "A proxy whose headers are believed, that of --trusted-header (default: this machine) and X-Forwarded-For: an address or a network."
            ),
            "trusted-proxy",
            "ADDRESS",
            several=True,
        ),
    ] = ()
    groups_header: Annotated[
        str | None,
        Flag(
            say("The header in which the login proxy names the groups of the user, for example X-Forwarded-Groups."),
            metavar="NAME",
        ),
    ] = None
    grant_texts: Annotated[
        tuple[str, ...],
        Flag(
            say(
                "A role (reader, runner, admin) for a group, for user:NAME, or for * (everybody whom the login lets in)."
            ),
            "grant",
            "ROLE=WHO",
            several=True,
        ),
    ] = ()
    aliases: Annotated[
        tuple[str, ...],
        Flag(
            say(
                "A name by which a proxy passes requests on, for example eval.example.com; other names are not answered."
            ),
            "name",
            "HOST",
            several=True,
        ),
    ] = ()
    url: Annotated[
        str,
        Flag(
            say(
                "The address at which browsers reach the server through a proxy, for example https://eval.example.com."
            ),
            metavar="URL",
        ),
    ] = ""
    session_hours: Annotated[
        float, Bounds(0.1, 24 * 30), Flag(say("After how many hours a user signs in again (default 12)."))
    ] = 12.0
    issuer: Annotated[
        str | None,
        Flag(
            say(
                "The login provider (OpenID Connect) that users sign in at, by its issuer, for example https://id.example.com."
            ),
            "oidc",
            "ISSUER",
        ),
    ] = None
    client: Annotated[str | None, Flag(say("The id of the client at the login provider."), "oidc-client", "ID")] = None
    secret_file: Annotated[
        Path | None,
        Flag(
            say("A file with the secret of the client (default: PROCTOR_OIDC_SECRET, else a public client)."),
            "oidc-secret-file",
        ),
    ] = None
    user_claim: Annotated[
        str,
        Flag(
            say("The claim that names the user (default email; one that the provider calls unverified is refused)."),
            "oidc-user",
            "CLAIM",
        ),
    ] = "email"
    groups_claim: Annotated[
        str,
        Flag(
            say("The claim with the groups of the user (default groups); a path such as realm_access.roles works too."),
            "oidc-groups",
            "CLAIM",
        ),
    ] = "groups"

    @property
    def names_users(self) -> bool:
        """True if users are named by a login, not by the links of the terminal."""
        return self.trusted_header is not None or self.issuer is not None

    def provider(self) -> "Provider | None":
        """Return the provider that users sign in at, if there is one.

        Raises:
            BadInput: an option is missing, or cannot be read.
        """
        from proctor_web.team.oidc import Provider, checked_url

        if self.url and (path := urlsplit(checked_url(self.url, "--url")).path):
            raise BadInput("--url has to be the address of a host: the pages are at its root, not below '{path}'.", path=path)  # fmt: skip
        if self.issuer is None:
            if self.client is not None or self.secret_file is not None:
                raise BadInput("--oidc-client and --oidc-secret-file are of a login provider: name it with --oidc.")
            return None
        if self.trusted_header is not None:
            raise BadInput("Users are named either by a proxy (--trusted-header) or by a login provider (--oidc).")
        if not self.client or not self.url or not self.grant_texts:
            raise BadInput(
                "--oidc needs --oidc-client, --url (the address at which browsers reach the server), and a --grant, such as reader=*."
            )
        return Provider(
            self.issuer, self.client, self._secret(), user_claim=self.user_claim, groups_claim=self.groups_claim
        )

    def _secret(self) -> str:
        # taken away: agents and runs, which this process starts, do not need it
        secret = os.environ.pop("PROCTOR_OIDC_SECRET", "")
        if self.secret_file is None:
            return secret
        with reading(self.secret_file):
            secret = self.secret_file.read_text(encoding="utf-8").strip()
        if not secret:
            raise BadInput("{path} is empty.", path=self.secret_file)
        return secret

    def access(self) -> "partial[Access]":
        """Return what makes the access to a server for a port, its names, and a ledger.

        Raises:
            BadInput: an option is missing or cannot be read, or roles are given where nobody names users.
        """
        from proctor_web.auth import Access, UserNaming
        from proctor_web.login_proxy import LoginProxy, Proxies
        from proctor_web.users.roles import read_grants

        login_proxy = None
        if self.trusted_header is not None:
            login_proxy = LoginProxy(self.trusted_header, self.proxies, self.groups_header or "")
        elif self.proxies and self.issuer is None:
            raise BadInput("--trusted-proxy says from where a header is believed: name it with --trusted-header.")
        elif self.groups_header is not None:
            raise BadInput("--groups-header needs --trusted-header, which names the user.")
        if self.grant_texts and not self.names_users:
            raise BadInput("--grant gives roles to users that a login names: add --trusted-header or --oidc.")
        naming = UserNaming(
            login_proxy=login_proxy,
            proxies=Proxies(self.proxies) if self.proxies else None,
            grants=read_grants(self.grant_texts) if self.grant_texts else None,
            has_login=self.issuer is not None,
        )
        return partial(Access, aliases=self.aliases, naming=naming, url=self.url)

    def ledger(self, store: str) -> "Ledger | None":
        """Open the ledger that belongs to a store; None where nobody names users.

        Raises:
            BadInput: it cannot be opened.
        """
        if not self.names_users:
            return None
        from proctor_web.users.database import open_database
        from proctor_web.users.ledger import Ledger

        return Ledger(open_database(store), session_seconds=self.session_hours * 3600)


options = derived(*TeamOptions.__struct_fields__, of=TeamOptions)
