"""proctor web: the web app over stores of runs, agents and eval sets."""

from contextlib import closing
from pathlib import Path

import click

from proctor.cli import options, serving
from proctor.cli.words import is_chosen, lang, t
from proctor.core.errors import MissingExtra


@click.command(help=t("Look at runs, compare them, and write eval sets by talking with an agent, in the browser."))
@click.option("--store", "stores", metavar="URL", multiple=True, help=t("A store of runs; may be given several times."))
@click.option(
    "--agents",
    type=click.Path(path_type=Path),
    help=t("The folder of agents that may be started, as adk web takes it."),
)
@click.option("--evalsets", type=click.Path(path_type=Path), help=t("The folder of eval-set files (ADK)."))
@click.option("--read-only", is_flag=True, help=t("Show everything, change and start nothing."))
@serving.options
@options.as_json
def command(
    stores: tuple[str, ...],
    agents: Path | None,
    evalsets: Path | None,
    read_only: bool,
    port: int | None,
    host: str,
    opens: bool | None,
    as_json: bool,
) -> None:
    try:
        from proctor.web.auth import Person
        from proctor.web.site import site
        from proctor.web.workspace import open_workspace
    except ImportError as error:
        raise MissingExtra("web", "proctor web") from error

    workspace = open_workspace(stores or (None,), agents=agents, evalsets=evalsets, read_only=read_only)
    with closing(workspace):
        door = serving.Door(port, host, [Person(name="")])
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
