"""A tea house that takes orders: a small agent of rules, so that the demo needs no key and no network."""

import json
import re
from collections.abc import Iterator
from typing import Any

STOCK = {"longjing": 6, "oolong": 3, "pu'er": 0}
NAMES = {"龙井": "longjing", "乌龙": "oolong", "普洱": "pu'er", "puer": "pu'er"}
NUMBERS = {"one": 1, "two": 2, "three": 3, "一": 1, "两": 2, "三": 3, "a": 1}


def agent(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Answer the last message of a guest; every look at the shelf and every order is a call."""
    said = str(messages[-1]["content"])
    return [*_act(said, _is_chinese(said), _last_tea(messages))]


def _act(said: str, chinese: bool, before: str | None) -> Iterator[dict[str, object]]:
    tea = _tea(said) or before
    if re.search("order|buy|take|要|买|来", said.lower()):
        if tea is None:
            yield _says("您要哪一种茶？" if chinese else "Which tea would you like?")
            return
        count = next((NUMBERS[word] for word in re.findall(r"[a-z]+|[一两三]", said.lower()) if word in NUMBERS), 1)
        yield _calls("check_stock", tea=tea)
        yield _returns("check_stock", {"tea": tea, "boxes": STOCK[tea]})
        if STOCK[tea] < count:
            yield _says("抱歉，已经卖完了。" if chinese else f"I am sorry, we have {STOCK[tea]} boxes of {tea} left.")
            return
        yield _calls("place_order", tea=tea, boxes=count)
        yield _returns("place_order", {"order": f"T-{len(tea)}{count}", "total": 18 * count})
        yield _says(f"好的，共 {18 * count} 元。" if chinese else f"Ordered: {count} × {tea}, {18 * count} yuan.")
    elif tea is not None:
        yield _calls("check_stock", tea=tea)
        yield _returns("check_stock", {"tea": tea, "boxes": STOCK[tea]})
        yield _says(f"还有 {STOCK[tea]} 盒。" if chinese else f"We have {STOCK[tea]} boxes of {tea}.")
    else:
        names = "、".join(NAMES) if chinese else ", ".join(STOCK)
        yield _says(f"我们有{names}。" if chinese else f"We have {names}. What would you like?")


def _says(text: str) -> dict[str, object]:
    return {"role": "assistant", "content": text}


def _calls(name: str, **arguments: object) -> dict[str, Any]:
    call = {"id": name, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _returns(name: str, result: object) -> dict[str, object]:
    return {"role": "tool", "tool_call_id": name, "content": json.dumps(result)}


def _is_chinese(text: str) -> bool:
    return re.search("[一-鿿]", text) is not None


def _tea(text: str) -> str | None:
    known = {**NAMES, **{name: name for name in STOCK}}
    return next((tea for name, tea in known.items() if name in text.lower()), None)


def _last_tea(messages: list[dict[str, object]]) -> str | None:
    asked = (str(message["content"]) for message in reversed(messages[:-1]) if message["role"] == "user")
    return next((tea for text in asked if (tea := _tea(text)) is not None), None)
