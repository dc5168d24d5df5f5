"""`proctor judge review` on the command line: bad input, statistics, and the terminal mode."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import review_data
from click.testing import CliRunner, Result
from review_data import SCORES

from proctor.cli import app
from proctor.core.installing import install_command
from proctor_judging.review import labels
from proctor_judging.review.queue import Review, Reviewers


def run(*words: object, typed: str = "") -> Result:
    return CliRunner().invoke(app, ["judge", "review", *(str(word) for word in words)], input=typed)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "holds no items"),
        ('[{"id": 1}, {"id": 1}]', "the id '1' was used already in row 1"),
        ("no", "no valid JSON"),
    ],
)
def test_data_that_cannot_be_reviewed_ends_with_2(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    path.write_text(text)
    result = run(path, "--terminal")
    assert result.exit_code == 2
    assert said in result.stderr


def test_a_verification_file_of_other_data_ends_with_2_and_stays(tmp_path: Path) -> None:
    data = review_data.write(tmp_path)
    other = json.dumps({"x": {"scores": {}, "status": "approved"}})
    labels.file_of(data).write_text(other)
    result = run(data, "--terminal", typed="5 5 5 5 a\n")
    assert result.exit_code == 2
    assert "belongs to other data" in result.stderr
    assert labels.file_of(data).read_text() == other


def test_the_message_is_in_chinese_where_that_is_asked(tmp_path: Path) -> None:
    result = run(tmp_path / "none.json", "--lang", "zh")
    assert result.exit_code == 2
    assert "没有文件" in result.stderr


def test_a_review_in_the_terminal(tmp_path: Path) -> None:
    data = review_data.write(tmp_path)
    result = run(data, "--terminal", typed="5 4 4 5 a good work\np\nn\n1 1 1 1 r\nu\n1 1 1 2 v\n?\n3 3 3 3 a\n")
    assert result.exit_code == 0, result.stderr
    assert [(one.item, one.status, one.comments) for one in labels.read(labels.file_of(data))] == [
        ("gen_aime_1", "approved", "good work"),
        ("gen_aime_2", "needs_revision", ""),
        ("gen_aime_3", "approved", ""),
    ]
    assert "gen_aime_1" in result.stdout
    assert "Everything is reviewed." in result.stdout
    assert "3 of 3 items are reviewed" in result.stderr


@pytest.mark.parametrize("typed", ["5 4 4 a\n", "5 4 4 9 a\n", "5 4 4 5 x\n", "hello\n", "5 4 4 5\n", "nan 4 4 5 a\n"])
def test_what_is_no_label_is_told_and_not_kept(typed: str, tmp_path: Path) -> None:
    data = review_data.write(tmp_path)
    result = run(data, "--terminal", typed=typed + "q\n")
    assert result.exit_code == 0
    assert "Type ? for help" in result.stderr or "scored from 1 to 5" in result.stderr
    assert not labels.file_of(data).exists()


def test_the_end_of_the_input_ends_the_review(tmp_path: Path) -> None:
    result = run(review_data.write(tmp_path), "--terminal", typed="5 4 4 5 a\n")
    assert result.exit_code == 0
    assert "1 of 3 items are reviewed" in result.stderr


def test_the_terminal_is_not_steered_by_an_item(tmp_path: Path) -> None:
    data = review_data.write(
        tmp_path, 0, {"id": "a\x1b[2J", "problem": "\x1b]0;owned\x07 \x1b[31mred\r\u202e", "answer": "\x9b"}
    )
    shown = run(data, "--terminal", typed="q\n").stdout
    assert not {"\x1b", "\x07", "\r", "\u202e", "\x9b"} & set(shown)


def test_in_the_terminal_one_person_reviews(tmp_path: Path) -> None:
    result = run(review_data.write(tmp_path), "--terminal", "--reviewer", "ann", "--reviewer", "bob")
    assert result.exit_code == 2
    assert "one person" in result.stderr


def test_more_reviews_than_people_end_with_2(tmp_path: Path) -> None:
    result = run(review_data.write(tmp_path), "--reviewer", "ann", "--reviewers", "2")
    assert result.exit_code == 2
    assert "needs 2 reviewers" in result.stderr


def reviewed(folder: Path) -> Path:
    data = review_data.write(folder)
    review = Review(data, Reviewers(names=["ann", "bob"]))
    review.label("gen_aime_1", "ann", SCORES, "approved")
    review.label("gen_aime_1", "bob", {**SCORES, "clarity": 1}, "rejected")
    review.label("gen_aime_2", "ann", SCORES, "approved")
    review.label("gen_aime_2", "bob", SCORES, "approved")
    return data


def test_statistics_tell_progress_agreement_and_conflicts(tmp_path: Path) -> None:
    result = run(reviewed(tmp_path), "--statistics")
    assert result.exit_code == 0, result.stderr
    assert "ann" in result.stdout
    assert "Conflict: gen_aime_1: Status, Clarity" in result.stdout


def test_statistics_as_json(tmp_path: Path) -> None:
    told = json.loads(run(reviewed(tmp_path), "--statistics", "--json").stdout)
    assert told["verdicts"]["done"] == 2
    assert told["reviewers"]["bob"]["by_status"] == {"approved": 1, "rejected": 1, "needs_revision": 0}
    assert told["conflicts"] == [{"item": "gen_aime_1", "on": ["status", "clarity"]}]
    assert told["agreement"]["status"]["scored"] == 2


def test_the_distance_of_a_conflict_can_be_chosen(tmp_path: Path) -> None:
    told = json.loads(run(reviewed(tmp_path), "--statistics", "--json", "--distance", "4").stdout)
    assert told["conflicts"] == [{"item": "gen_aime_1", "on": ["status"]}]


def test_without_the_extra_the_page_says_how_to_install_it_and_the_terminal_works(tmp_path: Path) -> None:
    data = review_data.write(tmp_path)
    script = f"""
import sys
sys.modules["starlette"] = sys.modules["uvicorn"] = None
from proctor.cli import main
sys.argv = ["proctor", "judge", "review", {str(data)!r}, *sys.argv[1:]]
main()
"""

    def start(*words: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-c", script, *words]
        return subprocess.run(
            command, input="5 4 4 5 a\n", capture_output=True, text=True, timeout=60, check=False, env=os.environ
        )

    page = start()
    assert page.returncode == 2
    assert install_command("web") in page.stderr
    terminal = start("--terminal")
    assert terminal.returncode == 0, terminal.stderr
    assert len(labels.read(labels.file_of(data))) == 1


def test_a_rubric_gives_the_dimensions(tmp_path: Path) -> None:
    data = review_data.write(tmp_path)
    result = run(data, "--terminal", "--rubric", "code", "--lang", "zh", typed="?\nq\n")
    assert result.exit_code == 0, result.stderr
    from proctor_judging.review.dimensions import of_rubric

    titles = [one.words("zh").title for one in of_rubric("code")]
    assert " ".join(titles) in result.stdout
    assert run(data, "--terminal", "--rubric", "nothing").exit_code == 2
