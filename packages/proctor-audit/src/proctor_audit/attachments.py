"""Compare the attachments of two data files by their content: in another folder, the same name may be another file."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from proctor.core.digest import digest_bytes
from proctor.core.sample import File, Sample
from proctor.core.task import Task


def name_by_content(others: Sequence[Sample], other_task: Task, samples: Sequence[Sample], task: Task) -> list[Sample]:
    """Return the samples of other data; an attachment keeps its name only where that of ours has the same content."""
    owners = {name: sample for sample in samples for name in _names(sample)}
    own: dict[str, str] = {}

    def named(sample: Sample) -> Sample:
        names = _names(sample)
        if not owners.keys() & {*names}:
            return sample
        for name in names:
            if name in owners and name not in own:
                own.update(_contents(owners[name], task))
        contents = _contents(sample, other_task)
        files = [name if name in own and own[name] == contents.get(name) else f"{name} of other data" for name in names]
        return replace(sample, meta={**sample.meta, "files": files})

    return [named(sample) for sample in others]


def _contents(sample: Sample, task: Task) -> Mapping[str, str]:
    """Return what is in the attachments of a sample as digests or addresses by name; nothing where they are not read."""
    presented = sample if task.present is None else task.present(sample)
    messages = presented.turns[0].messages if presented.turns else ()
    files = [part for part in (messages[-1].parts if messages else ()) if isinstance(part, File)]
    names = _names(sample)
    if len(files) != len(names):
        return {}
    return {
        name: digest_bytes(file.data) if file.data is not None else file.url or ""
        for name, file in zip(names, files, strict=True)
    }


def _names(sample: Sample) -> Sequence[str]:
    names = sample.meta.get("files")
    return names if isinstance(names, list) else []
