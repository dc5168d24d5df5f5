"""Fetch the gated data set with the user's own token into the cache."""

import os
from pathlib import Path

from proctor.core.sentence import say
from proctor.runtime.folders import cache_folder
from proctor_adapters.datasets import data_sets

DATA_SET = "gaia-benchmark/GAIA"
YEAR = "2023"


def locate(revision: str = data_sets.MAIN, data_set: str = DATA_SET) -> tuple[Path, dict[str, str]]:
    """Return the data folder, and what a run keeps of where it came from: `PROCTOR_GAIA_DATA`, the cache, or fetched now.

    Args:
        data_set: another set of the hub in the same layout, which `PROCTOR_GAIA_DATA` does not stand for.

    Raises:
        BadInput: it is nowhere and cannot be fetched; says what to do.
    """
    given = os.environ.get("PROCTOR_GAIA_DATA")
    if data_set != DATA_SET:
        found = data_sets.fetch(data_set, revision=revision, under=YEAR)
        return found.folder, found.provenance
    if given:
        return Path(given).expanduser(), {}
    found = data_sets.fetch(
        DATA_SET,
        revision=revision,
        folder=cache_folder() / "gaia",
        under=YEAR,
        advice=say("Without network give a folder: --set data=PATH."),
        gated=say(
            "GAIA is gated. Ask for access on the page of {data_set}, set HF_TOKEN to your token, and try again; or give a folder: --set data=PATH.",
            data_set=DATA_SET,
        ),
    )
    return found.folder, found.provenance
