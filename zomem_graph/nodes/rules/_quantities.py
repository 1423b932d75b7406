"""Numbers with their units inside a short value, so that "30 s" equals "30 seconds" and 8080 is not 8081."""

import math
import re
from dataclasses import dataclass
from typing import Final

__all__ = ["Quantity", "quantities_clash", "quantities_in", "same_quantities"]

TOLERANCE: Final = 0.001
"""Share of the larger number by which two measured numbers may differ without a conflict (spec F83)."""

_UNITS: Final[dict[str, tuple[str, float]]] = {
    name: (kind, size)
    for kind, size, names in (
        ("second", 0.001, "ms millisecond milliseconds"),
        ("second", 1, "s sec secs second seconds sekunde sekunden segundo segundos seconde secondes 秒"),
        ("second", 60, "min mins minute minutes minuten minuto minutos 分钟"),
        ("second", 3600, "h hr hrs hour hours stunde stunden hora horas heure heures 小时"),
        ("second", 86400, "d day days tag tage tagen día días dia dias jour jours 天"),
        ("second", 604800, "week weeks woche wochen semana semanas semaine semaines 周"),
        ("byte", 1, "b byte bytes"),
        ("byte", 1e3, "kb"),
        ("byte", 1e6, "mb"),
        ("byte", 1e9, "gb"),
        ("byte", 1e12, "tb"),
        ("byte", 1024, "kib"),
        ("byte", 1024**2, "mib"),
        ("byte", 1024**3, "gib"),
        ("gram", 1, "g gram grams gramm"),
        ("gram", 1000, "kg kilo kilos kilogram kilograms"),
        ("metre", 0.001, "mm"),
        ("metre", 0.01, "cm"),
        ("metre", 1000, "km kilometer kilometers kilometre kilometres"),
        ("percent", 1, "% percent prozent"),
        ("eur", 1, "€ eur euro euros 欧元"),
        ("usd", 1, "$ usd dollar dollars 美元"),
        ("gbp", 1, "£ gbp pound pounds"),
        ("cny", 1, "¥ cny rmb yuan 元"),
    )
    for name in names.split()
}
_SCALES: Final = {"k": 1e3, "mio": 1e6, "million": 1e6, "millionen": 1e6, "万": 1e4}
_UNIT_NAMES: Final = "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True))
_VERSION = re.compile(r"(?<![\w.])v?(\d{1,9}(?:\.\d{1,9}){2,8})(?![\w])|(?<![\w.])v(\d{1,9}(?:\.\d{1,9})?)(?!\w)")
_NUMBER = re.compile(
    r"(?<![\w.])(?P<sign>-)?(?P<before>[$€£¥] ?)?(?P<number>\d{1,15}(?:[.,]\d{1,9})?)(?![\d])"
    r"(?: ?(?P<scale>k|mio|million|millionen|万)(?![a-z]))?"
    rf"(?: ?(?P<unit>{_UNIT_NAMES})(?![a-z]))?"
)


@dataclass(frozen=True, slots=True, order=True)
class Quantity:
    """A number in the base unit of its kind; `label` holds a version or an IP address."""

    unit: str
    amount: float
    label: str = ""


def quantities_in(text: str) -> tuple[list[Quantity], str]:
    """Return the numbers in a normalised text, in order (labels first), and the text without them."""
    labels = [Quantity("label", 0.0, found[1] or found[2]) for found in _VERSION.finditer(text)]
    text = _VERSION.sub(" ", text)
    numbers = [_quantity(found) for found in _NUMBER.finditer(text)]
    return [*labels, *numbers], _NUMBER.sub(" ", text)


def same_quantities(a: list[Quantity], b: list[Quantity]) -> bool:
    """Return whether two lists hold the same amounts in the same order: a score of 2 to 1 is not 1 to 2."""
    return len(a) == len(b) and all(_equal(one, other, 1e-9) for one, other in zip(a, b, strict=True))


def quantities_clash(a: list[Quantity], b: list[Quantity]) -> bool:
    """Return whether both hold numbers and neither list is contained in the other.

    The tolerance of spec F83 is for measured numbers: it is not applied between two whole numbers, for
    the ports 8080 and 8081 or the years 2026 and 2027 are closer than 0.1 % and still not the same.
    """
    if not a or not b:
        return False
    fewer, more = sorted((a, b), key=len)
    return not (_within(fewer, more) and (len(a) != len(b) or _within(more, fewer)))


def _within(few: list[Quantity], many: list[Quantity]) -> bool:
    return all(any(_equal(one, other, TOLERANCE) for other in many) for one in few)


def _equal(a: Quantity, b: Quantity, tolerance: float) -> bool:
    if a.unit != b.unit or a.label != b.label:
        return False
    whole = a.amount.is_integer() and b.amount.is_integer()
    return a.amount == b.amount if whole else math.isclose(a.amount, b.amount, rel_tol=tolerance)


def _quantity(match: re.Match[str]) -> Quantity:
    amount = float(match["number"].replace(",", ".")) * (-1 if match["sign"] else 1)
    amount *= _SCALES.get(match["scale"] or "", 1)
    unit, size = _UNITS.get((match["before"] or match["unit"] or "").strip(), ("", 1.0))
    return Quantity(unit, amount * size)
