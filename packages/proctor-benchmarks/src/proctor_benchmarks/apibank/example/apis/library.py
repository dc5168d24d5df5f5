"""The tools of a small library, of the example that comes with Proctor."""

from .api import API

SHELVES = {"Frankenstein": "A3", "Falkner": "B1", "Emma": "C2"}


class FindBook(API):
    description = "Find the shelf of a book."
    input_parameters = {"title": {"type": "str", "description": "The title."}}
    output_parameters = {"shelf": {"type": "str", "description": "The shelf."}}

    def answer(self, title: str) -> str:
        if title not in SHELVES:
            raise ValueError(f"There is no book {title}.")
        return SHELVES[title]


class ReserveBook(API):
    description = "Reserve a book for a reader."
    input_parameters = {
        "title": {"type": "str", "description": "The title."},
        "reader": {"type": "str", "description": "The number of the reader's card."},
    }
    output_parameters = {"until": {"type": "str", "description": "The day until which it is kept, YYYY-MM-DD."}}

    def answer(self, title: str, reader: str) -> str:
        if title not in SHELVES or not reader.isdigit():
            raise ValueError("There is no such book or reader.")
        return "2027-05-09"


class ToolSearcher(API):
    description = "Search for a tool by keywords."
    input_parameters = {"keywords": {"type": "str", "description": "The keywords."}}
    output_parameters = {"best_match": {"type": "dict", "description": "The tool that fits best."}}

    def answer(self, keywords: str) -> object:
        return self.best_match_api(keywords)

    def best_match_api(self, keywords: str) -> object:
        """Return the tool with the most keywords in its description."""
        words = set(keywords.lower().split())
        tools = (FindBook, ReserveBook)
        best = max(tools, key=lambda tool: len(words & set(tool.description.lower().strip(".").split())))
        return {"name": best.__name__, "description": best.description}
