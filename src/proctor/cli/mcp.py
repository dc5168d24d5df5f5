"""proctor mcp: runs as tools of an assistant, by the Model Context Protocol."""

import asyncio
from contextlib import closing
from pathlib import Path

import click

from proctor.cli.words import lang, t
from proctor.core.errors import MissingExtra


@click.command(
    help=t(
        "Serve an assistant that speaks MCP, over standard input and output: it starts runs, reads figures, compares, and explains failures."
    )
)
@click.option("--store", "stores", metavar="URL", multiple=True, help=t("A store of runs; may be given several times."))
@click.option(
    "--agents",
    type=click.Path(path_type=Path),
    help=t("The folder of agents that may be started, as adk web takes it."),
)
@click.option("--evalsets", type=click.Path(path_type=Path), help=t("The folder of eval-set files (ADK)."))
@click.option("--read-only", is_flag=True, help=t("Show everything, change and start nothing."))
def command(stores: tuple[str, ...], agents: Path | None, evalsets: Path | None, read_only: bool) -> None:
    try:
        import mcp  # noqa: F401 - the extra
    except ImportError as error:
        raise MissingExtra("mcp", "proctor mcp") from error
    try:
        from proctor.web.mcp_server import serve
        from proctor.web.workspace import open_workspace
    except ImportError as error:
        raise MissingExtra("web", "proctor mcp") from error
    with closing(open_workspace(stores or (None,), agents=agents, evalsets=evalsets, read_only=read_only)) as workspace:
        asyncio.run(serve(workspace, lang(), read_only=read_only))
