"""Phrases with which models decline to answer, in Chinese and English."""

import re

_SHORT = 400  # characters; in a longer reply such a phrase is more likely a remark than the answer
_CHINESE = (
    "缺少图片信息",
    "缺少图像信息",
    "无法回答",
    "不能回答",
    "信息不足",
    "需要更多信息",
    "缺少必要信息",
    "无法确定答案",
    "无法判断",
    "无法查看图片",
    "看不到图片",
    "没有提供图片",
    "未提供图片",
    "作为一个ai",
    "作为一个人工智能",
    "我不能提供",
    "我无法提供",
    "抱歉，我不能",
    "抱歉，我无法",
    "对不起，我不能",
    "对不起，我无法",
)
_ENGLISH = re.compile(
    r"lack of image information|missing image information|(?:insufficient|not enough) information"
    r"|more information (?:is )?(?:needed|required)|need more information"
    r"|(?:i )?(?:can(?:not|'t)|am unable to|am not able to|could not|won't) "
    r"(?:answer|help|assist|provide|determine|see|view|comply|do that|fulfill)"
    r"|as an ai(?: language)? model|i must decline|(?:i'm|i am) sorry, but"
)


def refusal_in(reply: str) -> str | None:
    """The phrase with which a reply declines to answer; None when it does not.

    >>> refusal_in("I'm sorry, but I can't help with that."), refusal_in("It is 4.")
    ("i'm sorry, but", None)
    """
    text = " ".join(reply.replace("’", "'").lower().split())
    if len(text) > _SHORT:
        return None
    found = next((phrase for phrase in _CHINESE if phrase in text), None)
    if found is not None:
        return found
    match = _ENGLISH.search(text)
    return match[0] if match else None
