"""Take from a reply what says nothing: a greeting, an emoji, what it is based on, an offer of further help.

Only the edges of a reply are looked at, so that nothing it says is lost.
"""

import re

from proctor_judging.matching.patterns import compile_later

EMOJI_RUN = r"\s*[\u2600-\u2712\u2728\u2764\u2b50\u2b55\u203c\u2049\ufe0f\u200d\U0001f000-\U0001faff]+"
EMOJI = compile_later(rf"{EMOJI_RUN}(?=[\s，。！,!]|$)")
EMOJI_AS_STOP = compile_later(rf"(?<=\w){EMOJI_RUN}\s+(?=[A-Z])")
GREETING = compile_later(
    r"(?:(?:that['’]s an? )?(?:great|good|excellent|interesting|fun|nice) question|sure(?: thing)?|(?:of course|certainly)(?!\s?\.(?!.*(?:\b(?:not|no|never)\b|n['’]t\b)))|happy to help|no problem|good to hear from you|"
    r"hi(?: there)?|hello(?: there)?|hey(?: there)?|thanks(?: for (?:asking|reaching out|your (?:question|message)))?|thank you(?: for [^.!,]{1,40})?|okay|ok|alright|right|glad you asked|"
    r"let me (?:think|check|see|look)(?: (?:about )?(?:it|this|that))?|hmm+|oh|ah|ooh|well)\s?(?:[!.,:…]+|\s[–—-])\s*(?=\S)",
    re.IGNORECASE,
)
BASIS = compile_later(
    r"(?:(?:as of|to) my (?:last|latest|most recent)? ?(?:update|knowledge(?: cutoff)?|training(?: data)?|information)(?: in [^,]{1,20})?|as far as i(?: know|['’]m aware| can (?:tell|see))|"
    r"(?:based on|according to|from|going by|judging (?:by|from)|per) (?:(?:the |this |your |what |that )[^,.;:]{1,60}|`[^`\n]{1,40}`)|in general|generally(?: speaking)?|technically(?: speaking)?|strictly speaking|"
    r"in (?:this|that) (?:case|sentence|text|passage|context|list|example)|as (?:stated|mentioned|noted|shown|written) (?:in|by) [^,.;:]{1,40}|here['’]s (?:the|your) answer|short answer|quick answer|in short|in brief|simply put|"
    r"fun fact|by the way|traditionally|historically|officially|currently|today)[,:]\s+(?=\S)",
    re.IGNORECASE,
)
SOURCE = compile_later(
    r"(?:the|this|your) (?:text|passage|leaflet|label|note|notice|sign|article|manual|policy|contract|log|table|recipe|document|letter|email|review|report) (?:\w+ly )?(?:says?|states?|notes|mentions|specifies|warns)(?: that| to)?\s(?=\w)(?![^.\n]{0,120}\b(?:but|however|not|n['’]t|no|never)\b)",
    re.IGNORECASE,
)  # where a question quotes it, that is no doubt
FAREWELL = compile_later(
    r"(?:\s|^)(?:(?:i )?hope (?:that|this|it) helps|let me know\b[^.!?]{0,100}|feel free to [^.!?]{1,100}|(?:is there )?anything else[^.!?]{1,60}|would you like [^.!?]{1,100}|do you (?:want|need) [^.!?]{1,100}|"
    r"(?:just )?(?:shout|ask) if [^.!?]{1,60}|happy to [^.!?]{1,80}|(?:have a|enjoy) [^.!?]{1,40}|good luck[^.!?]{0,60}|cheers|you['’]re welcome|glad to help|need anything else)\s?[.!?]*$",
    re.IGNORECASE,
)
MOST_LAYERS = 4


def plain_reply(reply: str) -> str:
    """Return a reply without greeting, emoji, its basis and offers of help.

    >>> plain_reply("Great question! As of my last update, it is Rome. Hope that helps! 🎉"), plain_reply("Sure.")
    ('it is Rome.', 'Sure.')
    """
    text = EMOJI.sub("", EMOJI_AS_STOP.sub(". ", reply)).strip() or reply
    for _ in range(MOST_LAYERS):
        before = text
        for opening in (GREETING, BASIS, SOURCE):
            if (match := opening.match(text)) is not None:
                text = text[match.end() :]
        closing = FAREWELL.search(text[-200:])
        if closing is not None and (kept := text[: len(text) - len(text[-200:]) + closing.start()].strip()):
            text = kept
        if text == before:
            break
    return text
