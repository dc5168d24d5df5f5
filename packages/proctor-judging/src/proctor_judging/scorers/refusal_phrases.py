"""Phrases with which models decline in languages other than English and Chinese: a feature among those of `refusal_features`."""

from proctor_judging.matching.patterns import compile_later

OTHER_LANGUAGES = compile_later(
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
SORRY_ELSEWHERE = compile_later(
    r"(?:lo siento|lamento|lamentablemente|desafortunadamente|désolée?|malheureusement|regrette|leider|tut mir leid|desculpe|infelizmente|lamento|dispiace|purtroppo|spiacente|helaas|spijt|przepraszam|niestety|bohužel|извините|к сожалению|простите|üzgünüm|maalesef|tyvärr|beklager|desværre|dessverre|xin lỗi|rất tiếc|maaf|mohon maaf|δυστυχώς|λυπάμαι)[^;:]{0,100}?(?:\b(?:no|not|pas|nicht|keine?n?|não|non|niet|geen|nie|не|нет|inte|ikke|không|tidak|belum|tak|δεν|nu)\b|am[ıi]y|em[ei]m|amam)"
    r"|(?:申し訳|すみません|すいません|ごめん|恐れ入り)[^:：]{0,60}?(?:ません|ない|かね)|(?:죄송|미안)[^:：]{0,60}?(?:수 ?없|못|않|모르|어렵)|(?:عذر|آسف|أعتذر)[^:]{0,60}?(?:لا|ليس|لن|لم)|(?:क्षमा|माफ|खेद)[^:]{0,60}?नहीं|(?:ขออภัย|ขอโทษ)[^:]{0,60}?ไม่|(?:ليس|لا يوجد) (?:لدي|عندي)|मुझे [^।]{0,30}नहीं|(?:情報|知識|データ|機能|権限|能力)(?:は|が|を)?(?:持って(?:い|おり)|あり|ござい)ません"
)
