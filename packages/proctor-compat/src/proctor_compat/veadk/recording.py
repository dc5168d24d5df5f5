"""Record sessions as cases by the names of VeADK: `EvalSetRecorder`, and `save_eval_set` for its runner.

    path = await save_eval_set(runner, session_id=session_id)

Source: volcengine/veadk-python, veadk/evaluation/eval_set_recorder.py and veadk/runner.py, release 1.1.19.
"""

import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

from proctor.core.errors import BadInput
from proctor_adapters.evalsets import cases, recording, write
from proctor_adapters.evalsets.read import read
from proctor_adapters.evalsets.schema import EvalCase, EvalSet
from proctor_compat.veadk.sets import plain

DEFAULT = "default"
SUFFIX = ".evalset.json"


async def save_eval_set(
    runner: Any, session_id: str, eval_set_id: str = DEFAULT, *, agents_dir: str | Path | None = None
) -> str:
    """Add a session of a runner to its app's eval set, and give the path of the file.

    Raises:
        BadInput: the runner has no such session, or nothing was asked in it.
    """
    recorder = EvalSetRecorder(runner.session_service, eval_set_id, agents_dir=agents_dir)
    return await recorder.dump(runner.app_name, runner.user_id, session_id)


class EvalSetRecorder:
    """Adds sessions of a session service to `<agents_dir>/<app_name>/<eval_set_id>.evalset.json`.

    The folder of all agents is the one above that of the program, as in VeADK, unless another is given.
    """

    def __init__(
        self, session_service: Any, eval_set_id: str = DEFAULT, *, agents_dir: str | Path | None = None
    ) -> None:
        self.session_service = session_service
        self.eval_set_id = eval_set_id or DEFAULT
        self.agents_dir = Path(agents_dir) if agents_dir is not None else _agents_dir()

    async def add_session_to_eval_set(self, app_name: str, eval_set_id: str, session_id: str, user_id: str) -> None:
        """Add a session as the case `veadk_eval_<time>`; the file is made when it is not there.

        Raises:
            BadInput: there is no such session, or nothing was asked in it.
        """
        session = await self.session_service.get_session(app_name=app_name, user_id=user_id, session_id=session_id)
        if session is None:
            raise BadInput(
                "'{app}' has no session '{id}' of the user '{user}'.", app=app_name, id=session_id, user=user_id
            )
        path = self._path(app_name, eval_set_id)
        await recording.save_eval_set(session, path, eval_set_id=eval_set_id, eval_id=_free_id(path))

    async def dump(self, app_name: str, user_id: str, session_id: str) -> str:
        """Add a session to the set of this recorder, and give the path of its file."""
        await self.add_session_to_eval_set(app_name, self.eval_set_id, session_id, user_id)
        return str(self._path(app_name, self.eval_set_id))

    def get_eval_set(self, app_name: str, eval_set_id: str) -> EvalSet | None:
        """Return a set; None if it does not exist."""
        path = self._path(app_name, eval_set_id)
        return read(path).eval_set if path.exists() else None

    def list_eval_sets(self, app_name: str) -> list[str]:
        """Return the ids of the sets of an app, sorted.

        Raises:
            BadInput: the app has no folder.
        """
        folder = self._path(app_name, DEFAULT).parent
        if not folder.is_dir():
            raise BadInput("There is no folder {path}.", path=folder)
        return sorted(path.name.removesuffix(SUFFIX) for path in folder.glob(f"*{SUFFIX}"))

    def create_eval_set(self, app_name: str, eval_set_id: str) -> EvalSet:
        """Make an empty set.

        Raises:
            BadInput: there is one of that id, or it cannot be written.
        """
        path = self._path(app_name, eval_set_id)
        path.parent.mkdir(parents=True, exist_ok=True)
        eval_set = EvalSet(eval_set_id=eval_set_id, name=eval_set_id, eval_cases=[], creation_timestamp=time.time())
        write.create(path, eval_set)
        return eval_set

    def get_eval_case(self, app_name: str, eval_set_id: str, eval_case_id: str) -> EvalCase | None:
        """Return a case; None if it does not exist."""
        eval_set = self.get_eval_set(app_name, eval_set_id)
        all_cases = eval_set.eval_cases if eval_set is not None else []
        return next((case for case in all_cases if case.eval_id == eval_case_id), None)

    def add_eval_case(self, app_name: str, eval_set_id: str, eval_case: EvalCase | object) -> None:
        """Add a case to a set.

        Raises:
            BadInput: there is no such set, or it has a case of that id.
        """
        write.change(self._path(app_name, eval_set_id), partial(cases.add, case=_case(eval_case)))

    def update_eval_case(self, app_name: str, eval_set_id: str, updated_eval_case: EvalCase | object) -> None:
        """Replace the case of the same id.

        Raises:
            BadInput: there is no such set or case.
        """
        case = _case(updated_eval_case)
        write.change(self._path(app_name, eval_set_id), partial(cases.put, case_id=case.eval_id, case=case))

    def delete_eval_case(self, app_name: str, eval_set_id: str, eval_case_id: str) -> None:
        """Delete a case.

        Raises:
            BadInput: there is no such set or case.
        """
        write.change(self._path(app_name, eval_set_id), partial(cases.delete, case_ids=[eval_case_id]))

    def _path(self, app_name: str, eval_set_id: str) -> Path:
        for name in (app_name, eval_set_id):
            if Path(name).name != name:
                raise BadInput("'{name}' cannot be the name of a file or folder.", name=name)
        return self.agents_dir / app_name / f"{eval_set_id}{SUFFIX}"


def _case(given: EvalCase | object) -> EvalCase:
    return given if isinstance(given, EvalCase) else EvalCase.model_validate(plain(given))


def _agents_dir() -> Path:
    """Return the folder above that of the program; this one where the program is none of the user's files, such as pytest."""
    program = getattr(sys.modules.get("__main__"), "__file__", None)
    if program is None or Path(program).resolve().is_relative_to(sys.prefix):
        return Path.cwd()
    return Path(program).resolve().parent.parent


def _free_id(path: Path) -> str:
    """Return an id that no case has: two may be recorded in one second."""
    taken = {case.eval_id for case in read(path).eval_set.eval_cases} if path.exists() else set()
    first = eval_id = f"veadk_eval_{time.strftime('%Y%m%d%H%M%S')}"
    number = 1
    while eval_id in taken:
        number += 1
        eval_id = f"{first}-{number}"
    return eval_id
