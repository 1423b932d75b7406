"""Where a message stops being the user's own words: he shows a text of somebody else, or asks about one."""

import re
from typing import Final

__all__ = ["FOREIGN_REST", "without_foreign_text"]

# What follows such an order is somebody's text or a game, so the rest of the message is not read.
FOREIGN_REST: Final = re.compile(
    r"^(?:(?:please|can you|could you|hey|hi|ok|now|kindly|bitte|por favor|s'il te plaît"
    r"|请)[,:]?\s+){0,2}(?:"
    r"(?:translate|proofread|summari[sz]e|rewrite|rephrase|paraphrase|correct|improve|shorten|edit"
    r"|review|check|fix"
    r"|explain|analy[sz]e|classify|comment on|reply to|answer|übersetze|korrigiere|fasse|traduce"
    r"|resume|corrige"
    r"|traduis|résume)\b.{0,80}(?::|\bfollowing|\bthis|\bbelow|\bfolgende\w*)"
    r"|(?:pretend|imagine|suppose|let's pretend|let's say|lets say|role-?play|act as|you are (?:an?"
    r"|now)|stell dir vor|imagina"
    r"|imagine que|想象)\b|(?:翻译|总结))",
    re.IGNORECASE,
)
_QUOTED_LINE = re.compile(r"\s*>")
# "What does this mean?" at the end of a line: the text it asks about follows.
_ASKS_ABOUT = re.compile(
    r"^.{0,80}\b(?:what|how|why|is|are|does|do you|can you|could you|thoughts|opinion|was|wie|ist|qué|que)\b.{0,60}"
    r"\b(?:(?:this|these|the following|das|dies|esto|cela|ceci)\b.{0,20}"
    r"\b(?:means?|say|says|true|right|correct|safe|wise|ok|okay|good|legit|real|scam|sense|make of|think|bedeutet"
    r"|significa|signifie)"
    r"|(?:make of|think of|think about|thoughts on|opinion on|understand|read|look at|bedeutet|significa|veut dire)"
    r" (?:this|these|the following|das|dies|esto|cela|ceci))\b.{0,40}[?？:：]\s*$"
    r"|^.{0,40}这.{0,10}什么意思[?？:：]?\s*$",
    re.IGNORECASE,
)
_SAYS: Final = (
    r"(?:said|says|wrote|writes|states?|stated|reads?|claims?|claimed|replied|answered|posted|told (?:me|us)"
    r"|according to [\w ]{1,40}|schrieb|schreibt|sagte|sagt|escribió|dijo|dice|a écrit|écrit|a dit|dit)"
)
_OWN_SAYING = re.compile(
    rf"\b(?:i|we|ich|wir|yo|je)\s+(?:\w+\s+){{0,2}}(?:{_SAYS})|\b(?:i|we)['’]\w+\s+(?:\w+\s+)?(?:{_SAYS})",
    re.IGNORECASE,
)
# "Bob wrote:", "The README says: …": what follows up to the next empty line is theirs.
_REPORTS = re.compile(rf"^.{{0,80}}?\b{_SAYS}(?:\s[^:：.!?\n]{{0,40}})?\s?[:：](?!//)", re.IGNORECASE)
_SHOWS = re.compile(
    r"^(?!.*\bmy\b).{0,60}\b(?:results?|output|logs?|transcript|excerpt|article|readme|snippet|stack ?trace|traceback"
    r"|response|quotes?|web ?page|search)\b.{0,40}[:：]\s*$",
    re.IGNORECASE,
)


def without_foreign_text(text: str) -> str:
    """Return a message without the texts of others that it shows or asks about; a gap stays for each."""
    kept: list[str] = []
    lines = text.splitlines(keepends=True)
    foreign = begun = False
    for place, line in enumerate(lines):
        shown = line.strip()
        if foreign and (not shown or _QUOTED_LINE.match(line)):
            # The empty line between "Bob wrote:" and his words ends nothing.
            foreign = not begun and not shown
            kept.append("\n" if not shown else line)
        elif foreign:
            begun = True
        elif _ASKS_ABOUT.match(shown) and any(rest.strip() for rest in lines[place + 1 :]):
            return "".join([*kept, line])
        elif (report := _REPORTS.match(shown)) and not _OWN_SAYING.search(report[0]):
            foreign, begun = True, bool(shown[report.end() :].strip())
        elif _SHOWS.match(shown):
            foreign, begun = True, False
        else:
            kept.append(line)
    return "".join(kept)
