"""The English patterns for how people live: taste, health, contact, habits, possessions, tools."""

from typing import Final

from zomem_graph.nodes.rules._english_self import AM
from zomem_graph.nodes.rules._fact_rules import Rule, rule
from zomem_graph.nodes.rules._wordlists import alternatives

__all__ = ["LIFE_RULES"]

_VERY: Final = r"(?:(?:really|absolutely|also|do|just|simply|still|always|totally|very|generally) )*"
_DIETS: Final = alternatives(
    "vegan|vegetarian|pescatarian|flexitarian|gluten-free|gluten free|dairy-free|halal|kosher|keto|lactose-free"
)
_APPOINTMENTS: Final = alternatives(
    "appointment meeting interview exam checkup check-up call lesson class surgery flight wedding trip"
    " conference"
    " presentation demo deadline train concert vacation holiday viewing hearing party dinner workshop"
)
_OWNED: Final = alternatives(
    "address|time zone|timezone|laptop|computer|phone|car|bike|bicycle|motorbike|blood type|height|shoe size"
    "|employer|job|job title|team|username|user name|handle|github|github handle|twitter|website|blog"
    "|hometown"
    "|home town|nationality|native language|mother tongue|first language|salary|goal|nickname|pronouns|major"
    "|university|school|office|room|desk|editor|shell|operating system|os|browser|keyboard|camera|instrument"
    "|gym|bank|license plate|zodiac sign|star sign|hobby|profession|occupation|surname|last name|middle name"
    "|religion|postcode|zip code|working hours|office hours|locale|currency|age|monitor|printer|router"
)

_TASTE: Final = (
    rule(rf"(?:i|we) {_VERY}(?:love|like|adore|enjoy) (?P<v>.+)", "likes", "liked", category="preference"),
    rule(
        rf"{AM} {_VERY}(?:into|fond of|keen on|crazy about) (?P<v>.+)",
        "likes", "liked", category="preference",
    ),
    rule(rf"{AM} {_VERY}an? (?:big |huge |great )?fan of (?P<v>.+)", "likes", "liked", category="preference"),
    rule(
        rf"(?:i|we) {_VERY}(?:hate|dislike|can['’]?t stand|cannot stand|loathe|detest|don['’]?t like"
        r"|do not like) (?P<v>.+)",
        "dislikes", "liked", category="preference",
    ),
    rule(rf"{AM} (?:not|no) (?:an? )?(?:big )?fan of (?P<v>.+)", "dislikes", "liked", category="preference"),
    rule(
        r"i no longer (?:like|love|enjoy) (?P<v>.+)",
        "likes", "liked", value="no longer {}", category="preference", ends=True,
    ),
    rule(rf"(?:i|we) {_VERY}prefer (?P<v>.+)", "prefers", "preferred", category="preference"),
    rule(
        r"my (?:all-time |absolute )?favou?rite (?P<k>[a-z][\w-]*(?: [\w-]+){0,2}?) (?:is|are|remains)"
        r" (?P<v>.+)",
        "favorite {k}", "thing", category="preference",
    ),
)  # fmt: skip

_HEALTH: Final = (
    rule(
        rf"{AM} no longer allergic to (?P<v>.+)",
        "allergies", "things", value="no longer {}", tier="permanent", ends=True,
    ),
    rule(
        rf"{AM} not allergic to (?P<v>.+?),? any ?(?:more|longer)\b",
        "allergies", "things", value="no longer {}", tier="permanent", ends=True,
    ),
    rule(
        rf"{AM} not allergic to (?P<v>(?!(?:any|every|it|that|this|th[eo]se|the|them|you|much)).+)",
        "allergies", "things", value="not {}", tier="permanent",
    ),
    rule(
        rf"{AM} {_VERY}(?:badly |severely |highly )?allergic to (?P<v>.+)",
        "allergies", "things", tier="permanent",
    ),
    rule(r"i(?:['’]ve| have)(?: got)? an? (?P<v>[\w-]+) allergy", "allergies", "exact", tier="permanent"),
    rule(
        rf"{AM} (?P<v>lactose|gluten|fructose|histamine)[ -]intolerant",
        "allergies", "exact", tier="permanent",
    ),
    rule(
        rf"{AM} no longer (?:an? )?(?P<v>{_DIETS})\b",
        "diet", "exact", value="no longer {}", tier="permanent", ends=True,
    ),
    rule(rf"{AM} {_VERY}(?:an? )?(?:strict )?(?P<v>{_DIETS})\b", "diet", "exact", tier="permanent"),
    rule(rf"i(?:['’]ve| have) been (?:an? )?(?P<v>{_DIETS})\b", "diet", "exact", tier="permanent"),
    rule(
        r"i (?:don['’]t|do not|never|can['’]t|cannot) eat (?P<v>.+)",
        "diet", "thing", value="no {}", tier="permanent",
    ),
)  # fmt: skip

_CONTACT: Final = (
    rule(
        r"\b(?:my (?:new |work |private |personal )?e-?mail(?: address)?"
        r"|(?:reach|contact|write|mail|email|ping) (?:to )?me)\b.{0,40}?(?P<v>[\w.+-]+@[\w-]+\.\S+)",
        "email", "email", tier="permanent", anywhere=True, scope="sentence",
    ),
    rule(
        r"\b(?:my (?:new |mobile |cell |phone |work |private )*(?:number|phone|mobile) is"
        r"|(?:call|reach|text|ring) me (?:at|on|under)) (?P<v>\+?[\d(].+)",
        "phone", "phone", tier="permanent", anywhere=True, scope="sentence",
    ),
)  # fmt: skip

_DAYS: Final = (
    rule(r"i (?:also )?speak (?P<v>.+)", "languages", "languages", tier="permanent"),
    rule(r"my hobb(?:y is|ies are|ies include) (?P<v>.+)", "hobbies", "things"),
    rule(
        r"i (?P<v>play (?:the |in |football|tennis|chess|basketball|volleyball|golf|guitar|piano"
        r"|badminton).*)",
        "hobbies", "thing",
    ),
    rule(r"i (?P<v>collect (?!my\b|the\b|your\b).+)", "hobbies", "thing"),
    rule(
        r"i(?:['’]ve| have)(?: got)? (?:an? |my |another )?"
        rf"(?P<k>(?:[\w'’-]+ ){{0,3}}{_APPOINTMENTS}(?: with [\w. ]{{2,30}}?)?)"
        r" (?P<v>(?:on|at|next|this|tomorrow)\b.+)",
        "{k}", "dated", tier="active",
    ),
    rule(
        rf"my (?:next )?(?P<k>(?:[\w'’-]+ ){{0,3}}?{_APPOINTMENTS}(?: (?:with|to|for) [\w. ]{{2,30}}?)?)"
        r" (?:is|leaves|starts|departs|begins|(?:(?:has|have)(?: now)? been |got |was |is |has )?"
        r"(?:moved|postponed|rescheduled|shifted|pushed|brought forward)(?: back)? to)(?: now)? (?P<v>.+)",
        "{k}", "dated", tier="active",
    ),
    rule(r"i(?:['’]ve| have) (?:already )?(?:been to|visited) (?P<v>.+)", "visited", "places"),
    rule(r"(?P<v>i (?:always|never|usually) \w+ .+)", "habits", "habit", category="preference"),
    rule(
        r"i(?:['’]ve| have)? (?:quit|stopped|gave up|given up) (?P<v>[a-z]+ing\b.*)",
        "habits", "stopped", value="no longer {}", ends=True,
    ),
    rule(r"i wear (?:shoe |a )?size (?P<v>\d{2}(?:[.,]5)?)(?= shoes|$|,)", "shoe size", "number"),
)  # fmt: skip

_THINGS: Final = (
    rule(
        rf"my (?:new |current |own |main )?(?P<k>{_OWNED})"
        r"(?: is| are|['’]s| (?:has )?changed to| is now) (?:now )?(?P<v>.+)",
        "{k}", "own",
    ),
    rule(r"i (?:own|drive|ride|have bought|bought|just bought) (?:an?|my) (?P<v>.+)", "owns", "owned"),
    rule(r"i (?:mostly |mainly |only |currently |still |now |always |also )*use (?P<v>.+)", "uses", "used"),
    rule(r"i (?:mostly |mainly |only |currently |still |now |also )*run (?P<v>.+)", "uses", "proper"),
    rule(rf"{AM} (?:now |currently |still )?using (?P<v>.+)", "uses", "proper"),
    rule(
        r"i(?:['’]ve| have)? (?:just |recently )?(?:switched|migrated|changed)(?: over)?"
        r" from (?P<o>[\w .+-]{1,30}?) to (?P<v>.+)",
        "uses", "used",
    ),
    rule(
        r"i(?:['’]ve| have)? (?:just |recently )?(?:switched|migrated)(?: over)? to (?P<v>.+)",
        "uses", "proper",
    ),
)  # fmt: skip

LIFE_RULES: Final[tuple[tuple[Rule, ...], ...]] = (_TASTE, _HEALTH, _CONTACT, _DAYS, _THINGS)
"""Groups of rules; in a clause the first rule of a group that finds something ends the group."""
