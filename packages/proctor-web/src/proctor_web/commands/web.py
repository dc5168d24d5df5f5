"""proctor web: the web app over stores of runs, agents and eval sets."""

from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click
import msgspec

from proctor.cli import options, output
from proctor.cli.derived import gathered
from proctor.cli.long_help import long_command
from proctor.cli.words import is_chosen, lang, t
from proctor.core.errors import BadInput, needs
from proctor_web.commands import serving, team_options

if TYPE_CHECKING:
    from proctor_web.workspace import Workspace


class WorkspaceFlags(msgspec.Struct, frozen=True, kw_only=True):
    """What the web app is opened over."""

    stores: tuple[str, ...]
    agents: Path | None
    evalsets: Path | None
    demo: bool
    read_only: bool


@long_command("store agents evalsets demo read-only port host open trusted-header oidc grant url json")
@options.workspace
@click.option(
    "--demo", is_flag=True, help=t("Look around in a small store of real runs, with an agent and an eval set.")
)
@options.read_only
@team_options.options
@serving.options
@options.as_json
@gathered("opened", WorkspaceFlags)
@gathered("team", team_options.TeamOptions)
def command(opened: WorkspaceFlags, team: team_options.TeamOptions, server: serving.ServerFlags, as_json: bool) -> None:
    with needs("web", "proctor web"):
        from proctor_web.site import site
        from proctor_web.users.ledger import Person

    make_access, provider = team.access(), team.provider()
    with ExitStack() as stack:
        workspace = _open_workspace(opened, team, stack)
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
        door = serving.Door(server, people, partial(make_access, ledger=ledger))
        serving.run_server(
            site(workspace, door.access, lang(), follows_browser=not is_chosen(), provider=provider),
            door,
            as_json=as_json,
            about={"stores": [*workspace.stores]},
            said=said,
        )


def _open_workspace(opened: WorkspaceFlags, team: team_options.TeamOptions, stack: ExitStack) -> "Workspace":
    """Open the stores, or the demo in a folder that goes with the server."""
    from proctor_web.demo import open_demo
    from proctor_web.workspace import open_workspace

    if opened.demo:
        if opened.stores or opened.agents or opened.evalsets:
            raise BadInput("--demo brings a store, an agent and an eval set of its own; leave out the others.")
        folder = stack.enter_context(TemporaryDirectory(prefix="proctor-demo-"))
        return open_demo(Path(folder), read_only=opened.read_only)
    return open_workspace(
        opened.stores or (None,),
        agents=opened.agents,
        evalsets=opened.evalsets,
        read_only=opened.read_only,
        needs_first=team.names_users,  # users and their log are there, and nowhere else
    )
