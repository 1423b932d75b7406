"""The shapes of secrets: prefixes of known issuers, words that announce one, and what never is one.

No pattern may backtrack over an unbounded run: each run has an upper bound or is possessive.
"""

import re
from typing import Final

from zomem_graph.nodes.rules._wordlists import words

__all__ = [
    "ASSIGNED",
    "BARE_VALUE",
    "CARD",
    "COMMAND",
    "FLAG_BEFORE",
    "FLAG_VALUE",
    "HEADER",
    "INNOCENT_BEFORE",
    "KEY_BEGIN",
    "KEY_BODY",
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
    "SPOKEN",
    "SPOKEN_WEAKLY",
    "UNQUOTED",
    "URL_PASSWORD",
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
    r"|passwort|kennwort|contraseña|mot de passe|密码|口令|пароль|паролем|senha|wachtwoord|hasło|lösenord|şifre"
    r"|パスワード|비밀번호"
    r"|\bpins?\b|\bpin_code\b"
    r"|(?:api|access|account|auth|secret|private|signing|encryption|service|license|admin|master|shared)"
    r"[ _-]?(?:access[ _-]?)?keys?|api[_-]?schlüssel|secret(?!ar)|token(?!i[sz])|credentials?"
)
"""For lower-case text: matching without regard to case would take four times as long."""
PASSWORD_WORDS: Final = words(
    "password passwords passwd passwds passphrase passphrases passcode passcodes pwd passwort kennwort",
    "contraseña 密码 口令 пароль паролем senha wachtwoord hasło lösenord şifre パスワード 비밀번호",
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
SPOKEN: Final = re.compile(
    _COMPOUND + r"(?: [^\W\d]{1,20}){0,5}?[ \t]{1,4}(?:is|was|are|ist|lautet|es|est|это|é|jest|är)[ \t]{1,4}"
    r"(?:now |set to |still )?"
    r"|(?:[\u4e00-\u9fff]{0,4})(?:是|为)[ \t]{0,2}|(?:は|는|은)[ \t]{0,2}",
    re.IGNORECASE,
)
FLAG_BEFORE: Final = re.compile(r"(?<!\S)--?[a-z-]{0,20}$")
FLAG_VALUE: Final = re.compile(r"[ \t]{1,2}(?!-)")
SPOKEN_WEAKLY: Final = re.compile(r"[ \t]{1,4}is[ \t]{1,4}(?:now )?(?=[A-Z]?[a-z]{4,60}[^\s]{0,60}\d)")
"""After a word that has another meaning: "the pass is correcthorse9", not "the pass is LH4567" or 2100m high."""
BARE_VALUE: Final = re.compile(
    r"[ \t]{1,2}(?!(?:sha|md|utf|base|argon|aes|rfc|iso|oauth|pbkdf|v)-?\d)(?=[A-Za-z]{0,60}\d)(?=\d{0,60}[A-Za-z])"
    r"(?=[A-Za-z0-9!#$%&*+@^_~-]{6,128}(?:[.,;:!?)]{0,3}(?:\s|$)))",
    re.IGNORECASE,
)
"""Before a value that follows its word at once: "password hunter22"."""
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
