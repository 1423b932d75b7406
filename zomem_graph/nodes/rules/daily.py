"""Which section of a daily summary a fact belongs to, and how it reads there (spec F116)."""

from typing import Final

__all__ = ["section_of"]

_TASTES: Final = frozenset({"likes", "dislikes", "loves", "hates", "prefers", "habits"})


def section_of(*, entity: str, key: str | None, value: str, category: str) -> tuple[str, str]:
    """Return the section of a fact and its line there."""
    name = (key or "").casefold()
    told = f"{entity} {key}: {value}" if key else f"{entity}: {value}"
    if category in ("decision", "convention") or name in ("decision", "convention"):
        return "Decisions Made", value if name in ("decision", "convention") else told
    if name == "commitment":
        return "Action Items", f"[ ] {value}"
    if category == "preference" or name in _TASTES or name.startswith("favorite "):
        return "Preferences Noted", told
    return "Facts Learned", told
