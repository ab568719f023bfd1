"""Wordings by which a text says that somebody else said it, in several languages: they part the user's own words from others'."""

import re

# What the assistant is said to have said, to know or to have written down; or what is said of "the user" from outside.
_ATTRIBUTIONS = (  # each begins with a word
    # English
    r"you(?:'ve| have| had|'d)? (?:also |once |just |already |earlier |previously |first |even )?(?:told|said|mentioned)\b",
    r"you(?:'ve| have| had|'d)? (?:also |once |just |already |earlier |previously )?(?:wrote|stated|reminded|claimed|noted)\b",
    r"(?:i|we) (?:remember|recall|know) (?:that |from )?(?:you|your)\b",
    r"according to (?:your|my|our|the) (?:memory|memories|notes?|records?|profile|history|last|previous)\b",
    r"(?:your|the|our) (?:memory|memories|notes?|records?|profile|summary|history) (?:says?|shows?|states?|has|have|tells?)\b",
    r"(?:the|this) user(?:'s)? (?:is|has|was|had|said|says|told|mentioned|asked|name|wants?|likes?|loves?|hates?|prefers?)\b",
    r"(?:the|this) user(?:'s)? (?:lives?|moved|works?|owns?)\b",
    r"from what you(?:'ve| have)? (?:told|said|shared)\b",
    # German
    r"(?:du ha(?:s|ttes)t|ha(?:s|ttes)t du|sie ha(?:b|tt)en mir)\b[^.!?\n]{0,60}\b(?:gesagt|erzählt|erwähnt|geschrieben)\b",
    r"du (?:sagtest|erzähltest|meintest|erwähntest|schriebst)\b",
    r"laut (?:deinen|meinen|unseren|den|deinem|meinem) (?:notizen|erinnerungen|aufzeichnungen|gedächtnis|profil)\b",
    r"ich erinnere mich,? dass du\b",
    # French
    r"(?:tu|vous) (?:m'|me |nous |l')?(?:as|avez|avais|aviez)\b[^.!?\n]{0,25}\b(?:dit|raconté|mentionné|écrit|expliqué)\b",
    r"(?:selon|d'après) (?:tes|vos|mes|nos) (?:notes|souvenirs|archives)\b",
    r"je me souviens que (?:tu|vous)\b",
    # Spanish
    r"(?:dijiste|contaste|mencionaste|comentaste|escribiste|(?:has|habías) (?:dicho|contado|mencionado|comentado))\b",
    r"usted (?:me )?(?:dijo|contó|mencionó)\b",
    r"según (?:tus|mis|sus|nuestras|tu|mi) (?:notas|recuerdos|memoria|memorias|registros)\b",
    # Italian, Portuguese, Dutch
    r"(?:hai|avevi) (?:già |prima |appena )?(?:detto|raccontato|menzionato|scritto|accennato)\b",
    r"secondo (?:i tuoi|i miei|le tue|le mie) (?:appunti|ricordi|note)\b",
    r"(?:você|tu|vc) (?:já )?(?:me )?(?:disse|disseste|contou|contaste|mencionou|mencionaste|falou|escreveu|tinha dito)\b",
    r"segundo (?:as )?(?:suas|tuas|minhas) (?:notas|memórias)\b",
    r"je (?:zei|vertelde|schreef|noemde)\b",
    r"je (?:hebt|had|heb)\b[^.!?\n]{0,40}\b(?:gezegd|verteld|genoemd|geschreven)\b",
    r"volgens (?:je|jouw|mijn) (?:notities|herinneringen)\b",
    # Russian, Turkish
    r"(?:ты|вы) (?:\w{1,12} ){0,2}(?:говорил|сказал|рассказ|упомина|упомян|писал)\w{0,8}",
    r"согласно (?:твоим|вашим|моим) (?:записям|воспоминаниям|заметкам)",
    r"я помню,? что (?:ты|вы)\b",
    r"(?:söylemiştin|söyledin|demiştin|dedin|anlatmıştın|anlattın|bahsetmiştin|yazmıştın)(?:iz)?\b",
    # Arabic, Hindi
    r"(?:قلت|أخبرت|ذكرت|كتبت)(?:ني| لي|نا)\b|أنت قلت|قلت سابقا|قلت إن|(?:وفقا ل|حسب |بحسب )(?:ذاكرت|ملاحظات|سجلات)\w{0,4}",
    r"(?:आपने|तुमने|तूने)(?: \S{1,12}){0,3} (?:कहा|बताया|लिखा|बोला)|(?:याददाश्त|नोट्स|रिकॉर्ड) के अनुसार",
)
_UNSPACED_ATTRIBUTIONS = (
    # Chinese, Japanese, Korean, Thai
    r"[你您][^，。！？\n]{0,6}?(?:告诉|告訴|跟我说|跟我說|对我说|對我說|说过|說過|说我|說我|提到|提过|提過|写道)",
    r"根据[你您我]的?(?:记忆|记录|笔记)|我记得[你您]",
    r"(?:と|って)(?:おっしゃ|仰|言(?:って|いま|った|われ)|話(?:して|しま)|書(?:いて|きま))|(?:記憶|メモ|記録)によ(?:ると|れば)",
    r"(?:다고|라고|냐고)\s?(?:말씀|말했|하셨|했었|말해|얘기|이야기)|(?:기억|메모|기록)에\s?(?:따르면|의하면)",
    r"(?:คุณ|เธอ)(?:เคย|ได้)?(?:บอก|พูด|เล่า|กล่าว|เขียน)|ตามความทรงจำ|ตามบันทึก",
)
_SPACED = rf"\b(?:{'|'.join(_ATTRIBUTIONS)})"  # the boundary outside, so that few places of a text are looked at
_ATTRIBUTED_ASCII = re.compile(_SPACED, re.IGNORECASE)
_ATTRIBUTED = re.compile(rf"{_SPACED}|{'|'.join(_UNSPACED_ATTRIBUTIONS)}", re.IGNORECASE)


def attributed(sentence: str) -> re.Match[str] | None:
    """Where a sentence says that the assistant said something, knows it, or has it in a memory; or speaks of "the user"."""
    return (_ATTRIBUTED_ASCII if sentence.isascii() else _ATTRIBUTED).search(sentence)


# Words after which something is set against what was said before.
_SPACED_CONTRASTS = (
    r"but|however|yet|though|actually|in fact|aber|sondern|doch|jedoch|mais|pero|sino|aunque",
    r"però|invece|mas|porém|maar|но|однако|ama|fakat",
    r"लेकिन|पर|मगर|لكن|ولكن|لكنني|ولكنني|لكني|بل",
)
_UNSPACED_CONTRASTS = r"但是|但|可是|不过|不過|其实|其實|でも|しかし|だけど|ですが|하지만|그런데|แต่"
CONTRAST = re.compile(
    rf"[,;:–—،-]?\s(?:{'|'.join(_SPACED_CONTRASTS)})[,\s]\s?|[，、,]?\s?(?:{_UNSPACED_CONTRASTS})[、，,]?", re.IGNORECASE
)

# Verbs of saying. One shortly before a quotation says that what is quoted is somebody's speech.
_SAYINGS = (
    r"said|says?|saying|told|tells?|wrote|writes?|written|asked|asks|replied|answered|quotes?|quoted|reads?|states?|stated|mentioned",
    r"recalled|remember(?:s|ed)?|memory|memories|summary|message",
    r"sagte|sagt|schrieb|schreibt|fragte|antwortete|meinte|gesagt|geschrieben|zei|zegt|schreef|vroeg",
    r"dit|disait|écrit|écrivait|demandé|répondu|dijo|dice|dijiste|escribió|escribiste|preguntó|respondió",
    r"detto|disse|scritto|chiesto|escreveu|falou|сказал\w{0,2}|говорит|говорил\w{0,2}|написал\w{0,2}|спросил\w{0,2}|ответил\w{0,2}",
    r"dedi|dedin|söyledi|yazdı|कहा|बताया|लिखा|बोला|قال|قالت|قلت|كتب|كتبت|سأل|أجاب",
)
_UNSPACED_SAYINGS = r"说|說|写道|寫道|問|问|回答|บอก(?:ว่า)?|พูด(?:ว่า)?|เขียน(?:ว่า)?|ถาม(?:ว่า)?"
SAYING = re.compile(rf"\b(?:{'|'.join(_SAYINGS)})\b|{_UNSPACED_SAYINGS}", re.IGNORECASE)
