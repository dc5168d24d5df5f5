"""The official actions as tools. An element is named by the number that the accessibility tree of the page gives it.

Source: web-arena-x/webarena, commit f62e0b99bc7d, `browser_env/actions.py` (`create_id_based_action`, `action2str`).
"""

from collections.abc import Mapping
from typing import Any

from proctor.core.sample import Tool, ToolCall

STOP, LOOK = "stop", "look"
URL = "URL: "  # begins what a page is shown as
_ELEMENT = {"id": {"type": "string", "description": "the number of the element in the page as it was shown last"}}


def _tool(name: str, description: str, **properties: Mapping[str, Any]) -> Tool:
    required = [key for key, schema in properties.items() if "default" not in schema]
    parameters = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return Tool(name=name, description=description, parameters=parameters)


TOOLS = (
    _tool(LOOK, "Show the current page without doing anything."),
    _tool("click", "Click on an element.", **_ELEMENT),
    _tool(
        "type",
        "Type a text into a field; by default Enter is pressed after it.",
        **_ELEMENT,
        text={"type": "string"},
        press_enter={"type": "boolean", "default": True},
    ),
    _tool("hover", "Move the pointer over an element.", **_ELEMENT),
    _tool("press", "Press a combination of keys, such as Control+v.", keys={"type": "string"}),
    _tool("scroll", "Scroll the page.", direction={"type": "string", "enum": ["up", "down"]}),
    _tool("new_tab", "Open an empty tab."),
    _tool("tab_focus", "Change to another tab.", index={"type": "integer", "minimum": 0}),
    _tool("close_tab", "Close the current tab."),
    _tool("goto", "Open an address.", url={"type": "string"}),
    _tool("go_back", "Go to the previous page."),
    _tool("go_forward", "Go to the next page, after go_back."),
    _tool(
        STOP,
        "End the task when it is done, with the answer if it asks for one, or with N/A if it cannot be done.",
        answer={"type": "string", "default": ""},
    ),
)


def written(call: ToolCall) -> str:
    """Return a call as the official action.

    >>> written(ToolCall(name="type", arguments={"id": "7", "text": "tea"})), written(ToolCall(name="go_back"))
    ('type [7] [tea] [1]', 'go_back')
    """
    given = call.arguments
    if call.name == "type":
        return f"type [{given.get('id')}] [{given.get('text')}] [{int(given.get('press_enter') is not False)}]"
    return " ".join([call.name, *(f"[{value}]" for value in given.values())])


def url_of(shown: str) -> str:
    """Return the address in what a page was shown as; '' where there is none."""
    first, _, _ = shown.partition("\n")
    return first.removeprefix(URL) if first.startswith(URL) else ""
