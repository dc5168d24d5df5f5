"""Phrases with which models decline to answer: in Chinese and English, and the usual ones of other major languages.

A reply that gives an answer as well (`C. 无法判断`, "I'm sorry, but the answer is B") is no refusal, nor is a statement about
others ("Dogs can't see red"). A long reply declines at its beginning, in its first sentences.
"""

import re

from proctor.scorers.answer.text import simplified

_BEGINNING = 600  # characters of a reply in which it declines, if it does
_SENTENCES = 4
_CAN = r"(?:can(?:not|'t| not)|could(?: not|n't)|won't|will not|am unable to|'m unable to|am not able to|'m not able to|am not (?:allowed|permitted) to|unable to)"
_DO = (
    r"(?:(?:really|currently|actually|directly|possibly|confidently|just) )?(?:answer|help|assist|provide|determine|see|view|comply|do (?:that|this|so)|"
    r"ful?fill?|access|open|look at|respond|give|support|tell|discuss|engage|process|continue|identify|analy[sz]e|solve|complete|generate|create|share|offer)"
)
_ENGLISH = re.compile(
    r"\b(?:i (?:honestly|really|simply|just|still)? ?(?:do not|don't|couldn't|could not) (?:have|find|know)(?: (?:that|this|the|an|any))? ?(?:answer|information|data|knowledge|details|file|solution)\b"
    r"|i (?:honestly|really|simply|truly) (?:do not|don't) know\b|(?:going|have|need|choose) to (?:have to )?(?:refuse|decline)\b|^(?:no answer|unable to (?:answer|comply|help|assist|determine))\b(?=[.!]?$)"
    r"|i am not sure what|(?:language model|an ai)[^.]{0,40}(?:can't|cannot|unable|not able))"
    rf"|\b(?:i|we)(?: (?:must|have to) (?:say|tell you)[\w ]{{0,20}})? ?(?:'m (?:afraid|sorry)(?: but)?,? (?:that )?(?:i )?)?{_CAN} {_DO}\b(?! (?:that )?it\b)"
    r"|\bi(?:'d| would)? (?:rather not|prefer not|must decline|have to decline|decline|refuse|do(?: not|n't) (?:feel )?want) ?(?:to )?(?:answer|say|respond|discuss|help|do|share|that|this|comment)?\b"
    r"|\bi(?:'m| am) (?:not comfortable|uncomfortable|not (?:really )?sure(?: (?:about|of|how|what|which))?(?=[^,]{0,40}$|[^,]{0,40}\.)|not certain)\b(?!,)"
    r"|\bi (?:do not|don't) (?:actually |really )?(?:know(?=$|[.!,;]| (?:the|how|what|which|that|this|about|enough|who|where|when|if|whether))|have (?:access|enough|any (?:image|information|idea)|the (?:image|information|ability|picture|capability)|sufficient|an answer)|see (?:any|an|the) (?:image|picture|photo|attachment|file|figure|diagram))"
    r"|\bi have no (?:idea|way|access|information|clue)\b|\bi can't (?:say|tell)\b(?=$|[.!])"
    r"|\b(?:no|without (?:an?|the)|missing the) (?:image|picture|photo|figure|diagram|attachment|file|graph)s? (?:was|were|is|are|has been|have been)? ?(?:actually )?(?:provided|attached|uploaded|included|given|available|shared|present|supplied|visible)"
    r"|\b(?:image|picture|photo|figure|diagram|attachment|file)s? (?:is|are|was|were|seems? to be|appears? to be) (?:missing|not (?:provided|attached|included|available|visible|given|uploaded))"
    r"|\b(?:please|could you(?: please)?|can you(?: please)?|kindly) (?:re-?)?(?:provide|upload|attach|share|send|include|describe)(?: (?:me|us))?(?: with)? (?:the|an|a|your|more|that|this|it|some|additional|further)\b(?: \w+){0,3}? ?(?:image|picture|photo|figure|diagram|file|attachment|information|context|details|question|text|document|screenshot|graph|chart|table|problem|it\b|one\b|data)s?(?! (?:of your|to the|to your)\b)"
    r"|\black of image information|missing image information|\b(?:there (?:is|was) )?(?:insufficient|not enough|no) (?:information|context|data|details)\b(?: (?:is |was |has been )?(?:provided|given|available|here|to (?:answer|determine|solve|tell|say|decide|give)))?"
    r"|\b(?:need|require) more (?:information|context|details)|more (?:information|context) (?:is )?(?:needed|required)"
    r"|\bas an ai(?: language)? (?:model|assistant)\b[^.]{0,80}\b(?:cannot|can't|unable|not able|don't|do not|have no)\b"
    r"|\b(?:not something|nothing) i(?:'m| am)? (?:can|could|able to) (?:help|assist|answer|do)|\bagainst (?:my|our) (?:policy|policies|guidelines|principles|programming)"
    r"|\bmy (?:guidelines|policies|policy|instructions|programming) (?:do not|don't|does not|prevent|prohibit|forbid)|\bbeyond my (?:capabilities|knowledge|ability)"
    r"|\b(?:cannot|can't|can not|could not) be (?:answered|determined|solved)\b|\bunable to (?:answer|determine|provide|assist|help|view|see)\b(?= (?:this|that|the (?:question|image|picture|answer|request)|your|an? (?:answer|image|response)|you|with|any))",
)
_CHINESE = re.compile(
    r"(?:我|恕我)(?:不能|无法|不会|不可以)(?:告诉|帮|说|做|完成|继续)|(?:麻烦|劳驾|能否|可以)(?:您|你)?(?:请)?(?:重新)?(?:上传|提供|补充|发送|描述)|超出(?:了)?我的(?:能力|知识|权限)|(?:看|见)不(?:到|见|清)(?:您|你)?(?:说|提|提到|发|给|上传)(?:的)?图"
    r"|缺(?:少|乏)(?:必要的?|足够的?|相关的?)?(?:图片|图像|信息|条件|图)(?:信息)?|(?<!由于)(?<!因为)(?<!因)(?:信息|资料)不足(?!导致|造成)|需要(?:更多|提供|补充)(?:的)?(?:信息|图片|资料|上下文)"
    r"|(?:我|本题|暂时|实在|所以|因此|故|，|^|，?但)(?:真的|确实|目前|现在|也|还是)?(?:无法|不能|没法|没有办法|没办法|难以|不便|不方便|不愿意?|拒绝|不可以)(?:直接|准确|继续|给出|提供|对此|为[你您]|就此|进行|再)?"
    r"(?:回答|作答|解答|判断|确定|提供|查看|看到|看见|协助|帮助|帮[你您]|给出|满足|完成|处理|访问|识别|讨论|回应|答复|透露|生成|继续|得出|求解|获取|支持|说)"
    r"|(?:我)?(?:看|见)不(?:到|见|清)(?:任何|您?的?|你的|这张|该|题目中的|上传的)?(?:图|附件|文件)|(?:没有|未|没)(?:看到|见到|收到|能看到|附上?|提供|上传|给出|包含|找到)(?:任何|相关的?|题目的?|清晰的?|所需的?|对应的?)?(?:图|附件|文件|信息|上下文)"
    r"|(?:图片?|图像|附件|文件)(?:并)?(?:未|没有|没)(?:被)?(?:提供|上传|显示|给出|附上|加载|成功)|请(?:您|你)?(?:先|重新|再)?(?:提供|上传|补充|发送|附上|描述|说明)(?:一下|更多|相关|完整|题目|具体|清晰|您|你|该|原|图|必要|详细|问题)"
    r"|作为(?:一个|一名)?(?:ai|人工智能|语言模型)(?:语言)?(?:模型|助手)?[^。]{0,30}(?:无法|不能|没有|不具备)|^(?:抱歉[，,]?|对不起[，,]?|不好意思[，,]?|这个(?:问题)?|这道?题|这|我|真的|也|很)*(?:我)?(?:真的|也|还)?(?:不知道|不清楚|不了解|不会(?=[。！]?$)|不懂|不太清楚|不确定(?=[。！]?$)|答不(?:了|上来|出来?))"
    r"|(?:抱歉|对不起|不好意思|遗憾)[^。]{0,20}(?:我)?(?:不能|无法|没有?办法|没法|帮不了|帮不上|不可以|答不了)|帮不了(?:你|您)|(?:无法|不能)(?:回答|作答|解答|确定答案|判断答案)",
)
_OTHERS = re.compile(
    # Spanish, Portuguese, Italian, French
    r"\bno (?:puedo|podemos|soy capaz de|me es posible|estoy en condiciones de|tengo permitido) (?:\w+ )?(?:ayudar|responder|contestar|proporcionar|ver|cumplir|asistir|determinar|acceder|dar|hacer)\w*|\bno lo sé\b|\bno sé\b(?=$|[.,!]| la| cu)"
    r"|\bprefiero no\b|\bno tengo (?:acceso|suficiente|información|idea)|\bnão (?:posso|consigo|sou capaz de|me é possível|estou autorizado) (?:\w+ )?(?:ajud|respond|fornec|ver|cumpr|determin|acess|dar|faz)\w*|\bnão sei\b|\bprefiro não\b"
    r"|\bnon (?:posso|sono in grado di|riesco a|mi è possibile) (?:\w+ )?(?:rispond|aiut|forni|veder|assist|determin|acced|dare|fare)\w*|\bnon lo so\b|\bpreferisco non\b"
    r"|\bje (?:ne |n'|suis incapable|suis dans l'impossibilité|préfère ne pas)(?:(?:peux|puis|pourrai|suis|sais|arrive|ai|vois) ?(?:malheureusement )?pas|de|répondre|refuse)|\bje refuse de\b|\bje n'ai (?:pas|aucun)"
    # German, Dutch, Polish
    r"|\bich (?:kann|darf|möchte|will|werde)\b[^.,]{0,60}\b(?:nicht|keine?[nr]?)\b[^.]{0,60}\b(?:beantworten|helfen|antworten|sehen|geben|bereitstellen|erfüllen|bestimmen|machen|sagen|erkennen)|\bich weiß (?:es|das|die antwort)? ?nicht\b|\bkann ich\b[^.,]{0,40}\bnicht\b[^.]{0,30}(?:beantworten|helfen|antworten)|\b(?:kann|ich)\b[^.]{0,40}nicht (?:beantworten|helfen)"
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
