"""The English patterns for who people are: name, age, home, work, family."""

from typing import Final

from zomem_graph.nodes.rules._fact_rules import Rule, rule
from zomem_graph.nodes.rules._noun_phrases import NAME, NAMES
from zomem_graph.nodes.rules._wordlists import alternatives

__all__ = ["AM", "HAVE", "NOW", "SELF_RULES"]

AM: Final = r"(?:i['’]?m|i am|we are|we['’]re)"
HAVE: Final = r"(?:i|we)(?:['’]ve| have)?"
NOW: Final = r"(?:(?:currently|now|still|both|also|presently|just|recently) )*"

_RELATIVES: Final = alternatives(
    "sister brother mother father mom mum dad wife husband partner fiancé fiancée girlfriend boyfriend son"
    " daughter child grandmother grandfather grandma grandpa aunt uncle cousin niece nephew twin stepson"
    " stepdaughter"
)
_OTHERS: Final = alternatives(
    "boss|manager|supervisor|mentor|assistant|colleague|coworker|roommate|flatmate|neighbour|neighbor"
    "|landlord"
    "|doctor|dentist|therapist|lawyer|accountant|best friend|friend|teacher|coach|team lead|tech lead"
    "|best man"
)
_PETS: Final = alternatives("dog cat puppy kitten rabbit hamster parrot horse tortoise pony")
_KIN: Final = (
    r"(?:(?:older|younger|elder|little|big|twin|new|late|eldest|youngest|oldest) )?"
    rf"(?P<k>{_RELATIVES}|{_OTHERS}|{_PETS})"
)
_JOBS: Final = alternatives(
    "engineer developer programmer designer nurse doctor teacher professor lecturer researcher scientist"
    " student"
    " translator interpreter writer author editor journalist photographer artist musician architect lawyer"
    " attorney accountant auditor consultant analyst manager director administrator assistant secretary"
    " receptionist electrician plumber carpenter welder mechanic driver pilot farmer gardener chef cook baker"
    " waiter barista bartender pharmacist dentist surgeon physician psychologist therapist paramedic"
    " firefighter"
    " policeman officer soldier librarian historian biologist chemist physicist mathematician statistician"
    " economist banker trader broker realtor salesman salesperson marketer recruiter founder entrepreneur"
    " contractor freelancer technician operator planner coordinator supervisor producer actor dancer singer"
    " composer illustrator tailor hairdresser veterinarian vet beekeeper fisherman sailor captain judge"
    " notary"
    " paralegal midwife carer caretaker janitor cleaner tutor trainer coach instructor surveyor geologist"
    " astronomer machinist sysadmin dba cto ceo cfo coo bricklayer roofer painter sculptor curator archivist"
    " bookkeeper clerk cashier courier postman apprentice"
)
_JOB: Final = (
    r"(?!(?:no|not|just|like|such|only|same|one|kind|sort|bit) )"
    rf"(?:[\w/-]+ ){{0,4}}?{_JOBS}(?: of [\w ]{{2,30}})?"
)

_IDENTITY: Final = (
    rule(
        rf"(?i:my (?:full |first |given )?name(?:['’]s| is)) (?P<v>{NAME})",
        "name", "name", tier="permanent", cased=True,
    ),
    rule(
        rf"(?i:{AM} (?:called |named )?)(?P<v>{NAME})(?=$|[,.!]|(?i: and | from | here\b))",
        "name", "name", tier="permanent", confidence=0.9, cased=True,
    ),
    rule(
        r"(?i:(?:everyone|everybody|people|(?:my )?friends|they all|most people)(?: just)? calls? me|i go by"
        rf"|call me|my nickname is) (?P<v>{NAME})",
        "nickname", "name", tier="permanent", cased=True,
    ),
    rule(
        r"my (?:birthday|date of birth)(?:['’]s| is| falls)(?: on)? (?P<v>.+)",
        "birthday", "dated", tier="permanent",
    ),
    rule(r"i was born on (?:the )?(?P<v>.+)", "birthday", "dated", tier="permanent"),
    rule(r"i was born in (?P<v>(?:19|20)\d\d)\b", "birth year", "number", tier="permanent"),
    rule(r"i was born(?: and raised)? in (?P<v>[^\d\s].+)", "birthplace", "place", tier="permanent"),
    rule(rf"{AM} (?P<v>\d{{1,3}})(?= years old\b| yo\b|$|,| and\b| or\b| now\b)", "age", "age"),
    rule(r"i(?:['’]ve)?(?: just)? turned (?P<v>\d{1,3})\b", "age", "age"),
)  # fmt: skip

_HOME: Final = (
    rule(
        r"(?:i|we) no longer live in (?P<v>.+)",
        "city", "place", value="no longer {}", tier="permanent", ends=True,
    ),
    rule(
        r"(?:i|we) (?:don['’]t|do not) live in (?P<v>.+?),? any ?(?:more|longer)\b",
        "city", "place", value="no longer {}", tier="permanent", ends=True,
    ),
    rule(rf"(?:i|we) {NOW}live(?: and work)? in (?P<v>.+)", "city", "place", tier="permanent"),
    rule(
        rf"(?:[Ii]|[Ww]e) {NOW}live at (?P<v>\d+ ?[A-Za-z]?,? [A-Z][^,;:]+?)"
        r"(?= (?:now|these|since|from|and)\b|[,;:.]|$)",
        "address", "located", cased=True,
    ),
    rule(rf"{AM} {NOW}(?:based|living|located) in (?P<v>.+)", "city", "place", tier="permanent"),
    rule(
        rf"{HAVE} {NOW}(?:moved|relocated)(?: from [\w ]{{2,30}}?)?(?: back)? to (?P<v>.+)",
        "city", "place", tier="permanent",
    ),
    rule(r"i (?:grew up|was raised) in (?P<v>.+)", "hometown", "place", tier="permanent"),
    rule(rf"{AM} (?:originally )?from (?P<v>.+)", "hometown", "place", tier="permanent"),
    rule(r"i (?:originally )?come from (?P<v>.+)", "hometown", "place", tier="permanent"),
)  # fmt: skip

# What is over stands first: of two values in one message the later rule's is the one that holds.
_WORK: Final = (
    rule(
        r"i (?:no longer|don['’]t|do not) work (?:at|for) (?P<v>.+)",
        "employer", "organisation", value="no longer {}", tier="permanent", ends=True,
    ),
    rule(
        rf"(?i:i(?:['’]ve)? (?:just )?(?:left my job at|quit my job at|resigned from)) (?P<v>{NAME})",
        "employer", "organisation", value="no longer {}", tier="permanent", ends=True, cased=True,
    ),
    rule(
        rf"i {NOW}work as (?:an? |the )?(?P<v>.+?)(?= (?:at|for|in|with|on) |$|,)",
        "job", "thing", tier="permanent",
    ),
    rule(
        rf"{AM} {NOW}(?:working as )?(?:an? |the )?(?P<v>{_JOB})\b(?! of\b|['’])",
        "job", "exact", tier="permanent",
    ),
    rule(
        rf"{HAVE} (?:just )?(?:got|been|was|were) promoted to (?P<v>.+)",
        "job", "thing", tier="permanent",
    ),
    rule(r"i(?:['’]ve| have)? (?:just )?(?:became|become) (?:an? |the )?(?P<v>.+)", "job", "job"),
    rule(rf"{AM} {NOW}(?P<v>(?:the )?head of [\w ]{{2,30}})", "job", "thing", tier="permanent"),
    rule(
        rf"i {NOW}work (?:(?:remotely|part-time|full-time|freelance|as .{{1,60}}?) )?(?:at|for) (?P<v>.+)",
        "employer", "organisation", tier="permanent",
    ),
    rule(
        rf"{AM} .{{0,20}}\b{_JOBS} (?:at|for|with) (?P<v>.+)",
        "employer", "organisation", tier="permanent",
    ),
    rule(
        rf"(?i:(?:{HAVE} )?(?:just |recently |have |finally )*(?:started|joined|began)(?: working)?"
        rf"(?: at| with)?) (?P<v>{NAME})",
        "employer", "organisation", tier="permanent", cased=True, confidence=0.9,
    ),
    rule(rf"{AM} employed (?:at|by|with) (?P<v>.+)", "employer", "organisation", tier="permanent"),
    rule(
        rf"(?:{HAVE} (?:just )?joined|{AM} (?:in|on|part of)|i work (?:in|on)) (?:the |our )?"
        r"(?P<v>[\w-]+(?: [\w-]+){0,2} (?:team|department|squad))\b",
        "team", "exact",
    ),
    rule(r"i graduated from (?P<v>.+?)(?= in \d{4}|$|,)", "education", "organisation", tier="permanent"),
    rule(r"i (?:studied|study) (?:[\w ]{2,40} )?at (?P<v>.+)", "education", "organisation", tier="permanent"),
)  # fmt: skip

_FAMILY: Final = (
    rule(
        rf"(?i:\b(?:my|our) {_KIN}(?:['’]s name(?:['’]s| is)| is (?:called|named)| (?:called|named)|,| is)?)"
        rf" (?P<v>{NAME})",
        "{k}", "name", tier="permanent", anywhere=True, cased=True,
    ),
    rule(
        r"(?i:\b(?:have|got|own|adopted) (?:an? |another |two |three |four |\d )?(?:\w+ )?"
        rf"(?P<k>{_PETS}|{_RELATIVES}|kid)s?(?: (?:called|named)|,|:)?) (?P<v>{NAMES})",
        "{k}", "names", tier="permanent", anywhere=True, cased=True,
    ),
    rule(
        r"(?i:(?:my|our) (?P<k>kids|children|sons|daughters|sisters|brothers|dogs|cats) are"
        rf"(?: called| named)?) (?P<v>{NAMES})",
        "{k}", "names", tier="permanent", cased=True,
    ),
    rule(rf"(?i:{AM} married to) (?P<v>{NAME})", "partner", "name", tier="permanent", cased=True),
    rule(
        rf"my (?P<k>{_RELATIVES}['’]s birthday) (?:is|falls)(?: on)? (?P<v>.+)",
        "{k}", "dated", tier="permanent",
    ),
    rule(
        rf"(?P<e>{NAME})['’]s (?i:birthday(?: is|['’]s)(?: on)?) (?P<v>.+)",
        "birthday", "dated", entity="{e}", tier="permanent", cased=True,
    ),
)  # fmt: skip

_OUR_ONE: Final = rf"(?i:\b(?:my|our) {_KIN}) (?P<e>{NAME})"
_THEIRS: Final = (
    rule(
        rf"{_OUR_ONE} (?i:is|just turned|turned) (?P<v>(?:\d{{1,3}}|[a-z]+)(?: years old)?)(?=$|[,.!])",
        "age", "age", entity="{e}", anywhere=True, cased=True,
    ),
    rule(
        rf"{_OUR_ONE} (?i:works|is working) (?i:at|for) (?P<v>.+)",
        "employer", "organisation", entity="{e}", tier="permanent", anywhere=True, cased=True,
    ),
    rule(
        rf"{_OUR_ONE} (?i:works|is working)(?: at {NAME}| for {NAME})? as (?:an? )?(?P<v>.+)",
        "job", "thing", entity="{e}", tier="permanent", anywhere=True, cased=True,
    ),
    rule(
        rf"{_OUR_ONE} (?i:lives) (?i:in) (?P<v>.+)",
        "city", "place", entity="{e}", tier="permanent", anywhere=True, cased=True,
    ),
    rule(
        rf"{_OUR_ONE} (?i:has an?) (?P<v>[a-z]+) (?i:allergy)",
        "allergies", "thing", entity="{e}", tier="permanent", anywhere=True, cased=True,
    ),
    rule(
        rf"{_OUR_ONE} (?i:is allergic to) (?P<v>.+)",
        "allergies", "things", entity="{e}", tier="permanent", anywhere=True, cased=True,
    ),
)  # fmt: skip

SELF_RULES: Final[tuple[tuple[Rule, ...], ...]] = tuple(
    (only,) for only in (*_IDENTITY, *_HOME, *_WORK, *_FAMILY, *_THEIRS)
)
"""Groups of rules; here of one each, for a clause may hold several ("I'm a nurse at Kilmore General")."""
