"""Where a text points to with [[double brackets]] (spec F5)."""

import re
from typing import Final

__all__ = ["MOST_WIKILINKS", "wikilinks"]

MOST_WIKILINKS: Final = 20
"""Links of one text that count."""

_WIKILINK = re.compile(r"!?\[\[([^\[\]|#^\n]{1,200})(?:[#^|][^\[\]\n]{0,200})?\]\]")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]{1,500}`", re.DOTALL)
_ATTACHMENT = re.compile(
    r"\.(?:png|jpe?g|gif|svg|webp|pdf|mp[34]|wav|mov|zip|csv|xlsx?|docx?|pptx?|canvas)$", re.IGNORECASE
)


def wikilinks(text: str) -> tuple[str, ...]:
    """Return what a text links to, each once: [[entity]], [[entity|shown]], [[folder/entity#heading]].

    Links in code and to pictures and other attachments are none.
    """
    if "[[" not in text:
        return ()
    bare = _CODE.sub(" ", text) if "`" in text else text
    names = (" ".join(found[1].split()).removesuffix(".md").strip(" /\\") for found in _WIKILINK.finditer(bare))
    kept = dict.fromkeys(name for name in names if name and not _ATTACHMENT.search(name))
    return tuple(kept)[:MOST_WIKILINKS]
