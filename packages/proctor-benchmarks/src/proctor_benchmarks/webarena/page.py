"""What an agent is shown of a page: the part of the accessibility tree in view, a line for each node, with its number.

    Tab 0 (current): One Stop Market | Tab 1: Cart

    [1] RootWebArea 'One Stop Market' focused: True
        [12] link 'Cart'

Source: web-arena-x/webarena, commit f62e0b99bc7d, `browser_env/processors.py` (`TextObervationProcessor`).
"""

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from proctor.core.sample import JsonObject

VIEW = {"width": 1280, "height": 720}
LEAST_IN_VIEW = 0.6
_LEFT_OUT = {"focusable", "editable", "readonly", "level", "settable", "multiline", "invalid", "url"}
_NOTHING = {"generic", "img", "list", "strong", "paragraph", "banner", "navigation", "Section", "LabelText", "Legend", "listitem"}  # fmt: skip
_TEXT = re.compile(r"\[\d+\] StaticText (.+)", re.DOTALL)

Node = JsonObject


class Box(msgspec.Struct, frozen=True):
    """Where an element is, in pixels from the corner of the part in view."""

    x: float
    y: float
    width: float
    height: float

    @property
    def centre(self) -> tuple[float, float]:
        return self.x + self.width / 2, self.y + self.height / 2

    @property
    def is_in_view(self) -> bool:
        """True if enough of it is in view; the share is multiplied by the height twice, as officially."""
        if not self.width or not self.height:
            return False
        wide = max(0.0, min(self.x + self.width, VIEW["width"]) - max(self.x, 0.0))
        high = max(0.0, min(self.y + self.height, VIEW["height"]) - max(self.y, 0.0))
        return wide * high / self.width * self.height >= LEAST_IN_VIEW


def boxes_of(snapshot: JsonObject) -> dict[int, Box]:
    """Return the box of each node that is laid out, by its number, from what `DOMSnapshot.captureSnapshot` returns."""
    document = snapshot["documents"][0]
    left, top = document.get("scrollOffsetX", 0), document.get("scrollOffsetY", 0)
    numbers, layout = document["nodes"]["backendNodeId"], document["layout"]
    boxes: dict[int, Box] = {}
    for index, (x, y, width, height) in zip(layout["nodeIndex"], layout["bounds"], strict=True):
        boxes.setdefault(numbers[index], Box(x - left, y - top, width, height))
    return boxes


def shown(nodes: Sequence[Node], boxes: Mapping[int, Box]) -> tuple[str, dict[str, Box]]:
    """Return the lines of a page, and the boxes of the elements in them by the numbers they are shown with."""
    lines: list[str] = []
    places: dict[str, Box] = {}
    for depth, id, text, box in _lines(nodes, boxes):
        if box is not None:
            places[id] = box
        if not _is_repeated(text, lines[-3:]):
            lines.append("\t" * depth + text)
    return "\n".join(lines), places


def _lines(nodes: Sequence[Node], boxes: Mapping[int, Box]) -> Iterator[tuple[int, str, str, Box | None]]:
    known: dict[str, Node] = {}
    for node in nodes:
        known.setdefault(node["nodeId"], node)
    seen: set[str] = set()
    waiting = [(nodes[0]["nodeId"], 0)] if nodes else []
    while waiting:  # no recursion: pages may be nested as deeply as they like
        id, depth = waiting.pop()
        if id in seen or id not in known:
            continue
        seen.add(id)
        node = known[id]
        is_root = node is nodes[0]
        box = boxes.get(node.get("backendDOMNodeId", -1))
        text = _described(node) if is_root or (box is not None and box.is_in_view) else ""
        if text:
            yield depth, id, text, box
        waiting += [(child, depth + bool(text)) for child in reversed(node.get("childIds", ()))]


def _described(node: Node) -> str:
    """Return the line of a node; '' for one that tells nothing."""
    role, name = node.get("role", {}).get("value", ""), node.get("name", {}).get("value")
    if not isinstance(name, str):
        return ""
    about = [
        f"{each['name']}: {each['value']['value']}"
        for each in node.get("properties", ())
        if each["name"] not in _LEFT_OUT and "value" in each.get("value", {})
    ]
    if not name.strip() and (role == "listitem" or (role in _NOTHING and not about)):
        return ""
    return " ".join([f"[{node['nodeId']}] {role} {name!r}", *about])


def _is_repeated(text: str, before: Sequence[str]) -> bool:
    """True for a text that a line just before it has too."""
    if "statictext" not in text.lower():
        return False
    matched = _TEXT.match(text)
    said = matched[1][1:-1] if matched else ""
    return not said or any(said in line for line in before)
