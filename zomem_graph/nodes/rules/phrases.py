"""Words and phrases of a message, folded so that one table serves every spelling.

Phrases are looked up as runs of whole words in a dictionary, so the cost grows with the
message and never with the size of the tables, and "result" is not found in "resulting".
Chinese and Japanese have no spaces; there a phrase is a plain substring.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Generic, TypeVar

__all__ = ["Kind", "PhraseBook", "Words", "fold", "has_cjk", "read_words", "word_set"]

Kind = TypeVar("Kind", bound=StrEnum)

_WORD = re.compile(r"[^\W_]+")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_LATIN_MARKS = re.compile("[\u0300-\u036f]")
_APOSTROPHES = str.maketrans("’‘ʼ´`＇", "''''''")

# What stands after the apostrophe in English, by the word before it.
_ENDINGS = {"m": "am", "ve": "have", "re": "are", "ll": "will", "d": "would"}
_PRONOUNS = frozenset("i you we they he she it that there who what this".split())
_BEFORE_IS = frozenset("what where who when how why which that it there here he she".split())
_RUN_TOGETHER: dict[str, tuple[str, ...]] = {
    "whats": ("what", "is"),
    "wheres": ("where", "is"),
    "whos": ("who", "is"),
    "hows": ("how", "is"),
    "whens": ("when", "is"),
    "thats": ("that", "is"),
    "im": ("i", "am"),
    "ive": ("i", "have"),
    "lets": ("let", "us"),
    "dont": ("do", "not"),
    "didnt": ("did", "not"),
    "doesnt": ("does", "not"),
    "isnt": ("is", "not"),
    "cant": ("can", "not"),
    "cannot": ("can", "not"),
    "havent": ("have", "not"),
    "wasnt": ("was", "not"),
    "gonna": ("going", "to"),
    "wanna": ("want", "to"),
}


# Traditional characters, each with the simplified one that stands for it in a table of phrases.
_FORMS: Final = """
    個个 們们 兒儿 兩两 別别 劃划 動动 務务 匯汇 問问 單单 嗎吗 媽妈 實实 寫写 對对 幹干 幾几 張张 後后 從从
    應应 斷断 於于 時时 書书 會会 樣样 歡欢 歷历 歸归 氣气 決决 沒没 為为 煩烦 爲为 現现 當当 發发 種种 節节
    終终 給给 經经 繼继 續续 義义 聽听 與与 著着 薦荐 處处 號号 裏里 裡里 見见 覺觉 計计 討讨 記记 許许 訴诉
    詞词 試试 詩诗 話话 該该 說说 説说 誰谁 請请 論论 講讲 謝谢 譜谱 譯译 議议 讓让 買买 購购 辦办 這这 週周
    進进 過过 遠远 選选 還还 釋释 開开 間间 關关 項项 須须 頭头 題题 願愿 麼么 點点
"""
SIMPLIFIED: Final = {ord(pair[0]): pair[1] for pair in _FORMS.split()}


@dataclass(frozen=True, slots=True)
class Words:
    """A message as folded text and as folded words, in order."""

    text: str
    words: tuple[str, ...]


def has_cjk(text: str) -> bool:
    """Say whether the text holds Chinese or Japanese characters."""
    return _CJK.search(text) is not None


def fold(text: str) -> str:
    """Return the text in one spelling: NFKC, caseless, plain apostrophes, no Latin accents."""
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKC", text.translate(_APOSTROPHES)).casefold()
    bare = _LATIN_MARKS.sub("", unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFC", bare)


def read_words(text: str) -> Words:
    """Return the folded text and its words, English contractions written out."""
    folded = fold(text)
    words: list[str] = []
    for word in _WORD.findall(folded):
        words.extend(_written_out(word, words))
    return Words(folded, tuple(words))


def _written_out(word: str, before: list[str]) -> tuple[str, ...]:
    last = before[-1] if before else ""
    if word in _ENDINGS and last in _PRONOUNS:
        return (_ENDINGS[word],)
    if word == "s" and last == "let":
        return ("us",)
    if word == "s" and last in _BEFORE_IS:
        return ("is",)
    if word == "t" and last.endswith("n") and len(last) > 2:
        # "didn't" splits into "didn" and "t"; "can't" keeps its n.
        before[-1] = last if last == "can" else last[:-1]
        return ("not",)
    return _RUN_TOGETHER.get(word, (word,))


class PhraseBook(Generic[Kind]):
    """Tells which kinds of phrase a message holds, and what stands at a given word.

    The table maps a kind to its phrases, separated by "|" or line ends.
    """

    def __init__(self, table: Mapping[Kind, str]) -> None:
        self._by_first: dict[str, list[tuple[tuple[str, ...], Kind]]] = {}
        self._substrings: list[tuple[str, Kind]] = []
        for kind, phrases in table.items():
            for phrase in re.split(r"[|\n]", phrases):
                self._enter(phrase.strip(), kind)
        for entries in self._by_first.values():
            entries.sort(key=lambda entry: -len(entry[0]))
        self._substrings.sort(key=lambda entry: -len(entry[0]))

    def kinds_in(self, message: Words) -> frozenset[Kind]:
        """Return every kind with at least one phrase anywhere in the message."""
        words = message.words
        found: set[Kind] = set()
        for position, word in enumerate(words):
            for phrase, kind in self._by_first.get(word, ()):
                if kind not in found and words[position : position + len(phrase)] == phrase:
                    found.add(kind)
        if has_cjk(message.text):
            views = _spellings(message.text)
            found.update(kind for phrase, kind in self._substrings if any(phrase in view for view in views))
        return frozenset(found)

    def at(self, words: tuple[str, ...], position: int, *, skip: Kind | None = None) -> tuple[Kind, int] | None:
        """Return the kind and length of the longest phrase that starts at this word."""
        if position >= len(words):
            return None
        for phrase, kind in self._by_first.get(words[position], ()):
            if kind is not skip and words[position : position + len(phrase)] == phrase:
                return kind, len(phrase)
        return None

    def kinds_at_start(self, words: tuple[str, ...]) -> frozenset[Kind]:
        """Return every kind with a phrase that opens the words."""
        if not words:
            return frozenset()
        entries = self._by_first.get(words[0], ())
        return frozenset(kind for phrase, kind in entries if words[: len(phrase)] == phrase)

    def strip_substrings(self, text: str, *, skip: Kind | None = None) -> tuple[str, frozenset[Kind]]:
        """Return unspaced text with blanks for the phrases found in it, longest first, and their kinds."""
        found: set[Kind] = set()
        views = _spellings(text)
        for phrase, kind in self._substrings:
            for view in views:
                if kind is not skip and phrase in view:
                    found.add(kind)
                    views = _blanked(views, view, phrase)
        return views[0], frozenset(found)

    def _enter(self, phrase: str, kind: Kind) -> None:
        if not phrase:
            return
        if has_cjk(phrase):
            self._substrings.append((fold(phrase), kind))
            return
        words = read_words(phrase).words
        self._by_first.setdefault(words[0], []).append((words, kind))


def _spellings(text: str) -> tuple[str, ...]:
    """Return the text and, where it is another, its simplified spelling, character by character."""
    simplified = text.translate(SIMPLIFIED)
    return (text,) if simplified == text else (text, simplified)


def _blanked(views: tuple[str, ...], found_in: str, phrase: str) -> tuple[str, ...]:
    """Return all spellings with blanks where the phrase stands in one of them."""
    gone = found_in.replace(phrase, " " * len(phrase))
    return (gone,) if len(views) == 1 else tuple("".join(map(_kept, view, gone)) for view in views)


def _kept(character: str, left: str) -> str:
    return " " if left == " " else character


def word_set(text: str) -> frozenset[str]:
    """Return the folded words of a table written as running text."""
    return frozenset(fold(text).split())
