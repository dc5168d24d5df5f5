"""proctor web: the web app over stores of runs, agents and eval sets."""

from contextlib import ExitStack, closing
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from proctor.cli import options, serving
from proctor.cli.words import is_chosen, lang, t
from proctor.core.errors import BadInput, MissingExtra


@click.command(help=t("Look at runs, compare them, and write eval sets by talking with an agent, in the browser."))
@click.option("--store", "stores", metavar="URL", multiple=True, help=t("A store of runs; may be given several times."))
@click.option(
    "--agents",
    type=click.Path(path_type=Path),
    help=t("The folder of agents that may be started, as adk web takes it."),
)
@click.option("--evalsets", type=click.Path(path_type=Path), help=t("The folder of eval-set files (ADK)."))
@click.option(
    "--demo", is_flag=True, help=t("Look around in a small store of real runs, with an agent and an eval set.")
)
@click.option("--read-only", is_flag=True, help=t("Show everything, change and start nothing."))
@click.option(
    "--trusted-header",
    metavar="NAME",
    help=t("The header in which a login proxy names the user, for example X-Forwarded-User; users of it need no link."),
)
@click.option(
    "--trusted-proxy",
    "proxies",
    metavar="ADDRESS",
    multiple=True,
    help=t("From where that header is believed: an address or a network (default: this machine)."),
)
@click.option(
    "--name",
    "aliases",
    metavar="HOST",
    multiple=True,
    help=t("A name by which a proxy passes requests on, for example eval.example.com; other names are not answered."),
)
@serving.options
@options.as_json
def command(
    stores: tuple[str, ...],
    agents: Path | None,
    evalsets: Path | None,
    demo: bool,
    read_only: bool,
    trusted_header: str | None,
    proxies: tuple[str, ...],
    aliases: tuple[str, ...],
    port: int | None,
    host: str,
    opens: bool | None,
    as_json: bool,
) -> None:
    try:
        from proctor.web.auth import Person
        from proctor.web.demo import open_demo
        from proctor.web.login_proxy import LoginProxy
        from proctor.web.site import site
        from proctor.web.workspace import open_workspace
    except ImportError as error:
        raise MissingExtra("web", "proctor web") from error

    if proxies and trusted_header is None:
        raise BadInput("--trusted-proxy says from where a header is believed: name it with --trusted-header.")
    login_proxy = None if trusted_header is None else LoginProxy(trusted_header, proxies)
    with ExitStack() as stack:
        if demo:
            if stores or agents or evalsets:
                raise BadInput("--demo brings a store, an agent and an eval set of its own; leave out the others.")
            folder = stack.enter_context(TemporaryDirectory(prefix="proctor-demo-"))
            workspace = open_demo(Path(folder), read_only=read_only)
        else:
            workspace = open_workspace(stores or (None,), agents=agents, evalsets=evalsets, read_only=read_only)
        stack.enter_context(closing(workspace))
        door = serving.Door(port, host, [Person(name="")], aliases=aliases, login_proxy=login_proxy)
        serving.run_server(
            site(workspace, door.access, lang(), follows_browser=not is_chosen()),
            door,
            opens=opens,
            as_json=as_json,
            about={"stores": [*workspace.stores]},
            said=t(
                "The link works once; press Enter here for a new one. Ctrl-C ends the server; runs that were started go on."
            ),
        )
