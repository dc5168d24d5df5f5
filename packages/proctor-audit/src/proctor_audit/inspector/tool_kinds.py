"""What a tool does, read from its name, and for a shell from its command."""

import re
from collections.abc import Iterator
from functools import cache

from proctor_audit.inspector.view import TrialCall
from proctor_judging.matching.patterns import compile_later

WORD = compile_later(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[\u4e00-\u9fff]+")
READ_VERBS = frozenset((
    "get", "fetch", "find", "search", "list", "read", "lookup", "look", "query", "check", "view", "show",
    "describe", "count", "calculate", "compute", "think", "plan", "reason", "retrieve", "load", "inspect",
    "browse", "status", "verify", "validate", "estimate", "compare", "summarize", "summarise", "explain", "recall",
    "grep", "cat", "ls", "head", "tail", "open_file", "locate", "track", "preview", "scan", "detect", "classify",
    "translate", "convert", "evaluate", "ask", "wait", "sleep",
))  # fmt: skip
NOUNS_READ = frozenset((
    "info", "information", "details", "history", "balance", "profile", "overview", "summary", "statistics", "stats",
    "availability", "weather", "news", "lookup",
))  # fmt: skip
SHELL_NAMES = frozenset((
    "bash", "sh", "shell", "terminal", "execute", "run", "exec", "command", "cmd", "console", "python", "code",
    "interpreter", "repl",
))  # fmt: skip
TEXT_NAMES = frozenset((
    "read", "cat", "open", "view", "grep", "search", "find", "fetch", "browse", "web", "url", "page", "file",
    "log", "logs", "doc", "docs", "article",
))  # fmt: skip
CUMULATIVE = frozenset((
    "add", "append", "click", "press", "scroll", "next", "previous", "move", "step", "swipe", "tap", "key",
    "increment", "decrement", "turn", "roll", "flip", "draw", "forward", "back", "undo", "redo", "wait", "sleep",
    "type", "insert", "push", "pop", "tick", "advance", "drop", "rotate", "left", "right", "up", "down", "north",
    "south", "east", "west", "go", "walk", "hit", "fold", "bet", "guess", "random", "spin", "toss", "shuffle", "generate",
))  # fmt: skip
CHINESE_CUMULATIVE = (
    "前进", "后退", "点击", "单击", "双击", "滚动", "滑动", "翻页", "下一", "上一", "添加", "加入", "增加", "减少", "移动", "左转", "右转",
    "向", "走", "按键", "按下", "掷", "抽取", "随机", "生成", "等待", "输入", "插入", "撤销", "追加",
)  # fmt: skip
CHINESE_READS = ("查", "获取", "搜索", "检索", "读取", "列出", "浏览", "计算", "思考", "验证", "阅读", "查看")
OPENS_TEXT = re.compile(r"打开(?=文件|文档|网页|页面|通讯录|邮件|链接|网址|记录|日志|目录|附件|表格|图片)")
SHELL_READS = frozenset((
    "cat", "ls", "grep", "rg", "find", "head", "tail", "less", "more", "wc", "pwd", "env", "which", "file", "stat",
    "diff", "du", "df", "ps", "echo", "printf", "sort", "uniq", "cut", "awk", "tree", "id", "whoami", "date",
    "type", "history", "jq", "xxd", "od", "strings", "test", "cd", "sed", "git", "pytest", "man",
))  # fmt: skip
WRITES_IN_SHELL = compile_later(
    r"(?<![0-9&])>>?\s*(?!&|/dev/null)[\w./~$\"'-]|\bsed\b[^|;]*\s-[a-zA-Z]*i|\bgit\s+(?:add|commit|apply|am|checkout|reset|stash|merge|"
    r"cherry-pick|pull|push|rebase|revert|clean|rm|mv|restore|switch)\b|\b(?:rm|mv|cp|tee|touch|mkdir|chmod|patch|install|dd|ln|kill)\b"
)
FAMILIES = {
    "cancel": "cancel canceled cancelled cancellation void voided revoke revoked terminate terminated unsubscribe unsubscribed 取消 撤销 退订 作废 注销",
    "refund": "refund refunded reimburse reimbursed pay paid payment charge charged credit credited 退款 支付 扣款 报销 赔付 充值",
    "return": "return returned exchange exchanged 退货 换货 归还",
    "book": "book booked booking reserve reserved reservation order ordered purchase purchased buy bought create created add added register registered "
    "schedule scheduled place placed enroll enrolled open opened set setup make checkout insert 预订 预定 下单 购买 创建 新建 添加 登记 注册 预约 开通 安排 订",
    "update": "update updated change changed modify modified edit edited correct corrected rename renamed upgrade upgraded downgrade downgraded reschedule "
    "rescheduled rebook rebooked move moved switch switched replace replaced adjust adjusted extend extended swap assign assigned set renew renewed reset patch put 更新 修改 更改 变更 升级 改签 续借 续订 续期 续费 "
    "调整 更换 延长 重置",
    "save": "save saved store stored upload uploaded export exported write 保存 存储 写入 上传 导出",
    "send": "send sent issue issued email emailed mail mailed submit submitted post posted publish published notify notified forward forwarded message 发送 提交 发出 "
    "发放 发布 通知 寄出 转发",
    "transfer": "transfer transferred wire wired escalate escalated handoff handover 转账 转接 汇款 转移 划转",
    "delete": "delete deleted remove removed erase erased clear cleared drop dropped purge 删除 移除 清除 清空",
    "switch": "activate activated deactivate deactivated enable enabled disable disabled lock locked unlock unlocked block blocked unblock freeze frozen suspend suspended "
    "restart restarted reboot start started stop stopped 激活 启用 停用 锁定 解锁 冻结 挂失 重启 关闭",
}
FAMILY_BY_WORD = {word: family for family, words in FAMILIES.items() for word in words.split()}
NEAR = {  # a call of one family that can bring about what is said in words of another
    "refund": {"cancel", "return", "update", "send", "transfer", "delete"},
    "return": {"refund", "update", "cancel"},
    "update": {"book", "delete", "switch", "return", "send"},
    "book": {"update", "send", "return"},
    "send": {"book", "transfer", "refund", "update"},
    "transfer": {"send", "refund", "book"},
    "cancel": {"delete", "return", "switch"},
    "delete": {"cancel", "update"},
    "switch": {"update", "cancel", "book"},
    "save": {"update", "book", "send"},
}


@cache
def words_of(name: str) -> tuple[str, ...]:
    """Return the words in the name of a tool, in small letters.

    >>> words_of("cancelOrder_v2"), words_of("取消订单")
    (('cancel', 'order', 'v'), ('取消订单',))
    """
    return tuple(word.lower() for word in WORD.findall(name))


@cache
def is_shell(name: str) -> bool:
    """True if a tool runs commands or code."""
    return bool(SHELL_NAMES & set(words_of(name))) or re.search(r"命令|终端|代码|脚本", name) is not None


@cache
def shows_texts(name: str) -> bool:
    """True if the results of a tool are texts of others: files, pages, outputs of commands."""
    is_chinese = re.search(r"读取|阅读|文章|网页|文件|文档|日志|浏览|搜索|检索|打开", name) is not None
    return is_shell(name) or is_chinese or bool(TEXT_NAMES & set(words_of(name)))


@cache
def is_cumulative(name: str) -> bool:
    """True if doing the same again does something more, or waits."""
    return bool(CUMULATIVE & set(words_of(name))) or any(word in name for word in CHINESE_CUMULATIVE)


@cache
def _reads_by_name(name: str) -> bool:
    words = words_of(name)
    if any(read in word for word in words for read in CHINESE_READS) or OPENS_TEXT.search(name):
        return True
    if words[:1] == ("open",) and TEXT_NAMES.intersection(words[1:]):
        return True
    if NOUNS_READ.intersection(words) and not families_of(name):
        return True
    verbs = [word for word in words if word in READ_VERBS or word in FAMILY_BY_WORD]
    return bool(verbs) and verbs[0] in READ_VERBS


@cache
def families_of(name: str) -> frozenset[str]:
    """Return the kinds of change that the name of a tool implies; empty if it implies none.

    >>> families_of("cancel_reservation") >= {"cancel"}, families_of("act")
    (True, frozenset())
    """
    words = words_of(name)
    families = {FAMILY_BY_WORD[word] for word in words if word in FAMILY_BY_WORD}
    chinese = OPENS_TEXT.sub("", "".join(word for word in words if not word.isascii()))
    return frozenset(
        families | {family for word, family in FAMILY_BY_WORD.items() if word in chinese and not word.isascii()}
    )


def is_read(call: TrialCall) -> bool:
    """True if a call changes nothing, as far as its name and command tell."""
    if is_shell(call.name):
        return all(_is_shell_read(value) for _, value in call.values)
    return _reads_by_name(call.name)


def _is_shell_read(command: str) -> bool:
    if WRITES_IN_SHELL.search(command):
        return False
    return all(first in SHELL_READS for first in _programs(command))


def _programs(command: str) -> Iterator[str]:
    for part in re.split(r"[|;&\n]+", command):
        words = part.split()
        if words:
            yield words[0].rpartition("/")[2]
