"""proctor adk uploadevalset: the cases of an eval-set file to CozeLoop, as `veadk uploadevalset` does it."""

from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from proctor.cli import options, output
from proctor.cli.derived import gathered
from proctor.cli.words import t
from proctor.core.errors import BadInput
from proctor.runtime.visible import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from proctor_adapters.exports.cozeloop import Destination, RejectedItem

PREFIX = "OBSERVABILITY_OPENTELEMETRY_COZELOOP_"


class CozeloopFlags(msgspec.Struct, frozen=True, kw_only=True):
    """Where the items go."""

    workspace_id: str | None
    evalset_id: str | None
    api_key: str | None
    url: str | None


@click.command()
@click.option("--file", metavar="FILE", type=click.Path(path_type=Path), required=True, help=t("The eval-set file."))
@click.option(
    "--cozeloop-workspace-id",
    "workspace_id",
    envvar=f"{PREFIX}SERVICE_NAME",
    help=t("The workspace, else {variable}.", variable=f"{PREFIX}SERVICE_NAME"),
)
@click.option(
    "--cozeloop-evalset-id",
    "evalset_id",
    envvar=f"{PREFIX}EVALSET_ID",
    help=t("The evaluation set there, else {variable}.", variable=f"{PREFIX}EVALSET_ID"),
)
@click.option(
    "--cozeloop-api-key",
    "api_key",
    envvar=f"{PREFIX}API_KEY",
    help=t("The key, else {variable}.", variable=f"{PREFIX}API_KEY"),
)
@click.option(
    "--cozeloop-url",
    "url",
    envvar="PROCTOR_COZELOOP_URL",
    metavar="URL",
    help=t("Another server, else {variable}.", variable="PROCTOR_COZELOOP_URL"),
)
@click.option(
    "--tool-calls-field",
    metavar="NAME",
    default="tool_calls",
    help=t("The field that the expected tool calls go to (default tool_calls); an empty name leaves them out."),
)
@click.option("--again", is_flag=True, help=t("Upload also what was uploaded before."))
@click.option("--dry-run", is_flag=True, help=t("Show what would be sent; send nothing."))
@options.as_json
@click.pass_context
@gathered("target", CozeloopFlags)
def command(
    ctx: click.Context,
    /,
    file: Path,
    target: CozeloopFlags,
    tool_calls_field: str,
    again: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    from proctor.api.loop import run_in_loop
    from proctor_adapters.evalsets.read import read
    from proctor_adapters.exports import cozeloop

    loaded = read(file)
    items, notes = cozeloop.items_of(loaded.eval_set, tool_calls_field)
    for note in (*loaded.notes, *notes):
        output.tell(note)
    if not items:
        raise BadInput("{path} has no turn that could be uploaded.", path=file)
    if dry_run:
        output.print_json(cozeloop.body_of(items, target.workspace_id or ""))
        batches = -(-len(items) // cozeloop.BATCH)
        output.message(t("{count} items in {batches} requests; nothing was sent.", count=len(items), batches=batches))
        return
    to = _destination(target)
    uploaded = cozeloop.UploadState(cozeloop.state_file(file), to.place)
    if again:
        uploaded.keys.clear()
    before = sum(item.key in uploaded.keys for item in items)
    try:
        rejected = run_in_loop(lambda _: cozeloop.upload(items, to, uploaded))
    except BadInput:
        _tell_uploaded(sum(item.key in uploaded.keys for item in items), len(items), before)
        raise
    done = len(items) - len(rejected)
    if as_json:
        lines = [{"case": each.item.case, "turn": each.item.turn, "reason": t(each.reason)} for each in rejected]
        output.print_json({"items": len(items), "uploaded": done - before, "before": before, "rejected": lines})
    else:
        _show_rejected(rejected)
    _tell_uploaded(done, len(items), before)
    if rejected:
        output.message(t("Run the same command again to send the rest."))
        ctx.exit(1)


def _show_rejected(rejected: "Sequence[RejectedItem]") -> None:
    for each in rejected:
        text = t("{case}, turn {turn}: {reason}", case=each.item.case, turn=each.item.turn, reason=each.reason)
        output.line(visible(text))


def _tell_uploaded(done: int, count: int, before: int) -> None:
    output.message(
        t("Uploaded {done} of {count} items; {before} of them earlier.", done=done, count=count, before=before)
    )


def _destination(target: CozeloopFlags) -> "Destination":
    from proctor_adapters.exports.cozeloop import URL, Destination

    for value, option, variable in (
        (target.workspace_id, "--cozeloop-workspace-id", f"{PREFIX}SERVICE_NAME"),
        (target.evalset_id, "--cozeloop-evalset-id", f"{PREFIX}EVALSET_ID"),
        (target.api_key, "--cozeloop-api-key", f"{PREFIX}API_KEY"),
    ):
        if not value:
            raise BadInput("Give {option}, or set {variable}.", option=option, variable=variable)
    return Destination(
        workspace_id=str(target.workspace_id),
        evalset_id=str(target.evalset_id),
        api_key=str(target.api_key),
        url=target.url or URL,
    )
