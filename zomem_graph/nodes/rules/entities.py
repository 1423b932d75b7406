"""Which names a text mentions, found by the way they are written. No model is asked.

Hops between memories walk shared names, so a rule that finds the same name in two places is worth more
than one that knows what kind of thing it names. What is found this way is only a candidate: a name that
occurs once links nothing, and one that occurs everywhere links nothing either.
"""

import re
import unicodedata
from collections.abc import Iterator, Set
from typing import Final

from zomem_graph.nodes.rules._deeds import VERBS
from zomem_graph.nodes.rules._wordlists import words
from zomem_graph.stores.words import STOP_WORDS

__all__ = ["entities", "entity_key", "is_ordinary_word", "named_in", "runs_of_words"]

_LONGEST_TITLE: Final = 5
"""Words of a known name that are looked for in a text."""
_LONGEST_RUN: Final = 8
"""Characters of a known name that are looked for in a script without spaces."""
_CHARACTERS_OF_RUNS: Final = 600
"""Characters of a text whose runs of words are looked up; what follows is rarely the question."""
_GERUND: Final = 6
"""Letters from which a word in -ing that opens a sentence counts as ordinary."""

_WEEKDAYS: Final = words("monday tuesday wednesday thursday friday saturday sunday")
_DAYS_BEFORE: Final = _WEEKDAYS | words("last next")
_CALENDAR: Final = _WEEKDAYS | words(
    "january february march april may june july august september october november december",
    "jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun",
    "spring summer autumn winter christmas easter am pm bc ad bce ce gmt utc",
)
# Small words inside a name: those that join its parts, and those that may as well stand between two names.
_ARTICLES: Final = words("the la le las los der den dem")
_PARTING: Final = words("and & et y e in for")
_JOINING: Final = _ARTICLES | _PARTING | words("of de von van du del della da di do dos bin ibn al")
_SHORTENED: Final = words("mr mrs ms dr prof st jr sr mt ft gen col sgt rev hon vs no")
# Never part of a name behind them, and words that only open a sentence before one ("Hey Anna").
_ALWAYS_SMALL: Final = words("the a an i i'm my our your his her their this that these those if when but and or so")
_OPENING: Final = STOP_WORDS | words(
    "although though despite whereas whether unless one two three many much several another every",
    "everyone everything everybody someone something somebody nobody nothing anyone anything none either",
    "neither instead also plus besides however therefore thus hence meanwhile moreover furthermore",
    "nevertheless otherwise may might must shall gonna gotta wanna since like let's i'm i've i'll i'd",
    "it's that's he's she's what's here's there's you're we're they're don't didn't can't won't isn't",
    "doesn't dont didnt cant isnt yes yeah yep yup nope nah ok okay oh ooh ah aha aw aww wow whoa woah",
    "yay haha lol hmm um uh hey hi hello hiya dear bye goodbye cheers thanks thank thx please sorry",
    "welcome congrats congratulations well sure right absolutely definitely certainly totally exactly",
    "indeed agreed maybe perhaps probably possibly actually honestly really basically apparently",
    "obviously clearly finally lately recently currently usually often sometimes always never ever still",
    "even already yet soon anyway anyways today tonight tomorrow yesterday",
)
# Words that are no name when they open a sentence and the next word is small.
_ORDINARY: Final = _OPENING | words(
    "awesome amazing cool nice great good glad happy lovely sweet wonderful fantastic perfect brilliant",
    "excellent beautiful gorgeous funny crazy interesting impressive incredible exciting excited",
    "inspiring fun best better bad hard easy true fair enough big little long short old new young",
    "different various certain look looks sound sounds seem seems feel feels keep take took taken tell",
    "told try tried think thought love loved hope wish want wanted need needed get got go went gone guess",
    "remember forget wait check make made give gave given put see saw seen say said says ask asked know",
    "knew come came find found use used work works worked play played read wrote start started stop",
    "stopped call called help helped meet met talk talked spend spent bring brought buy bought stay",
    "stayed enjoy enjoyed add added remove update updated set run ran show shows shown send sent open",
    "close move moved learn learned follow followed provide imagine consider note based born according",
    "founded located established known originally initially previously formerly later early earlier next",
    "last first second third following eventually unfortunately fortunately luckily hopefully generally",
    "typically mostly mainly especially overall additionally similarly together afterwards nowadays",
    "historically officially people life time things thing music family friends kids mom dad mum day days",
    "night week month year years morning evening god man guys dude buddy bro girl boy sir user assistant",
    "human students members critics production part parts half lots lot plenty less least numerous",
    "additional possible similar subsequent modern ancient traditional local",
)

# What marks a to-do or heads a list is never a name, in capitals or not.
_MARKERS: Final = words("todo to-do todos fixme wip tbd tba tbc asap fyi eod eow nb ps")
_HEADS: Final = _MARKERS | words(
    "left option options choice choices alternative alternatives suggestion suggestions recommendation step steps",
    "note notes tip tips idea ideas example examples pros cons summary reminder action actions item items task tasks",
    "decision decisions question questions goal goals result results risk risks agenda pending done open",
)
# Verbs that as often begin a name: "Water Street", "Open Source".
_NOUNS_TOO: Final = words(
    "bake book charge complete deal document double draft feed figure file finish forward format get hand",
    "invoice iron launch list load mail match measure offer open order pack paint patch plan plant present",
    "process profile record release report research return ring search ship shorten sign sort start stop store",
    "switch test track train type walk wash watch water wipe",
)

_WIKILINK = re.compile(r"!?\[\[([^\[\]|#^]{1,120})[^\[\]]{0,200}\]\]")
_CJK_TITLE = re.compile(r"[《「『]([^《》「」『』\n]{1,30})[》」』]")
_QUOTED = re.compile(r"\"([^\"\n]{2,80})\"|“([^“”\n]{2,80})”|«\s?([^«»\n]{2,80}?)\s?»")
_HANDLE = re.compile(r"(?<![\w.@/])@([A-Za-z_][\w-]{1,38})")
_IDENTIFIER = re.compile(r"(?<![\w./@-])([a-z][a-z0-9_-]+\.[a-z][a-z0-9_-]+)(?![\w/@-]|\.\w)")
_TOKEN = re.compile(r"(?:[^\W\d_]\.){2,}|[^\W_][\w'\-]*|\n|[^\w\s]")
_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile("[\u3005\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]+")
_BRACKETED = re.compile(r"\([^()]*\)|（[^（）]*）")
_CLITIC = re.compile(r"'(?:s|ll|re|ve|d|m)?(?![^\W_])")
_ACCENTS = re.compile("[\u0300-\u036f]+")
_DOTTED = re.compile(r"(?<![^\W_])([^\W\d_])\.(?=[^\W\d_](?![^\W_]))")
_OPENS_SENTENCE: Final = frozenset('.!?…:;\n"“«([{*•|>-–—。！？')
_BREAK: Final = " | "


def entities(text: str) -> tuple[str, ...]:
    """Return the names a text mentions, in their normal form (see `entity_key`), each once.

    Names are runs of capitalised words (with "of", "de", … inside), [[wikilinks]], quoted titles, @handles,
    category.subject identifiers and titles in 《》 or 「」. Bare months, weekdays and numbers are none.
    """
    names, rest = _marked(text.replace("’", "'"))
    keys = dict.fromkeys(entity_key(name) for name in (*names, *_capitalised(rest)))
    return tuple(key for key in keys if len(key) > 2 or not key.isascii())


def entity_key(name: str) -> str:
    """Return the form in which two spellings of one name are equal: lower-case words joined by a space.

    What stands in parentheses, possessives, punctuation and the accents of letters are left out.
    """
    bare = _BRACKETED.sub(" ", name)
    return " ".join(_key_words(bare if _WORD.search(bare) else name))


def named_in(key: str, text: str) -> bool:
    """Return whether a text has a name (as `entity_key` gives it) in it as whole words, in any letter case.

    In a script without spaces, wherever its characters stand.
    """
    if not key:
        return False
    if text.isascii() and key.split(" ", 1)[0] not in text.lower():
        return False
    words = " ".join(_key_words(text))
    return f" {key} " in f" {words} " or (_UNSPACED.search(key) is not None and key in words)


def is_ordinary_word(key: str) -> bool:
    """Return whether a name (as `entity_key` gives it) is one word that sentences have anyway."""
    return key in _ORDINARY or key in _CALENDAR or key in _SHORTENED


def runs_of_words(text: str) -> tuple[str, ...]:
    """Return whatever may be a known name in a text, however it is written: its runs of up to five words.

    They have the form of `entity_key`. A single word that says nothing by itself, or has two letters, is none.
    In Chinese, Japanese and Korean a name may be any two to eight characters of a run.
    """
    tokens = _key_words(text[:_CHARACTERS_OF_RUNS])
    found: dict[str, None] = {}
    for start in range(len(tokens)):
        for end in range(start + 1, min(start + _LONGEST_TITLE, len(tokens)) + 1):
            found[" ".join(tokens[start:end])] = None
    if not text.isascii():
        found.update(dict.fromkeys(_within(" ".join(tokens))))
    return tuple(run for run in found if run not in _ORDINARY and (len(run) > 2 or not run.isascii()))


def _marked(text: str) -> tuple[list[str], str]:
    """Return the names that signs mark as such, and the text without them."""
    names: list[str] = []

    def take(match: re.Match[str]) -> str:
        names.append((match[match.lastindex or 1]).strip())
        return _BREAK

    def take_title(match: re.Match[str]) -> str:
        title = match[match.lastindex or 1].strip(" .,!?;:")
        if not _is_title(title):
            return match[0]
        names.append(title)
        return _BREAK

    if "[[" in text:
        text = _WIKILINK.sub(take, text)
        names = [name.rsplit("/", 1)[-1].removesuffix(".md") for name in names]
    if not text.isascii():
        text = _CJK_TITLE.sub(take, text)
    if '"' in text or "“" in text or "«" in text:
        text = _QUOTED.sub(take_title, text)
    if "@" in text:
        text = _HANDLE.sub(take, text)
    if "." in text:
        text = _IDENTIFIER.sub(take, text)
    return names, text


def _is_title(quoted: str) -> bool:
    """Return whether quoted words are written as a title is: each capitalised but the small ones."""
    parts = quoted.split()
    if not parts or len(parts) > 8 or any(mark in quoted for mark in ".!?;") or parts[0] == parts[0].lower():
        return False
    if len(parts) == 1:
        return quoted.lower() not in _ORDINARY
    return all(part != part.lower() or len(part) < 4 or part in STOP_WORDS for part in parts)


def _capitalised(text: str) -> Iterator[str]:
    """Yield the runs of capitalised words; an ordinary word that only opens a sentence is none."""
    tokens = _TOKEN.findall(text)
    runs = list(_runs(tokens))
    if not runs or _is_shouted(tokens):
        return
    inside = {word for run, opens in runs for word in run[opens:]}
    small = {token for token in tokens if token.islower()}
    for run, opens in runs:
        name = _trimmed(run, opens=opens)
        if not name or _is_date(name) or (len(name) == 1 and name[0].lower() in _MARKERS):
            continue
        if opens and len(run) == 1 and name[0] not in inside and _is_ordinary(name[0], small):
            continue
        yield " ".join(name)
        yield from _coordinated(name)


def _runs(tokens: list[str]) -> Iterator[tuple[list[str], bool]]:
    """Yield each run of capitalised words and whether it opens a sentence."""
    run: list[str] = []
    joints: list[str] = []
    opens, fresh, shortened = True, True, False
    for token in tokens:
        capital = token != token.lower()
        if shortened and capital and len(run[-1]) == 1 and token.lower() in _OPENING:
            yield run, opens
            run, joints, fresh = [], [], True
        if capital or (token[0].isdigit() and not joints):
            opens = opens if run else fresh
            run += [*joints, token]
            joints, fresh, shortened = [], False, False
        elif run and _joins(joints, token):
            joints.append(token)
        elif run and token == "." and not joints and _is_shortened(run[-1]):
            shortened = True
        else:
            if run:
                yield run, opens
                run, joints = [], []
            fresh, shortened = token in _OPENS_SENTENCE, False
    if run:
        yield run, opens


def _joins(joints: list[str], token: str) -> bool:
    """Return whether a small word may stand here inside a name: "of", "of the", "de la"; not "and the"."""
    if not joints:
        return token in _JOINING
    return len(joints) == 1 and token in _ARTICLES and joints[0] not in _PARTING


def _trimmed(run: list[str], *, opens: bool) -> list[str]:
    """Return the run without what stands before the name, and without the possessive behind it.

    Small words and a weekday stand before a name, and the verb of an order: "Ask Anna".
    """
    leading = _OPENING | {"todo", "fixme"} if opens else _ALWAYS_SMALL
    start = 0
    while start < len(run) and _bare(run[start]).lower() in leading:
        start += 1
    start += opens and _orders(run[start:])
    if [word.lower() in _DAYS_BEFORE for word in run[start : start + 2]] == [True, True]:
        start += 1  # "Last Friday Anna"
    if start < len(run) - 1 and run[start].lower() in _WEEKDAYS:
        start += 1
    while start < len(run) and run[start] in _JOINING:
        start += 1
    name = run[start:]
    if name:
        name[-1] = _bare(name[-1])
    return name


def _orders(run: list[str]) -> bool:
    """Return whether a run begins with what is to be done, before a name: not "Call of Duty", "Take That"."""
    if len(run) < 2 or not run[0].istitle() or run[0].lower() not in VERBS - _NOUNS_TOO:
        return False
    named = run[2 if run[1] in _ARTICLES else 1 :]
    return bool(named) and named[0][0].isupper() and named[0].lower() not in _OPENING


def _coordinated(name: list[str]) -> Iterator[str]:
    """Yield the names on both sides of each "and", "in" or "for": nobody can see whether they are one."""
    if _PARTING.isdisjoint(name):
        return
    part: list[str] = []
    for word in [*name, "and"]:
        if word not in _PARTING:
            part.append(word)
        else:
            if part and not _is_date(part):
                yield " ".join(part)
            part = []


def _bare(word: str) -> str:
    return _CLITIC.sub("", word).rstrip("'-") if "'" in word or word[-1] == "-" else word


def _is_date(name: list[str]) -> bool:
    return all(word[0].isdigit() or word.lower() in _CALENDAR for word in name)


def _is_shouted(tokens: list[str]) -> bool:
    said = [token for token in tokens if token[0].isalpha()]
    return len(said) > 2 and all(token.isupper() for token in said)


def _is_shortened(word: str) -> bool:
    return (len(word) == 1 and word != "I") or word.lower() in _SHORTENED


def _is_ordinary(word: str, small: Set[str]) -> bool:
    """Return whether a word that opens a sentence would be written small anywhere else."""
    lower = word.lower()
    if not word[1:].islower():
        return lower in _OPENING
    return (
        lower in _ORDINARY
        or lower in _HEADS
        or lower in VERBS
        or lower in small
        or (lower.endswith("ing") and len(lower) >= _GERUND)
    )


def _key_words(text: str) -> list[str]:
    text = text.replace("’", "'")
    if not text.isascii():
        apart = unicodedata.normalize("NFKD", text)
        text = unicodedata.normalize("NFC", _ACCENTS.sub("", apart))
    if "." in text:
        text = _DOTTED.sub(r"\1", text)
    if "'" in text:
        text = _CLITIC.sub("", text).replace("'", "")
    return _WORD.findall(text.casefold())


def _within(text: str) -> Iterator[str]:
    """Yield what may be a name inside runs of characters that are written without spaces."""
    for run in _UNSPACED.findall(text):
        for start in range(len(run) - 1):
            for end in range(start + 2, min(start + _LONGEST_RUN, len(run)) + 1):
                yield run[start:end]
