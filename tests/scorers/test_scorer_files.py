"""Scorers out of files: TOML, YAML, the article's settings, and functions of (pred, label, args)."""

from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor import Sample, Task, Trajectory
from proctor.core.errors import BadInput
from proctor.core.score import Score, Unscored
from proctor.registry import JUDGES
from proctor.scorers import scorer_file
from proctor.scorers.lookup import find_scorer
from proctor.scorers.prediction_functions import adapted, takes_prediction
from proctor_judging.scorers import article_settings

ARTICLE = """
evaluation_settings:
  answer_position: 'end'  # 答案提取位置
  case_sensitive: false
  fuzzy_threshold: 0.8
  partial_credit: true
single_choice:
  strict_mode: true
  allow_multiple: false
multiple_choice:
  penalty_wrong: true
  min_correct_ratio: 0.6
fill_blank:
  alternative_separator: '或'
  ignore_punctuation: true
open_ended:
  rouge_type: 'rouge-l'
  min_similarity: 0.3
"""


def article(pred: str, label: str, args: object) -> tuple[int, int]:
    return int(label in pred), 1


def written(folder: Path, text: str, name: str = "scorers.toml") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def score(scorer: Any, answer: str, target: object = None, **meta: Any) -> Score:
    result = scorer(Sample.ask("a", "?", target=target, meta=meta), Trajectory.of(answer))
    assert isinstance(result, Score), result
    return result


def test_a_file_gives_all_its_scorers_and_a_colon_one(tmp_path: Path) -> None:
    where = written(tmp_path, '[scorers.year]\nkind = "regex"\npattern = "[0-9]{4}"\n[scorers.exact]\n')
    found = scorer_file.load(where)
    assert [(one.name, one.reference) for one in found] == [("year", f"{where}:year"), ("exact", f"{where}:exact")]
    [only] = scorer_file.load(f"{where}:year")
    assert score(only, "in 1969").points == 1


def test_a_part_may_be_another_table_and_the_version_follows_it(tmp_path: Path) -> None:
    text = '[scorers.all]\nkind = "combine"\nparts = [{{scorer = "year"}}, {{scorer = "exact"}}]\n[scorers.year]\nkind = "regex"\npattern = "{}"\n'
    [before] = scorer_file.load(written(tmp_path, text.format("19..")) + ":all")
    assert score(before, "1969", "x").points == 0.5
    [after] = scorer_file.load(written(tmp_path, text.format("20..")) + ":all")
    assert before.version != after.version
    assert score(after, "1969", "x").points == 0


def test_options_of_the_other_scorers_go_the_same_way(tmp_path: Path) -> None:
    [found] = scorer_file.load(written(tmp_path, '[scorers.many]\nkind = "choice:partial"\nwrong = "zero"\n'))
    assert score(found, "A、B、D", "ABC").points == 0
    assert score(found, "A、B", "ABC").points == 2
    assert score(found, "A、D", "ABC", choice={"wrong": "ignore"}).points == 1  # a sample knows better


def test_yaml_holds_the_same_tables(tmp_path: Path) -> None:
    [found] = scorer_file.load(written(tmp_path, "scorers:\n  year: {kind: regex, pattern: '[0-9]{4}'}\n", "s.yaml"))
    assert score(found, "1969").points == 1


def test_paths_in_a_file_begin_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def half(pred, label, args):\n    return args.give, 2\n")
    (tmp_path / "list.json").write_text('{"type": "array"}')
    text = (
        '[scorers.mine]\nkind = "./mine.py:half"\ngive = 1\n[scorers.list]\nkind = "json"\nschema_file = "list.json"\n'
    )
    mine, listed = scorer_file.load(written(tmp_path, text))
    assert score(mine, "x", "y").value == 0.5
    assert score(listed, "[]").points == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[scorers.a]\nkind = "regx"\n', r"\$\.scorers\.a: No scorer is called 'regx'"),
        (
            '[scorers.a]\nkind = "regex"\npatern = "x"\n',
            r"\$\.scorers\.a: regex has no option 'patern'. Did you mean 'pattern'",
        ),
        ('[scorers.a]\nkind = "exact"\nx = 1\n', r"\$\.scorers\.a: The scorer 'exact' takes no options"),
        ("[scorers.a]\nkind = 3\n", r"\$\.scorers\.a\.kind must be a text"),
        ('[scorer.a]\nkind = "regex"\n', "has no option 'scorer'. Did you mean 'scorers'"),
        ('[scorers.a]\nkind = "exact"\n[more]\n', r"unknown key 'more' at \$"),
        ("[scorers]\n", "must be a table of scorers"),
        ("scorers = [1]\n", "must be a table of scorers"),
        ("a = \n", "is no valid TOML"),
        ("", "must be a table of scorers"),
        (
            '[scorers.a]\nkind = "combine"\nparts = [{scorer = "b"}]\n[scorers.b]\nkind = "combine"\nparts = [{scorer = "a"}]\n',
            "is made of itself",
        ),
        ('[scorers.a]\nkind = "./none.py:f"\n', "There is no file"),
    ],
)
def test_a_mistake_in_a_file_is_told_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        scorer_file.load(written(tmp_path, text))


def test_a_file_or_scorer_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="There is no file"):
        scorer_file.load(str(tmp_path / "none.toml"))
    with pytest.raises(BadInput, match="Did you mean 'year'"):
        scorer_file.load(written(tmp_path, '[scorers.year]\nkind = "exact"\n') + ":yaer")
    with pytest.raises(BadInput, match="no valid YAML"):
        scorer_file.load(written(tmp_path, "a: [", "s.yml"))


def test_the_settings_of_the_article_are_read(tmp_path: Path) -> None:
    [found] = scorer_file.load(written(tmp_path, ARTICLE, "evaluation_config.yaml"))
    assert found.name == "by_type"
    assert score(found, "I think it is B, or rather C", "C", type="单选").points == 1  # end
    assert score(found, "A, B and D", "ABC", type="多选").points == 0  # penalty_wrong
    assert score(found, "A", "ABC", type="多选").points == 0  # 1 of 3 is below 0.6
    assert score(found, "A, B", "ABC", type="多选").points == 2
    assert score(found, "photosynthesys", "photosynthesis或光合", type="填空").points == 1  # fuzzy_threshold
    assert score(found, "something else", "the cat sat on the mat", type="解答").points == 0  # min_similarity


@pytest.mark.parametrize(("position", "letter"), [("start", "A"), ("middle", "B"), ("end", "D")])
def test_the_answer_position_chooses_among_the_letters_that_stand_alone(
    tmp_path: Path, position: str, letter: str
) -> None:
    text = f"evaluation_settings: {{answer_position: {position}}}\n"
    [found] = scorer_file.load(written(tmp_path, text, "c.yaml"))
    assert score(found, "The first is A. Then B. Then D.", letter, type="单选").points == 1
    assert article_settings.letters_at("no letters", "end") == ""


def test_without_partial_credit_only_full_marks_count(tmp_path: Path) -> None:
    [found] = scorer_file.load(written(tmp_path, "evaluation_settings: {partial_credit: false}\n", "c.yaml"))
    assert score(found, "A", "AB", type="多选").value == 0
    assert score(found, "A, B", "AB", type="多选").value == 1
    assert score(found, "x", "x\ny", type="填空").value == 0


def test_a_single_choice_that_is_not_strict_may_be_one_of_several(tmp_path: Path) -> None:
    text = "single_choice: {strict_mode: false, allow_multiple: true}\n"
    [lenient] = scorer_file.load(written(tmp_path, text, "c.yaml"))
    [strict] = scorer_file.load(written(tmp_path, "single_choice: {strict_mode: true}\n", "d.yaml"))
    assert score(lenient, "A, B", "B", type="单选").points == 1
    assert score(strict, "A, B", "B", type="单选").points == 0


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("single_choice: {strict: true}\n", "single_choice has no option 'strict'. Did you mean 'strict_mode'"),
        ("evaluation_settings: {answer_position: left}\n", "'answer_position' of evaluation_settings cannot be 'left'"),
        ("true_false: {x: 1}\n", "by_type has no option 'true_false'"),
        ("open_ended: {rouge_type: rouge-w}\n", "option 'rouge_type' of open_ended cannot be 'rouge-w'"),
    ],
)
def test_an_unknown_key_of_the_article_is_told_with_its_path(tmp_path: Path, text: str, path: str) -> None:
    with pytest.raises(BadInput, match=path):
        scorer_file.load(written(tmp_path, text, "c.yaml"))


def test_a_function_of_prediction_and_label_is_a_scorer_with_two_or_three_values() -> None:
    def two(pred: str, label: str, args: Any) -> tuple[float, float]:
        assert args.answer_position == "end"
        assert getattr(args, "custom_threshold", 0.5) == 0.5
        assert args.get("case_sensitive", False) is False
        return float(pred == label), 2

    assert takes_prediction(two)
    assert score(adapted(two), "x", "x").value == 0.5
    three = adapted(lambda pred, label, args: (1, 4, 0.75))
    assert score(three, "x", "y").details == {"improvement": 0.75}
    assert (
        score(adapted(lambda pred, label, args, config: (config["answer_position"] == "end", 1)), "x", "y").points == 1
    )


def test_a_function_with_nothing_to_earn_gives_no_score_and_nonsense_is_an_error() -> None:
    sample, trajectory = Sample.ask("a", "?", target="x"), Trajectory.of("x")
    assert isinstance(adapted(lambda pred, label, args: (0, 0))(sample, trajectory), Unscored)
    with pytest.raises(TypeError, match="score, total"):
        adapted(lambda pred, label, args: (1, 2, 3, 4))(sample, trajectory)
    with pytest.raises(TypeError, match="score, total"):
        adapted(lambda pred, label, args: (float("nan"), 1))(sample, trajectory)


def test_names_that_are_no_scorers_are_refused() -> None:
    for name in ("exact:Callable", "json:make", "regex:search", "exact:none", "combine:make"):
        with pytest.raises(BadInput, match="No scorer is called"):
            find_scorer(name)


def test_a_run_takes_scorers_out_of_a_file_and_a_function_of_the_article(tmp_path: Path) -> None:
    where = written(tmp_path, '[scorers.short]\nkind = "limits"\ncharacters = 5\n')
    scorers: list[Any] = [where, article]
    task = Task(name="t", samples=[Sample.ask("a", "?", target="moon")], scorers=scorers)
    run = proctor.evaluate(task, agent=lambda question: "the moon", store=":memory:")
    assert run.estimate("short.accuracy").value == 0
    assert run.estimate("article.accuracy").value == 1
    assert run.record.spec.scorers[0] == f"{where}:short"


def test_two_scorers_of_one_name_are_refused(tmp_path: Path) -> None:
    where = written(tmp_path, '[scorers.exact]\nkind = "exact"\n')
    task = Task(name="t", samples=[Sample.ask("a", "?", target="x")], scorers=[where, "exact"])
    with pytest.raises(BadInput, match="Two scorers are called 'exact'"):
        proctor.evaluate(task, agent=lambda question: "x", store=":memory:")


def test_the_list_of_scorers_names_scorers_only() -> None:
    from proctor.cli.list import parts

    listed = parts("scorers")
    assert {"exact:contains", "combine", "regex", "limits"} <= set(listed)
    assert not [name for name in listed if name.endswith(":make")]
    for name in listed:
        assert name in ("adaptive", "combine", "turns") or JUDGES.knows(name) or callable(find_scorer(name))
