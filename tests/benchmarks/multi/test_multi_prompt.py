"""What a model is shown."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_multi import folder, problem, samples

from proctor.core.errors import BadInput
from proctor.core.sample import File, Message, Sample, Text
from proctor_benchmarks.multi import task
from proctor_benchmarks.multi.images import blank, renumber, tokens_in

IMAGES = ["i.png", "j.png"]
TWO = problem(contents=["x[IMAGE_2]y[IMAGE_1]z"], types=["单选"], answers=["A"], img_paths=IMAGES, knowledge=["k"])
PLAIN = problem(contents=["甲"], types=["填空"], answers=["5"])
KNOWN = {"k": {"knowledge_content": "见[IMAGE_1]", "knowledge_images": ["k.png"]}}


def shown(tmp_path: Path, given: dict[str, Any], **options: Any) -> Sample:
    root = folder(tmp_path, {"a_1": given}, images=[*IMAGES, "k.png"], knowledge=KNOWN, captions="i.png,一只猫\n")
    return samples(task("all", data=str(root), **options))[0]


def system(sample: Sample) -> str:
    return "".join(message.text for message in sample.turns[0].messages if message.role == "system")


def user(sample: Sample, turn: int = 0) -> Message:
    return sample.turns[turn].messages[-1]


def kinds(message: Message) -> list[str]:
    return [
        part.text if isinstance(part, Text) else part.name for part in message.parts if isinstance(part, Text | File)
    ]


def test_image_tokens_are_renumbered_without_colliding() -> None:
    placed = renumber("x[IMAGE_2]y[IMAGE_1]z[IMAGE_2]", IMAGES)
    assert placed.text == "x[IMAGE_1]y[IMAGE_2]z[IMAGE_3]"
    assert placed.images == ("j.png", "i.png", "j.png")


@given(st.lists(st.integers(1, 9), max_size=12))
def test_tokens_count_up_and_images_keep_their_order(numbers: list[int]) -> None:
    images = [f"{number}.png" for number in range(1, 10)]
    placed = renumber("".join(f"a[IMAGE_{number}]" for number in numbers), images)
    assert tokens_in(placed.text) == [f"[IMAGE_{place}]" for place in range(1, len(numbers) + 1)]
    assert placed.images == tuple(f"{number}.png" for number in numbers)


def test_images_are_parts_behind_their_tokens(tmp_path: Path) -> None:
    parts = kinds(user(shown(tmp_path, TWO, input_type=2)))
    assert parts[:4] == ["题干\nx[IMAGE_1]", "j.png", "y[IMAGE_2]", "i.png"]
    assert parts[4].startswith("z\n")


@pytest.mark.parametrize(("place", "first", "last"), [("before", "j.png", "题干"), ("after", "题干", "i.png")])
def test_images_may_stand_before_or_after_the_text(place: str, first: str, last: str, tmp_path: Path) -> None:
    parts = kinds(user(shown(tmp_path, TWO, input_type=2, image_place=place)))
    assert parts[0].startswith(first)
    assert parts[-1].startswith(last)


def test_images_of_knowledge_are_counted_on(tmp_path: Path) -> None:
    sample = shown(tmp_path, TWO, input_type=2, knowledge=True)
    assert "见[IMAGE_3]" in user(sample).text
    assert sample.meta["image_list"] == ["j.png", "i.png", "k.png"]
    assert [part for part in kinds(user(sample)) if part.endswith(".png")] == ["j.png", "i.png", "k.png"]


def test_text_alone_sends_no_image_and_says_so(tmp_path: Path) -> None:
    sample = shown(tmp_path, TWO)
    assert "缺少图片信息" in system(sample)
    assert not any(isinstance(part, File) for part in user(sample).parts)
    assert "image_list" not in sample.meta


def test_captions_stand_below_the_text_or_in_place(tmp_path: Path) -> None:
    below = user(shown(tmp_path, TWO, input_type=1)).text
    assert "z\n[IMAGE_1]: \n[IMAGE_2]: 一只猫\n" in below
    inside = user(shown(tmp_path, TWO, input_type=1, cap_in_cnt=True)).text
    assert "x[IMAGE_1:]y[IMAGE_2:一只猫]z" in inside


def test_images_only_sends_no_question_text(tmp_path: Path) -> None:
    sample = shown(tmp_path, TWO, input_type=3)
    assert "题干" not in user(sample).text
    assert [part for part in kinds(user(sample)) if part.endswith(".png")] == ["j.png", "i.png"]
    with pytest.raises(BadInput, match="No question"):
        shown(tmp_path, PLAIN, input_type=3)


def test_a_blank_picture_goes_only_with_questions_without_images(tmp_path: Path) -> None:
    assert kinds(user(shown(tmp_path, PLAIN, input_type=2, blank_image=True)))[-1] == "blank.png"
    assert "blank.png" not in kinds(user(shown(tmp_path, TWO, input_type=2, blank_image=True)))
    assert not any(isinstance(part, File) for part in user(shown(tmp_path, PLAIN, input_type=2)).parts)


def test_the_blank_picture_is_a_black_png_of_24() -> None:
    data = blank().data or b""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert data[16:24] == b"\0\0\0\x18\0\0\0\x18"


def test_a_missing_image_is_an_error_unless_the_placeholder_is_asked_for(tmp_path: Path) -> None:
    lost = {**TWO, "img_paths": ["gone.png", "j.png"]}
    with pytest.raises(BadInput, match=r"a_1_0: the image 'gone\.png' is not in .*missing_image=placeholder"):
        shown(tmp_path, lost, input_type=2)
    assert "blank.png" in kinds(user(shown(tmp_path, lost, input_type=2, missing_image="placeholder")))
    assert shown(tmp_path, lost)  # text alone needs no image


def test_an_image_cannot_lead_out_of_the_folder_and_a_token_needs_one(tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(b"x")
    with pytest.raises(BadInput, match="outside the data folder"):
        shown(tmp_path / "set", {**TWO, "img_paths": ["../secret.png", "j.png"]}, input_type=2)
    with pytest.raises(BadInput, match=r"\[IMAGE_2\] names an image, but there are 1"):
        shown(tmp_path / "set", {**TWO, "img_paths": ["i.png"]})


def test_several_images_in_turn_are_several_turns(tmp_path: Path) -> None:
    sample = shown(tmp_path, TWO, input_type=2, in_turn=True)
    assert [kinds(user(sample, turn))[:2] for turn in (0, 1)] == [
        ["题干\nx[IMAGE_1]", "j.png"],
        ["y[IMAGE_2]", "i.png"],
    ]
    assert "请直接写出答案" in user(sample, 1).text
    assert [turn.reference for turn in sample.turns] == [None, "A"]
    assert "几轮" in system(sample)
    assert len(shown(tmp_path, TWO, input_type=2, in_turn=True, cot=True).turns) == 3
    assert len(shown(tmp_path, PLAIN, input_type=2, in_turn=True).turns) == 1


@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize("kind", ["单选", "多选", "填空", "解答"])
def test_a_chain_of_thought_ends_in_a_line_that_the_scorer_finds(lang: str, kind: str, tmp_path: Path) -> None:
    given = {**PLAIN, "problem_type_list": [kind]}
    text = user(shown(tmp_path, given, cot=True, lang=lang)).text
    assert ("所以这道题的答案为：" in text) is (kind != "解答")


@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize("count", [0, 1, 3])
def test_few_shot_gives_as_many_examples_as_it_says(lang: str, count: int, tmp_path: Path) -> None:
    text = system(shown(tmp_path, PLAIN, few_shot=count, lang=lang))
    assert text.count("例题的回答：" if lang == "zh" else "The answer to the example:") == count
    assert ("例题" if lang == "zh" else "example") not in system(
        shown(tmp_path, {**PLAIN, "problem_type_list": ["解答"]}, few_shot=count, lang=lang)
    )


def test_parts_of_the_system_message_can_be_left_out(tmp_path: Path) -> None:
    full = system(shown(tmp_path, {**PLAIN, "knowledge": ["二次函数"]}))
    assert "二次函数" in full
    assert "[MASK]" in full
    bare = system(shown(tmp_path, {**PLAIN, "knowledge": ["二次函数"]}, no_background=True))
    assert "二次函数" not in bare
    assert "[MASK]" in bare
    assert system(shown(tmp_path, PLAIN, no_sys=True)) == ""
    joined = shown(tmp_path, PLAIN, split_sys=False)
    assert system(joined) == ""
    assert "[MASK]" in user(joined).text


def test_knowledge_that_is_one_text_is_used_whole(tmp_path: Path) -> None:
    assert "“道路安全”" in system(shown(tmp_path, {**PLAIN, "knowledge": "道路安全"}))
