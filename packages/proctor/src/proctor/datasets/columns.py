"""Find the role of each column: as the user maps it, or guessed from names that are common in English and Chinese."""

import shlex
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sentence import say

NAMES: Mapping[str, Sequence[str]] = {
    "id": ("id", "qid", "question_id", "task_id", "sample_id", "problem_id", "uid", "uuid", "编号", "题号", "问题编号", "题目编号", "序号"),
    "question": ("question", "prompt", "query", "problem", "instruction", "input", "user_input", "ctx", "messages", "conversations", "conversation", "chat", "问题", "题目", "题干", "提问", "指令", "输入", "对话"),
    "target": (
        "target", "answer", "final_answer", "reference_answer", "correct_answer", "expected", "expected_output", "expected_answer",
        "ground_truth", "reference", "gold", "gold_answer", "answer_key", "answerkey", "answers", "correct_answers", "best_answer", "ideal", "label",
        "solution", "output", "答案", "参考答案", "标准答案", "正确答案", "最终答案", "期望输出", "输出",
    ),
    "type": ("type", "question_type", "problem_type", "题型", "类型", "问题类型", "题目类型"),
    "options": ("options", "choices", "candidates", "endings", "选项", "备选项", "候选项"),
    "files": (
        "files", "file", "file_name", "file_path", "attachments", "attachment", "images", "image", "image_path", "附件", "文件", "文件名", "图片",
    ),
    "cluster": ("cluster", "group", "group_id", "document_id", "passage_id", "簇", "分组", "文档编号"),
    "system": ("system", "system_prompt", "系统提示", "系统提示词"),
    "context": (),  # never guessed: see COMPANIONS
    "scenario": ("scenario", "user_scenario", "goal", "user_goal", "场景", "用户场景", "目标", "用户目标"),
    "knows": ("knows", "known_info", "已知", "已知信息"),
    "persona": ("persona", "user_persona", "人设"),
    "tools": (),  # guessed by what they hold: see `files._structured`
    "calls": (),
    "state": (),
}  # fmt: skip
ITEM_NAMES: Mapping[str, Sequence[str]] = {  # of items to judge, review or compare, whose answer need not be the right one
    "id": (*NAMES["id"], "item_id"),
    "question": ("question", "problem", "prompt", "query", "instruction", "task", "input", "问题", "题目", "题干", "提问", "指令", "输入"),
    "reference": ("reference", "reference_answer", "target", "expected", "expected_output", "expected_answer", "ground_truth", "gold", "参考答案", "标准答案", "期望输出"),
    "answer": ("answer", "response", "reply", "output", "completion", "prediction", "final_answer", "答案", "回答", "回复", "输出"),
    "document": ("text", "content", "document", "story", "code", "文本", "内容", "文章", "代码"),
    "solution": ("solution", "reasoning", "explanation", "rationale", "解答", "解析", "解题过程", "解题步骤", "推理"),
    "topic": ("topic", "subject", "category", "domain", "主题", "知识点", "学科", "类别"),
    "cluster": NAMES["cluster"],
}  # fmt: skip
# What a question may need and would be wrong without: the user has to say whether it is shown above the question.
COMPANIONS = frozenset((
    "context", "passage", "article", "story", "paragraph", "background", "document", "premise", "input",
    "上下文", "材料", "阅读材料", "背景", "文章", "段落",
))  # fmt: skip
TAGS = {
    "level": ("level", "级别", "等级", "层级"),
    "difficulty": ("difficulty", "难度"),
    "subject": ("subject", "discipline", "学科", "科目"),
    "category": ("category", "类别", "分类", "类目"),
    "language": ("language", "lang", "语言", "语种"),
    "topic": ("topic", "主题", "知识点"),
    "domain": ("domain", "领域"),
    "tag": ("tag", "tags", "标签"),
    "year": ("year", "年份"),
    "source": ("source", "来源"),
}
MANY = ("tag", "meta")
SCENARIO_ONLY = ("knows", "persona")
ALIASES = {"answer": "target", "attachment": "files", "file": "files"}
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class FileColumns(msgspec.Struct, frozen=True, kw_only=True):
    """The columns of a file by role; `letters` are columns A, B, C … that hold an option each.

    `question` is '' where a template makes the question, or a simulated user begins the conversation.
    """

    id: str | None = None
    question: str = ""
    target: str | None = None
    type: str | None = None
    options: str | None = None
    files: str | None = None
    cluster: str | None = None
    system: str | None = None
    context: str | None = None
    scenario: str | None = None
    knows: str | None = None
    persona: str | None = None
    tools: str | None = None
    calls: str | None = None
    state: str | None = None
    tags: Mapping[str, str] = {}
    meta: Mapping[str, str] = {}
    letters: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()


def find_columns(
    names: Sequence[str],
    mapped: Mapping[str, str] | None,
    where: str,
    *,
    nested: Sequence[str] = (),
    templated: bool = False,
    simulated: bool = False,
) -> FileColumns:
    """Return the columns of a file; `mapped` (column to role) wins over the guess.

    Args:
        nested: names such as `data.question`, which can be mapped and are never guessed.
        templated: the question is made by a template, so no column has to hold it.
        simulated: there is a simulated user, so a column may be its scenario although another one holds the question.

    Raises:
        BadInput: a mapped column is not there, or is mapped to what does not exist; no column holds the question.

    >>> columns = find_columns(["题目", "答案", "难度", "备注"], None, "a.csv")
    >>> columns.question, columns.target, columns.tags, columns.unused
    ('题目', '答案', {'difficulty': '难度'}, ('备注',))
    """
    taken = {*(mapped or {})}
    roles, tags, meta = assign_columns(names, mapped or {}, where, NAMES, aliases=ALIASES, nested=nested)
    if "scenario" in roles and roles["scenario"] not in taken and not simulated and ("question" in roles or templated):
        del roles["scenario"]  # of the question, then
    for role in () if "scenario" in roles else SCENARIO_ONLY:
        roles.pop(role, None)
    letters = _letters([name for name in names if name not in taken]) if "options" not in roles else ()
    if not templated and not roles.keys() & {"question", "scenario"}:
        free = [name for name in names if name not in {*taken, *roles.values(), *letters}]
        raise _no_question(where, [*names, *nested], free, has_target="target" in roles)
    used = {*taken, *roles.values(), *tags.values(), *letters}
    return msgspec.convert(
        {
            **roles,
            "tags": tags,
            "meta": meta,
            "letters": letters,
            "unused": [name for name in names if name not in used],
        },
        FileColumns,
    )


def _no_question(where: str, names: Sequence[str], free: Sequence[str], *, has_target: bool) -> BadInput:
    """Return the error for a file without a column for the question; `free` are those that have no role yet."""
    return BadInput(
        "{path}: no column holds the question. It has: {known}. Say which: {map}",
        path=where,
        known=", ".join(names) or "-",
        map=show_mapping(free, ["question"] if has_target else ["question", "target"]),
    )


def show_mapping(names: Sequence[str], roles: Sequence[str]) -> str:
    """Return options that give columns their roles, as an example of how to write them.

    >>> show_mapping(["Customer message", "reply"], ["question", "target"]), show_mapping([], ["target"])
    ("--map 'Customer message=question' --map reply=target", '--map COLUMN=target')
    """
    pairs = [*zip(names, roles, strict=False)] or [("COLUMN", roles[0])]
    return " ".join(f"--map {shlex.quote(f'{name}={role}')}" for name, role in pairs)


def assign_columns(
    names: Sequence[str],
    mapped: Mapping[str, str],
    where: str,
    known: Mapping[str, Sequence[str]],
    *,
    many: Sequence[str] = MANY,
    aliases: Mapping[str, str] = {},
    nested: Sequence[str] = (),
) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """Assign columns to roles, tags and keys of `meta`: by the user's mapping, else by their names.

    Raises:
        BadInput: a mapped column is not there, or is mapped to what does not exist.
    """
    roles, tags, meta = _apply_mapping([*names, *nested], mapped, where, known, many, aliases)
    free = {plain(name): name for name in reversed(names) if name not in mapped}
    for role, usual in known.items():
        name = next((plain(name) for name in usual if plain(name) in free), None)
        if role not in roles and name is not None:
            roles[role] = free.pop(name)
    for tag, usual in TAGS.items():
        name = next((plain(name) for name in (tag, *usual) if plain(name) in free), None)
        if tag not in tags and name is not None:
            tags[tag] = free.pop(name)
    return roles, tags, meta


def describe(columns: FileColumns) -> dict[str, str]:
    """Describe the columns for the user: role and column.

    >>> describe(FileColumns(question="q", tags={"level": "难度"}))
    {'question': 'q', 'tag:level': '难度'}
    """
    by_role = {role: name for role in NAMES if (name := getattr(columns, role))}
    by_role |= {f"tag:{tag}": name for tag, name in columns.tags.items()}
    by_role |= {f"meta:{key}": name for key, name in columns.meta.items()}
    return by_role | ({"options": ", ".join(columns.letters)} if columns.letters else {})


def _apply_mapping(
    names: Collection[str],
    mapped: Mapping[str, str],
    where: str,
    known: Mapping[str, Sequence[str]],
    many: Sequence[str],
    aliases: Mapping[str, str],
) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    roles: dict[str, str] = {}
    by_key: dict[str, dict[str, str]] = {"tag": {}, "meta": {}}
    for column, role in mapped.items():
        if column not in names:
            raise BadInput(
                "{path} has no column '{column}'. It has: {known}. A mapping is written COLUMN=NAME.",
                path=where,
                column=column,
                known=", ".join(names) or "-",
            )
        kind, _, key = str(role).partition(":")
        kind = aliases.get(kind, kind)
        if kind in many:
            by_key[kind][key or column] = column
        elif kind in known and not key:
            if kind in roles:
                raise BadInput(
                    "Two columns are mapped to '{role}': {one} and {other}.", role=kind, one=roles[kind], other=column
                )
            roles[kind] = column
        elif kind != "ignore":
            near = get_close_matches(kind, [*known, *many, "ignore"], n=1)
            raise BadInput(
                "A column cannot be mapped to '{role}'.{near} Known: {known}.",
                role=role,
                known=", ".join([*known, *(f"{prefix}:NAME" for prefix in many), "ignore"]),
                near=say(" Did you mean '{near}'?", near=near[0]) if near else "",
            )
    return roles, by_key["tag"], by_key["meta"]


def is_known_name(name: str) -> bool:
    """True if a column of this name is understood without a mapping."""
    known = plain(name)
    return any(known in map(plain, names) for names in (*NAMES.values(), *TAGS.values()))


def is_companion(name: str) -> bool:
    """True if a column of this name is something that the question may need."""
    return plain(name) in COMPANIONS


def _letters(names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns A, B, C … without a gap; at least two."""
    upper = {name.strip().upper(): name for name in names}
    columns = []
    for letter in LETTERS:
        if letter not in upper:
            break
        columns.append(upper[letter])
    return tuple(columns) if len(columns) > 1 else ()


def plain(name: str) -> str:
    """Return the name of a column in the form in which names are compared."""
    return name.strip().casefold().replace(" ", "_").replace("-", "_")
