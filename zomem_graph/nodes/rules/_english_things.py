"""The English patterns for projects, services and their attributes, and for what "we" agreed."""

from typing import Final

from zomem_graph.nodes.rules._fact_rules import PROJECT, Rule, rule
from zomem_graph.nodes.rules._noun_phrases import NAME
from zomem_graph.nodes.rules._wordlists import alternatives

__all__ = ["ATTRIBUTE_SHAPES", "THING_RULES"]

_SHAPE_OF: Final = {
    "number": "port|ssh port|http port",
    "token": "host|hostname|host name|server|domain|database|user|username|user name|bucket|ip|endpoint",
    "counted": "budget|price|cost|fee|rent|salary|timeout|limit|rate limit|retention|log retention|max"
    " retries"
    "|interval|quota|batch size|replica count|replicas|capacity|size|version|api version|address|ip address"
    "|rate|ttl|sla",
    "url": "url|link|homepage|website|webhook url|repo url|repository url",
    "dated": "deadline|due date|release date|launch date|start date|end date|go-live|go-live date|kickoff"
    "|cutoff date",
    "name": "owner|lead|tech lead|team lead|product owner|maintainer|contact|contact person|project manager"
    "|manager|reviewer|point of contact|on-call|assignee|client|customer|vendor|sponsor",
    "short": "branch|default branch|main branch|region|time zone|timezone|code name|codename|wifi network"
    "|ssid"
    "|environment|license|licence|theme|colour|color|log level|locale|currency|framework|language|font"
    "|hosting provider|provider|database engine|package manager|slogan|motto|priority|test command"
    "|build command|room|channel|slack channel",
    "located": "location|path|folder|directory|config file|log file|data directory|venue",
    "status": "status|state",
}
ATTRIBUTE_SHAPES: Final[dict[str, str]] = {
    name: shape for shape, names in _SHAPE_OF.items() for name in names.split("|")
}
"""The attributes of things that are learned, and the shape the value of each must have."""

_K: Final = alternatives("|".join(ATTRIBUTE_SHAPES))
_E: Final = r"(?:the |our )?(?P<e>[\w'’./-]+(?: [\w'’./-]+){0,3}?)"
_SHORT_E: Final = r"(?P<e>[\w./-]+(?: [\w./-]+){0,2}?)"
_NEW: Final = r"(?:new |current )?"
_IS: Final = (
    r"(?:is set to|(?:is|are) called|is named|is still|will be|['’]s|is|are"
    r"|(?:was|were|has been|have been|got|has|have)? ?(?:changed|moved|updated|raised|lowered|increased"
    r"|reduced"
    r"|renamed|set|switched|bumped|extended|postponed|pushed|upgraded)(?: back)?(?: from .{1,30}?)? to"
    r"|went up to|went down to|=|:)(?: now)?"
)
_STATES: Final = alternatives(
    "done|finished|complete|completed|blocked|on hold|paused|cancelled|canceled|live|shipped|released"
    "|deprecated"
    "|delayed|in review|in progress|merged|deployed|approved|archived|submitted|postponed|rejected"
    "|in production|in beta|in testing|discontinued|signed|paid|frozen|on track|behind schedule|at risk"
)
_EVENTS: Final = alternatives(
    "standup|stand-up|daily|retro|retrospective|demo|meeting|review|planning|sprint planning|release|launch"
    "|kickoff|kick-off|sync|workshop|exam|conference|party|interview|appointment|call|all-hands|offsite"
    "|go-live"
    "|match|lecture|class|course|concert|wedding|rehearsal|hearing|webinar|town hall|maintenance window"
    "|freeze"
    "|code freeze|flight"
)
_ROLES: Final = alternatives(
    "tech lead|team lead|lead|product owner|project manager|manager|owner|maintainer|cto|ceo|cfo|designer"
    "|accountant|lawyer|contact|point of contact|supervisor|architect|scrum master|account manager"
    "|landlord|admin"
)
_WE: Final = r"(?:we|the team|our team|the board|the committee)"
_WE_HAVE: Final = r"we(?:['’]ve| have)?"
_ORDERS: Final = alternatives(
    "use run write add push commit deploy test call ask answer reply respond send check include make keep"
    " put set"
    " show format start end name mention share store log save open close merge rebase squash review document"
    " prefer avoid confirm quote cite return print translate convert round sign address book order"
    " schedule wait"
    " explain summarize summarise create delete remove touch edit change update install skip assume validate"
    " escape pin lock back tell give speak verify double-check treat let leave turn take wear bring pay"
    " buy email"
    " mail text wake disturb interrupt publish release build lint reformat indent spell capitalize capitalise"
    " abbreviate mock cache retry trust follow stick refer group sort list link tag label describe ping"
    " notify"
    " copy cc involve do"
)
"""Verbs that begin an order; "always happy to help" and "never tried it" are none."""

_ASSIGNED: Final = r" ?(?<![=!<>])=(?!=) ?(?P<v>[\w./:@%+-]{1,80}?)[.,;]?(?=$|, | \()"
_THROWAWAY: Final = alternatives("result name value total data key test tmp temp answer sum foo bar count item text")
_ATTRIBUTES: Final = (
    rule(
        rf"(?:the |our )?{_NEW}(?P<k>(?:[\w-]+ )?{_K}) (?:of|for|at) {_E} ?{_IS} (?P<v>.+)",
        "{k}", "by key", entity="{e}",
    ),
    rule(rf"{_E}['’]s {_NEW}(?P<k>{_K}) ?{_IS} (?P<v>.+)", "{k}", "by key", entity="{e}"),
    rule(rf"(?:(?:the|our) )?{_NEW}(?P<k>{_K}) ?{_IS} (?P<v>.+)", "{k}", "by key", entity=PROJECT),
    rule(rf"(?:the |our )?{_SHORT_E} {_NEW}(?P<k>{_K}) ?{_IS} (?P<v>.+)", "{k}", "by key", entity="{e}"),
    rule(rf"(?P<k>{_K}) ?[:：=] ?(?P<v>\S.*)", "{k}", "by key", entity=PROJECT),
    rule(
        rf"(?!{_THROWAWAY} ?=)(?P<k>[A-Za-z][\w-]{{2,40}}){_ASSIGNED}",
        "{k}", "thing", entity=PROJECT, scope="sentence",
    ),
    rule(
        rf"(?P<e>[A-Za-z][\w-]{{1,40}})\.(?P<k>[A-Za-z][\w.-]{{1,40}}){_ASSIGNED}",
        "{k}", "thing", entity="{e}", scope="sentence",
    ),
)  # fmt: skip

_OPERATION: Final = (
    rule(
        rf"{_E} (?:is )?(?:now )?(?:listens|listening|listen|runs|is running|run)(?: now)? on"
        r" (?:port )?(?P<v>\d{2,5})\b",
        "port", "number", entity="{e}",
    ),
    rule(
        rf"{_E} (?:now )?(?:runs|is running|is hosted|is deployed|are hosted|are deployed)(?: now)? on"
        r" (?P<v>(?!port\b)[^\d].+)",
        "runs on", "proper", entity="{e}",
    ),
    rule(
        rf"{_E} (?:runs|is run|starts|fires|kicks off|is scheduled)(?: daily| nightly| weekly| every \w+)?"
        r" (?P<v>(?:at|on|every) .+)",
        "time", "timed", entity="{e}",
    ),
    rule(
        rf"(?:the|our) {_SHORT_E} (?:now )?(?:uses|use|is built with|is built on|are built with) (?P<v>.+)",
        "uses", "used", entity="{e}",
    ),
    rule(
        rf"(?:the|our) {_SHORT_E} no longer (?:uses|use|needs|depends on) (?P<v>.+)",
        "uses", "thing", entity="{e}", value="no longer {}", ends=True,
    ),
    rule(rf"{_E} (?:depends on|depend on|relies on) (?P<v>.+)", "depends on", "things", entity="{e}"),
    rule(rf"{_E} (?:is|are) written in (?P<v>.+)", "language", "proper", entity="{e}"),
    rule(
        rf"{_E} (?:lives?|sits?|(?:is|are) (?:stored|located|kept|saved|mounted|hosted|deployed))(?: now)?"
        r" (?:in|at|under|on) (?P<v>.+)",
        "location", "located", entity="{e}",
    ),
    rule(
        r"(?:the|our) (?P<e>office|headquarters|hq|studio|shop|warehouse|[\w-]+ cluster|[\w-]+ office)"
        r" (?:is (?:now )?(?:in|at)|(?:has )?moved to) (?P<v>.+)",
        "location", "located", entity="{e}",
    ),
    rule(
        rf"{_E} (?:has been|was|is|got|is being) replaced (?:by|with) (?P<v>.+)",
        "uses", "proper", entity="{e}",
    ),
    rule(
        r"we (?:now |mostly |only |currently |still |also )*(?:use|run) (?P<v>.+)",
        "uses", "used", entity=PROJECT,
    ),
    rule(r"we(?:['’]re| are) (?:now |currently )?using (?P<v>.+)", "uses", "proper", entity=PROJECT),
    rule(r"we(?:['’]re| are) (?:now )?on (?P<v>[A-Z]\w+ v?\d[\w.]*)", "uses", "used", entity=PROJECT),
    rule(
        rf"{_WE_HAVE} (?:just |finally )?(?:switched|migrated)(?: over)?(?: from (?P<o>[\w .+-]{{1,30}}?))?"
        r" to (?P<v>.+)",
        "uses", "used", entity=PROJECT,
    ),
    rule(
        r"we (?:no longer use|don['’]t use|do not use|stopped using|dropped|got rid of) (?P<v>.+?)"
        r"(?: any ?more)?$",
        "uses", "thing", entity=PROJECT, value="no longer {}", ends=True,
    ),
)  # fmt: skip

_PLANS: Final = (
    rule(
        rf"(?:the |our )?(?P<e>(?:[\w-]+ )?{_EVENTS}) (?:takes place|starts|begins|happens|will be|is now|is"
        r"|(?:was |got |has been )?moved to)(?: now)? (?P<v>.+)",
        "date", "timed", entity="{e}", tier="active",
    ),
    rule(
        r"(?P<e>(?:the |our )?[\w-]+(?: [\w-]+){0,2}) (?:ends|closes|expires|is due)(?: on)? (?P<v>.+)",
        "deadline", "dated", entity="{e}", tier="active",
    ),
    rule(
        r"(?P<e>(?:Project|project) [A-Z]\w+|(?:the|The|our|Our) [\w-]+(?: [\w-]+){0,2}?)"
        rf" (?:is|are|was|has been|were|have been|got)(?: now| finally| still)? (?P<v>{_STATES}\b.*)",
        "status", "state", entity="{e}", category="project", tier="active", cased=True,
    ),
    rule(
        r"i(?:['’]ll| will) (?P<v>\w+ .{3,120}? (?:by|before|until|on) .{3,40})",
        "commitment", "promised", category="project", tier="active",
    ),
)  # fmt: skip

_OF_WHAT: Final = r"(?:the |our )?(?P<e>[\w-]+(?: [\w-]+){0,2})$"
_PEOPLE: Final = (
    rule(rf"(?P<v>{NAME}) (?i:owns) {_OF_WHAT}", "owner", "name", entity="{e}", cased=True),
    rule(rf"(?P<v>{NAME}) (?i:maintains) {_OF_WHAT}", "maintainer", "name", entity="{e}", cased=True),
    rule(rf"(?P<v>{NAME}) (?i:leads) {_OF_WHAT}", "lead", "name", entity="{e}", cased=True),
    rule(
        rf"(?P<v>{NAME}) is (?:now )?(?:our|the) {_NEW}(?P<k>{_ROLES}) (?:of|for) (?:the )?(?P<e>.{{2,30}})$",
        "{k}", "name", entity="{e}", cased=True,
    ),
    rule(
        rf"(?P<v>{NAME}) is (?:now )?our {_NEW}(?P<k>{_ROLES})$",
        "{k}", "name", entity=PROJECT, cased=True,
    ),
    rule(
        rf"(?P<v>i)(?:['’]m| am) (?:now )?the (?P<k>{_ROLES}) (?:of|for) (?:the )?(?P<e>.{{2,30}})$",
        "{k}", "speaker", entity="{e}",
    ),
    rule(
        rf"(?i:{_WE_HAVE} (?:just )?hired) (?P<v>{NAME}) as (?:our|the|an?) {_NEW}(?P<k>[a-z][\w ]{{2,30}})$",
        "{k}", "name", entity=PROJECT, cased=True,
    ),
)  # fmt: skip

_AGREED: Final = (
    rule(
        rf"(?:.{{0,60}}\b)?{_WE}(?:['’]ve| have)?(?: just| finally| also| all| now)?"
        r" (?:decided|agreed|chose|settled|went with|opted|picked)(?: on| to| that| for| with| upon)?"
        r" (?P<v>(?!not yet\b).+)",
        "decision", "decided", entity=PROJECT, category="decision",
    ),
    rule(
        r"(?:in this (?:repo|project|codebase),? )?(?:please )?"
        rf"(?P<v>(?:always|never) {_ORDERS}\b .+)",
        "convention", "order", category="convention", scope="sentence",
    ),
    rule(
        rf"from now on,? (?:please )?(?P<v>(?:(?:always|never|only) )?{_ORDERS}\b.+)",
        "convention", "order", category="convention", scope="sentence",
    ),
    rule(
        rf"we (?P<v>(?:always|never) {_ORDERS}\b .+)",
        "convention", "order", entity=PROJECT, category="convention", scope="sentence",
    ),
    rule(
        r"(?:please )?(?:remember|don['’]t forget|do not forget|keep in mind|note)(?: that|:) (?P<v>.+)",
        "note", "note", scope="sentence", confidence=0.9,
    ),
)  # fmt: skip

THING_RULES: Final[tuple[tuple[Rule, ...], ...]] = (_ATTRIBUTES, _OPERATION, _PLANS, _PEOPLE, _AGREED)
"""Groups of rules; in a clause the first rule of a group that finds something ends the group."""
