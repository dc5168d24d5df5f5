"""The simulated user leaves its part."""

import re
from collections.abc import Iterator

from proctor.core.sentence import say
from proctor_audit.check import check
from proctor_audit.inspector.view import InspectedTrial, TrialEvent, TrialStep
from proctor_audit.inspector.wording import holds_any, sentence_at, sentences_of, words_in
from proctor_judging.matching.patterns import compile_later

END = compile_later(
    r"#{2,}\s*[A-Z][A-Z _-]{2,}\s*#{2,}|\[(?:END|STOP|DONE|EXIT|TERMINATE|CONVERSATION[ _]END)\]|<(?:stop|end|exit|done|end_of_conversation)\s*/?>|\bTERMINATE\b|<\|end\|>|【(?:结束|终止)】|\[(?:结束|终止)\]|#{2,}(?:结束|停止|终止)#{2,}"
)
AS_AGENT = compile_later(
    r"\bhow (?:can|may) i (?:help|assist|be of (?:help|service))\b|\b(?:is there )?anything else i can (?:help|assist|do for) (?:you )?|\bi(?:'d| would)? ?(?:can|will|'ll|’ll|am|'m|would|be)? ?(?:be )?(?:happy|glad|pleased|here) to (?:help|assist) you\b|\bi (?:can|will|'ll) (?:help|assist) you\b|"
    r"\b(?:please|could you|can you|kindly|may i (?:have|ask for)|i(?:'ll| will) need) (?:please )?(?:provide|share|confirm|give|tell|send)?(?: me| us)?(?: with)? ?your (?:\w+ ){0,2}(?:user id|id|reservation|booking|order|account|confirmation|customer|membership|tracking|policy|date of birth|zip|postal|phone|email|e-mail|full name)\b|"
    r"\b(?:let me|i will|i'll|i’ll) (?:look (?:(?:it|that|this) up for you|your \w+ up)|check (?:that|this|it|your \w+) for you|pull up your|process (?:that|this|your)|go ahead and (?:process|cancel|book|update) (?:that|this|your))|\b(?:i have|i've|i’ve) (?:successfully )?(?:updated|cancel+ed|processed|booked) your\b|"
    r"\bthank you for (?:contacting|calling|reaching out to)\b|\bwelcome to [A-Z]\w+|(?:请问)?有什么(?:可以|能)(?:为您|帮您|帮到您|帮助您|帮你)|(?:很高兴|乐意)(?:为您|帮您|为你)|请(?:您|你)?(?:先)?(?:提供|告知|告诉我|出示|确认)(?:一下)?(?:您|你)的|(?:我来|我会|马上|正在|这就)(?:帮您|为您|给您)|(?:感谢|谢谢)(?:您|你)(?:的)?(?:来电|联系|咨询)|(?:已|已经)(?:为您|帮您)|"
    r"\bwie kann ich (?:ihnen|dir) (?:heute )?(?:weiter)?helfen\b|\b(?:comment|en quoi) puis-je (?:vous|t'?) ?aider\b|\b(?:en qué|cómo) (?:le |te )?puedo ayudar|\bcomo posso ajud|\bcome posso aiut|чем (?:я )?могу (?:вам )?помочь|(?:ご用件|お手伝い(?:できる|しましょうか|でき)|무엇을 도와)",
    re.IGNORECASE,
)
OF_INSTRUCTIONS = compile_later(
    r"\bas an? (?:ai|artificial|large|language|llm|virtual|simulated|user simulat\w*)\b|\bi(?:'m| am|’m) (?:only |just |actually |merely )?(?:an? )?(?:ai\b|language model|simulat\w+|role-?play\w*|chatbot|llm|virtual (?:user|customer)|playing (?:the|a)|pretending|acting as|here to (?:play|simulate))|"
    r"\bi (?:play|simulate|act as|role-?play|pretend to be) (?:the|a|an)\b|\bmy (?:system )?(?:instructions?|prompt|script|scenario|persona|role) (?:says?|tells?|is|are|states?|does|do|requires?|reads?|describes?|mentions?|specif\w+|asks?|here|as)\b|"
    r"\b(?:according to|per|following|based on|in|as) (?:my (?:system )?(?:instructions?|prompt|script|scenario|persona|role)|the (?:system (?:instructions?|prompt)|prompt|script|scenario|persona|role|instructions? (?:i was|given|provided)))\b|\b(?:the|my|this) (?:scenario|script|system prompt|persona|user prompt|task description) (?:says?|tells?|states?|doesn't|does not|given|i was given|only|ends?|mentions?)\b|"
    r"\b(?:simulated|simulation of (?:the|a)) (?:user|customer)\b|\b(?:stay|staying|remain) in character\b|\bout of character\b|作为(?:一个|一名)?(?:AI|人工智能|语言模型|模拟用户|大模型|虚拟)|我(?:只)?是(?:一个|一名)?(?:AI|人工智能|语言模型|模拟|虚拟)|我(?:在|正在)?(?:扮演|模拟)|"
    r"(?:我的|根据|按照|依照)(?:我的)?(?:指令|提示词|剧本|设定|脚本|系统提示|角色设定|任务说明)|(?:剧本|脚本|提示词|指令)(?:里|中|上)?(?:说|写|要求|没有)",
    re.IGNORECASE,
)
ASKS = compile_later(
    r"\b(?:please |can you |could you |would you |i want you to |i'd like you to |now |just |let's |help me )+(?:\w+ )?(?:write|compose|tell|sing|draw|translate|explain|summari[sz]e|solve|code|generate|recommend|suggest|teach|describe|play|give|show|find|make|create|bake|cook|calculate|recite|book|order|buy|cancel|help)\b|"
    r"^(?:write|compose|tell|sing|translate|explain|solve|recommend|teach|recite|draw)\b|\bwhat(?:'s| is| are| do you think)\b|(?:请|帮我|给我|能不能|可以|麻烦|想让你|来|先|再)(?:你)?(?:帮我|给我|为我)?(?:写|讲|唱|画|翻译|解释|推荐|介绍|做|算|编|作|查|说|教)",
    re.IGNORECASE,
)
SWITCHES = compile_later(
    r"\b(?:never ?mind|forget (?:that|it|about|the|my)|instead|changed? (?:the|my) (?:subject|topic|mind)|by the way|on another note|something else|different topic|off[- ]topic|actually|unrelated)\b|算了|换个话题|不说这个|别管|顺便|另外|对了|不办了",
    re.IGNORECASE,
)
CREATIVE = compile_later(
    r"\b(?:poem|haiku|limerick|joke|story|song|lyrics|essay|recipe|homework|python|javascript|code|script in|riddle|horoscope|weather|president|capital of|football|movie|novel|sonnet|fairy tale|rap|stock price|lottery|quantum|theorem)\b|诗|笑话|故事|歌|作文|菜谱|食谱|代码|谜语|星座|天气|小说|作业|彩票",
    re.IGNORECASE,
)
INSTRUCTION_STEMS = (
    "instruction", "prompt", "script", "scenario", "persona", "role", "simul", " ai", "an ai", "ai ", "artificial",
    "virtual", "language model", "llm", "large", "chatbot", "pretend", "character", "playing", "i play", "act as",
    "acting", "task description", "作为", "扮演", "我是", "我只是", "模拟", "指令", "剧本", "设定", "脚本", "提示词", "任务说明",
)  # fmt: skip
AGENT_STEMS = (
    "kann ich", "puis-je", "puedo", "posso", "помочь", "ご用件", "お手伝い", "도와",
    "how can i", "how may i", "anything else i", "help you", "assist you", "be of ", "provide", "share", "confirm",
    "need your", "have your", "give me your", "tell me your", "send me your", "up your", " up", "for you",
    "process ", "go ahead and", "updated your", "processed your", "booked your", "led your", "thank you for",
    "welcome to", "为", "帮", "您", "请", "给",
)  # fmt: skip
SMALL = frozenset((
    "the", "and", "you", "your", "for", "that", "this", "with", "please", "have", "has", "can", "could", "would",
    "will", "about", "from", "what", "when", "where", "which", "want", "need", "like", "just", "instead", "never",
    "mind", "forget", "okay", "thanks", "thank", "let", "know", "help", "some", "any", "get", "tell", "give",
    "make", "show", "find", "write", "also", "then", "them", "they", "there", "here", "now", "one", "not", "but",
    "are", "was", "were", "been", "being", "its", "it's", "i'd", "i'm", "i'll", "don't", "how", "who", "why",
    "all", "out", "into", "more", "very", "much", "really", "maybe", "actually", "something", "thing", "things",
    "way",
))  # fmt: skip


@check(group="I5", cls="likely", title=say("The simulated user leaves its part."), invalidates="failure")
def user_off_script(trial: InspectedTrial) -> Iterator[TrialEvent]:
    """A simulated user speaks as the agent, talks of its instructions, asks for something of another world, or ends before it asked.

    Not: thanks, small talk, answers to questions. What only fits no line of the script is left to the judge.
    """
    if not trial.simulated_user:
        return
    for step in trial.said_by("user"):
        text = END.sub(" ", step.text)
        small = text.lower()
        match = OF_INSTRUCTIONS.search(text) if holds_any(small, INSTRUCTION_STEMS) else None
        if match and not _is_in_script(match.group(), trial):
            span = sentence_at(step.text, step.text.find(match.group()))
            sentence = say("The simulated user talks of its instructions or of being a model.")
        elif match := _as_agent(text, trial):
            span = sentence_at(step.text, step.text.find(match.group()))
            sentence = say("The simulated user speaks as the agent would.")
        elif span := _other_request(text, step, trial):
            sentence = say("The simulated user asks for something that its script and the conversation do not hold.")
        elif (end := END.search(step.text)) and _ends_early(step, text, trial):
            span = end.group()
            sentence = say("The simulated user ends before it said what it wants.")
        else:
            continue
        yield TrialEvent(steps=(step.index,), span=span, sentence=sentence)
        return


def _is_in_script(words: str, trial: InspectedTrial) -> bool:
    return words.lower() in trial.user_script.lower()


def _as_agent(text: str, trial: InspectedTrial) -> re.Match[str] | None:
    match = AS_AGENT.search(text) if holds_any(text.lower(), AGENT_STEMS) else None
    if match is None or _is_in_script(match.group(), trial):
        return None
    is_quoted = re.search(rf"[\"“「][^\"”」]*{re.escape(match.group())}", text) is not None
    return None if is_quoted else match


def _other_request(text: str, step: TrialStep, trial: InspectedTrial) -> str:
    """Return a sentence that turns to another subject with a request whose words nobody used before."""
    if not (SWITCHES.search(text) or CREATIVE.search(text)):
        return ""
    if not any(earlier.author == "agent" for earlier in trial.steps[: step.index]):
        return ""
    seen: set[str] = set()
    for sentence in sentences_of(text):
        if not (ASKS.search(sentence) and (SWITCHES.search(text) or CREATIVE.search(sentence))):
            continue
        seen = seen or set(
            words_in(trial.user_script + "\n" + "\n".join(earlier.text for earlier in trial.steps[: step.index]))
        )
        content = [word for word in words_in(sentence) if len(word) > 2 or not word.isascii() if word not in SMALL]
        new = [word for word in content if word not in seen and word.rstrip("s") not in seen]
        if len(new) >= 2 and len(new) >= len(content) * (0.4 if CREATIVE.search(sentence) else 0.6):
            return sentence
    return ""


def _ends_early(step: TrialStep, text: str, trial: InspectedTrial) -> bool:
    """True if the user goes without an answer to the first question of the agent, before any call was made."""
    said = [earlier for earlier in trial.steps[: step.index] if earlier.author in ("user", "agent")]
    if any(call.step < step.index for call in trial.calls) or len(words_in(text)) > 3 or len(said) > 3:
        return False
    last = said[-1].text if said and said[-1].author == "agent" else ""
    return not said or any(mark in last for mark in ("?", "？", "请提供", "lease provide", "吗"))
