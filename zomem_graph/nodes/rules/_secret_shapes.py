"""The shapes of secrets: prefixes of known issuers, words that announce one, and what never is one.

No pattern may backtrack over an unbounded run: each run has an upper bound or is possessive.
"""

import re
from typing import Final

from zomem_graph.nodes.rules._wordlists import words

__all__ = [
    "ASSIGNED",
    "ATTACHED",
    "ATTACHED_CODE",
    "BARE_VALUE",
    "BARE_VALUE_WEAKLY",
    "CARD",
    "CHANGED_BEFORE",
    "CHANGED_TO",
    "CLAUSE_ENDS",
    "COMMAND",
    "FLAG_BEFORE",
    "FLAG_VALUE",
    "HEADER",
    "INNOCENT_BEFORE",
    "KEY_BEGIN",
    "KEY_BODY",
    "LOGIN_BEFORE",
    "NAMED_AFTER",
    "NEAR_BEGIN",
    "NEAR_TOKEN",
    "NUMERIC_HARMLESS",
    "ORDINARY_ENDINGS",
    "ORDINARY_VALUES",
    "PASSWORD_WORDS",
    "PREFIXED",
    "QUOTED",
    "REFERENCE",
    "SECRET_WORD",
    "SIGNED",
    "SPOKEN",
    "SPOKEN_WEAKLY",
    "TICKET_BEFORE",
    "UNQUOTED",
    "URL_PASSWORD",
    "VERB_BEFORE",
    "WEAK_WORDS",
]

KEY_BEGIN: Final = re.compile(r"-----BEGIN (?P<label>(?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?)-----")
KEY_BODY: Final = re.compile(r"(?:[A-Za-z0-9+/=]{16,4096}+|[A-Za-z-]{1,20}: [^\r\n]{0,80}+|\s|\\[nr])*+")

PREFIXED: Final[tuple[tuple[str, str, re.Pattern[str]], ...]] = tuple(
    (kind, hint, re.compile(rf"(?<![A-Za-z0-9_]){pattern}"))
    for kind, hint, pattern in (
        ("aws key", "AKIA", r"AKIA[A-Z0-9]{16}(?![A-Za-z0-9])"),
        ("aws key", "ASIA", r"ASIA[A-Z0-9]{16}(?![A-Za-z0-9])"),
        ("github token", "gh", r"gh[pousr]_[A-Za-z0-9]{30,255}"),
        ("github token", "github_pat_", r"github_pat_[A-Za-z0-9_]{22,255}"),
        ("gitlab token", "glpat-", r"glpat-[A-Za-z0-9_-]{20,255}"),
        ("api key", "sk-", r"sk-(?=[A-Za-z_-]{0,60}[0-9])[A-Za-z0-9_-]{20,255}"),
        ("stripe key", "k_live_", r"[sr]k_live_[A-Za-z0-9]{16,255}"),
        ("stripe key", "k_test_", r"[sr]k_test_[A-Za-z0-9]{16,255}"),
        ("slack token", "xox", r"xox[abeoprs]-[A-Za-z0-9-]{10,255}"),
        ("slack token", "xapp-", r"xapp-[A-Za-z0-9-]{10,255}"),
        ("slack webhook", "hooks.slack.com", r"hooks\.slack\.com/services/[A-Za-z0-9/_-]{20,100}"),
        ("google key", "AIza", r"AIza[A-Za-z0-9_-]{35}"),
        ("google token", "ya29.", r"ya29\.[A-Za-z0-9_-]{20,512}"),
        ("google secret", "GOCSPX-", r"GOCSPX-[A-Za-z0-9_-]{20,60}"),
        ("npm token", "npm_", r"npm_[A-Za-z0-9]{36}"),
        ("pypi token", "pypi-", r"pypi-[A-Za-z0-9_-]{50,512}"),
        ("hugging face token", "hf_", r"hf_[A-Za-z0-9]{30,100}"),
        ("sendgrid key", "SG.", r"SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,128}"),
        ("digitalocean token", "do", r"do[opr]_v1_[a-f0-9]{64}"),
        ("age key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
        ("bot token", ":AA", r"[0-9]{8,10}:AA[A-Za-z0-9_-]{32,35}"),
        ("api key", "gsk_", r"gsk_[A-Za-z0-9]{40,100}"),
        (
            "json web token",
            "eyJ",
            r"eyJ[A-Za-z0-9_-]{8,4096}+\.eyJ[A-Za-z0-9_-]{8,8192}+(?:\.[A-Za-z0-9_-]{0,4096}+){0,3}",
        ),
    )
)
"""(kind, literal that must be in the text, pattern)."""

SECRET_WORD: Final = re.compile(
    r"pass(?:word|wd|phrase|code)s?|pwd|(?<![a-z])(?:pass|pw)(?![a-z])"
    r"|passwort|kennwort|contraseña|mot de passe|密码|口令|пароль|пароля|паролем|senha|wachtwoord"
    r"|hasło|hasła|lösenord|şifre"
    r"|パスワード|비밀번호"
    r"|\bpins?\b|\bpin_code\b"
    r"|(?:api|access|account|auth|secret|private|signing|encryption|service|license|admin|master|shared)"
    r"[ _-]?(?:access[ _-]?)?keys?|api[_-]?schlüssel|secret(?!ar)|token(?!i[sz])|credentials?"
)
"""For lower-case text: matching without regard to case would take four times as long."""
PASSWORD_WORDS: Final = words(
    "password passwords passwd passwds passphrase passphrases passcode passcodes pwd passwort kennwort",
    "contraseña 密码 口令 пароль пароля паролем senha wachtwoord hasło hasła lösenord şifre パスワード 비밀번호",
    "pin pins pin_code pass pw",
) | {"mot de passe"}
WEAK_WORDS: Final = words("pass pw")
"""Words that announce a password only before something that looks like one: a pass is a ticket too."""
NUMERIC_HARMLESS: Final = words("token secret credential credentials pass pw")
"""Words after which a bare number is a count or an id."""

ASSIGNED: Final = re.compile(
    r"(?![ _-]?(?:count|limit|budget|size|length|type|name|url|uri|path|file|id|hint|policy|usage|age)s?\b)"
    r"(?:[A-Za-z0-9_.\-\[\]]{0,40}+)[\"'`]?[ \t]{0,4}(?P<sign>:=|=>|==?|:|：|>(?=\S))[ \t]{0,4}"
)
_COMPOUND: Final = (
    r"(?! (?:manager|polic(?:y|ies)|reset|page|generator|field|form|box|prompt|hint|rule|strength|length|sauce|santa"
    r"|agent|service|garden|ingredient|project|meeting|place|history|change|rotation|expiry|protection|recovery|screen|vault"
    r"|store|safe|file|system|app|tool|hash|hashing|format|requirement|check|checker|entry|list|count|limit|budget"
    r"|usage|counter|price|event|ring|chain)s?\b)"
)
"""The password manager is no password."""
_BETWEEN: Final = r"(?:et|en|si|sı|m|im)?(?:[ \t](?:\([^()\r\n]{1,30}\)|[^\W\d_](?:[\w'’.-]{0,22}[\w'’])?)){0,5}?"
"""Words between the secret word and what announces its value: "password of Ana's router (upstairs)"."""
_BE: Final = (
    r"(?:(?:now|will|should|must)[ \t])?(?:is|was|are|be|ist|war|lautet|wird|es|era|est|était|это|é|è|jest"
    r"|(?<=hasło )to|är|var)"
)
_SIGN: Final = r"(?::=|=>|->|→|==?|:|：)"
SPOKEN: Final = re.compile(
    rf"{_COMPOUND}{_BETWEEN}[ \t]{{1,4}}{_BE}(?:[ \t]{{0,4}}{_SIGN}[ \t]{{0,4}}|[ \t]{{1,4}})"
    rf"(?:(?:now|set to|still)(?:[ \t]{{0,4}}{_SIGN}[ \t]{{0,4}}|[ \t]))?"
    r"|(?:[\u4e00-\u9fff]{0,4})(?:是|为)[:： \t]{0,2}|(?:は|는|은)[:： \t]{0,2}",
    re.IGNORECASE,
)
"""Before a value that is said to be it: "the password for prod is …", "password is: …"."""
_WHAT_FOR: Final = (
    rf"{_COMPOUND}(?:et|en|si|sı|m|im)?(?=[ \t](?:\(|(?:for|of|to|on|at|in|from|für|fürs|vom|von|zum|zur|am|des|der"
    r"|para|del|de|pour|du|da|do|na|voor|van|od|от|для|к|för|till|på|per)[ \t]))"
    rf"{_BETWEEN}"
)
SIGNED: Final = re.compile(
    rf"{_WHAT_FOR}[ \t]{{0,4}}(?:(?::=|=>|->|→|==?)[ \t]{{0,4}}|:[ \t]{{1,4}}|：[ \t]{{0,4}})", re.IGNORECASE
)
"""Before a value behind a sign, where the word is told what it is for: "password for prod = …"."""
_MADE_UP: Final = (
    r"(?!(?:sha|md|utf|base|argon|aes|rfc|iso|oauth|pbkdf|v)-?\d)(?=[A-Za-z]{0,60}\d)(?=\d{0,60}[A-Za-z])"
    r"(?=[A-Za-z0-9!#$%&*+@^_~-]{6,128}(?:[.,;:!?)]{0,3}(?:\s|$)))"
)
"""What looks like no word of any language: letters and digits as one."""
_CODE: Final = r"(?=\d{4,8}[.;!?)]{0,3}(?:,|\s{0,9}(?:$|\n)|[ \t](?:and|und|y|et|e)[ \t]))"
ATTACHED: Final = re.compile(
    rf"(?:['’]s|[ \t]{{1,4}}(?:->|→|[-–—]))[ \t]{{1,4}}(?:now )?{_MADE_UP}"
    rf"|{_COMPOUND}{_BETWEEN}[ \t]{{0,4}}(?:(?:->|→|==?)[ \t]{{0,4}}|:[ \t]{{1,4}}){_MADE_UP}"
    rf"|{_WHAT_FOR}[ \t]{{1,4}}[–—-][ \t]{{1,4}}{_MADE_UP}"
    rf"|[ \t](?:(?:was|is|has been|got)[ \t])?(?:now )?(?:(?:re)?set|changed|updated|rotated)[ \t]to[ \t]{_MADE_UP}"
    rf"|[ \t]auf[ \t]{_MADE_UP}",
    re.IGNORECASE,
)
"""Before a value that is told by its form, since what stands before it may mean anything: "my password's …"."""
ATTACHED_CODE: Final = re.compile(rf"(?:['’]s|[ \t]{{1,4}}(?:->|→|[-–—]))[ \t]{{1,4}}(?:now )?{_CODE}")
"""The same before the digits of a PIN."""
CHANGED_BEFORE: Final = re.compile(
    r"\b(?:re)?(?:set|chang|updat|rotat|switch)\w{0,4}\b[^.!?\r\n]{0,24}$", re.IGNORECASE
)
CHANGED_TO: Final = re.compile(rf"[ \t]to[ \t]{_MADE_UP}", re.IGNORECASE)
"""After a word before which something is changed: "I set my password to …"."""
NAMED_AFTER: Final = re.compile(
    rf"(?:^|(?<=[\s\"'`(])){_MADE_UP}(?P<value>[^\s\"'`,;]{{6,128}})"
    r"[ \t](?:is|was|as|ist|als|es|como|est|comme|é|jest|är)[ \t](?:[^\W\d_]{1,20}[ \t]){0,3}$",
    re.IGNORECASE,
)
"""A value that its word follows: "… is my wifi password"."""
CLAUSE_ENDS: Final = re.compile(r"[\"'`)]{0,2}(?:[.,;:!?]|[ \t]{0,9}(?:$|[\r\n])|[ \t](?:for|to|of|on|and)[ \t])")
FLAG_BEFORE: Final = re.compile(r"(?<!\S)--?[a-z-]{0,20}$")
FLAG_VALUE: Final = re.compile(r"[ \t]{1,2}(?!-)")
SPOKEN_WEAKLY: Final = re.compile(
    rf"{_BETWEEN}(?:[ \t]{{1,4}}is[ \t]{{0,4}}[:=]?|[ \t]{{0,4}}(?:==?|->|→))[ \t]{{1,4}}(?:now )?"
    r"(?=[A-Z]?[a-z]{4,60}[^\s]{0,60}\d)"
)
"""After a word that has another meaning: "the pass is correcthorse9", not "the pass is LH4567" or 2100m high."""
BARE_VALUE: Final = re.compile(rf"[ \t]{{1,2}}{_MADE_UP}", re.IGNORECASE)
"""Before a value that follows its word at once: "password hunter22"."""
BARE_VALUE_WEAKLY: Final = re.compile(
    rf"[ \t]{{1,2}}{_MADE_UP}(?!(?:int|uint|float|mp|win|ipv|log|web)\d)(?=[A-Za-z]{{3,60}}\d{{1,20}}[a-z!#$%&*+@^~])"
    r"(?=[^\s,;]{8,128}(?:[,;]|[.!?)]{0,3}[ \t]{0,9}(?:$|[\r\n])))",
)
"""The same after a word that is a verb too: "pass hunter2xyz" at the end of a line, not "pass level20"."""
VERB_BEFORE: Final = re.compile(
    r"\b(?:i|you|we|they|he|she|it|to|will|['’]ll|can|could|must|should|may|might|would|not|n['’]t|please|let|and|then)"
    r"[ \t]{1,3}$",
    re.IGNORECASE,
)
LOGIN_BEFORE: Final = re.compile(
    r"\b(?:user(?:name|id)?|login|log[ -]?in|e-?mail|benutzer(?:name)?|usuario|utilisateur)\b[^.!?\r\n]{1,50}$",
    re.IGNORECASE,
)
TICKET_BEFORE: Final = re.compile(
    r"(?:ski|boarding|bus|train|rail|tram|metro|subway|lift|day|week|month|season|year|annual|travel|tourist|museum|zoo"
    r"|park|parking|press|hall|gym|mountain|event|backstage|festival|city|transit|interrail|hiking)[ -]$",
    re.IGNORECASE,
)
"""What makes a pass a ticket."""
COMMAND: Final = re.compile(
    r"\b(?:(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n|;]{0,200}?\s-p|sshpass[ \t]{1,3}-p[ \t]{0,3}"
    r"|(?:curl|wget|http)\b[^\n|;]{0,200}?\s(?:-u|--user|-a|--auth)[ \t=]{0,3}[\"']?[^\s:\"']{1,64}:)"
    r"(?P<value>[^\s\"'-][^\s\"']{3,127})"
)
NEAR_BEGIN: Final = re.compile(r"(?<![A-Za-z0-9_.+/=~-])[A-Za-z0-9_.+/=~-]{16}")
NEAR_TOKEN: Final = re.compile(r"[A-Za-z0-9_.+/=~-]{16,512}+")
QUOTED: Final = re.compile(r"(?P<mark>[\"'`])(?P<value>[^\"'`\r\n]{1,512}+)(?P=mark)")
UNQUOTED: Final = re.compile(r"[^\s\"'`,;&<>|]{1,512}+(?:&(?![A-Za-z_]{1,40}=)[^\s\"'`,;&<>|]{0,512}+){0,4}+")

HEADER: Final = re.compile(
    r"(?:(?P<name>authorization)[\"']?[ \t]{0,3}[:=][ \t]{0,3}[\"']?(?:[A-Za-z]{1,12}[ \t]{1,3})?"
    r"|\b(?:(?P<bearer>bearer)|basic)[ \t]{1,3})(?P<value>[A-Za-z0-9._~+/=-]{12,4096}+)",
    re.IGNORECASE,
)
URL_PASSWORD: Final = re.compile(r"://[^\s:/@\"'<>]{0,128}+:(?P<value>[^\s@/\"'<>]{1,256}+)@")
CARD: Final = re.compile(
    r"(?<![\w.+,/-])(?<!\+\d )(?<!\+\d\d )(?<!\+\d{3} )[2-6]\d{3}(?:[ -]?\d){9,15}(?![\w/]|[.,-]\d)"
)

INNOCENT_BEFORE: Final = re.compile(
    r"\b(?:commit|sha|sha256|sha1|md5|hash|checksum|digest|etag|uuid|guid|id|file|url|path|docs?)\b",
    re.IGNORECASE,
)

REFERENCE: Final = re.compile(r"[A-Za-z_]{1,40}(?:\.[A-Za-z_]{1,40}){1,5}|[a-z]{1,20}(?:_[a-z]{1,20}){1,5}")
"""A name in code, such as settings.db_password: it points at a secret and is none."""

ORDINARY_VALUES: Final = words(
    "none null nil true false str string bytes int bool any optional required undefined password",
    "passwort token secret key value yourpassword changeme example placeholder redacted please enter",
    "type choose hidden unknown missing empty invalid incorrect wrong expired weak strong correct valid",
    "needed not too set stored hashed encrypted reset changed here there safe known generated rotated",
    "revoked leaked provided default same also only always never that this what which still now about",
    "for from part one mine yours secure insecure simple complex short long plaintext public private",
    "obvious broken lost forgotten gone fine okay temporary alphanumeric numeric confidential outdated",
    "random unique easy hard later inside falsch richtig unbekannt leer incorrecta correcta perdu oublié",
)
ORDINARY_ENDINGS: Final = ("ed", "ing", "ive", "able", "ible", "ful", "ory", "ly", "ten")
"""How adjectives and participles end: "the password is forgotten" says no password."""
