"""The official actions as tools. An element is named by the number that the accessibility tree of the page gives it.

Source: web-arena-x/webarena, commit f62e0b99bc7d, `browser_env/actions.py` (`create_id_based_action`, `action2str`).
"""

from collections.abc import Mapping, Sequence

from proctor.core.sample import Tool, ToolCall

STOP, LOOK = "stop", "look"
MOST_REPEATED = 3
MOST_CHARACTERS = 5_000  # of an argument; typing more takes longer than a page may
URL = "URL: "  # begins what a page is shown as
_ELEMENT = {"id": {"type": "string", "description": "the number of the element in the page as it was shown last"}}


def _tool(name: str, description: str, **properties: Mapping[str, object]) -> Tool:
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


def problem(call: ToolCall) -> str:
    """Return what is wrong with a call, for the agent; '' if nothing is."""
    if call.raw is not None:
        return "The arguments are no JSON object."
    tool = next((one for one in TOOLS if one.name == call.name), None)
    if tool is None:
        return f"There is no action {call.name}."
    for name, schema in tool.parameters["properties"].items():
        if name not in call.arguments:
            if "default" not in schema:
                return f"{call.name} needs {name}."
        elif not (value := str(call.arguments[name])).isprintable() and name != "text":
            return f"{name} has characters that cannot be written."
        elif len(value) > MOST_CHARACTERS or any("\ud800" <= character <= "\udfff" for character in value):
            return f"{name} is longer than {MOST_CHARACTERS} characters, or holds a lone surrogate."
        elif schema["type"] == "integer" and not (value.isdecimal() and len(value) < 4):
            return f"{name} is a small whole number."
        elif name == "url" and not str(call.arguments[name]).startswith(("http://", "https://")):
            return "An address begins with http:// or https://."  # a browser would open files of this machine too
        elif call.arguments[name] not in schema.get("enum", [call.arguments[name]]):
            return f"{name} is one of {', '.join(schema['enum'])}."
    return ""


def is_stuck(made: Sequence[ToolCall]) -> bool:
    """True if the last action is the third of its kind in a row; typing into one field counts over the whole task, as officially.

    >>> is_stuck([ToolCall(name="go_back")] * 3), is_stuck([ToolCall(name="scroll", arguments={"direction": "up"})] * 2)
    (True, False)
    """
    if not made:
        return False
    last = _identity(made[-1])
    same = [_identity(call) == last for call in made]
    return sum(same) >= MOST_REPEATED if made[-1].name == "type" else len(same) >= MOST_REPEATED and all(same[-MOST_REPEATED:])  # fmt: skip


def _identity(call: ToolCall) -> tuple[str, ...]:
    """Return what makes two actions the same officially: the element, whatever is typed into it."""
    given = call.arguments
    names = ("id",) if "id" in given else tuple(sorted(given))
    return (call.name, *(str(given[name]) for name in names))
