"""Parse Java and JavaScript with tree-sitter, within bounds, and say whether it is free of errors."""

import re
from functools import cache
from typing import TYPE_CHECKING, Literal

from proctor.core.sentence import say
from proctor_benchmarks.bfcl.calls import Undecodable

if TYPE_CHECKING:
    from tree_sitter import Language, Node, TreeCursor

LONGEST = 200_000  # characters
MOST_TOKENS = 2_500  # repairing errors takes time with the square of the tokens: 1 s for the worst known text

_TOKEN = re.compile(r"\w+|[^\w\s]")


def parse(source: str, language: Literal["java", "javascript"]) -> "Node":
    """Return the root of the syntax tree. Tokens that the parser inserts, such as a missing `;`, are fine.

    Raises:
        Undecodable: the text has an error, or is too long to be parsed.
    """
    if len(source) > LONGEST:
        raise Undecodable(say("The output is longer than {limit} characters.", limit=LONGEST))
    if len(source) > MOST_TOKENS and sum(1 for _ in _TOKEN.finditer(source)) > MOST_TOKENS:
        raise Undecodable(say("The output has more than {limit} words and signs.", limit=MOST_TOKENS))
    from tree_sitter import Parser

    try:
        data = source.encode()
    except UnicodeEncodeError:
        raise Undecodable(say("The output holds a lone surrogate.")) from None
    tree = Parser(_grammar(language)).parse(data)
    root = tree.root_node
    if root.has_error and _has_error_node(tree.walk()):
        raise Undecodable(say("The output cannot be parsed as {language}.", language=language))
    return root


@cache
def _grammar(language: str) -> "Language":
    import tree_sitter_java
    import tree_sitter_javascript
    from tree_sitter import Language

    return Language((tree_sitter_java if language == "java" else tree_sitter_javascript).language())


def _has_error_node(cursor: "TreeCursor") -> bool:
    """True if a node would be printed as ERROR; no recursion, as the tree can be as deep as the text is long."""
    while True:
        node = cursor.node
        assert node is not None  # a cursor is always on a node
        if node.is_error:
            return True
        if node.has_error and cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return False
