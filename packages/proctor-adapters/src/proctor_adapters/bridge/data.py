"""Say which data a task of another program reads, and where its packages keep them."""

from collections.abc import Sequence

import msgspec

from proctor.core.sentence import Sentence, say
from proctor_adapters.bridge.program import caches


class GuestSource(msgspec.Struct, frozen=True):
    """A data set of the hub; the revision is '' where the task names none and the files do not say it."""

    source: str
    name: str = ""
    revision: str = ""


def folders() -> str:
    """Return the folders in which the packages of other programs keep what they fetch."""
    kept = caches()
    return f"{kept['HF_HOME']}, {kept['XDG_CACHE_HOME']}/inspect_evals"


def pulled(task: str, count: int, digest: str, sources: Sequence[GuestSource]) -> Sentence:
    """Return what is here once a task was loaded with the network."""
    data = [f"{each.source} {each.name}".strip() + f"@{each.revision or '?'}" for each in sources]
    return say(
        "{task}: {count} samples, digest {digest}. Data sets of the hub: {data}. Kept in: {folders}",
        task=task,
        count=count,
        digest=digest,
        data=", ".join(data) or "-",
        folders=folders(),
    )
