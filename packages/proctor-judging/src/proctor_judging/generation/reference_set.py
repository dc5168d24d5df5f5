"""The reference set: items of the user's file, or of a set of the hub that is fetched once."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from proctor.core.errors import BadInput
from proctor.registry import offered
from proctor_judging.tasks.fields import items_of

NAMED = {"aime25": "math-ai/aime25", "aime-1983-2025": "TianHongZXY/aime-1983-2025"}
SUFFIXES = (".jsonl", ".json", ".csv", ".parquet")


class ReferenceExample(msgspec.Struct, frozen=True, kw_only=True):
    """One item of the set."""

    id: str
    question: str
    answer: str = ""
    solution: str = ""
    topic: str = ""

    def text(self, fields: Sequence[str]) -> str:
        """Return the part of a reference that is compared with the fields of a generated item; the question without such fields."""
        texts = self.shown()
        return "\n\n".join(texts[name] for name in fields if texts.get(name)) or self.question

    def shown(self) -> dict[str, str]:
        """Return its texts for a prompt."""
        return {"question": self.question, "problem": self.question, "answer": self.answer, "solution": self.solution}


class Reference(msgspec.Struct, frozen=True, kw_only=True):
    """A set of items; `path` is the file they came out of, `source` the data set and revision on the hub."""

    name: str
    path: Path
    digest: str
    items: Sequence[ReferenceExample]
    source: Mapping[str, str] = {}

    def told(self) -> dict[str, object]:
        """Return the entry about the reference set that is stored with a run."""
        return {"name": self.name, "digest": self.digest, "items": len(self.items), **self.source}


def load(name: str) -> Reference:
    """Return the items of a file, `aime25`, `aime-1983-2025` or `hub:OWNER/NAME`, the last three also with `@REVISION`.

    Raises:
        BadInput: no such file or set, nothing in it, or an item without text; names the place.
    """
    path, source = located(name)
    file = items_of(path)
    items = [
        ReferenceExample(
            id=item.id,
            question=item.texts.get("question") or item.text(),
            answer=item.texts.get("answer") or item.texts.get("reference", ""),
            solution=item.texts.get("solution", ""),
            topic=item.tags.get("topic", ""),
        )
        for item in file.read()
    ]
    short = name.partition("@")[0]
    return Reference(
        name=short if short in NAMED else path.stem, path=path, digest=file.digest, items=items, source=source
    )


def located(name: str, folder: Path | None = None) -> tuple[Path, dict[str, str]]:
    """Return the file of a reference set and its source; a set on the hub is fetched first.

    Args:
        folder: where sets of the hub are kept; the cache when None.
    """
    short, _, revision = name.partition("@")
    data_set = NAMED.get(short) or (short.removeprefix("hub:") if short.startswith("hub:") else None)
    if data_set is None:
        return Path(name).expanduser(), {}
    own = folder / data_set.replace("/", "--") if folder is not None else None
    fetch = offered("hub", "set", needed_for=name)
    found = fetch(data_set, revision=revision or "main", folder=own, suffixes=SUFFIXES)
    source = {"data_set": found.name, "revision": found.revision}
    folder = found.folder
    for suffix in SUFFIXES:
        files = sorted(path for path in folder.rglob(f"*{suffix}") if path.name != "dataset_infos.json")
        for preferred in ("test", "train", ""):  # the order in which the source tries the splits
            for path in files:
                if preferred in path.stem:
                    return path, source
    raise BadInput(
        "The set {data_set} holds no file that can be read ({known}).", data_set=data_set, known=", ".join(SUFFIXES)
    )
