"""Write a run of eval sets as ADK's result files, one for each set, with the results of all metrics."""

from pathlib import Path

from proctor.core.parts import ExportPart
from proctor.core.run import RunRecord
from proctor.core.task import Store
from proctor_adapters.evalsets import results


def write(record: RunRecord, store: Store, path: Path) -> list[Path]:
    """Write the files and say where.

    Raises:
        BadInput: the run is not one of eval sets, or the folder cannot be written to.
    """
    return results.write(record, store, path)


PART = ExportPart(write=write, suffix="-adk")
