"""Words of dates in many languages, for `keepsake.domain.dates`. A table, no rules: a language is added by adding its words.

Words are lower case; `_` joins the words of a phrase. A word with accents is also found without them, unless it ends in `!`. Of
words that mean something else in another language, only the unmistakable stand here.
"""

# One line a month. A month in STRONG_MONTHS counts anywhere, the others (names, verbs) only beside a number or a preposition.
MONTHS = (
    "january jan januar jänner janvier janv enero gennaio janeiro januari يناير",
    "february feb februar febr février févr febrero febbraio fevereiro februari فبراير",
    "march mar märz maerz mrz mars marzo março maart مارس",
    "april apr avril avr abril aprile أبريل ابريل",
    "may mai mayo maggio maio mei مايو",
    "june jun juni juin junio giugno junho يونيو",
    "july jul juli juillet juil julio luglio julho يوليو",
    "august aug août aout agosto augustus أغسطس اغسطس",
    "september sep sept septembre septiembre setiembre settembre setembro سبتمبر",
    "october oct oktober okt octobre octubre ottobre outubro أكتوبر اكتوبر",
    "november nov novembre noviembre novembro نوفمبر",
    "december dec dezember dez décembre déc diciembre dicembre dezembro ديسمبر",
)
_STRONG_MONTHS = (
    "january januar jänner janvier enero gennaio janeiro januari february februar février febrero febbraio fevereiro februari "
    "avril abril aprile giugno junho juillet luglio julho août september septembre septiembre setiembre settembre setembro "
    "october oktober octobre octubre ottobre outubro november novembre noviembre novembro december dezember décembre diciembre "
    "dicembre dezembro"
)
STRONG_MONTHS = frozenset(_STRONG_MONTHS.split())
# One line a day, Monday first.
WEEKDAYS = (
    "monday montag lundi lunes lunedì segunda_feira maandag الاثنين",
    "tuesday dienstag mardi martes martedì terça_feira dinsdag الثلاثاء",
    "wednesday mittwoch mercredi miércoles mercoledì quarta_feira woensdag الأربعاء الاربعاء",
    "thursday donnerstag jeudi jueves giovedì quinta_feira donderdag الخميس",
    "friday freitag vendredi viernes venerdì sexta_feira vrijdag الجمعة",
    "saturday samstag sonnabend samedi sábado sabato zaterdag السبت",
    "sunday sonntag dimanche domingo domenica zondag الأحد",
)
# By the month they begin in: meteorological seasons of the north.
SEASONS = {
    3: "spring springtime frühling frühjahr printemps primavera lente voorjaar الربيع",
    6: "summer summertime sommer été! verano estate verão verao zomer الصيف",
    9: "autumn fall herbst automne otoño otono autunno outono herfst najaar الخريف",
    12: "winter hiver invierno inverno الشتاء",
}
UNITS = {
    "hour": "hour stunde heure hora ora uur ساعة",
    "day": "day tag jour día dia giorno dag يوم",
    "week": "week woche semaine semana settimana الأسبوع الاسبوع أسبوع اسبوع",
    "weekend": "weekend week_end wochenende fin_de_semana fine_settimana fim_de_semana",
    "month": "month monat mois mes mese mês! maand الشهر شهر",
    "year": "year jahr l_an année año ano anno jaar العام السنة عام سنة",
}
UNITS_PLURAL = {
    "hour": "hours stunden heures horas ore uren uur ساعات",
    "day": "days tage tagen jours días dias giorni dagen أيام ايام",
    "week": "weeks wochen semaines semanas settimane weken أسابيع اسابيع",
    "month": "months monate monaten mois meses mesi maanden أشهر اشهر شهور",
    "year": "years jahre jahren années ans años anos anni jaar jaren سنوات أعوام اعوام",
}
# A unit and its number in one: the dual of Arabic, the French year.
COUNTED = {
    ("day", 2): "يومين",
    ("week", 2): "أسبوعين اسبوعين",
    ("month", 2): "شهرين",
    ("year", 1): "un_an",
    ("year", 2): "سنتين عامين",
}
NUMBERS = {
    1: "a an one ein eine einem einer einen un une uno una um uma een één",
    2: "two a_couple_of couple_of a_couple couple zwei deux dos due dois duas twee",
    3: "three a_few few drei ein_paar paar einigen trois quelques tres tre três drie unos_pocos algunos alguns "
    "een_paar ثلاثة ثلاث",
    4: "four vier quatre cuatro quattro quatro أربع أربعة",
    5: "five fünf cinq cinco cinque vijf خمس خمسة",
    6: "six sechs seis sei zes ست ستة",
    7: "seven sieben siete sette sete zeven سبع سبعة",
    8: "eight acht huit ocho otto oito ثماني ثمانية",
    9: "nine neun neuf nueve nove negen تسع تسعة",
    10: "ten zehn dix diez dieci dez tien عشر عشرة",
    11: "eleven elf onze once undici",
    12: "twelve zwölf douze doce dodici doze twaalf",
    15: "fifteen fünfzehn quinze quince quindici vijftien",
    20: "twenty zwanzig vingt veinte venti vinte twintig",
    30: "thirty dreißig dreissig trente treinta trenta trinta dertig",
}
# Day counted from today.
DAYS = {
    -2: "day_before_yesterday vorgestern avant_hier anteayer antier altro_ieri anteontem eergisteren أول_أمس",
    -1: "yesterday last_night gestern hier! ayer anoche ieri ontem gisteren أمس امس البارحة",
    0: "today tonight this_morning this_afternoon this_evening heute aujourd_hui ce_matin ce_soir hoy esta_mañana "
    "esta_noche oggi "
    "stamattina stasera hoje vandaag vanmorgen vanavond اليوم",
    1: "tomorrow demain mañana domani amanhã غدا غدًا",
    2: "day_after_tomorrow übermorgen après_demain pasado_mañana dopodomani depois_de_amanhã overmorgen بعد_غد",
}
WORDS = {
    "last": "last previous letzte letzten letzter letztes letztem vorige vorigen voriges voriger vergangene "
    "vergangenen vergangenes "
    "vergangener dernier dernière derniers dernières passé! passée! pasado pasada pasados pasadas último última "
    "últimos últimas "
    "scorso scorsa scorsi scorse passato passata passado passada passados passadas vorig afgelopen laatste verleden this_past "
    "الماضي الماضية الفائت الفائتة",
    "before_last": "vorletzte vorletzten vorletztes vorletzter avant_dernier avant_dernière antepasado antepasada retrasado",
    "before_the_last": "before_last",
    "this": "this dieser diese dieses diesen diesem ce cet cette este esta questo questa quest neste nesta deste dit "
    "deze هذا هذه",
    "next": "next coming nächste nächsten nächster nächstes nächstem kommende kommenden kommendes prochain prochaine prochains "
    "prochaines próximo próxima que_viene que_vem prossimo prossima volgende komende القادم القادمة المقبل المقبلة",
    "ago": "ago earlier fa geleden atrás",
    "before": "vor il_y_a hace há! faz قبل",
    "within": "in dans fra tra dentro_de daqui_a",
    "about": "about around roughly almost nearly over more_than etwa ungefähr rund fast circa environ presque casi "
    "unos unas quase "
    "cerca_de ongeveer bijna حوالي",
    "since": "since starting seit ab depuis dès desde dal dalla dall sinds vanaf منذ",
    "until": "until till til up_to before bis vor jusque jusqu_en jusqu_à jusqu_au avant hasta antes_de fino_al "
    "fino_a fino até tot "
    "voor حتى",
    "to": "to al à",
    "between": "between zwischen entre tussen",
    "and": "and und et y e",
    "in": "on during im am vom zum en vers pendant el durante nel nell nella em op back_in في",
    "by": "by at after for mid early late from gegen",
    "verb": "bin ist sind wurde wurden war habe hat haben starb zog zogen ging kam",
    "of": "of the de del di du la le los las das l d den der des dem het do o il",
}
# Words of other languages' everyday speech: they count only in a text that holds one of the words on the right.
ONLY_BESIDE = {
    "hier": "je j ai suis est était nous on c elle il les une du au",
    "mars": "je j ai suis est nous en le du depuis au une jusqu",
    "fa": "ho è ha abbiamo sono mi un una due tre anni mesi giorni di",
    "vor": "ich ein einem einer zwei drei wir der die das war habe haben ist",
    "faz": "eu anos meses dias semanas um uma que não",
}
# Numbers that are written like years and are none when one of these follows.
_MEASURES = (
    "words meters metres miles km euros euro dollars people persons steps lines pieces points calories kcal hours "
    "times items rows "
    "patients users meter wörter zeilen schritte personen stück mots mètres personnes lignes palabras metros personas "
    "pasos parole "
    "passi persone palavras pessoas woorden mensen stappen kg g ml gb mb hz rpm units files pages seiten páginas pagine"
)
MEASURES = frozenset(_MEASURES.split())
# Slashed dates put the month first where the text is English: it holds one of these.
_ENGLISH = "the and is was were my i i'm on of it we you did what when have had since until"
ENGLISH = frozenset(_ENGLISH.split())

# Scripts that write no spaces between words, and Korean. By the unit and how many of it lie between now and then.
UNSPACED = {
    ("day", 0): "今天 今日 今晚 今朝 今夜 오늘 วันนี้ คืนนี้",
    ("day", -1): "昨天 昨日 昨晚 昨夜 きのう 어제 เมื่อวานนี้ เมื่อวาน เมื่อคืน",
    ("day", 1): "明天 明日 あした 내일 พรุ่งนี้",
    ("day", -2): "前天 一昨日 おととい 그저께 เมื่อวานซืน",
    ("day", 2): "后天 後天 明後日 あさって 모레 มะรืน",
    ("week", -1): "上个星期 上個星期 上星期 上个礼拜 上周 上週 先週 지난주 สัปดาห์ที่แล้ว อาทิตย์ที่แล้ว สัปดาห์ก่อน",
    ("week", 0): "这个星期 這個星期 这周 這週 本周 本週 今週 이번_주 สัปดาห์นี้ อาทิตย์นี้",
    ("week", 1): "下个星期 下個星期 下星期 下周 下週 来週 來週 다음_주 สัปดาห์หน้า อาทิตย์หน้า",
    ("week", -2): "上上周 上上週 先々週",
    ("month", -1): "上个月 上個月 上月 先月 지난달 เดือนที่แล้ว เดือนก่อน",
    ("month", 0): "这个月 這個月 本月 今月 이번_달 เดือนนี้",
    ("month", 1): "下个月 下個月 下月 来月 來月 다음_달 เดือนหน้า",
    ("month", -2): "先々月",
    ("year", -1): "去年 昨年 작년 ปีที่แล้ว ปีก่อน",
    ("year", 0): "今年 올해 ปีนี้",
    ("year", 1): "明年 来年 來年 내년 ปีหน้า",
    ("year", -2): "前年 一昨年 おととし 재작년",
    ("weekend", -1): "上周末 上週末 先週末",
    ("weekend", 0): "这周末 這週末 今週末 สุดสัปดาห์นี้",
}
UNSPACED_UNITS = {
    "day": "天 日 日間 일 วัน",
    "week": "周 週 週間 个星期 個星期 星期 주 สัปดาห์ อาทิตย์",
    "month": "个月 個月 ヶ月 か月 カ月 ヵ月 箇月 개월 เดือน",
    "year": "年 년 ปี",
}
UNSPACED_AGO = "以前 前 ほど前 くらい前 多前 전 ที่แล้ว ก่อน"
THAI_MONTHS = (
    "มกราคม ม.ค.",
    "กุมภาพันธ์ ก.พ.",
    "มีนาคม มี.ค.",
    "เมษายน เม.ย.",
    "พฤษภาคม พ.ค.",
    "มิถุนายน มิ.ย.",
    "กรกฎาคม ก.ค.",
    "สิงหาคม ส.ค.",
    "กันยายน ก.ย.",
    "ตุลาคม ต.ค.",
    "พฤศจิกายน พ.ย.",
    "ธันวาคม ธ.ค.",
)
