"""A run of eval sets as the result files of ADK, one for each set, in a folder: all that its metrics said."""

from pathlib import Path

from proctor.core.parts import ExportPart
from proctor.core.run import RunRecord
from proctor.core.task import Store
from proctor.evalsets import results


def write(record: RunRecord, store: Store, path: Path) -> list[Path]:
    """Write the files and say where.

    Raises:
        BadInput: the run is not one of eval sets, or the folder cannot be written to.
    """
    return results.write(record, store, path)


PART = ExportPart(write=write, suffix="-adk")
