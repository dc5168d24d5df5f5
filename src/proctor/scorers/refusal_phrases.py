"""Phrases with which models decline to answer: in Chinese and English, and the usual ones of other major languages.

A reply that gives an answer as well (`C. 无法判断`, "I'm sorry, but the answer is B") is no refusal, nor is a statement about
others ("Dogs can't see red"). A long reply declines in its first sentences, or in a last one that leads to it ("For that reason, …").
"""

import re
from collections.abc import Sequence

import msgspec

from proctor.answer_matching.text import simplified
from proctor.scorers.refusal_context import (
    LEADS_TO_REFUSAL,
    answers_after,
    answers_partly,
    goes_on,
    is_about_itself,
    is_flat_no,
    is_of_another,
    is_requested_text,
    says_yes,
    words_to_render,
)
from proctor.scorers.refusal_limits import limit_in

_BEGINNING = 600  # characters of a reply in which it declines, if it does
_SENTENCES = 4
_LAST = 3  # sentences at the end of a longer reply, of which one that leads to a refusal may be it
_NOT = r"(?:not|cannot|can't|won't|don't|didn't|doesn't|couldn't|wouldn't|haven't|hasn't|isn't|wasn't|aren't|unable|impossible|decline|refuse|lack|rather not|prefer not|no)"
_THINGS = (
    r"(?:images?|pictures?|photos?|figures?|diagrams?|attachments?|files?|graphs?|charts?|screenshots?|documents?)"
)
_FACTS = r"(?:information|details?|context|data|knowledge|answer)"
_DO = (
    r"(?:answer|answering|help|helping|assist|assisting|provide|determine|comply|do (?:that|this|so)|ful?fill?|respond|give|support|"
    r"tell|discuss|engage|process|continue|identify|analy[sz]e|solve|complete|generate|create|share|offer|say(?! it better| enough)|know|understand|comment|refuse|decline)"
)
_ENGLISH = re.compile(
    # I or we, a negation, and what was asked for
    rf"(?<![\w'])i(?:'m|'ve|'d|'ll)?\b(?:(?!\b(?:but|so|because|since|that he|that she|about you)\b)[^.!?:]){{0,40}}?\b{_NOT}\b(?:(?!\b(?:but|so|because)\b)[^.!?:,]){{0,30}}?"
    rf"\b(?:{_DO}|(?:see|view|open|access|find|look at)(?:(?: \w+){{0,3}}? (?:{_THINGS}|{_FACTS}|it\b)|(?=[.!]?$))|{_THINGS}|(?:the )?(?:ability|capability|access)|(?:enough|any|the|that|this|sufficient|an) {_FACTS}|information|questions?|requests?|idea)\b(?! of\b)"
    rf"|\bwe(?:'re| are)? (?:cannot|can't|unable to|not able to) (?:answer|help|assist|provide|process|comply|ful?fill?)\b"
    rf"|(?<![\w'])i(?:'m| am) (?:afraid )?(?:not (?:really |entirely )?(?:sure|certain)|unsure)\b(?=[^,]{{0,60}}$)"
    r"|(?<![\w'])i(?:'d| would)? (?:have to |must |choose to )?(?:\w+ly )?(?:rather not|prefer not|decline|refuse|lack)\b|(?<![\w'])i (?:do not|don't) know\b(?! (?:of|any)\b)|\bgoing to have to (?:refuse|decline)\b"
    rf"|\b(?:not|n't)\b[^.!?]{{0,40}}\bi(?:'m| am)? (?:can|could|able to|allowed to) (?:{_DO})"
    # what is missing
    rf"|(?:\b(?:no|without (?:an?|the)|missing(?: the)?)|n't (?:attached?|provided?|uploaded?|included?|see|find)(?: an?y?| the)?) (?:\w+ )?{_THINGS}\b(?! (?:is|are) (?:needed|required|necessary))(?! ?shows?)(?=[^.]{{0,30}}\b(?:provided|attached|uploaded|included|given|available|here|shared|supplied|visible|present|in your|to look|i (?:can|am))|[.!?,]?$|[.!?,])"
    rf"|\b{_THINGS} (?:did(?:n't| not)|does(?:n't| not)|failed to|won't) (?:come|load|open|display|render|appear|upload)"
    rf"|\b{_THINGS} (?:is|are|was|were|seems? to be|appears? to be) (?:missing|not (?:provided|attached|included|available|visible|given|uploaded))"
    rf"|(?<!you )(?<!you will )(?<!you'll )(?<!they )\bneed(?:ed)? (?:to see|the|more|additional|further)\b[^.,]{{0,30}}\b(?:{_THINGS}|{_FACTS})\b"
    rf"|\b(?:please|could you(?: please)?|can you(?: please)?|kindly) (?:re-?)?(?:provide|upload|attach|share|send|include|describe)\b(?: \w+){{0,5}}? ?(?:{_THINGS}|{_FACTS}|question|text|problem|it)\b(?! (?:of your|to the|to your)\b)"
    r"|\black of image information|missing image information|\b(?<!because )(?:insufficient|not enough|no) (?:information|context|data|details)\b(?= (?:is |was |has been )?(?:provided|given|available|here|to (?:answer|determine|solve|tell|say|decide|give))|[.!]?$)"
    r"|\bmore (?:information|context) (?:is )?(?:needed|required)"
    # the question, the rules
    r"|\b(?:question|request|problem|this|it) (?:cannot|can't|can not|could not) be (?:answered|solved|fulfilled|determined)\b|(?:n't|\bnot) possible for me\b|\bno idea[.!]?$|\bimpossible (?:for me )?to (?:answer|determine|say|tell)\b"
    r"|\bas an? (?:\S+ )?ai\b[^.]{0,80}\b(?:cannot|can't|unable|not able|don't|do not|have no)\b|language model[^.]{0,40}(?:can't|cannot|unable|not able)"
    r"|\bagainst (?:my|our) (?:policy|policies|guidelines|principles|programming)|\bmy (?:guidelines|policies|policy|instructions|programming) (?:do not|don't|does not|prevent|prohibit|forbid)"
    r"|\b(?:outside|beyond) (?:of )?what i can\b|\b(?:outside|beyond) my (?:scope|capabilities|knowledge|ability)|^(?:no answer|unable to (?:answer|comply|help|assist|determine))\b(?=[.!]?$|[^.]{0,40}(?:question|image|request))"
)
_KNOW = r"(?:tell|know|determin\w+|answer(?:ed|ing)?|say|infer(?:red)?|deduced?|identif\w+|conclude\w*|ascertain\w*|verif\w+|judged?|decided?|figure(?:d)? out|calculated?|solved?|established)"
_TEXT = r"(?:text|passage|article|documents?|context|question|table|paragraph|story|excerpt|prompt|problem|sources?|search results|images?|pictures?|figure|chart|graph)"
_IMPERSONAL = re.compile(
    # nothing about who cannot: what cannot be known, what there is too little of, what forbids it
    rf"\b(?:impossible|not possible|no way|unable|(?:cannot|can't|can not|couldn't|could not) (?:really |accurately |reliably |definitively )?be|hard|difficult) (?:for me )?(?:to |of |for (?:me|us|anyone) to )?(?:really |accurately |reliably |definitively |possibly |be )?{_KNOW}\b(?! (?:that|no|yes)\b)"
    rf"|(?:\bnot (?:enough|sufficient)|n't (?:enough|sufficient|any)|(?:^|, |\bthere(?:'s| is| are| was) |\bwith |\bhave )no|\b(?:insufficient|too little|lacks?|lacking|without|limited|missing))(?: the| any| more| enough| sufficient)? (?:\w+ ){{0,2}}?(?:information|context|data|details|evidence|facts)\b(?=(?: \w+){{0,5}}? (?:to|provided|given|available|here|on this|about this|for me|in (?:the|this))\b|[.!]?$|,)"
    r"|\bnot (?:something|a topic|a question|a task|anything) (?:that )?(?:i|we)(?:'m| am| are)? (?:can|could|will|would|able|allowed|willing|comfortable|permitted|know)\b|\bno comment\b"
    r"|\b(?:requests?|questions?|content|topic|this|that|which|doing so)\b[^.]{0,40}\b(?:violat\w+|go(?:es)? against|breach\w*|contravenes?|(?:is|are) (?:against|prohibited|not allowed|not permitted))\b[^.]{0,40}\b(?:polic(?:y|ies)|guidelines?|rules|terms|principles|standards|safety)\b"
    r"|\b(?:my|our) (?:\w+ ){0,2}(?:knowledge|training|cut-?off|data|guidelines|polic(?:y|ies)|programming|capabilit(?:y|ies)|sources?|design|instructions|rules)\b[^.]{0,30}(?:\bnot\b|n't\b|\bprevents?\b|\bprohibits?\b|\bforbids?\b|\blimited\b|\bends?\b|\bstops?\b)"
    r"|\b(?:let's|let us|can we|could we|i(?:'d| would) (?:prefer|rather|like) to|shall we)\b[^.]{0,20}\b(?:something|topic|subject|anything)\b[^.]{0,12}(?:\belse\b|\bdifferent\b|[.!?]?$)"
    r"|(?<![\w'])(?:i|we)(?:'m| am| are|'re)? (?:\w+ly )?(?:cannot|can't|can not|won't|will not|unable to|not able to|not going to|not allowed to|not permitted to|couldn't|could not)(?: \w+ly)?(?: in good conscience)? (?:write|describe|explain|recommend|speculate|predict|verify|confirm|advise|judge|make out|read|produce|fabricate|do (?:it|that|this|so)|name|count|calculate|evaluate|estimate|guess|decide|make|draw|translate|summari[sz]e|perform|carry|browse|be (?:sure|certain|of))\b(?! [^.]{0,40}\benough\b)"
    r"|(?<![\w'])(?:i|we)(?:'m| am|'ve)? (?:\w+ly )?(?:only able to|limited to|not (?:trained|designed|programmed|equipped|qualified|familiar|aware)|have no (?:record|memory|knowledge|access|clue|idea|means|way|information|data|opinion|answer|view)|don't have (?:a|the|any|an) (?:answer|clue|record|opinion|view|way|means|tools?))\b"
    r"|\b(?:could|can|would) you (?:please )?(?:clarify|specify|rephrase|elaborate|be more specific|give me more|resend|re-send|double-check)\b"
)
_SELF = re.compile(
    # an agent that speaks of itself at the start of a clause, with a negation: whatever it is that it cannot, may not or does not
    r"(?:^|[,;:] |[,;]? (?:but|and|so|however|as|since|because|that) |sorry |unfortunately,? |afraid )(?:i|this ai|this assistant)(?:'m|'ve|'d|'ll| am| have| do| did| can| could| will| would| was| must| should| really| simply| just| honestly| also| still| only| currently|,)*"
    r"(?:n't|(?<=can)not| (?:not|unable|no longer|cannot|decline|refuse|abstain|refrain|pass\b|skip\b|stumped|clueless|lost\b|at a loss|have no|lack|haven't|can't|don't|won't|couldn't|didn't|wasn't|wouldn't|prefer not|rather not))\b"
    r"(?!,? (?:believe|agree more|like|love|want|wait|deny|help but|stress|emphasi[sz]e|exaggerate|see why|see any|see how|go into|over|think|need|mind|have to|worry|just|only|mean|doubt|say no|say yes|made|care|eat|drink|smoke|swim|remember (?:it|that)|say it|know of|recommend (?:this|it|that|him|her|the)|praise|complain|resist|imagine))"
    r"|\bi(?:'ll|'m going to| will| am going to|'d rather|'d like to| must| have to|'ll have to)(?: \w+){0,2}? (?:pass|skip|abstain|refrain|decline)\b"
    r"|\bi(?:'m| am) (?:just |only )?(?:an? )?(?:\w+ )?(?:ai|language model|chatbot|text-based)\b[^.]{0,60}(?:\bnot\b|n't\b|\bcannot\b|\bno\b)|\bi only have\b[^.]{0,60}(?:n't|\bnot\b|\bcannot\b)"
    r"|\b(?:irresponsible|unethical|inappropriate|improper|wrong|illegal|dangerous|unsafe|unwise|impossible|not appropriate|not right) (?:of|for) (?:me|us) to\b|\bit(?:'s| is) not (?:my place|up to me)\b"
    r"|\b(?:beyond|outside|above|exceeds)\b[^.]{0,20}\b(?:i|i'm|my|me|our)\b|\byour guess is as good as mine\b|^(?:i'm |i am )?(?:so |very )?(?:sorry|unfortunately|regrettably)\b,? (?:but )?(?:no|not (?:possible|this time|able|allowed))\b(?=[.!]?$|,)"
    # what is not there: the source is silent, the user left something out
    rf"|\byou (?:did not|didn't|have not|haven't|forgot to|need to|must|seem to have forgotten to|may have forgotten to) (?:first )?(?:included?|attach(?:ed)?|provided?|upload(?:ed)?|specif(?:y|ied)|give|paste|shared?|supply|mention(?:ed)?)\b"
    rf"|\b(?:none|neither) of (?:the|these|those|your) (?:\w+ ){{0,2}}?(?:{_TEXT}|passages|results|files|sources|texts)\b[^.]{{0,20}}\b(?:contains?|mentions?|answers?|provides?|includes?|states?|says?|gives?|addresse?s?)\b"
    r"|\b(?:is|are|was|were)(?:n't| not| never| nowhere)(?: \w+ly)? (?:stated|mentioned|specified|given|provided|included|described|discussed|addressed|disclosed|known|available|contained|covered|recorded)(?: anywhere)?(?: (?:in|by) (?:the|this|that|your|any) (?:\w+ )?\w+)?(?=[.!]?$|, so\b)"
    r"|\b(?:information|data|details?|answer|context|it|this|that|facts?)(?: \w+){0,4}? (?:is|are) (?:missing|unknown|unavailable|confidential|classified|private|unclear|proprietary|restricted)\b(?= (?:from|to me|in the|at|and|because)|[.!]?$|,)"
)
_APOLOGY = re.compile(
    r"(?:n't|\bnot)(?: \w+)? clear (?:from|in)\b|\bunclear (?:from|in)\b|\bnothing in (?:the|this|your)\b[^.]{0,30}\b(?:answers?|says?|mentions?|tells?|indicates?|suggests?|states?)\b|\b(?:information|context|details?|data)(?: \w+)? (?:would be|is|are) (?:needed|required|necessary)\b|\b(?:requires?|needs) (?:more|additional|further) (?:information|context|details?|data)\b|^that(?:'s| is) (?:unknown|a mystery|unclear)\b|\b(?:no|not the) (?:answer|information)\b[^.]{0,20}\b(?:in|from) (?:the|this)\b"
    r"|，(?:所以)?(?:没法|无法|不能|没办法)(?:做|算|解|答)(?=[。！]?$)|不(?:在|属于)我的[^。]{0,8}(?:范围|能力|权限|职责)|^(?:根据|从|由|就|仅凭|凭)[^。，]{0,16}[，]?(?:还)?(?:无法|不能|难以|无从)(?:判断|确定|得出|得知|推断|看出|回答)|(?:没|没有)(?:能)?(?:听懂|看懂|理解)"
    # an apology or regret, then a negation
    r"\b(?:sorry|apolog\w+|regret\w*|unfortunately)\b[^.]{0,60}?(?:\bi\b|\bwe\b|\bthat's\b|\bthis is\b)[^.]{0,30}?(?:n't|\b(?:not|no|unable|cannot|decline|refuse)\b)|^(?:i'm )?not (?:really |so |too |entirely )?sure\b(?=[,.!]?$|, sorry)|\b(?:image|picture|photo|figure|text|question|request|scan|diagram)s? (?:is|are|was|looks|seems|appears) (?:\w+ )?(?:blurr\w+|illegible|unreadable|ambiguous|unclear|vague|incomplete|cut off|cropped|corrupted|broken|garbled)\b"
    rf"|\b{_TEXT}(?: \w+)?(?: provided| given| above)? (?:does|do|did)(?:n't| not) (?:actually )?(?:have|hold|contain|include|provide|give|state|specify|mention|say|tell|answer)\b[^.;:]{{0,40}}\b(?:answer|information|enough|details?|this|that|it)\b|\bwe (?:cannot|can't|can not|could not|couldn't|are unable to|do not|don't) {_KNOW}\b|\bagainst (?:the|my|our) (?:rules|law|guidelines|polic(?:y|ies))\b[^.]{{0,20}}\b(?:so|no)\b"
    r"|(?:抱歉|遗憾|对不起|不好意思|对此|您好)[^。]{0,14}?(?:没|不(?!是|过|错|对|久|同|成立|正确)|无法|未能|难以)|(?:问题|题目|图片?|图像|照片|描述)(?:有点|太|比较|很|过于)?(?:不(?:太)?(?:清楚|清晰|明确|完整)|模糊|看不清|有歧义)|不(?:发表|予)(?:评论|置评|意见|回答)|没有?(?:能)?(?:找到|查到)(?:相关|确切|正确)?(?:的)?(?:答案|结果)|(?:回答|解答|处理|判断|看|算|做)不(?:了|出来?)(?=[。！]?$)"
)
_SORRY = re.compile(
    r"(?:lo siento|lamento|lamentablemente|desafortunadamente|désolée?|malheureusement|regrette|leider|tut mir leid|desculpe|infelizmente|lamento|dispiace|purtroppo|spiacente|helaas|spijt|przepraszam|niestety|bohužel|извините|к сожалению|простите|üzgünüm|maalesef|tyvärr|beklager|desværre|dessverre|xin lỗi|rất tiếc|maaf|mohon maaf|δυστυχώς|λυπάμαι)[^;:]{0,100}?(?:\b(?:no|not|pas|nicht|keine?n?|não|non|niet|geen|nie|не|нет|inte|ikke|không|tidak|belum|tak|δεν|nu)\b|am[ıi]y|em[ei]m|amam)"
    r"|(?:申し訳|すみません|すいません|ごめん|恐れ入り)[^:：]{0,60}?(?:ません|ない|かね)|(?:죄송|미안)[^:：]{0,60}?(?:수 ?없|못|않|모르|어렵)|(?:عذر|آسف|أعتذر)[^:]{0,60}?(?:لا|ليس|لن|لم)|(?:क्षमा|माफ|खेद)[^:]{0,60}?नहीं|(?:ขออภัย|ขอโทษ)[^:]{0,60}?ไม่|(?:ليس|لا يوجد) (?:لدي|عندي)|मुझे [^।]{0,30}नहीं|(?:情報|知識|データ|機能|権限|能力)(?:は|が|を)?(?:持って(?:い|おり)|あり|ござい)ません"
)
_SELF_CHINESE = re.compile(
    r"我(?!们|国|校|家|妈|爸|的(?!知识|数据|训练|能力|权限))[^。！？，；]{0,12}?(?:无法|没法|没有?办法|没能|不能|不会|不便|不宜|不得|难以|未能|无权|拒绝|没有(?:权限|能力|相关|足够|这|看到|收到|个人|任何|访问|实时|资格|情感|意见|答案)|"
    r"不(?:知道|清楚|了解|确定|懂|明白|敢|打算|愿|方便|可以|应该|提供|参与|支持|太|具备|予|做|掌握|认识|熟悉)|说不|答不|想不|帮不|做不|看不|只是.{0,10}(?:模型|助手|ai|程序))"
    r"|恕(?:我)?(?:难|不|无)|(?:请求|问题|内容|话题|要求)[^。]{0,8}(?:违反|违背|不符合|敏感|超出|不合适|不恰当|违法)|(?:违法|违规|犯法)[^。]{0,12}(?:不能|不会|无法|拒绝)"
    r"|(?:没有?|未)(?:能)?(?:找到|查到|检索到|任何|提供|包含)?(?:任何)?(?:相关|有关|对应|足够|可用)的?(?:信息|内容|资料|记录|结果|数据|上下文)|^(?:这个?)?说不(?:准|好|清|上来)|^爱莫能助|^无能为力"
)
_WHOLE = re.compile(
    r"\W*(?:unanswerable|unknown|undetermined|indeterminable|indeterminate|n/?a|not available|not answerable|not (?:specified|mentioned|stated|given|provided)(?: in the \w+)?|no answer|no comment|pass|not sure|unsure|no clue|beats me|dunno|who knows|god knows|search me|i pass|je l'ignore|aucune idée|keine ahnung|ni idea|nessuna idea|sem ideia|geen idee|понятия не имею|"
    r"无|未知|不详|不明|无可奉告|未提及|未提供|未说明|文中未提及|无从得知|不得而知|无解答)\W*(?:$| [-–—].*)"
    rf"|(?:(?:unfortunately|sorry),? )?(?:the|this|that|your) (?:\w+ )?{_TEXT}(?: provided| given| above)? (?:does not|doesn't|did not|didn't|do not|don't|never|fails to) (?:actually |explicitly |clearly )?(?:say|mention|state|specify|contain|include|provide|give|tell|indicate|answer|disclose|reveal)[^.;:]{{0,70}}\.?"
    r"|(?:很?抱歉[，,])?(?:文中|原文|文章|材料|题目|题干|题中|图中|图片|上下文|资料|文档|表格)(?:里|中)?(?:并)?(?:没有|未|没)有?(?:明确)?(?:提到|提及|说明|给出|涉及|交代|指出|包含|告诉|写明|显示)[^。；:：但\d]{0,30}。?"
)
_STILL = re.compile(
    r"\b(?:but|however|though|nevertheless|still|that said|my best guess)\b,? (?P<en>[^.!?;]{3,160})|(?:但是?|不过|可是|然而)[，,]?(?P<zh>[^。！？；]{2,80})"
)
_NO_ANSWER = re.compile(
    r"n't\b|\b(?:not|cannot|no|never|unable|unclear|you|your|please|help|happy|glad|recommend|suggest|consult|if|can|could|would (?:recommend|suggest|advise|need|be)|try|let me|here|general\w*|more|sorry|afraid|may(?:be)?)\b|不|无法|没|未|请|可以|建议|如果|帮|能|您|你|若|抱歉|遗憾"
)
_CONTACT = re.compile(r"\b(?:call|dial|hotline|lifeline|contact|reach)\b|热线|拨打|电话")
_CHINESE = re.compile(
    r"缺(?:少|乏)(?:必要的?|足够的?|相关的?)?(?:图片|图像|信息|条件|图)(?:信息)?|(?<!由于)(?<!因为)(?<!因)(?:信息|资料|条件|数据|线索|题目|题干|证据|上下文)(?:(?:并|还)?不(?:够)?(?:完整|充分|充足|足|全|够)|缺失|有限|太少)(?!导致|造成|会|往往|时|常|使|性|的(?!情况下))|需要(?:更多|提供|补充)(?:的)?(?:信息|图片|资料|上下文)"
    # I, a negation, and what was asked for
    r"|(?:我|恕我|本人|抱歉|对不起|不好意思|遗憾)[^。！？]{0,14}?(?:不(?!是|过|会?错|久|同)|无法|没法|没有|没办法|没能|未能|难以|拒绝)[^。！？，：]{0,8}?(?:回答|作答|解答|答复|判断|确定|提供|查看|看到|看见|看清|协助|帮|给出|满足|完成|处理|访问|识别|"
    r"讨论|回应|透露|生成|继续|得出|求解|获取|支持|说|告诉|知道|清楚|了解|明白|理解|办法|懂|会(?=[。！]?$)|到您?你?[^。]{0,4}图)"
    r"|(?:本题|暂时|因此|所以|故|，|^|但)(?:也|还)?(?:无法|无从|不能|没法|没有办法|没办法|难以|不便)(?:直接|准确|给出|据此|从中|为您|为你)?(?:回答|作答|解答|判断|判定|确定|确认|求解|得出|得知|知道|获知|知晓|推断|推出|识别|辨认|协助|提供|透露|讨论|给出答案)|换(?:个|一个)?(?:话题|别的|主题)|聊(?:点|些)?(?:别的|其他)"
    r"|(?:看|见)不(?:到|见|清)(?:任何|您?的?|你的|这张|该|题目中的|上传的|您说的)?(?:图|附件|文件)"
    r"|(?:没有|未|没)(?:看到|见到|收到|能看到|附上?|提供|上传|给出|包含|找到)(?:任何|相关的?|题目的?|清晰的?|所需的?|对应的?)?(?:图(?!书|案|形)|附件|文件|信息|上下文)|(?:^|，)(?:没有?|缺)(?:图|图片|附件)(?=[，。]|$)"
    r"|(?:图片?|图像|附件|文件)(?:并)?(?:未|没有|没|缺失)(?:被)?(?:提供|上传|显示|给出|附上|加载|成功|，)"
    r"|(?:请|麻烦|劳驾|能否|可否|可以)(?:您|你)?(?:先|重新|再|请)?(?:提供|上传|补充|发送|附上|描述)(?:一下|更多|相关|完整|题目|具体|清晰|您|你|该|原|图|必要|详细|问题)|请?把[^。]{0,8}图[^。]{0,4}(?:发|传|给)"
    r"|作为(?:一个|一名)?(?:ai|人工智能|语言模型)(?:语言)?(?:模型|助手)?[^。]{0,30}(?:无法|不能|没有|不具备)|超出(?:了)?我的(?:能力|知识|权限)"
    r"|^(?:这个?(?:道)?(?:问?题)?|真的|也|很)*(?:不知道(?!的|这个词)|不清楚|不了解|不懂|不太清楚|不确定(?=[。！]?$)|答不(?:了|上来|出来?))|(?:帮|答)不(?:了|上)(?:你|您|忙|[。！]?$)|(?:无法|不能)(?:回答|作答|解答|确定答案|判断答案)|我(?:真的)?做不到|(?:我|抱歉|对不起)[^。！？]{0,12}(?:看|做|答|帮|办|给|判断|处理|提供)不(?:了|出)|无能为力|无可奉告|图片?(?:无法|不能)(?:显示|加载|打开|查看)|我不会(?=[。！]?$)|题我不会",
)
_OTHERS = re.compile(
    # Spanish, Portuguese, Italian, French
    r"\bno (?:puedo|podemos|soy capaz de|me es posible|estoy en condiciones de|tengo permitido) (?:\w+ )?(?:ayudar|responder|contestar|proporcionar|ver|cumplir|asistir|determinar|acceder|dar|hacer)\w*|\bno lo sé\b|\bno sé\b(?=$|[.,!]| la| cu)"
    r"|\bno (?:poder|tengo|dispongo|cuento con|estoy (?:autorizado|seguro|en)|me (?:es|siento|está)|voy a|debo|he podido)\b|\bnão (?:tenho|disponho|estou (?:autorizado|ciente)|vou|me sinto|pude)\b|\bnon (?:ho|dispongo|conosco|so|mi sento|intendo)\b|\bm'est (?:impossible|interdit)|\bpas en mesure\b|\bje ne\b[^.]{0,30}\bpas\b"
    r"|\b(?:mir|uns) (?:\w+ ){0,3}keine?\b|\bich (?:\w+ ){0,4}(?:nicht|keine?n?)\b|у меня (?:нет|недостаточно)|\bне (?:имею|располагаю|уверен)|\bsaya (?:tidak|belum|kurang|bukan)\b|\btôi (?:không|chưa)\b"
    r"|\bprefiero no\b|\bno tengo (?:acceso|suficiente|información|idea)|\bnão (?:posso|consigo|sou capaz de|me é possível|estou autorizado) (?:\w+ )?(?:ajud|respond|fornec|ver|cumpr|determin|acess|dar|faz)\w*|\bnão sei\b|\bprefiro não\b|\bnão tenho (?:acesso|informaç|conhecimento)"
    r"|\bnon (?:posso|sono in grado di|riesco a|mi è possibile) (?:\w+ )?(?:rispond|aiut|forni|veder|assist|determin|acced|dare|fare)\w*|\bnon lo so\b|\bnon ho (?:accesso|informazioni|abbastanza)|\bpreferisco non\b"
    r"|\bje (?:ne |n'|suis incapable|suis dans l'impossibilité|préfère ne pas)(?:(?:peux|puis|pourrai|suis|sais|arrive|ai|vois) ?(?:malheureusement )?pas|de|répondre|refuse)|\bje refuse de\b|\bje n'ai (?:pas|aucun)"
    # German, Dutch, Polish
    r"|\bich (?:kann|darf|möchte|will|werde)\b[^.,]{0,60}\b(?:nicht|keine?[nr]?)\b[^.]{0,60}\b(?:beantworten|helfen|antworten|sehen|geben|bereitstellen|erfüllen|bestimmen|machen|sagen|erkennen)|\b(?:kann|darf|werde|möchte) ich (?:\w+ ){0,3}(?:nicht|keine)|\bweiß ich (?:leider )?nicht|\bich weiß (?:es|das|die antwort)? ?nicht\b|\bkann ich\b[^.,]{0,40}\bnicht\b[^.]{0,30}(?:beantworten|helfen|antworten)|\b(?:kann|ich)\b[^.]{0,40}nicht (?:beantworten|helfen)"
    r"|\bik (?:kan|mag|wil|weet|zal)\b[^.]{0,50}\b(?:niet|geen)\b|\b(?:kan|mag|wil|zal|weet) ik\b[^.]{0,40}\b(?:niet|geen)\b|\b(?:jag|jeg) (?:kan|vet|ved|vil|får|må|har) (?:\w+ )?(?:inte|ikke|ingen)\b|\b(?:kan|vet|ved) (?:jag|jeg) (?:\w+ )?(?:inte|ikke)\b|(?:^|, |mutta )en (?:voi|osaa|pysty|tiedä)\b|\b(?:nemohu|nemůžu|nevím|nedokážu)\b|\bnu (?:pot|știu|ştiu|am acces)\b|\bnem (?:tudok|tudom|segíthetek)\b|\bnie (?:mogę|potrafię|jestem w stanie) (?:\w+ )?(?:odpowied|pom|udziel|zobacz)\w*|\bnie wiem\b"
    # Russian, Ukrainian, Turkish, Arabic, Hindi
    r"|\bя не (?:могу|знаю|в состоянии|способен|буду)\b|\bне могу (?:ответить|помочь|предоставить|увидеть)|\bя не можу\b|\bbilmiyorum\b|(?:yanıt|cevap)\w*(?:la|ya|)y?amam\b|\b\w{2,20}(?:amam|emem|am[ıi]yorum|em[iı]yorum)\b|δεν (?:μπορώ|γνωρίζω|ξέρω)|אני לא (?:יכול|יודע)|איני|נמנע|نمی.?(?:توانم|دانم)"
    r"|لا (?:أستطيع|يمكنني|أعرف|أعلم|أقدر)|لست قادر|नहीं (?:दे|कर|बता|जानत)|मुझे नहीं पता|मैं .{0,40}नहीं"
    # what is missing or cannot be known
    r"|\bno (?:hay|se (?:dispone|proporciona\w*|puede)|es posible) (?:\w+ )?(?:suficiente|información|responder|determinar|saber|contestar)|\bfalta\w* información|\bil (?:est impossible|n'est pas possible|manque) (?:de|des)\b|\bpas (?:assez|suffisamment) d'informations|\binformations insuffisantes|\b(?:nicht genügend|nicht genug|zu wenig|keine) informationen|\bnon (?:ci sono|è possibile) (?:\w+ )?(?:informazioni|rispondere|determinare|sapere)|\bnão (?:há|é possível) (?:\w+ )?(?:informaç\w+|responder|determinar|saber)|недостаточно (?:информации|данных)|невозможно (?:определить|ответить|сказать)|情報が(?:不足|足り|あり)|画像が(?:添付|表示)され|정보가 (?:부족|없)|이미지가 (?:첨부|제공)"
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
    r"^\W*[(\[]?[a-h][)\].、:：,，]\s?\S|\b(?:the |my |correct |final )*answer (?:is|would be|should be|must be|:)\s*(?!unknown|not\b|unclear|beyond|unavailable|missing|confidential|impossible)[^\s.!?]|\b(?:result|solution|total|value|sum) (?:is|would be|equals)\s*[^\s.!?]|\banswer:|\bso (?:it is|it's|the)\b|\bi (?:think|believe|guess|suspect|would (?:say|guess))\b(?! (?:i|we|you)\b)"
    r"|(?:答案|故|应|我|因此|所以)?选(?:项|择)?\s?[:：]?\s?[a-h](?![a-z])|答案(?:是|为|应|[:：])|(?:la respuesta|la réponse|la risposta|a resposta|die antwort) (?:es|est|è|é|ist)\b|答えは|정답은|ответ:|\\boxed"
)
_QUOTED = re.compile(r"[\"“「‘][^\"”」’]{0,400}[\"”」’]")
_OF_OTHERS = re.compile(
    r"^(?:no image is needed|to \w+|(?:he|she|they)\b|(?:他|她|他们|她们|老师|记者|妈妈)(?:说|表示|回答))"
)


_OWN_WORDS = re.compile(
    r"\b(?:i'm|i am)(?: therefore| really| simply)? not going to (?:write|make|draw|do|give|tell|help|share|produce|create|provide|rank|rate|guess)\b|\boff the table\b|\bwon't get \w+(?: \w+){0,3} from me\b|\b(?:wouldn't|would not) be right for me\b|\ba line i (?:don't|won't|do not)\b"
    r"|\bnever something i\b|\bi'm going to stop here\b|\bcount me out\b|\blet's not go there\b|\bi'll leave (?:those|that|this|these|it)(?: ones?)? un\w+\b|\bneither i nor\b"
    r"|我(?:没有办法|没办法|无法|不能)(?:替|为|给|帮)(?:您|你)(?!检查|诊断|决定)|恕我(?:不|难|无|拒)|我就到此为止|我[\u3400-\u9fff]不了(?=[。，！]|$)|我不会外传|还是免了吧|不在我能[^。]{0,8}范围|即便[^。]{0,10}也不会"
    r"|\b(?:won't|will not) be \w+ing\b|\b(?:stay|remain|staying|remaining) neutral\b|\b(?:have to|must|will|'ll) say no\b|\b(?:wasn't|was not|weren't|were not) able to (?:open|access|find|read|see|load|view)\b"
    r"|我(?:就|还是)不[\u3400-\u9fff]{1,3}了|\bno way (?:for me to know|of knowing)\b|\bdraw the line\b|\b(?:that's|it's|this is) a no\b|\boff[- ]limits\b|\b(?:is|are) (?:confidential|classified)\b(?=[.!]?$|,)|(?:n't|\bnot) something (?:that )?(?:i|we)(?:'m| am| are| do| would| feel| can|'ll| will)\b"
    r"|(?<![\w'])(?:i|we)(?: really| simply)? (?:won't|will not|'m not going to|am not going to|have to|must|'ll have to) (?:\w+ly )?(?:go into|walk you|leave (?:that|it|this|them|those)?\s?out|pass|decline|refuse|help|assist|provide|share|explain|describe|discuss|take part)\b"
    r"|(?:我)?(?:不便|不宜|不会|不愿|不想|不能|不予|拒绝)(?:向你|向您|为你|为您|在此)?(?:作|做|写|提供|透露|说明|介绍|回答|协助|参与|生成|骂|编造|帮|展开|讨论)(?!的人)|恕(?:不|难|我)|(?:我|这里|这边)不提供|敬请谅解|还请(?:理解|谅解|见谅)"
)
ALL = (_OWN_WORDS, _ENGLISH, _IMPERSONAL, _SELF, _CHINESE, _SELF_CHINESE, _APOLOGY, _OTHERS, _FRAMES)
OWN = (_OWN_WORDS, _ENGLISH, _IMPERSONAL, _SELF, _CHINESE, _SELF_CHINESE)


class Declined(msgspec.Struct, frozen=True):
    """The phrase with which a reply declines, and whether it declines only a part and answers the rest."""

    phrase: str
    partly: bool = False


def refusal_in(reply: str, question: str = "") -> str | None:
    """Return the phrase with which a reply declines to answer; None if it does not, or answers nevertheless.

    >>> refusal_in("I'm sorry, but I can't help with that."), refusal_in("It is 4.")
    ("i can't help", None)
    >>> refusal_in("C. 无法判断"), refusal_in("Dogs can't see red."), refusal_in("無法回答")
    (None, None, '无法回答')
    """
    declined = read_refusal(reply, question)
    return None if declined is None else declined.phrase


def read_refusal(reply: str, question: str = "") -> Declined | None:
    """Return how a reply declines to answer: in its first sentences, or in the last ones of a longer reply."""
    if (words := words_to_render(question)) and refusal_in(words) is not None:
        return None  # a refusal to translate or to explain
    text = " ".join(reply.replace("’", "'").lower().split())
    if not text or _ANSWERS.search(simplified(text[:_BEGINNING] + " " + text[-_BEGINNING:])):
        return None
    if whole := _WHOLE.fullmatch(simplified(text)):
        return Declined(whole[0].strip(" .。"))
    if says_yes(text, question):
        return None
    if (flat := is_flat_no(text, question)) is not None:
        return Declined(flat)
    beginning = _QUOTED.sub(" ", text[:_BEGINNING])
    if (regret := _SORRY.search(beginning)) is not None:
        return Declined(regret[0])
    sentences = re.split(r"(?<=[.!?。！？])\s*", beginning)
    for sentence in sentences[:_SENTENCES]:
        if (phrase := _phrase_in(sentence)) is not None:
            return _judged(phrase, sentence, beginning, reply, question) or _limited(text, question)
    if len(sentences) > 2:
        ending = re.split(r"(?<=[.!?。！？])\s*", _QUOTED.sub(" ", text[-_BEGINNING:]))
        for place, sentence in enumerate(ending, _LAST - len(ending)):
            kinds = OWN if place >= 0 and LEADS_TO_REFUSAL.match(sentence) else (_OWN_WORDS,)
            if (phrase := _phrase_in(sentence, kinds)) is not None:
                return _judged(phrase, sentence, sentence, reply, question) or _limited(text, question)
    return _limited(text, question)


def _limited(text: str, question: str) -> Declined | None:
    limit = limit_in(simplified(text), question)
    return None if limit is None or is_about_itself(question) else Declined(limit)


def _phrase_in(sentence: str, kinds: Sequence[re.Pattern[str]] = ALL) -> re.Match[str] | None:
    """Return the first phrase of a sentence that declines, on behalf of the agent itself."""
    plain = simplified(sentence)
    for phrases in kinds:
        said = sentence if phrases is _OTHERS else plain
        found = phrases.search(said)
        if found is None or _OF_OTHERS.match(sentence):
            continue
        if phrases is not _OTHERS and is_of_another(plain, found.start(), found[0]):
            continue
        return found
    return None


def _judged(found: re.Match[str], sentence: str, text: str, reply: str, question: str) -> Declined | None:
    """Return the refusal, unless an answer follows or the phrase is part of a text that was asked for."""
    rest = simplified(text[text.find(sentence) :])[found.end() :]
    if _answers_still(rest) or answers_after(found[0], rest) or goes_on(question, rest):
        return None
    if is_about_itself(question) or is_requested_text(reply, question, sentence):
        return None
    return Declined(found[0].strip(" ,，"), answers_partly(question, rest))


def _answers_still(rest: str) -> bool:
    """Return True if an answer follows what is not known, seen or done: "I don't know the day, but it was in May"."""
    still = _STILL.search(rest)
    if still is None:
        return False
    said = still["en"] or still["zh"]
    return _NO_ANSWER.search(said) is None or (any(map(str.isdecimal, said)) and _CONTACT.search(said) is None)
