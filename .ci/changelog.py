"""Write the changelog of a release from the fragments in `changelog.d`, grouped by kind: `python .ci/changelog.py CHANGELOG.md`."""

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KINDS = {"added": "Added", "changed": "Changed", "fixed": "Fixed", "removed": "Removed"}
VERSION = re.compile(r'^__version__ = "(.+)"$', re.MULTILINE)


def main(out: Path, folder: Path = ROOT / "changelog.d") -> None:
    """Write the file, or end with every fragment that cannot be used."""
    sentences: dict[str, list[str]] = {kind: [] for kind in KINDS}
    faults = []
    for path in sorted(folder.iterdir()):
        name, _, kind = path.name.removesuffix(".md").rpartition(".")
        text = " ".join(path.read_text(encoding="utf-8").split())
        if path.suffix != ".md" or not name or kind not in KINDS:
            faults.append(f"{path.name}: a fragment is called NAME.KIND.md, and KIND is one of {', '.join(KINDS)}")
        elif not text:
            faults.append(f"{path.name}: it is empty; write one sentence for users")
        else:
            sentences[kind].append(text)
    if faults:
        sys.exit("\n".join(faults))
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(changelog(version(), sentences), encoding="utf-8")
    print(out)


def changelog(release: str, sentences: Mapping[str, Sequence[str]]) -> str:
    """Return the page: a section for the release, and one in it for each kind that has a sentence."""
    sections = [
        f"### {title}\n\n" + "".join(f"* {sentence}\n" for sentence in sentences[kind])
        for kind, title in KINDS.items()
        if sentences[kind]
    ]
    return "\n".join([f"# Changelog\n\n## {release}\n", *sections])


def version() -> str:
    source = ROOT / "packages" / "proctor" / "src" / "proctor" / "core" / "version.py"
    found = VERSION.search(source.read_text(encoding="utf-8"))
    if found is None:
        sys.exit(f"{source} has no __version__.")
    return found[1]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
