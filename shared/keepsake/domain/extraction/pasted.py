"""How pasted text looks, in several languages: labels of transcripts, beginnings of summaries and of recalled sections, tags."""

import re

_OTHERS = (
    r"assistant|ai|bot|chatbot|chatgpt|gpt|claude|gemini|copilot|model|function|tool(?: (?:result|output))?",
    r"system(?: (?:reminder|message|prompt|note))?|assistent|asistente|assistente|asistan|ассистент|помощник|система",
    r"アシスタント|システム|助手|助理|系统|系統|어시스턴트|시스템|المساعد|مساعد|النظام|ผู้ช่วย|ระบบ|सहायक",
)
_USERS = (
    r"user|human|me|nutzer|benutzer|ich|utilisateur|moi|usuario|yo|utente|io|пользователь|я",
    r"ユーザー|用户|用戶|我|사용자|المستخدم|ผู้ใช้|उपयोगकर्ता",
)
# The label of a turn at the beginning of a line; the group `other` is there when it is not the user's.
LABEL = re.compile(
    rf"\s{{0,3}}[-*•\[(]?\s?\**(?:(?P<other>{'|'.join(_OTHERS)})|(?:{'|'.join(_USERS)}))(?:\s?\([^()\n]{{0,80}}\))?[\])]?\**\s?[:：]",
    re.IGNORECASE,
)

_RECALLED_HEADINGS = (
    r"\b(?:memor(?:y|ies)|history|summary|context|recall(?:ed)?|knowledge|previous|earlier|past (?:conversations?|sessions?))\b",
    r"\b(?:system|reminder|transcript|zusammenfassung|erinnerungen|verlauf|résumé|souvenirs|historique|resumen|recuerdos|historial)\b",
    r"\b(?:riassunto|ricordi|resumo|memórias|samenvatting|herinneringen|история|память|воспоминания|сводка)\b",
    r"记忆|記憶|摘要|历史|歷史|要約|まとめ|履歴|요약|기억|ذاكرة|ملخص|ความทรงจำ|สรุป|सारांश|यादें",
)
# Words of a heading over what was recalled.
RECALLED_HEADING = re.compile("|".join(_RECALLED_HEADINGS), re.IGNORECASE)

_SUMMARIES = (
    # English
    r"earlier (?:in|during) (?:this|our|the) (?:conversation|session|chat)|(?:conversation|session|running|previous) summary",
    r"(?:conversation|session|chat|previous) history|(?:summary|recap|transcript) of (?:the|our|this|your|my|previous|earlier)\b",
    r"(?:previous|past|earlier) (?:conversations?|sessions?|chats?)\b|(?:relevant|recalled|stored|user) (?:facts|history)",
    r"(?:(?:relevant|recalled|retrieved|stored|saved|known|user) )?memories\b|user profile|system reminder",
    r"(?:here is |this is )?what (?:i|we) (?:know|remember|recall) (?:about|of) (?:you|the user)|welcome back",
    r"active conversation topics",
    r"from (?:our|your|my) (?:memory|memories|notes|(?:last|previous) (?:session|conversation))",
    # German, French, Spanish
    r"früher in (?:diesem|unserem) gespräch|zusammenfassung (?:des|der|unseres)\b|was ich über (?:dich|sie) weiß",
    r"relevante erinnerungen|plus tôt dans (?:cette|notre) conversation|résumé de (?:la|notre) conversation",
    r"ce que je sais (?:de|sur) (?:toi|vous)|(?:antes|anteriormente) en (?:esta|nuestra) conversación",
    r"resumen de (?:la|nuestra) conversación|lo que sé (?:de|sobre) (?:ti|usted)",
    # Italian, Portuguese, Dutch, Russian
    r"in precedenza in questa conversazione|riassunto della conversazione|anteriormente nesta conversa|resumo da conversa",
    r"eerder in dit gesprek|samenvatting van (?:het|ons) gesprek|ранее в (?:этом|нашем) разговоре|что я знаю о (?:тебе|вас)",
    r"(?:краткое )?содержание (?:беседы|разговора)",
    # Chinese, Japanese, Korean, Arabic, Thai, Hindi
    r"之前的对话|对话摘要|對話摘要|我所知道的|これまでの会話|会話の(?:要約|まとめ)",
    r"あなたについて(?:知って|覚えて)|이전 대화|대화 요약",
    r"في وقت سابق من هذه المحادثة|ملخص المحادثة|ما أعرفه عنك|ก่อนหน้านี้ในการสนทนา|สรุปการสนทนา|สิ่งที่ฉันรู้เกี่ยวกับคุณ",
    r"इस बातचीत में पहले|बातचीत का सारांश",
)
# How a summary of conversations, or what is remembered of the user, begins on a line of its own.
SUMMARY = re.compile(rf"[-*•\[(# ]{{0,12}}(?:{'|'.join(_SUMMARIES)})", re.IGNORECASE)

_TAGS = (
    r"system|assistant|tool|function|memor|recall|context|summar|conversation|history|user[-_](?:histor|memor|profile|context)|document",
    r"quote|blockquote|untrusted|retrieved|reminder|search|thinking|past|previous|earlier|instruction",
)
# A tag around what hosts put into a turn.
TAG = re.compile(rf"<(?P<close>/?)(?:{'|'.join(_TAGS)})[\w:-]{{0,40}}(?:\s[^<>]{{0,300}}?)?(?P<empty>/?)>", re.IGNORECASE)
CHAT_MARK = re.compile(r"<\|[\w ]{1,40}\|>|\[/?(?:INST|SYS|SYSTEM)\]|<</?SYS>>")
