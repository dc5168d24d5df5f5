"""The data of MULTI from a hub on this machine: one archive, unpacked once, and never out of its folder."""

import io
import json
import zipfile
from pathlib import Path

import pytest
from hub_here import COMMIT, Hub, served

from proctor.api.files import pull_data
from proctor.core.errors import BadInput
from proctor_benchmarks import multi
from proctor_benchmarks.multi import hub

PROBLEM = {"czsx_1": {"subject": ["czsx"], "education": "初中", "problem_content": "题[IMAGE_1]", "problem_content_list": ["甲"], "problem_type_list": ["单选"], "problem_answer_list": ["A"], "problem_analysis_list": [""], "knowledge": [], "img_paths": ["../data/images/czsx/1_2.png"]}}  # fmt: skip


def packed(*names: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in names:
            archive.writestr(name, json.dumps(PROBLEM) if name.endswith(".json") else b"png")
    return out.getvalue()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_CACHE", str(tmp_path / "cache"))


def test_what_was_pulled_is_found_without_an_option(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInput, match="proctor data pull multi"):
        multi.task("all", input_type=2)
    here = Hub({hub.DATA_SET: {"data.zip": packed("data/problem_v1.json", "data/images/czsx/1_2.png")}})
    with served(here) as url:
        monkeypatch.setenv("HF_ENDPOINT", url)
        folder = pull_data("multi", None, lambda _: None)
        assert hub.locate()[1]["revision"] == COMMIT
    assert (folder / "problem_v1.json").is_file()
    task = multi.task("all", input_type=2)
    assert task.planned == 1  # with its image, whose path is that of the original's scripts


@pytest.mark.parametrize("names", [("../problem_v1.json",), ("/problem_v1.json",), ("readme.md",)])
def test_an_archive_that_is_hostile_or_another_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, names: tuple[str, ...]
) -> None:
    with served(Hub({hub.DATA_SET: {"data.zip": packed(*names)}})) as url:
        monkeypatch.setenv("HF_ENDPOINT", url)
        with pytest.raises(BadInput, match=r"leave its folder|no problem file"):
            pull_data("multi", None, lambda _: None)
    assert not list(tmp_path.rglob("problem_v1.json"))
