"""Words that stand before what they name: passwords, numbers of records, telephones; in several languages. Parts of patterns."""

NAMES_OF_SECRETS = "|".join(
    (
        r"pass(?:word|code|phrase)s?|pwd|(?:pin|pin code|pin-code|pin number)|secret (?:key|access key)",
        r"access[ _-]?(?:key|token)|api[ _-]?(?:key|token)|auth(?:entication)? token|client[ _-]secret|login code",
        r"security code|cvv|cvc|passwort|kennwort|zugangscode|geheimzahl|mot de passe|code secret|contraseña",
        r"clave(?: de acceso)?|senha|palavra-passe|parola d'ordine|wachtwoord|пароль|пин-код|şifre(?:m|si)?|parolam?",
        r"كلمة (?:المرور|السر)|الرقم السري|पासवर्ड|पिन",
    )
)
# Of each name that is written in ASCII, one of these is a part.
PARTS_OF_SECRETS = (
    *("pass", "pwd", "pin", "secret", "access", "api", "auth", "code", "cvv", "cvc", "kennwort", "geheimzahl", "clave", "senha"),
    *("parola", "wachtwoord"),
)
UNSPACED_NAMES_OF_SECRETS = r"密码|密碼|口令|パスワード|暗証番号|비밀번호|암호|รหัสผ่าน|รหัสลับ"
NAMES_OF_RECORDS = "|".join(
    (
        r"mrn|(?:(?:medical|health) )?record ?(?:numbers?|no\.?|id|#)|(?:patient|hospital|chart|case) ?(?:numbers?|no\.?|id|#)",
        r"(?:claim|policy|member|customer|account|file|docket|incident) ?(?:numbers?|no\.?|id|#)",
        r"(?:report|insurance|tax|passport) ?(?:numbers?|no\.?|id|#)",
        r"case|docket|incident|nhs (?:number|no\.?)|national insurance (?:number|no\.?)|social security (?:number|no\.?)",
        r"ssn|driver'?s licen[cs]e(?: number)?|fall(?:nummer|-nr\.?)|aktenzeichen|patienten(?:nummer|-id)",
        r"versicherten?nummer|steuer-?(?:id|nummer)|(?:reise)?passnummer|kontonummer",
        r"numéro (?:de |d')(?:dossier|patient|sécurité sociale|passeport|compte|affaire)",
        r"número de (?:expediente|historia(?: clínica)?|caso|pasaporte|cuenta)|(?:dni|nie|nif|cpf|cnpj)",
        r"número do (?:processo|prontuário|caso)|numero di (?:cartella|pratica|caso)|codice fiscale|dossiernummer|bsn",
        r"номер (?:дела|карты|истории болезни|паспорта|счета)|снилс|инн|dosya numarası",
        r"رقم (?:الملف|القضية|المريض|الهوية|جواز السفر)|केस नंबर|आधार(?: नंबर)?",
    )
)
PARTS_OF_RECORDS = (
    *("mrn", "record", "patient", "hospital", "chart", "case", "claim", "policy", "member", "customer", "account", "file"),
    *("docket", "incident", "report", "insurance", "tax", "passport", "nhs", "social security", "ssn", "driver", "fall", "akten"),
    *("versicherte", "steuer", "passnummer", "kontonummer", "expediente", "historia", "caso", "pasaporte", "cuenta"),
    *("dni", "nie", "nif", "cpf", "cnpj", "numero", "codice fiscale", "dossier", "bsn", "dosya"),
)
UNSPACED_NAMES_OF_RECORDS = "|".join(
    (
        r"病历号|病歷號|案件号|案件編號|案号|身份证号码?|护照号码?|カルテ番号|患者番号|事件番号|マイナンバー|환자번호",
        r"사건번호|주민등록번호|หมายเลขคดี|เลขคดี|เลขบัตรประชาชน|HN",
    )
)
NAMES_OF_PHONES = "|".join(
    (
        r"phone|telephone|tel|mobile|cell(?:phone)?|call me (?:at|on)|text me (?:at|on)|whatsapp|fax|telefon(?:nummer)?",
        r"handy(?:nummer)?|téléphone|portable|teléfono|móvil|telefone|celular|telefono|cellulare|телефон|هاتف|جوال|फोन|फ़ोन",
    )
)
UNSPACED_NAMES_OF_PHONES = r"电话|電話|手机|전화|โทร(?:ศัพท์)?"
STREETS = r"street|st\.|road|rd\.|avenue|ave\.?|lane|drive|boulevard|blvd\.?|court|square|terrace|crescent|highway"
FOR = r"(?:for|to|of|on|at|für|zum|vom|von|des|de|del|della|di|da|do|pour|du|para|per|voor|van|для|от|к|के|का)"
BE = r"(?:is|was|are|lautet|ist|war|est|es|era|é|è|olan|هي|هو|है)(?!\w)"

# Characters of an account's number by country (SWIFT's registry of IBAN formats).
IBAN_LENGTHS = {
    country: length
    for length, countries in {
        15: "NO",
        16: "BE",
        18: "DK FI FO GL NL",
        19: "MK SI",
        20: "AT BA EE KZ LT LU XK",
        21: "CH HR LI LV",
        22: "BG BH CR DE GB GE IE ME RS VA",
        23: "AE GI IL IQ",
        24: "AD CZ ES MD PK RO SA SE SK TN",
        25: "LY PT",
        26: "IS TR",
        27: "FR GR IT MC MR SM",
        28: "AL AZ BY CY DO GT HU LB PL",
        29: "BR EG PS QA UA",
        30: "JO KW MU",
        31: "MT SC",
    }.items()
    for country in countries.split()
}
