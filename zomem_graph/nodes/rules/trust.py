"""Who said it, and what may come of it (design §5).

| trust | who | facts | rules (conventions) | how |
|---|---|---|---|---|
| user | the user, in a turn | yes | yes | capture, by rule or with a quote from that very turn |
| hand | a person, at the keyboard | yes | yes | the command line, files written by hand |
| import | the user, elsewhere, before | yes, so labelled | no | importers |
| assistant | a model, through a tool of ours | yes, so labelled | no | memory tools, MCP |
| tool | a program's or document's text | no | no | kept as what was said, never learned from |

What is stored without a turn is trusted by its source: `api`, `user` and the names of capture are the user; `cli`,
`hand` and `vault` a hand; `import…` an import; every other name (`assistant`, `mcp`, `web`, `document`) an assistant.
"""

from typing import Final, Literal, get_args

from zomem_graph.stores.errors import InvalidInput

__all__ = ["TRUSTS", "Trust", "check_trust", "may_teach", "rightful_category", "trust_of"]

Trust = Literal["user", "assistant", "tool", "import", "hand"]
TRUSTS: Final[tuple[Trust, ...]] = get_args(Trust)

_RULES: Final = frozenset({"convention"})
_RULE_MAKERS: Final = frozenset({"user", "hand"})
_BY_SOURCE: Final = {
    **dict.fromkeys(("", "api", "user", "agent", "auto-capture", "inline", "streaming", "stream"), "user"),
    **dict.fromkeys(("cli", "hand", "vault"), "hand"),
    **dict.fromkeys(("import", "conversation", "conversation-capture"), "import"),
}
_OTHERS: Final = "assistant"


def trust_of(source: str) -> str:
    """Return who is behind a fact that was stored under a source without a turn: by the word before its colon.

    A source that nobody knows (mcp, web, document, a name of the caller's) may state facts and makes no rules.
    """
    return _BY_SOURCE.get(source.split(":", 1)[0].strip().lower(), _OTHERS)


def check_trust(trust: str) -> None:
    """Raise InvalidInput for a trust that nobody knows or that teaches nothing."""
    if not may_teach(trust):
        raise InvalidInput(f"trust must be one of {', '.join(TRUSTS)}, and what a tool says teaches nothing.")


def may_teach(trust: str) -> bool:
    """Return whether facts may come of what was said under this trust."""
    return trust in TRUSTS and trust != "tool"


def rightful_category(category: str, trust: str) -> str:
    """Return the category a fact may have: only the user and a person's hand make rules."""
    return "other" if category in _RULES and trust not in _RULE_MAKERS else category
