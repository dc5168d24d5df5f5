"""ROUGE equals the packages `rouge`, `rouge_chinese` and `rouge-score`."""

import random
from typing import Any

import pytest
from reference_packages import reference

from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Trajectory
from proctor.scorers.lookup import find_scorer
from proctor_judging.matching import rouge_figures as rouge
from proctor_judging.matching import rouge_packages
from proctor_judging.matching.rouge_figures import Rouge

ODD = [
    "the",
    "cat",
    "a",
    "b",
    "c.",
    "d",
    "..",
    "......",
    "......x",
    "。",
    "？",
    "“x”",
    "”",
    "……",
    "\n",
    "G",
    "中",
    "文。",
    "好”",
    "",
    " \n ",
    "e. f",
]


def texts(count: int) -> list[tuple[str, str]]:
    draw = random.Random(7)
    return [
        (" ".join(draw.choices(ODD, k=draw.randint(0, 24))), " ".join(draw.choices(ODD, k=draw.randint(0, 24))))
        for _ in range(count)
    ]


def same(ours: Rouge, theirs: Any) -> bool:
    wanted = (theirs["p"], theirs["r"], theirs["f"])
    return (ours.precision, ours.recall, ours.f) == pytest.approx(wanted, abs=1e-12)


def test_the_figures_of_rouge_are_ours() -> None:
    package = reference("rouge").Rouge()
    compared = 0
    for made, expected in texts(1500):
        ours, theirs = (rouge_packages.english_sentences(text) for text in (made, expected))
        if not ours or not theirs:
            with pytest.raises(ValueError, match="empty"):
                package.get_scores(made, expected)
            continue
        figures = package.get_scores(made, expected)[0]
        flat, other = ([token for sentence in side for token in sentence] for side in (ours, theirs))
        assert same(rouge_packages.distinct_n(flat, other, 1), figures["rouge-1"])
        assert same(rouge_packages.distinct_n(flat, other, 2), figures["rouge-2"])
        assert same(rouge_packages.sentences_l(ours, theirs), figures["rouge-l"])
        compared += 1
    assert compared > 1000


def test_the_figures_of_rouge_chinese_are_ours() -> None:
    package = reference("rouge_chinese").Rouge()
    compared = 0
    for made, expected in texts(1500):
        ours, theirs = (rouge_packages.chinese_tokens(text) for text in (made, expected))
        if not ours or not theirs:
            with pytest.raises(ValueError, match="empty"):
                package.get_scores(made, expected)
            continue
        figures = package.get_scores(made, expected)[0]
        assert same(rouge_packages.distinct_n(ours, theirs, 1), figures["rouge-1"])
        assert same(rouge_packages.distinct_n(ours, theirs, 2), figures["rouge-2"])
        assert same(rouge_packages.chinese_l(ours, theirs), figures["rouge-l"])
        compared += 1
    assert compared > 1000


def test_the_figures_of_rouge_score_are_ours() -> None:
    package = reference("rouge_score.rouge_scorer").RougeScorer(["rouge1", "rouge2", "rougeL"])
    for made, expected in texts(1500):
        figures = {
            name: {"p": one.precision, "r": one.recall, "f": one.fmeasure}
            for name, one in package.score(expected, made).items()
        }
        ours, theirs = rouge_packages.tokens(made), rouge_packages.tokens(expected)
        assert same(rouge.rouge_n(ours, theirs, 1), figures["rouge1"])
        assert same(rouge.rouge_n(ours, theirs, 2), figures["rouge2"])
        assert same(rouge.rouge_l(ours, theirs), figures["rougeL"])


def test_texts_that_break_the_package_by_their_length_are_scored() -> None:
    long = [str(number) for number in range(3000)]
    assert rouge_packages.sentences_l([long], [long]).f == pytest.approx(0.999999995, abs=1e-12)


def test_the_scorer_gives_the_figures_of_a_package() -> None:
    jieba = reference("jieba")
    english, chinese = reference("rouge").Rouge(), reference("rouge_chinese").Rouge()
    google = reference("rouge_score.rouge_scorer").RougeScorer(["rouge1", "rouge2", "rougeL"])
    pairs = [
        ("The cat_sat on it. Yes.", "the cat sat. On the mat."),
        ("a", "a"),
        ("光合作用需要光。", "光合作用需要水和光。"),
    ]
    for made, expected in pairs:
        cut = [" ".join(jieba.cut(text)) for text in (made, expected)]
        known = {
            "rouge": english.get_scores(made, expected)[0],
            "rouge-chinese": chinese.get_scores(*cut)[0],
            "rouge-score": {
                f"rouge-{key.removeprefix('rouge').lower()}": {"p": one.precision, "r": one.recall, "f": one.fmeasure}
                for key, one in google.score(expected, made).items()
            },
        }
        for package, figures in known.items():
            for measure, wanted in figures.items():
                scorer = find_scorer("rouge", {"package": package, "measure": measure})
                score = scorer(Sample.ask("q", "?", target=expected), Trajectory.of(made))
                if package == "rouge-score" and not any(map(str.isascii, expected)):
                    assert isinstance(score, Unscored)  # it finds no words in Chinese, and calls that 0
                else:
                    assert isinstance(score, Score)
                    assert score.points == pytest.approx(wanted["f"], abs=1e-12), (package, measure, made)
