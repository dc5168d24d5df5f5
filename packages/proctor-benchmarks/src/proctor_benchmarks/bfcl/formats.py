"""The 26 ways in which format sensitivity words its prompts, and in which the calls are then written.

    ret_fmt=json&tool_call_tag=True&func_doc_fmt=xml&prompt_fmt=plaintext&style=classic

is one of them; a sample of format sensitivity has it in its id, `format_sensitivity_78:<format>:simple_python_94`, and
ordinary samples use `ORDINARY`.

Source: bfcl-eval 2026.3.23, `bfcl_eval/utils.py` (`get_all_format_sensitivity_configs`) and
`bfcl_eval/model_handler/utils.py` (`format_function_doc`), whose layout of documents is kept, oddities included.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Literal, get_args
from urllib.parse import parse_qsl

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sample import JsonObject

Written = Literal["python", "json", "verbose_xml", "concise_xml"]
Tagged = Literal["True", "False"]
Documents = Literal["python", "xml", "json"]

_WRITTEN: tuple[Written, ...] = get_args(Written)
_TAGGED: tuple[Tagged, ...] = get_args(Tagged)
_DOCUMENTS: tuple[Documents, ...] = get_args(Documents)
_PY_TYPE = {"string": "str", "number": "float", "integer": "int", "boolean": "bool"}


class Format(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How calls are to be written, whether in a tag, how documents and prompt are laid out, and in which style."""

    ret_fmt: Written = "python"
    tool_call_tag: Tagged = "False"
    func_doc_fmt: Documents = "json"
    prompt_fmt: Literal["plaintext", "markdown"] = "plaintext"
    style: Literal["classic", "experimental"] = "classic"

    @classmethod
    def parse(cls, text: str) -> "Format":
        """Read a format as it is in ids.

        Raises:
            BadInput: it is none of the official ones.

        >>> Format.parse(str(Format(ret_fmt="json"))) == Format(ret_fmt="json")
        True
        """
        try:
            found = msgspec.convert(dict(parse_qsl(text)), cls)
        except msgspec.ValidationError:
            found = None
        if found is None or str(found) != text:
            raise BadInput("'{format}' is no prompt format of BFCL.", format=text[:200])
        return found

    def __str__(self) -> str:
        return "&".join(f"{name}={getattr(self, name)}" for name in self.__struct_fields__)

    @property
    def label(self) -> str:
        """Return a short name for tables: how calls are written, then the documents.

        >>> Format(ret_fmt="json", tool_call_tag="True").label, Format(style="experimental").label
        ('json+tag, json', 'python, experimental')
        """
        written = f"{self.ret_fmt}+tag" if self.tagged else self.ret_fmt
        if self.prompt_fmt != ORDINARY.prompt_fmt:
            return f"{written}, {self.prompt_fmt}"
        return f"{written}, {self.func_doc_fmt if self.style == ORDINARY.style else self.style}"

    @property
    def tagged(self) -> bool:
        """True if calls stand between <TOOLCALL> and </TOOLCALL>."""
        return self.tool_call_tag == "True"


FORMAT_SENSITIVITY = "format_sensitivity"
ORDINARY = Format()
FORMATS = (
    *(Format(*parts) for parts in product(_WRITTEN, _TAGGED, _DOCUMENTS)),
    Format(prompt_fmt="markdown"),
    Format(style="experimental"),
)


def split_id(id: str) -> tuple[Format, str]:
    """Return the format named in an id of format sensitivity, and the id of the sample that it rewords.

    Raises:
        BadInput: it is no such id.

    >>> split_id(f"format_sensitivity_0:{ORDINARY}:live_simple_1-1-0")[1]
    'live_simple_1-1-0'
    """
    parts = id.split(":")
    if len(parts) != 3:
        raise BadInput("'{id}' is no id of format sensitivity.", id=id[:200])
    return Format.parse(parts[1]), parts[2]


def wording_of(category: str, id: str) -> tuple[Format, str]:
    """Return how a sample of a category is worded, and the category whose rules it is judged by."""
    if category != FORMAT_SENSITIVITY:
        return ORDINARY, category
    form, original = split_id(id)
    return form, original.rpartition("_")[0]


def write_documents(functions: Sequence[Mapping[str, object]], layout: Documents) -> str:
    """Return function documents as text."""
    if layout == "xml":
        return "\n".join(map(_xml, functions))
    if layout == "python":
        return "\n\n".join(part for function in functions for part in (_python(function), "\n"))
    # Equal to json.dumps(functions, indent=4), three times as fast.
    return msgspec.json.format(json.dumps(functions), indent=4)


def _xml(function: JsonObject) -> str:
    parameters = function["parameters"]
    inside = "".join(_xml_parameters(parameters.get("properties", {}), parameters.get("required"), " " * 4))
    description = function.get("description", "")
    return f'<function name="{function["name"]}">\n  <desc>{description}</desc>\n  <params>\n{inside}  </params>\n</function>\n'


def _xml_parameters(properties: JsonObject, required: Sequence[str] | None, indent: str) -> Iterator[str]:
    """Yield the lines of parameters; without a list of required ones, all are."""
    for name, schema in properties.items():
        needed = "true" if required is None or name in required else "false"
        default = f' default="{schema["default"]!r}"' if "default" in schema else ""
        attributes = f'name="{name}" type="{_xml_type(schema)}" required="{needed}"{default}'
        yield f"{indent}<param {attributes.replace(',', '')}>\n"  # upstream drops every comma, also of values
        yield f"{indent}  <desc>{_described(schema)}</desc>\n"
        if "properties" in schema:
            yield f"{indent}  <params>\n"
            yield from _xml_parameters(schema["properties"], schema.get("required"), indent + " " * 4)
            yield f"{indent}  </params>\n"
        yield f"{indent}</param>\n"


def _xml_type(schema: JsonObject) -> str:
    declared = schema.get("type", "string")
    if "items" in schema and "type" in schema["items"]:
        return f"{declared}[{schema['items']['type']}]"
    if "additionalProperties" in schema:
        return f"{declared}[{schema['additionalProperties'].get('type', 'string')}]"
    return str(declared)


def _python(function: JsonObject) -> str:
    properties = function.get("parameters", {}).get("properties", {})
    arguments = "".join(("    Args:\n", *_python_parameters(properties, " " * 8))) if properties else ""
    return f'# Function: {function["name"]}\n    """\n    {function.get("description", "")}\n\n{arguments}    """\n'


def _python_parameters(properties: JsonObject, indent: str) -> Iterator[str]:
    for name, schema in properties.items():
        default = f", default={schema['default']!r}" if "default" in schema else ""
        yield f"{indent}{name} ({_python_type(schema)}{default}): {_described(schema)}\n"
        yield from _python_parameters(schema.get("properties", {}), indent + " " * 4)


def _python_type(schema: JsonObject) -> str:
    declared = str(schema.get("type", "string"))
    if declared in ("array", "list", "tuple") and "items" in schema:
        return f"list[{_python_type(schema['items'])}]"
    if declared in ("object", "dict"):
        values = schema.get("additionalProperties")
        return "dict" if values is None else f"dict[str, {_python_type(values)}]"
    return _PY_TYPE.get(declared, declared)


def _described(schema: Mapping[str, object]) -> str:
    values = f" Enum values: {schema['enum']}." if "enum" in schema else ""
    return f"{schema.get('description', '')}{values}"
