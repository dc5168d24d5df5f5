"""proctor web: the web app over stores of runs, agents and eval sets."""

from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from proctor.cli import options, output
from proctor.cli.long_help import long_command
from proctor.cli.words import is_chosen, lang, t
from proctor.core.errors import BadInput, needs
from proctor_web.commands import serving, team_options


@long_command(
    "store agents evalsets demo read-only port host open trusted-header oidc grant url json",
)
@options.workspace
@click.option(
    "--demo", is_flag=True, help=t("Look around in a small store of real runs, with an agent and an eval set.")
)
@options.read_only
@team_options.options
@serving.options
@options.as_json
def command(
    stores: tuple[str, ...],
    agents: Path | None,
    evalsets: Path | None,
    demo: bool,
    read_only: bool,
    port: int | None,
    host: str,
    opens: bool | None,
    as_json: bool,
    **team_values: Any,
) -> None:
    team = team_options.TeamOptions(**team_values)
    with needs("web", "proctor web"):
        from proctor_web.demo import open_demo
        from proctor_web.site import site
        from proctor_web.users.ledger import Person
        from proctor_web.workspace import open_workspace

    make_access, provider = team.access(), team.provider()
    with ExitStack() as stack:
        if demo:
            if stores or agents or evalsets:
                raise BadInput("--demo brings a store, an agent and an eval set of its own; leave out the others.")
            folder = stack.enter_context(TemporaryDirectory(prefix="proctor-demo-"))
            workspace = open_demo(Path(folder), read_only=read_only)
        else:
            workspace = open_workspace(
                stores or (None,),
                agents=agents,
                evalsets=evalsets,
                read_only=read_only,
                needs_first=team.names_users,  # users and their log are there, and nowhere else
            )
        stack.enter_context(closing(workspace))
        ledger = team.ledger(workspace.first_address())
        if ledger is not None:
            stack.enter_context(closing(ledger))
            if not team.grant_texts:
                output.message(t("Users whom the login names may do everything; --grant says who may do what."))
        if provider is None:
            people = [Person(name="")]
            said = t(
                "The link works once; press Enter here for a new one. Ctrl-C ends the server; runs that were started go on."
            )
        else:
            people = []  # a link in the log of a container would let its readers in
            said = t("Users sign in at {url}. Ctrl-C ends the server; runs that were started go on.", url=team.url)
        door = serving.Door(port, host, people, partial(make_access, ledger=ledger))
        serving.run_server(
            site(workspace, door.access, lang(), follows_browser=not is_chosen(), provider=provider),
            door,
            opens=opens,
            as_json=as_json,
            about={"stores": [*workspace.stores]},
            said=said,
        )
