"""proctor team mcp: runs as tools of an assistant, by the Model Context Protocol."""

import asyncio
from contextlib import closing
from pathlib import Path

import click

from proctor.cli import options
from proctor.cli.words import lang
from proctor.core.errors import needs
from proctor.runtime.garbage import gc_paused


@click.command()
@options.workspace
@options.read_only
def command(stores: tuple[str, ...], agents: Path | None, evalsets: Path | None, read_only: bool) -> None:
    with gc_paused():
        with needs("mcp", "proctor team mcp"):
            import mcp  # noqa: F401 - the extra
        with needs("web", "proctor team mcp"):
            from proctor_web.mcp_server import serve
            from proctor_web.workspace import open_workspace
    with closing(open_workspace(stores or (None,), agents=agents, evalsets=evalsets, read_only=read_only)) as workspace:
        asyncio.run(serve(workspace, lang(), read_only=read_only))
