"""Names of `proctor.web.evalset_files` for the pages of chats."""

from proctor.web.evalset_files import History, Saved, folder_of, list_sets, save_case

__all__ = ["History", "Saved", "folder_of", "list_sets", "save_case"]
