"""Make the boxes of a run, after finding out that there can be any: without its image, each sample would fail by itself."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self

from proctor.core.errors import BadInput, EnvironmentFailed
from proctor.core.sample import Sample, Tool
from proctor_benchmarks.boxes.box_task import BoxTask
from proctor_benchmarks.boxes.engines import fetch_image, has_any_image
from proctor_benchmarks.boxes.environment import TOOLS, BoxEnvironment
from proctor_benchmarks.boxes.opening import BoxOptions, choose_backend, image_of_folder


class BoxMaker:
    """Makes the box of a sample; it is entered with the run.

    Attributes:
        tools: of all boxes, so that a plan of the run starts none.
    """

    tools: Sequence[Tool] = TOOLS

    def __init__(self, make: Callable[[Sample], BoxEnvironment], tasks: Sequence[BoxTask], options: BoxOptions) -> None:
        self._make = make
        self._tasks = tasks
        self._options = options
        self._is_first = len({task.image or task.build for task in tasks}) == 1

    def __call__(self, sample: Sample) -> BoxEnvironment:
        environment = self._make(sample)
        environment.is_probe, self._is_first = self._is_first, False
        return environment

    async def __aenter__(self) -> Self:
        """Build or fetch the image that all tasks have; of several, a run needs one that is here, and fetches the others later.

        Raises:
            BadInput: it cannot be had.
        """
        folders = list(dict.fromkeys(task.build for task in self._tasks if task.build is not None))
        images = list(dict.fromkeys(image for task in self._tasks if not task.build and (image := task.image or self._options.image)))  # fmt: skip
        backend = await asyncio.to_thread(choose_backend, self._options, needs_image=bool(folders or images))
        if backend == "bubblewrap":
            return self
        try:
            if len(folders) == 1 and not images:
                (task,) = {task.build: task for task in self._tasks}.values()
                await image_of_folder(backend, Path(folders[0]), task.build_leaves_out)
            if images and not await has_any_image(backend, images):
                await fetch_image(backend, images[0])
        except EnvironmentFailed as error:
            raise BadInput(error.sentence) from error
        return self

    async def __aexit__(self, *_: object) -> None:
        pass
