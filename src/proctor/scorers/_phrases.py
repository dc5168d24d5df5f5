"""Phrases with which models decline to answer: in Chinese and English, and the usual ones of other major languages.

A reply that gives an answer as well (`C. 无法判断`, "I'm sorry, but the answer is B") is no refusal, nor is a statement about
others ("Dogs can't see red"). A long reply declines at its beginning, in its first sentences.
"""

import re

from proctor.scorers.answer.text import simplified

_BEGINNING = 600  # characters of a reply in which it declines, if it does
_SENTENCES = 4
_NOT = r"(?:not|cannot|can't|won't|don't|didn't|doesn't|couldn't|wouldn't|haven't|hasn't|isn't|wasn't|aren't|unable|impossible|decline|refuse|lack|rather not|prefer not|no)"
_THINGS = (
    r"(?:images?|pictures?|photos?|figures?|diagrams?|attachments?|files?|graphs?|charts?|screenshots?|documents?)"
)
_FACTS = r"(?:information|details?|context|data|knowledge|answer)"
_DO = (
    r"(?:answer|answering|help|helping|assist|assisting|provide|determine|comply|do (?:that|this|so)|ful?fill?|respond|give|support|"
    r"tell|discuss|engage|process|continue|identify|analy[sz]e|solve|complete|generate|create|share|offer|say|know|understand|comment|refuse|decline)"
)
_ENGLISH = re.compile(
    # I or we, a negation, and what was asked for
    rf"(?<![\w'])i(?:'m|'ve|'d|'ll)?\b(?:(?!\b(?:but|so|because|since|that he|that she|about you)\b)[^.!?:]){{0,40}}?\b{_NOT}\b(?:(?!\b(?:but|so|because)\b)[^.!?:,]){{0,30}}?"
    rf"\b(?:{_DO}|(?:see|view|open|access|find|look at)(?:(?: \w+){{0,3}}? (?:{_THINGS}|{_FACTS}|it\b)|(?=[.!]?$))|{_THINGS}|(?:the )?(?:ability|capability|access)|(?:enough|any|the|that|this|sufficient|an) {_FACTS}|information|questions?|requests?|idea)\b(?! of\b)"
    rf"|\bwe(?:'re| are)? (?:cannot|can't|unable to|not able to) (?:answer|help|assist|provide|process|comply|ful?fill?)\b"
    rf"|(?<![\w'])i(?:'m| am) (?:afraid )?(?:not (?:really |entirely )?(?:sure|certain)|unsure)\b(?=[^,]{{0,60}}$)"
    r"|(?<![\w'])i(?:'d| would)? (?:have to |must |choose to )?(?:rather not|prefer not|decline|refuse|lack)\b|(?<![\w'])i (?:do not|don't) know\b(?! (?:of|any)\b)|\bgoing to have to (?:refuse|decline)\b"
    rf"|\b(?:not|n't)\b[^.!?]{{0,40}}\bi(?:'m| am)? (?:can|could|able to|allowed to) (?:{_DO})"
    # what is missing
    rf"|(?:\b(?:no|without (?:an?|the)|missing(?: the)?)|n't (?:attached?|provided?|uploaded?|included?|see|find)(?: an?y?| the)?) (?:\w+ )?{_THINGS}\b(?! (?:is|are) (?:needed|required|necessary))(?! ?shows?)(?=[^.]{{0,30}}\b(?:provided|attached|uploaded|included|given|available|here|shared|supplied|visible|present|in your|to look|i (?:can|am))|[.!?,]?$|[.!?,])"
    rf"|\b{_THINGS} (?:did(?:n't| not)|does(?:n't| not)|failed to|won't) (?:come|load|open|display|render|appear|upload)"
    rf"|\b{_THINGS} (?:is|are|was|were|seems? to be|appears? to be) (?:missing|not (?:provided|attached|included|available|visible|given|uploaded))"
    rf"|\bneed(?:ed)? (?:to see|the|more|additional|further)\b[^.,]{{0,30}}\b(?:{_THINGS}|{_FACTS})\b"
    rf"|\b(?:please|could you(?: please)?|can you(?: please)?|kindly) (?:re-?)?(?:provide|upload|attach|share|send|include|describe)\b(?: \w+){{0,5}}? ?(?:{_THINGS}|{_FACTS}|question|text|problem|it)\b(?! (?:of your|to the|to your)\b)"
    r"|\black of image information|missing image information|\b(?:insufficient|not enough|no) (?:information|context|data|details)\b(?= (?:is |was |has been )?(?:provided|given|available|here|to (?:answer|determine|solve|tell|say|decide|give))|[.!]?$)"
    r"|\bmore (?:information|context) (?:is )?(?:needed|required)"
    # the question, the rules
    r"|\b(?:question|request|problem|this|it) (?:cannot|can't|can not|could not) be (?:answered|solved|fulfilled|determined)\b|(?:n't|\bnot) possible for me\b|\bno idea[.!]?$|\bimpossible (?:for me )?to (?:answer|determine|say|tell)\b"
    r"|\bas an? (?:\S+ )?ai\b[^.]{0,80}\b(?:cannot|can't|unable|not able|don't|do not|have no)\b|language model[^.]{0,40}(?:can't|cannot|unable|not able)"
    r"|\bagainst (?:my|our) (?:policy|policies|guidelines|principles|programming)|\bmy (?:guidelines|policies|policy|instructions|programming) (?:do not|don't|does not|prevent|prohibit|forbid)"
    r"|\b(?:outside|beyond) (?:of )?what i can\b|\b(?:outside|beyond) my (?:scope|capabilities|knowledge|ability)|^(?:no answer|unable to (?:answer|comply|help|assist|determine))\b(?=[.!]?$|[^.]{0,40}(?:question|image|request))"
)
_CHINESE = re.compile(
    r"缺(?:少|乏)(?:必要的?|足够的?|相关的?)?(?:图片|图像|信息|条件|图)(?:信息)?|(?<!由于)(?<!因为)(?<!因)(?:信息|资料)(?:不足|不完整|不全)(?!导致|造成)|需要(?:更多|提供|补充)(?:的)?(?:信息|图片|资料|上下文)"
    # I, a negation, and what was asked for
    r"|(?:我|恕我|本人|抱歉|对不起|不好意思|遗憾)[^。！？]{0,14}?(?:不(?!是|过|会?错|久|同)|无法|没法|没有|没办法|没能|未能|难以|拒绝)[^。！？，：]{0,8}?(?:回答|作答|解答|答复|判断|确定|提供|查看|看到|看见|看清|协助|帮|给出|满足|完成|处理|访问|识别|"
    r"讨论|回应|透露|生成|继续|得出|求解|获取|支持|说|告诉|知道|清楚|了解|明白|理解|办法|懂|会(?=[。！]?$)|到您?你?[^。]{0,4}图)"
    r"|(?:本题|暂时|因此|所以|故|，|^|但)(?:也|还)?(?:无法|不能|没法|没有办法|没办法|难以|不便)(?:直接|准确|给出)?(?:回答|作答|解答|判断|确定|求解|得出)"
    r"|(?:看|见)不(?:到|见|清)(?:任何|您?的?|你的|这张|该|题目中的|上传的|您说的)?(?:图|附件|文件)"
    r"|(?:没有|未|没)(?:看到|见到|收到|能看到|附上?|提供|上传|给出|包含|找到)(?:任何|相关的?|题目的?|清晰的?|所需的?|对应的?)?(?:图|附件|文件|信息|上下文)|(?:^|，)(?:没有?|缺)(?:图|图片|附件)(?=[，。]|$)"
    r"|(?:图片?|图像|附件|文件)(?:并)?(?:未|没有|没|缺失)(?:被)?(?:提供|上传|显示|给出|附上|加载|成功|，)"
    r"|(?:请|麻烦|劳驾|能否|可否|可以)(?:您|你)?(?:先|重新|再|请)?(?:提供|上传|补充|发送|附上|描述)(?:一下|更多|相关|完整|题目|具体|清晰|您|你|该|原|图|必要|详细|问题)|请?把[^。]{0,8}图[^。]{0,4}(?:发|传|给)"
    r"|作为(?:一个|一名)?(?:ai|人工智能|语言模型)(?:语言)?(?:模型|助手)?[^。]{0,30}(?:无法|不能|没有|不具备)|超出(?:了)?我的(?:能力|知识|权限)"
    r"|^(?:这个?(?:道)?(?:问?题)?|真的|也|很)*(?:不知道|不清楚|不了解|不懂|不太清楚|不确定(?=[。！]?$)|答不(?:了|上来|出来?))|(?:帮|答)不(?:了|上)(?:你|您|忙|[。！]?$)|(?:无法|不能)(?:回答|作答|解答|确定答案|判断答案)|我(?:真的)?做不到|(?:我|抱歉|对不起)[^。！？]{0,12}(?:看|做|答|帮|办|给|判断|处理|提供)不(?:了|出)|无能为力|无可奉告|图片?(?:无法|不能)(?:显示|加载|打开|查看)|我不会(?=[。！]?$)|题我不会",
)
_OTHERS = re.compile(
    # Spanish, Portuguese, Italian, French
    r"\bno (?:puedo|podemos|soy capaz de|me es posible|estoy en condiciones de|tengo permitido) (?:\w+ )?(?:ayudar|responder|contestar|proporcionar|ver|cumplir|asistir|determinar|acceder|dar|hacer)\w*|\bno lo sé\b|\bno sé\b(?=$|[.,!]| la| cu)"
    r"|\bprefiero no\b|\bno tengo (?:acceso|suficiente|información|idea)|\bnão (?:posso|consigo|sou capaz de|me é possível|estou autorizado) (?:\w+ )?(?:ajud|respond|fornec|ver|cumpr|determin|acess|dar|faz)\w*|\bnão sei\b|\bprefiro não\b|\bnão tenho (?:acesso|informaç|conhecimento)"
    r"|\bnon (?:posso|sono in grado di|riesco a|mi è possibile) (?:\w+ )?(?:rispond|aiut|forni|veder|assist|determin|acced|dare|fare)\w*|\bnon lo so\b|\bnon ho (?:accesso|informazioni|abbastanza)|\bpreferisco non\b"
    r"|\bje (?:ne |n'|suis incapable|suis dans l'impossibilité|préfère ne pas)(?:(?:peux|puis|pourrai|suis|sais|arrive|ai|vois) ?(?:malheureusement )?pas|de|répondre|refuse)|\bje refuse de\b|\bje n'ai (?:pas|aucun)"
    # German, Dutch, Polish
    r"|\bich (?:kann|darf|möchte|will|werde)\b[^.,]{0,60}\b(?:nicht|keine?[nr]?)\b[^.]{0,60}\b(?:beantworten|helfen|antworten|sehen|geben|bereitstellen|erfüllen|bestimmen|machen|sagen|erkennen)|\bkann ich (?:das |die frage |dir |ihnen )?(?:leider )?nicht|\bweiß ich (?:leider )?nicht|\bich weiß (?:es|das|die antwort)? ?nicht\b|\bkann ich\b[^.,]{0,40}\bnicht\b[^.]{0,30}(?:beantworten|helfen|antworten)|\b(?:kann|ich)\b[^.]{0,40}nicht (?:beantworten|helfen)"
    r"|\bik (?:kan|mag|wil|weet)\b[^.]{0,50}\bniet\b|\bnie (?:mogę|potrafię|jestem w stanie) (?:\w+ )?(?:odpowied|pom|udziel|zobacz)\w*|\bnie wiem\b"
    # Russian, Ukrainian, Turkish, Arabic, Hindi
    r"|\bя не (?:могу|знаю|в состоянии|способен|буду)\b|\bне могу (?:ответить|помочь|предоставить|увидеть)|\bя не можу\b|\bbilmiyorum\b|(?:yanıt|cevap)\w*(?:la|ya|)y?amam\b|\byardımcı olamam|\bedemem\b"
    r"|لا (?:أستطيع|يمكنني|أعرف|أعلم|أقدر)|لست قادر|नहीं (?:दे|कर|बता|जानत)|मुझे नहीं पता|मैं .{0,40}नहीं"
    # Vietnamese, Indonesian, Thai
    r"|\btôi (?:không thể|không biết|không có khả năng|rất tiếc)|\bsaya tidak (?:dapat|bisa|tahu|mampu)|ไม่สามารถ(?:ตอบ|ช่วย|ให้|ดู)|ไม่ทราบ|ฉันไม่รู้"
    # Japanese, Korean
    r"|(?:お答え|回答|お手伝い|お力に|答え|提供|対応|判断|確認|閲覧)(?:する(?:こと)?|が|は|に|を|なる|なれ|、)*(?:でき(?:ません|ない|かね)|いたしかね|しかね|られません|控えさせて)|(?:わか|分か)(?:りません|らない)|存じません|知りません|お力になれません|画像[がはを](?:見え|見られ|確認でき|あり)ません"
    r"|(?:답변|답|대답|도와|도움|제공|확인|판단)(?:을|를|해|하|드릴|드리|할|이|은|는|\s)*(?:수 없|수가 없|어렵|못)|모르겠|모릅니다|알 수 없습니다|이미지가 (?:없|보이지)",
)
_FRAMES = re.compile(
    r"^(?:i'm|i am|we're) (?:so |very |really )?(?:sorry|afraid)\b[^.]{0,60}(?:can|unable|not able|won't|but i (?:do not|don't|have))|^(?:unfortunately|sorry|i apologi[sz]e)\b[^.]{0,60}\b(?:i|we)(?:'m| am)? (?:can|could|am|are|'m|do|don|won|not|unable)[^.]{0,40}(?:n't|not|unable)"
)
_ANSWERS = re.compile(
    r"^\W*[(\[]?[a-h][)\].、:：,，]\s?\S|\b(?:the |my |correct |final )*answer (?:is|would be|should be|must be|:)\s*[^\s.!?]|\banswer:|\bso (?:it is|it's|the)\b|\bi (?:think|believe|guess|suspect|would (?:say|guess))\b(?! (?:i|we|you)\b)"
    r"|(?:答案|故|应|我|因此|所以)?选(?:项|择)?\s?[:：]?\s?[a-h](?![a-z])|答案(?:是|为|应|[:：])|(?:la respuesta|la réponse|la risposta|a resposta|die antwort) (?:es|est|è|é|ist)\b|答えは|정답은|ответ:|\\boxed"
)
_QUOTED = re.compile(r"[\"“「‘][^\"”」’]{0,400}[\"”」’]")
_OF_OTHERS = re.compile(r"^(?:no image is needed|to \w+)")


def refusal_in(reply: str) -> str | None:
    """The phrase with which a reply declines to answer; None when it does not, or answers all the same.

    >>> refusal_in("I'm sorry, but I can't help with that."), refusal_in("It is 4.")
    ("i can't help", None)
    >>> refusal_in("C. 无法判断"), refusal_in("Dogs can't see red."), refusal_in("無法回答")
    (None, None, '无法回答')
    """
    text = " ".join(reply.replace("’", "'").lower().split())
    if not text or _ANSWERS.search(simplified(text[:_BEGINNING] + " " + text[-_BEGINNING:])):
        return None
    beginning = _QUOTED.sub(" ", text[:_BEGINNING])
    for sentence in re.split(r"(?<=[.!?。！？])\s*", beginning)[:_SENTENCES]:
        plain = simplified(sentence)
        for phrases, said in ((_ENGLISH, plain), (_CHINESE, plain), (_OTHERS, sentence), (_FRAMES, plain)):
            if (found := phrases.search(said)) is not None and not _OF_OTHERS.match(sentence):
                return found[0].strip(" ,，")
    return None
