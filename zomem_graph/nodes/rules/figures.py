"""Whether the figures of a value are those of what was said: a port of 9090 does not come of "port 8080"."""

import re
from typing import Final

from zomem_graph.nodes.rules.date_words import NUMBERS

__all__ = ["other_figures"]

_SCALES: Final = {
    **dict.fromkeys(("k", "thousand", "tausend", "mil", "mille"), 10**3),
    **dict.fromkeys(("m", "mio", "million", "millionen"), 10**6),
    "万": 10**4,
    "bn": 10**9,
}
_FIGURE = re.compile(
    r"(?<![\d.,])(?<!\+)(?P<figure>\d{1,18}(?:[.,]\d{1,9})*)"
    r"(?: ?(?P<scale>k|thousand|tausend|mil|mille|万|m|mio|million|millionen|bn)(?![^\W\d_]))?",
    re.IGNORECASE,
)
_GROUPED = re.compile(r"\d{1,3}([.,])\d{3}(?:\1\d{3})*")
_DATE = re.compile(r"\d{4}-\d\d(?:-\d\d)?|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b|\b(?:19|20)\d\d\b|\b\d{1,2}:\d\d\b")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_WORD = re.compile(r"[^\W\d_]+")


def other_figures(said: str, value: str) -> bool:
    """Return whether a value has figures where what was said has figures too, and one of them is not among those.

    5k is 5,000 and "two" is 2. A day and a clock time are put in other figures than they were said in ("the 5th",
    "5 years ago"), so of those only a year that was said counts.
    """
    spoken = _figures(said) | {str(NUMBERS[word]) for word in _WORD.findall(said.casefold()) if word in NUMBERS}
    if not spoken - {"1"}:  # "a" and "one" alone count nothing
        return False
    years = set(_YEAR.findall(value))
    if years and (said_years := set(_YEAR.findall(said))) and not years <= said_years:
        return True
    return any(not readings & spoken for readings in map(_readings, _FIGURE.finditer(_DATE.sub(" ", value))))


def _figures(text: str) -> set[str]:
    return {reading for found in _FIGURE.finditer(text) for reading in _readings(found)}


def _readings(found: re.Match[str]) -> set[str]:
    """Return every way in which a number may be meant: 1,500 is fifteen hundred or one and a half."""
    figure = found["figure"]
    if {",", "."} <= set(figure):  # with both, the last one is the point
        figure = re.sub(rf"[.,](?=.*{re.escape(max(',.', key=figure.rfind))})", "", figure)
    plain = {figure.replace(",", ".")}
    if _GROUPED.fullmatch(figure):
        plain.add(re.sub(r"[.,]", "", figure))
    times = _SCALES.get((found["scale"] or "").casefold())
    if times is None:
        return {_bare(one) for one in plain}
    scaled = {f"{float(one) * times:.0f}" for one in plain if one.count(".") < 2}
    return {_bare(one) for one in plain | scaled}


def _bare(figure: str) -> str:
    return figure.lstrip("0") or "0"
