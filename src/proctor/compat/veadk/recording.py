"""Record sessions as cases by the names of VeADK: `EvalSetRecorder`, and `save_eval_set` for its runner.

    path = await save_eval_set(runner, session_id=session_id)

Source: volcengine/veadk-python, veadk/evaluation/eval_set_recorder.py and veadk/runner.py, release 1.1.19.
"""

import sys
import time
from pathlib import Path
from typing import Any

from proctor.core.errors import BadInput
from proctor.evalsets import recording
from proctor.evalsets.read import read

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

    def _path(self, app_name: str, eval_set_id: str) -> Path:
        for name in (app_name, eval_set_id):
            if Path(name).name != name:
                raise BadInput("'{name}' cannot be the name of a file or folder.", name=name)
        return self.agents_dir / app_name / f"{eval_set_id}{SUFFIX}"


def _agents_dir() -> Path:
    """The folder above that of the program; this one where the program is no file of a person, such as pytest."""
    program = getattr(sys.modules.get("__main__"), "__file__", None)
    if program is None or Path(program).resolve().is_relative_to(sys.prefix):
        return Path.cwd()
    return Path(program).resolve().parent.parent


def _free_id(path: Path) -> str:
    """An id that no case has: two may be recorded in one second."""
    taken = {case.eval_id for case in read(path).eval_set.eval_cases} if path.exists() else set()
    first = eval_id = f"veadk_eval_{time.strftime('%Y%m%d%H%M%S')}"
    number = 1
    while eval_id in taken:
        number += 1
        eval_id = f"{first}-{number}"
    return eval_id
