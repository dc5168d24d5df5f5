"""Note which data sets of the hub a task reads, and at which revision."""

import re
import sys
from functools import wraps
from typing import Any

READERS = {
    "datasets": ("load_dataset",),
    "huggingface_hub": ("snapshot_download", "hf_hub_download"),
    "inspect_ai.dataset": ("hf_dataset",),
}
COMMIT = re.compile(r"@([0-9a-f]{40})/")

_sources: dict[tuple[str, str], str] = {}


def note_sources() -> None:
    """Let the functions that read data sets note what they are asked for, in each module that has imported one by now."""
    for home, names in READERS.items():
        for name in names if home in sys.modules else ():
            original = getattr(sys.modules[home], name)
            if hasattr(original, "proctor_notes"):
                continue
            noting = _noting(original)
            for module in [*sys.modules.values()]:
                if vars(module).get(name) is original:
                    setattr(module, name, noting)


def sources() -> list[dict[str, str]]:
    """Return the data sets that were read; the revision is '' where nobody named one and the files do not say it."""
    return [{"source": path, "name": name, "revision": revision} for (path, name), revision in _sources.items()]


def _noting(original: Any) -> object:
    @wraps(original)
    def read(*given: object, **named: object) -> object:
        path = str(named.get("path") or named.get("repo_id") or (given[0] if given else ""))
        name = str(named.get("name") or named.get("filename") or "")
        revision = str(named.get("revision") or "")
        try:
            result = original(*given, **named)
        except Exception as error:
            error.add_note(f"{path} {name}".strip() + (f" at the revision {revision}" if revision else ""))
            raise
        _sources[path, name] = revision or _sources.get((path, name)) or _commit(result)
        return result

    vars(read)["proctor_notes"] = True
    return read


def _commit(result: object) -> str:
    """Return the commit of the hub that files of a data set are of."""
    first = next(iter(result.values()), None) if isinstance(result, dict) else result
    checksums = getattr(getattr(first, "info", None), "download_checksums", None) or {}
    return next((match[1] for url in checksums if (match := COMMIT.search(str(url)))), "")
