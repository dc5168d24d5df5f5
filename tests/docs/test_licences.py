"""Every package that Proctor is installed with has a licence that is known, and the SBOM names them all."""

import json
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pages
import pytest

FROM_EXTRAS_ONLY = {
    "html2text",
    "krippendorff",
}  # GPL: the official code of BFCL imports one, in a process of its own; tests the other


@pytest.fixture(scope="module")
def bill(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("sbom")
    command = [sys.executable, str(pages.ROOT / ".ci" / "sbom.py"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len((folder / "licences.md").read_text(encoding="utf-8").splitlines()) > 200
    found: dict[str, Any] = json.loads((folder / "sbom.cdx.json").read_text(encoding="utf-8"))
    return found


def names(requirements: Path) -> set[str]:
    return {
        name.lower() for name in re.findall(r"^([\w.-]+)==", requirements.read_text(encoding="utf-8"), re.MULTILINE)
    }


def test_the_sbom_names_every_package_of_the_lock_file_with_version_licence_and_digests(bill: dict[str, Any]) -> None:
    found = {one["name"]: one for one in bill["components"]}
    assert {*found} == names(pages.ROOT / "requirements" / "dev.txt")
    assert {name for name, one in found.items() if one["scope"] == "required"} == names(pages.ROOT / "requirements" / "run.txt")  # fmt: skip
    assert found["msgspec"]["licenses"] == [{"expression": metadata.metadata("msgspec")["License-Expression"]}]
    assert all(one["properties"] for one in found.values())


def test_no_package_of_an_installation_has_a_licence_that_binds_its_user(bill: dict[str, Any]) -> None:
    binding = {
        one["name"]
        for one in bill["components"]
        for each in one["licenses"]
        if re.search(r"(?<!L)A?GPL", each["expression"])
    }
    assert binding <= FROM_EXTRAS_ONLY
    required = [one for one in bill["components"] if one["scope"] == "required"]
    assert not [one["name"] for one in required if not one["licenses"] or "GPL" in one["licenses"][0]["expression"]]
