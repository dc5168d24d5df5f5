"""Fetch the gated data set with the user's own token into the cache."""

import os
from pathlib import Path

from proctor.core.errors import BadInput
from proctor.core.sentence import say
from proctor.transport import hub
from proctor.transport.fetch import cache_folder

DATA_SET = "gaia-benchmark/GAIA"
YEAR = "2023"


def located() -> Path:
    """The data folder: `PROCTOR_GAIA_DATA`, the cache, or fetched now with `HF_TOKEN`.

    Raises:
        BadInput: it is nowhere and cannot be fetched; says what to do.
    """
    given = os.environ.get("PROCTOR_GAIA_DATA")
    if given:
        return Path(given).expanduser()
    folder = cache_folder() / "gaia"
    return folder if (folder / YEAR).is_dir() else fetch(folder)


def fetch(folder: Path) -> Path:
    """Download the whole set into a folder; it appears there only when it is complete."""
    token = os.environ.get("HF_TOKEN")
    if not token:
        raise BadInput(
            "GAIA is gated. Ask for access on the page of {data_set}, set HF_TOKEN to your token, and try again; or give a folder: --set data=PATH.",
            data_set=DATA_SET,
        )
    hub.download(
        DATA_SET, folder, under=YEAR, token=token, advice=say("Without network give a folder: --set data=PATH.")
    )
    return folder
