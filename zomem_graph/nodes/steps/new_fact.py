"""A fact on its way in: what was given, checked, before anything is stored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any

from zomem_graph.nodes.options import WriteOptions
from zomem_graph.nodes.rules.conflict import STRATEGIES
from zomem_graph.nodes.rules.given import (
    bounded_metadata,
    choice,
    flag,
    if_given,
    name_of,
    named_strings,
    names,
    number,
    text,
)
from zomem_graph.nodes.rules.keys import normal
from zomem_graph.nodes.rules.secrets import looks_secret, redact
from zomem_graph.nodes.rules.tiers import TIERS
from zomem_graph.nodes.rules.trust import check_trust, trust_of
from zomem_graph.nodes.scope import SHARED
from zomem_graph.stores.errors import InvalidInput, SecretRefused

__all__ = ["NewFact"]

_DETAILS = ("category", "tier", "importance", "confidence", "text")
_USUAL = 1.0  # importance and confidence where none is given
_AGAIN = ("import", "auto-capture", "conversation-capture", "inline", "streaming")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFact:
    """A fact on its way in; the same names as `Memory.remember`.

    `at` is when it was said, where that was before now; `said_at` the same where the source itself tells it, which
    makes a new statement of what was forgotten before. `importance` and `confidence` are 1 for a new fact where
    nobody gave any, and then stay as they are for a known one. `method` says how it was learned: api, rule,
    model or import. `on_conflict` is a strategy of spec F84, None for the one in the options. `mentions` are
    names it speaks of beyond those that its text shows. `read_again` says that it stands in a file or log, which
    may say again what was erased since.
    """

    entity: str
    key: str | None
    value: str
    persona: str = SHARED
    category: str = "fact"
    tier: str = "stable"
    importance: float | None = None
    confidence: float | None = None
    source: str = "api"
    text: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    many: bool | None = None
    allow_secret: bool = False
    trust: str = "user"
    turn_id: str | None = None
    quote: str | None = None
    ends: str | None = None
    at: datetime | None = None
    method: str | None = None
    on_conflict: str | None = None
    mentions: Sequence[str] = ()
    read_again: bool = False
    said_at: datetime | None = None

    def checked(self, options: WriteOptions) -> "NewFact":
        """Return the fact itself; raise InvalidInput or SecretRefused when it cannot be stored as it is."""
        for name, value, longest in (
            ("entity", self.entity, options.longest_name),
            ("value", self.value, options.longest_text),
        ):
            _check_text(name, value, longest)
        if self.key is not None:
            _check_text("key", self.key, options.longest_name)
        if self.text is not None:
            _check_text("text", self.text, options.longest_text)
        text("persona", self.persona)
        text("source", self.source)
        check_trust(self.said_by)
        name_of("category", self.category)
        name_of("tier", self.tier)
        kept = replace(
            self,
            many=if_given(flag, "many", self.many),
            allow_secret=flag("allow_secret", self.allow_secret),
            importance=if_given(number, "importance", self.importance, least=0, most=2),
            confidence=if_given(number, "confidence", self.confidence, least=0, most=1),
            metadata=bounded_metadata("metadata", self.metadata),
            mentions=names("mentions", self.mentions),
        )
        if_given(choice, "on_conflict", self.on_conflict, known=STRATEGIES)
        if not kept.allow_secret:
            kept.refuse_secrets()
        return kept

    def refuse_secrets(self) -> None:
        """Raise SecretRefused when any part of the fact looks like a secret."""
        parts = [("value", self.value), ("text", self.text or ""), ("key", self.key or ""), ("source", self.source)]
        parts += [("value", f"{self.key or ''} = {self.value}"), ("category", self.category), ("tier", self.tier)]
        parts += [("entity", self.entity), *(("mentions", one) for one in self.mentions)]
        parts += [("metadata", one) for one in named_strings(self.metadata)]
        for name, part in parts:
            if kind := looks_secret(part):
                raise SecretRefused(
                    f"The {name} of {redact(self.entity)[0]!r:.60} looks like a secret ({kind}) and was not stored.",
                    "Keep secrets in a password manager; pass allow_secret=True if this is none.",
                )

    @property
    def sentence(self) -> str:
        """The text that is embedded and shown: `text`, else "entity key: value" (spec T1)."""
        if self.text:
            return self.text
        return f"{self.entity} {self.key}: {self.value}" if self.key else f"{self.entity}: {self.value}"

    @property
    def weight(self) -> float:
        """The importance of a new fact."""
        return _USUAL if self.importance is None else self.importance

    @property
    def sureness(self) -> float:
        """The confidence of a new fact."""
        return _USUAL if self.confidence is None else self.confidence

    @property
    def said_by(self) -> str:
        """Who said it: the turn's trust where there is a turn, else whoever is behind the source."""
        return trust_of(self.source) if self.trust == "user" and self.turn_id is None else self.trust

    @property
    def learned_by(self) -> str:
        """How it was learned (spec T24)."""
        if self.method is not None:
            return self.method
        return "import" if self.trust == "import" or self.source.startswith("import") else "api"

    @property
    def repeats_a_source(self) -> bool:
        """Whether this may be an old text read again, so that what was forgotten must stay so."""
        return self.read_again or self.learned_by != "api" or self.source.startswith(_AGAIN)

    @property
    def details(self) -> frozenset[str] | None:
        """What was told of the fact beside its value, as far as it is not the usual; None for an old text's."""
        if self.repeats_a_source:
            return None
        usual = {one.name: one.default for one in fields(self)}
        if self.tier not in TIERS:
            usual["tier"] = self.tier
        return frozenset(name for name in _DETAILS if getattr(self, name) != usual[name])


def _check_text(name: str, value: Any, longest: int) -> None:
    if len(text(name, value)) > longest:
        raise InvalidInput(f"{name} has {len(value):,} characters; at most {longest:,} are stored. Split it.")
    if not value.strip() or (name in ("entity", "key") and not normal(value)):  # controls alone name nothing
        raise InvalidInput(f"{name} is empty. Say what is to be remembered.")
