"""The pictures beside summary.md, and the published rows of the leaderboard."""

import json
from pathlib import Path

import pytest

from proctor_benchmarks.multi import baselines, export, figures, tables
from proctor_benchmarks.multi.tables import Scored

NAMES = ["summary_education.png", "summary_image.png", "summary_type.png", "heatmap.png"]


def rows(count: int = 3, total: float = 2) -> list[Scored]:
    kinds = ("SA", "MA", "FB", "OP")
    return [
        Scored(
            id=f"x_{place}_0",
            problem=f"x_{place}",
            education="JuH",
            subject="数学",
            type=kinds[place % 4],
            image="NI",
            score=place % 3 and total / 2,
            total=total,
        )
        for place in range(count)
    ]


@pytest.mark.parametrize("found", [[], rows(1), rows(250), rows(3, total=0)], ids=["none", "one", "many", "no points"])
def test_four_pictures_are_drawn(found: list[Scored], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    made = figures.draw(found, tmp_path, "模型 $x_{1} <b>")
    assert [path.name for path in made] == NAMES
    assert all(path.read_bytes().startswith(b"\x89PNG") and path.stat().st_size > 5000 for path in made)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(NAMES)


def test_the_same_rows_make_the_same_pictures(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    first, second = (tmp_path / name for name in ("a", "b"))
    for folder in (first, second):
        folder.mkdir()
        figures.draw(rows(20), folder, "m")
    assert [(first / name).read_bytes() for name in NAMES] == [(second / name).read_bytes() for name in NAMES]


def test_the_summary_shows_the_pictures_or_how_to_get_them() -> None:
    shown = tables.summary(rows(), pictures=True)
    assert [shown.count(f"({name})") for name in NAMES] == [1, 1, 1, 1]
    assert "[plots]'" not in shown
    assert "[plots]'" in tables.summary(rows())
    assert ".png" not in tables.summary(rows())


def test_without_the_extra_everything_else_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "is_installed", lambda name: False)
    made = export.score_files(tmp_path, {}, rows(), "m")
    assert not [path for path in made if path.suffix == ".png"]
    assert "[plots]'" in (tmp_path / "summary.md").read_text(encoding="utf-8")


def test_the_leaderboard_file_has_the_entry_and_the_published_rows(tmp_path: Path) -> None:
    export.score_files(tmp_path, {}, rows(), "m")
    found = json.loads((tmp_path / "leaderboard.json").read_text(encoding="utf-8"))
    assert [row["Model"] for row in found["data"]] == ["m", "random", "most", "expert"]
    assert len({tuple(row)[:9] for row in found["data"]}) == 1
    assert found["baselines"] == baselines.SOURCE
    expert = found["data"][3]
    assert expert["MULTI"]["Type"] == {"SA": 91.4, "MA": 81.1, "MAAcc": 70.3, "FB": 83.4, "OP": 46.4}
    assert expert["MULTI-Elite"]["Education"]["Driv"] == 85.85
    assert "OP" not in expert["MULTI-Elite"]["Type"]
    assert found["data"][1]["MULTI"]["Type"]["MAAcc"] == "-"
