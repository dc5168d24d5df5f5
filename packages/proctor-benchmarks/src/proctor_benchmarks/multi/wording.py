"""The prompts, in Chinese and English. The wordings are ours, in the composition of the original.

Fixed by the original are the lead-in of discussions, the phrase for a missing image, and the line that ends a chain of
thought, because the scorer looks for them.
"""

from typing import Literal

import msgspec

Language = Literal["zh", "en"]


class WorkedExample(msgspec.Struct, frozen=True):
    """A worked question and its answer."""

    question: str
    answer: str


class PromptWords(msgspec.Struct, frozen=True, kw_only=True):
    """All sentences of one language; `format`, `types` and `examples` are keyed by question type."""

    role: str
    types: dict[str, str]
    format: dict[str, str]
    pure_text: str
    blank_image: str
    no_image: str
    captions: str
    images: str
    images_only: str
    in_turn: str
    example: str
    example_answer: str
    real_question: str
    knowledge: str
    answer_now: str
    think: str
    final: str
    examples: dict[str, tuple[WorkedExample, ...]]


WORDS: dict[str, PromptWords] = {
    "zh": PromptWords(
        role="你正在参加一场考试，请运用“{topic}”方面的知识解答下面这道{type}题。",
        types={"单选": "单项选择", "多选": "多项选择", "填空": "填空", "解答": "解答", "其他": "其他类型的"},
        format={
            "单选": "本题只有一个正确选项。只写出这个选项的一个大写字母，不要抄写选项内容，例如：B",
            "多选": "本题至少有两个正确选项。把所有正确选项的大写字母连在一起写，不要抄写选项内容，例如：ABD",
            "填空": "每个[MASK]填一个简短、确定的答案，每个答案单独占一行，顺序与[MASK]一致。",
            "解答": "请分析作答，要点齐全，表述简练，并以“我的分析如下：”开头。",
        },
        pure_text="本题没有图片，请根据文字作答，并遵守上述格式。",
        blank_image="本题没有图片，随题发送的是一张全黑的占位图，请忽略它，根据文字作答，并遵守上述格式。",
        no_image="本题原有图片，但这里不提供。请根据文字作答，并遵守上述格式；如果缺了图片就无法确定答案，请只回答“缺少图片信息”，不要猜测。",
        captions="本题原有图片，这里用文字描述代替。请根据题目和描述作答，并遵守上述格式；如果这些仍不足以确定答案，请只回答“缺少图片信息”，不要猜测。",
        images="本题附有图片，请结合文字和图片作答，并遵守上述格式。",
        images_only="这里只提供题目的图片，不提供题目的文字。请根据图片作答，并遵守上述格式。",
        in_turn="本题附有多张图片，将分几轮依次发给你。收到全部内容之前可以先写下想法，但只有最后一轮的回答算作答案。请遵守上述格式。",
        example="下面是一道例题：",
        example_answer="例题的回答：",
        real_question="下面是需要你回答的题目：",
        knowledge="以下是一些参考资料，它们可能不完整，也可能有误，请结合你自己的知识判断：",
        answer_now="请直接写出答案：",
        think="请先一步一步地思考，最后单独用一行写出：所以这道题的答案为：{你的答案}",
        final="请根据以上思考，只写出最终答案：",
        examples={
            "单选": (
                WorkedExample("一周有几天？\nA. 5\nB. 6\nC. 7\nD. 8", "C"),
                WorkedExample("下列哪个数是偶数？\nA. 3\nB. 4\nC. 5\nD. 7", "B"),
                WorkedExample("水在标准大气压下的沸点是多少？\nA. 100℃\nB. 90℃\nC. 80℃\nD. 0℃", "A"),
            ),
            "多选": (
                WorkedExample("下列哪些数大于10？\nA. 12\nB. 9\nC. 15\nD. 3", "AC"),
                WorkedExample("下列哪些是金属？\nA. 铁\nB. 氧\nC. 铜\nD. 铝", "ACD"),
                WorkedExample("下列哪些月份有31天？\nA. 二月\nB. 三月\nC. 四月\nD. 五月", "BD"),
            ),
            "填空": (
                WorkedExample("3+4=[MASK]，3×4=[MASK]。", "7\n12"),
                WorkedExample("中国的首都是[MASK]。", "北京"),
                WorkedExample("一个三角形的内角和是[MASK]度。", "180"),
            ),
        },
    ),
    "en": PromptWords(
        role="You are taking an exam. Use what you know about “{topic}” to answer the following {type} question.",
        types={
            "单选": "single-choice",
            "多选": "multiple-choice",
            "填空": "fill-in",
            "解答": "discussion",
            "其他": "other",
        },
        format={
            "单选": "Exactly one option is right. Write its capital letter alone, without the text of the option, for example: B",
            "多选": "At least two options are right. Write the capital letters of all of them together, without their texts, for example: ABD",
            "填空": "Each [MASK] takes one short, definite answer. Write each answer on a line of its own, in the order of the [MASK]s.",
            "解答": "Analyse and answer: cover every point, be concise, and begin with “我的分析如下：”.",
        },
        pure_text="The question has no image. Answer from the text, in the format above.",
        blank_image="The question has no image; the black picture sent with it is a placeholder. Answer from the text, in the format above.",
        no_image="The question has images that are not given here. Answer from the text, in the format above; if the answer cannot be determined without the images, write only “Lack of image information” instead of guessing.",
        captions="The question has images; descriptions stand in their place. Answer from the text and the descriptions, in the format above; if they do not determine the answer, write only “Lack of image information” instead of guessing.",
        images="The question comes with images. Answer from the text and the images, in the format above.",
        images_only="Only the images of the question are given, not its text. Answer from the images, in the format above.",
        in_turn="The question comes with several images, which are sent one after the other. You may note your thoughts until you have everything, but only your last reply counts as the answer. Keep to the format above.",
        example="Here is a worked example:",
        example_answer="The answer to the example:",
        real_question="Here is the question for you:",
        knowledge="Here is some background material. It may be incomplete or wrong; weigh it with what you know:",
        answer_now="Write the answer now:",
        think="First think step by step; then end with a line of its own: 所以这道题的答案为：{your answer}",
        final="From these thoughts, write only the final answer:",
        examples={
            "单选": (
                WorkedExample("How many days are in a week?\nA. 5\nB. 6\nC. 7\nD. 8", "C"),
                WorkedExample("Which number is even?\nA. 3\nB. 4\nC. 5\nD. 7", "B"),
                WorkedExample(
                    "At what temperature does water boil at sea level?\nA. 100 °C\nB. 90 °C\nC. 80 °C\nD. 0 °C", "A"
                ),
            ),
            "多选": (
                WorkedExample("Which numbers are above 10?\nA. 12\nB. 9\nC. 15\nD. 3", "AC"),
                WorkedExample("Which of these are metals?\nA. iron\nB. oxygen\nC. copper\nD. aluminium", "ACD"),
                WorkedExample("Which months have 31 days?\nA. February\nB. March\nC. April\nD. May", "BD"),
            ),
            "填空": (
                WorkedExample("3+4=[MASK], 3×4=[MASK].", "7\n12"),
                WorkedExample("The capital of China is [MASK].", "Beijing"),
                WorkedExample("The angles of a triangle add up to [MASK] degrees.", "180"),
            ),
        },
    ),
}
