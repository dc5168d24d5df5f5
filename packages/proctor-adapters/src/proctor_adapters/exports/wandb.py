"""Log a run to Weights & Biases: numbers with intervals as its summary, conditions as its configuration, the report among its files.

The id of the run there comes from the run here, so that logging it again updates it.
"""

import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from proctor.core.errors import BadInput, needs
from proctor.core.parts import ExportPart
from proctor.core.run import RunRecord
from proctor.core.sentence import Sentence, say
from proctor.core.task import Store
from proctor.exports.summary import Summary, conditions, host_of, key_of, metrics, one_line
from proctor.exports.writing import Options

PROJECT = "proctor"
INIT_SECONDS = 30.0


def write(record: RunRecord, store: Store, path: Path, *, options: Options) -> list[Path]:
    """Log the run into a folder, for `wandb sync`, and return where it is; an earlier one of the same run is replaced.

    Raises:
        BadInput: it cannot be written; `MissingExtra`.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput("{path} cannot be written: {error}.", path=path, error=error.strerror or error) from None
    for earlier in (path / "wandb").glob(f"offline-run-*-{key_of(record)}"):
        shutil.rmtree(earlier, ignore_errors=True)
    _log(record, store, options["summary"], mode="offline", root_dir=str(path))
    return sorted((path / "wandb").glob(f"offline-run-*-{key_of(record)}"))


def send(record: RunRecord, store: Store, address: str, *, options: Options) -> Sentence:
    """Log the run to the server at an address, `env` for that of the WANDB_ variables, and say where it is.

    Raises:
        BadInput: no key, or the server cannot be reached or refuses; `MissingExtra`.
    """
    more = {} if address == "env" else {"base_url": address}
    if "@" in address:  # it would show the address
        raise BadInput("Put the key into WANDB_API_KEY, not into the address.")
    with TemporaryDirectory() as folder:
        url = _log(record, store, options["summary"], root_dir=folder, **more)
    return say("logged to Weights & Biases: {url}", url=url or host_of(address))


def _log(record: RunRecord, store: Store, summary: Summary, **settings: object) -> str | None:
    for name, value in {"WANDB_ERROR_REPORTING": "false", "WANDB_SILENT": "true"}.items():
        os.environ.setdefault(name, value)  # read when it is imported
    with needs("wandb", "Weights & Biases"):
        import wandb
    numbers, config = metrics(record, store, summary), conditions(record, summary)
    try:
        quiet = wandb.Settings(
            console="off",
            silent=True,
            disable_git=True,
            disable_code=True,
            disable_job_creation=True,
            x_disable_stats=True,
            x_disable_meta=True,
            x_disable_machine_info=True,
            x_save_requirements=False,
            init_timeout=INIT_SECONDS,
            **settings,
        )
        with wandb.init(
            project=os.environ.get("WANDB_PROJECT") or PROJECT,
            id=key_of(record),
            name=record.id,
            group=record.task,
            resume="allow",
            reinit="create_new",
            config=config,
            allow_val_change=True,
            settings=quiet,
        ) as run:
            run.summary.update(numbers)
            for suffix in ("html", "json"):  # what is in this folder is sent, in place of what was sent before
                summary.write_report(Path(run.dir) / f"report.{suffix}")
            return None if run.offline else run.url
    except Exception as error:  # noqa: BLE001 - its process answers with errors of kinds that are not documented
        raise BadInput("Weights & Biases: {error}", error=one_line(error)) from None
    finally:
        if wandb.run is None:  # the program has no run of its own
            wandb.teardown()  # waits until all is written, and forgets what failed


PART = ExportPart(write=write, send=send, has_content=True, has_summary=True)
