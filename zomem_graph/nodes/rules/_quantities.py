"""Numbers with their units inside a short value, so that "30 s" equals "30 seconds" and 8080 is not 8081."""

import math
import re
from dataclasses import dataclass, field
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
        ("gram", 453.59237, "lb lbs"),
        ("gram", 28.349523125, "oz ounce ounces"),
        ("metre", 0.001, "mm"),
        ("metre", 0.01, "cm"),
        ("metre", 1, "m meter meters metre metres"),
        ("metre", 0.0254, "inch inches"),
        ("metre", 0.3048, "ft foot feet"),
        ("metre", 1609.344, "mi mile miles"),
        ("litre", 1, "l liter liters litre litres"),
        ("litre", 0.001, "ml"),
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
    r"(?<![\w.])(?P<sign>-)?(?P<before>[$€£¥] ?)?(?P<number>\d{1,15}(?:[.,]\d{1,9})?(?:e[+-]?\d{1,2}(?!\w))?)(?![\d])"
    r"(?: ?(?P<scale>k|mio|million|millionen|万)(?![a-z]))?"
    rf"(?: ?(?P<unit>{_UNIT_NAMES})(?![a-z]))?"
)
# "1.000,5" is 1000.5: with a point and a comma there is only one way to read it.
_POINTED = re.compile(r"(?<![\w.,])\d{1,3}(?:\.\d{3}){1,4},\d{1,9}(?![\d.,])")
_ZERO_FIRST = re.compile(r"0\d")


@dataclass(frozen=True, slots=True, order=True)
class Quantity:
    """A number in the base unit of its kind; `label` holds a version, an IP address or a number like 0123.

    `written` is the number as it was put, for "3.10" is not always 3.1.
    """

    unit: str
    amount: float
    label: str = ""
    written: str = field(default="", compare=False)


def quantities_in(text: str) -> tuple[list[Quantity], str]:
    """Return the numbers in a normalised text, in order (labels first), and the text without them."""
    labels = [Quantity("label", 0.0, found[1] or found[2]) for found in _VERSION.finditer(text)]
    text = _POINTED.sub(_with_point, _VERSION.sub(" ", text))
    numbers = [_quantity(found) for found in _NUMBER.finditer(text)]
    return [*labels, *numbers], _NUMBER.sub(" ", text)


def same_quantities(a: list[Quantity], b: list[Quantity], *, as_written: bool = False) -> bool:
    """Return whether two lists hold the same amounts in the same order: a score of 2 to 1 is not 1 to 2.

    `as_written` is for what may be names or versions: without a unit 3.10 is not 3.1 there.
    """
    return len(a) == len(b) and all(
        _equal(one, other, 1e-9) and not (as_written and not one.unit and one.written != other.written)
        for one, other in zip(a, b, strict=True)
    )


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
    written = match["number"].replace(",", ".")
    unit, size = _UNITS.get((match["before"] or match["unit"] or "").strip(), ("", 1.0))
    if _ZERO_FIRST.match(written):
        return Quantity(unit, 0.0, match["number"])
    amount = float(written) * (-1 if match["sign"] else 1)
    amount *= _SCALES.get(match["scale"] or "", 1)
    return Quantity(unit, amount * size, written=written)


def _with_point(found: re.Match[str]) -> str:
    whole, part = found[0].replace(".", "").split(",")
    return f"{whole}.{part}"
