"""The Python types of the declared types in function documents, by language.

Source: bfcl-eval 2026.3.23, `bfcl_eval/constants/type_mappings.py` and `eval_checker/ast_eval/ast_checker.py`.
"""

from collections.abc import Mapping
from typing import Literal

Language = Literal["python", "java", "javascript"]

TYPES: Mapping[Language, Mapping[str, type]] = {
    "python": {
        "string": str,
        "integer": int,
        "float": float,
        "boolean": bool,
        "array": list,
        "tuple": list,
        "dict": dict,
        "any": str,
    },
    "java": {
        "byte": int,
        "short": int,
        "integer": int,
        "long": int,
        "float": float,
        "double": float,
        "boolean": bool,
        "char": str,
        "String": str,
        "any": str,
        "Array": list,
        "ArrayList": list,
        "Queue": list,
        "Stack": list,
        "Set": set,
        "HashMap": dict,
        "Hashtable": dict,
    },
    "javascript": {
        "String": str,
        "integer": int,
        "Bigint": int,
        "float": float,
        "Boolean": bool,
        "dict": dict,
        "array": list,
        "any": str,
    },
}
WITH_ELEMENTS: Mapping[Language, frozenset[str]] = {
    "python": frozenset({"array", "tuple"}),
    "java": frozenset({"Array", "ArrayList"}),
    "javascript": frozenset({"array"}),
}


def language_of(category: str) -> Language:
    """Return the language whose calls and types a category has.

    >>> language_of("simple_java"), language_of("live_multiple")
    ('java', 'python')
    """
    if "javascript" in category:
        return "javascript"
    return "java" if "java" in category else "python"
