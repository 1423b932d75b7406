"""Text as it is indexed, and questions as they are asked of a full-text index.

One function, `search_text`, stands between any text and the index, on the way in and on the way out, so
that both sides agree on case, width, apostrophes, compound names and scripts that are written without
spaces. Stemming and diacritics are left to the index (FTS5: `porter unicode61 remove_diacritics 2`).
Every string at all is a legal question.
"""

import hashlib
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence

from zomem_graph.stores.errors import InvalidInput

__all__ = [
    "LOOKED_AT",
    "STOP_WORDS",
    "is_prefix",
    "match_any",
    "match_scoped",
    "on_one_line",
    "scope_choices",
    "scope_token",
    "scope_words",
    "search_text",
    "terms",
    "whole_characters",
]

# The Snowball project's English list (PostgreSQL's `english` configuration drops the same words), and its
# contractions as people type them without the apostrophe, except negations: "dont" tells two rows apart.
# "ill", "id", "were" and "well" are words.
_FUNCTION_WORDS = """
    i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers
    herself it its itself they them their theirs themselves what which who whom this that these those am is
    are was were be been being have has had having do does did doing a an the and but if or because as until
    while of at by for with about against between into through during before after above below to from up
    down in out on off over under again further then once here there when where why how all any both each
    few more most other some such no nor not only own same so than too very s t can will just don should now
    would could ought let lets im ive youre youve hes shes theyre theyve weve thats whats theres whos
"""
STOP_WORDS = frozenset(_FUNCTION_WORDS.split())

_LIVE = "live"  # marks what is in default recall
LOOKED_AT = 2_000  # characters of a question; the rest of a pasted page adds time and no aim
_LONGEST_WORD = 64  # characters; longer ones (base64, keys) are cut alike on both sides
_LONGEST_WHOLE = 40  # characters of a compound that is also kept in one piece
_MOST_PARTS = 6

_INVISIBLE = frozenset({"Mn", "Mc", "Me", "Cf"})  # marks and format characters stand inside words
_ALIKE = str.maketrans(
    {**dict.fromkeys("’‘ʼ＇′", "'"), **dict.fromkeys("‐‑−", "-"), **dict.fromkeys("™℠\u200b", " ")}
)

_WORD = re.compile(r"[^\W_]+")
# From the beginning of a word and without giving letters back: a million letters in a row must not take forever.
_COMPOUND = re.compile(r"(?<![^\W_])[^\W_]++(?:[-_.&][^\W_]++)+")
_JOINTS = re.compile(r"[-_.&]")
_THOUSANDS = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?![\d,])")
_CLITIC = re.compile(r"(?<=[^\W_])'(?:s|ll|re|ve|d|m)(?![^\W_])")
_ELISION = re.compile(r"(?<![^\W_])([^\W\d_]{1,2})'([^\W\d_]{3,})")
# A case ending or a long article: Ankara'da, dell'arte. One letter behind it is the rest of a negation: don't.
_SUFFIXED = re.compile(r"(?<![^\W_])([^\W\d_]{3,64}+)'([^\W\d_]{2,})")
_INNER_APOSTROPHE = re.compile(r"(?<=[^\W_])'(?=[^\W_])")
_SIGNED_NAME = re.compile(r"(?<![^\W_])([^\W_]++)\+\+|(?<![^\W_])([a-z])#(?![^\W\d_])|(?<![^\W_])\.net(?![^\W_])")
# Han, kana, bopomofo, Hangul; Thai, Lao, Burmese, Khmer. Korean has spaces but glues particles to its nouns.
_UNSPACED = re.compile(
    "[\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecd\u1000-\u103f\u1050-\u108f\u1780-\u17d3"
    "\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    "\U0001b000-\U0001b167\U00020000-\U000323af]+"
)
_SCOPE_TOKEN = re.compile(r"[a-z0-9]+")
_COLUMN = re.compile(r"[a-z_]+")
_HALF = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
_UNREADABLE = "\ufffd"


def search_text(text: str) -> str:
    """Return the words of any text as the index holds them: letters and digits only, joined by one space.

    What stands before and behind an apostrophe is kept in parts and whole (Ankara'da: ankarada ankara da).
    Names that only signs tell apart become words (C++ cplusplus, C# csharp, .NET dotnet). A compound such as
    e-mail, snake_case or 1.24.3 is kept in parts and whole (email, snakecase, 1p24p3). A run of an unspaced
    script becomes overlapping pairs and its last character, so that one character is found as a prefix.
    """
    return " ".join(_words(text, asking=False))


def terms(query: str, *, limit: int = 32) -> tuple[str, ...]:
    """Return what a question asks for: at most `limit` different words, stop words left out.

    Only the first 2,000 characters are looked at. A question made of stop words alone keeps them.
    """
    words = dict.fromkeys(_words(query[:LOOKED_AT], asking=True))
    telling = [word for word in words if word not in STOP_WORDS]
    return tuple((telling or list(words))[: max(0, limit)])


def match_any(terms: Iterable[str]) -> str | None:
    """Return the FTS5 expression for rows that hold any of the terms; None when no term has a word in it."""
    phrases = dict.fromkeys(phrase for term in terms if (phrase := _phrase(term)))
    return " OR ".join(phrases) or None


def match_scoped(
    terms: Iterable[str],
    columns: Sequence[str],
    scope_tokens: Sequence[str | tuple[str, ...]],
    *,
    scope_column: str = "scope",
) -> str | None:
    """Return the FTS5 expression for rows inside a scope that hold any of the terms in these columns.

    All scope tokens must be there; of a tuple, any one. None when no term has a word in it.
    Raises InvalidInput for an empty scope (it would mean everybody) and for names that are not plain.
    """
    if not scope_tokens or not all(scope_tokens):
        raise InvalidInput("A scoped search needs a scope token. Pass scope_token('persona', name).")
    if not columns or not all(_COLUMN.fullmatch(column) for column in (scope_column, *columns)):
        named = ", ".join(map(repr, (scope_column, *columns)))
        raise InvalidInput(f"These are not full-text columns: {named}. Pass names such as 'text'.")
    if (wanted := match_any(terms)) is None:
        return None
    scope = " AND ".join(_scope_phrase(token) for token in scope_tokens)
    return f"{{{scope_column}}} : ({scope}) AND {{{' '.join(columns)}}} : ({wanted})"


def scope_token(kind: str, value: str) -> str:
    """Return the one word that stands for this value in the scope column.

    A hash, so that case, wildcards, prefixes and Unicode forms never let two values share rows.
    """
    exact = f"{len(kind)}:{kind}{value}".encode("utf-8", "surrogatepass")
    # A digit at the end, because the stemmer shortens words that end in "e" or "ed".
    return f"z{hashlib.blake2s(exact, digest_size=10).hexdigest()}0"


def scope_words(persona: str, kind: str, *, live: bool) -> str:
    """Return what stands in the scope column of an item: its place, and its place among what is live."""
    place = _place(persona, kind)
    return f"{place} {_place(persona, kind, _LIVE)}" if live else place


def scope_choices(personas: Iterable[str], kinds: Sequence[str], *, live_only: bool) -> tuple[str, ...]:
    """Return the scope tokens of which an item has one when it is of these personas and kinds."""
    marks = (_LIVE,) if live_only else ()
    return tuple(_place(name, kind, *marks) for name in personas for kind in kinds)


# One token for the whole place: a search then reads one list of rows instead of three that it has to cross.
def _place(persona: str, kind: str, *marks: str) -> str:
    return scope_token(" ".join(["in", kind, *marks]), persona)


def _words(text: str, *, asking: bool) -> list[str]:
    """Return the words in order. A question needs no single characters beside their pairs and wholes."""
    text = _folded(text)
    if "'" in text:
        text = _CLITIC.sub("", text)
        text = _SUFFIXED.sub(r"\1\2 \1 \2", _ELISION.sub(r"\1\2 \2", text))
        text = _INNER_APOSTROPHE.sub("", text)
    if "+" in text or "#" in text or ".net" in text:
        text = _SIGNED_NAME.sub(_spelled_out, text)
    if "," in text:
        text = _THOUSANDS.sub(lambda number: number[0].replace(",", ""), text)
    if not text.isascii():
        text = _UNSPACED.sub(_asked_pairs if asking else _kept_pairs, text)
    text = _COMPOUND.sub(_asked_parts if asking else _kept_parts, text)
    words = [word[:_LONGEST_WORD] for word in _WORD.findall(text)]
    return [_without_zero(word) for word in words] if "0" in text else words


def whole_characters(text: str) -> str:
    """Return text that UTF-8 can hold: U+FFFD in the place of half a character."""
    return _HALF.sub(_UNREADABLE, text)


def on_one_line(text: str) -> str:
    """Return text as one line that a person can read: blanks as one, U+FFFD for controls and half characters."""
    return _CONTROL.sub(_UNREADABLE, whole_characters(" ".join(text.split())))


def _folded(text: str) -> str:
    """Return text in one case and width, without marks, invisible characters and lone surrogates."""
    if text.isascii():
        return text.lower()
    text = text.encode("utf-8", "ignore").decode("utf-8").translate(_ALIKE)
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    category = unicodedata.category
    return "".join([c for c in text if c.isascii() or c.isalnum() or category(c) not in _INVISIBLE])


def _without_zero(word: str) -> str:
    """Return 3 for 03, as the days and hours of one date are written in two ways."""
    return word[1] if len(word) == 2 and word[0] == "0" and word[1].isdigit() else word


def _spelled_out(name: re.Match[str]) -> str:
    word, letter = name[1], name[2]
    if word:
        return f"{word}plusplus " if len(word) == 1 else f"{word} {word}plusplus "
    return f"{letter}sharp " if letter else " dotnet "


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def _asked_pairs(run: re.Match[str]) -> str:
    return f" {' '.join(_pairs(run[0]))} "


def _kept_pairs(run: re.Match[str]) -> str:
    # The last character begins no pair, so it stands alone: each character now begins some word.
    return f" {' '.join(_pairs(run[0]))} {run[0][-1] if len(run[0]) > 1 else ''} "


def _in_parts(*, single_letters: bool) -> Callable[[re.Match[str]], str]:
    def parts_and_whole(compound: re.Match[str]) -> str:
        parts = _JOINTS.split(compound[0])
        if len(parts) > _MOST_PARTS or len(compound[0]) > _LONGEST_WHOLE:
            return " ".join(parts)
        kept = [part for part in parts if single_letters or len(part) > 1 or part.isdigit()]
        return " ".join([*kept, _whole(parts)])

    return parts_and_whole


_kept_parts = _in_parts(single_letters=True)
_asked_parts = _in_parts(single_letters=False)


def _whole(parts: list[str]) -> str:
    """Join parts; a "p" (point) keeps 1.24 apart from 12.4, and v2.3 is 2.3."""
    whole = parts[0][1:] if parts[0][0] == "v" and parts[0][1:].isdigit() else parts[0]
    for part in parts[1:]:
        whole += f"p{part}" if whole[-1].isdigit() and part[0].isdigit() else part
    return whole


def _phrase(term: str) -> str:
    """Return a term as one quoted FTS5 phrase, "" when nothing in it would be indexed."""
    term = term.replace("\0", " ").encode("utf-8", "ignore").decode("utf-8")
    if not _WORD.search(term):
        return ""
    quoted = '"' + term.replace('"', '""') + '"'
    return f"{quoted} *" if is_prefix(term) else quoted


def is_prefix(term: str) -> bool:
    """Return whether a term is one character of an unspaced script, which any word may begin with."""
    return len(term) == 1 and _UNSPACED.match(term) is not None


def _scope_phrase(token: str | tuple[str, ...]) -> str:
    choices = (token,) if isinstance(token, str) else token
    if not all(_SCOPE_TOKEN.fullmatch(choice) for choice in choices):
        raise InvalidInput(f"{token!r} is not a scope token. Make it with scope_token(kind, value).")
    quoted = " OR ".join(f'"{choice}"' for choice in choices)
    return quoted if len(choices) == 1 else f"({quoted})"
