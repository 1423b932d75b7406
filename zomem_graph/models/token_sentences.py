"""Made-up sentences about everyday life and work, from which the basis of token vectors is fitted.

Nothing in them is quoted or measured on: templates, and lists of words to fill them.
"""

import random
from collections.abc import Iterator, Mapping

__all__ = ["sentences"]

_LISTS: Mapping[str, tuple[str, ...]] = {
    name: tuple(words.split())
    for name, words in {
        "name": """
            Anna Ben Carla David Elif Frank Grace Hassan Irene Jonas Keiko Liam Maria Nikhil Olga
            Pedro Quinn Rosa Samir Tara Umar Vera Wei Yusuf Zoe Tom Lucy Ahmed Sofia Marc
            """,
        "place": """
            Lisbon Berlin Kyoto Toronto Nairobi Oslo Lima Chicago Mumbai Rome Sydney Dublin Prague
            Texas Vermont Portugal India Norway Japan Brazil Kenya Canada
            """,
        "spot": """
            kitchen garden office library museum beach park station airport gym hospital bakery
            market workshop theatre school church garage cabin farm river lake forest mountain
            village cafe
            """,
        "person": """
            sister brother mother father grandmother uncle cousin neighbour friend colleague boss
            teacher doctor dentist lawyer nurse coach landlord client plumber student daughter son
            husband wife
            """,
        "thing": """
            bicycle guitar laptop camera notebook novel painting jacket ticket passport letter
            recipe sofa window mirror lamp violin telescope tent kayak necklace puzzle poster vase
            blanket phone printer charger suitcase ladder drill hammer piano drum scarf ring album
            statue mug
            """,
        "food": """
            pasta soup bread cheese curry salad rice pancakes noodles coffee tea chocolate apples
            mangoes mushrooms salmon chicken tofu lentils olives honey butter peanuts garlic cake
            pizza tacos
            """,
        "animal": """
            dog cat horse parrot rabbit turtle hamster goldfish goat sheep eagle whale fox bear owl
            """,
        "hobby": """
            painting hiking running swimming chess pottery yoga gardening cooking photography
            dancing sailing knitting climbing reading cycling fishing camping surfing woodworking
            karate birdwatching volunteering meditation baking skiing astronomy
            """,
        "feeling": """
            happy tired nervous proud calm angry grateful lonely excited relieved worried jealous
            curious bored inspired confused hopeful embarrassed
            """,
        "quality": """
            blue green red small huge old new broken expensive cheap quiet noisy beautiful strange
            heavy wooden digital foreign local fresh sharp famous private public empty crowded
            simple difficult
            """,
        "time": """
            yesterday today tomorrow tonight recently soon Monday Tuesday Friday Saturday Sunday
            January March April June August October December morning afternoon evening
            """,
        "number": """
            two three four five six seven eight nine ten twelve fifteen twenty thirty forty hundred
            2019 2021 2023 7 16 45
            """,
        "work": """
            meeting deadline report budget contract interview promotion invoice presentation project
            release roadmap survey training workshop strategy audit
            """,
        "tech": """
            server database backend compiler network browser password keyboard deployment container
            cluster function variable library query index cache token script pipeline backup
            endpoint driver firewall parser module branch commit
            """,
        "fault": """
            error crash timeout leak failure delay warning conflict bug outage regression mismatch
            """,
        "tool": """
            Python Docker Linux Postgres Redis React Kubernetes GitHub Excel Windows Android Java
            Rust
            """,
        "health": """
            headache fever surgery allergy injury diet sleep therapy vitamin diabetes asthma
            pregnancy medicine checkup vaccine anxiety
            """,
        "event": """
            wedding birthday concert festival funeral graduation marathon exhibition conference
            holiday party election parade tournament dinner picnic anniversary trip
            """,
        "science": """
            planet bacteria gravity protein climate volcano earthquake electron fossil satellite
            molecule rainfall temperature pollution energy genome
            """,
        "history": """
            king queen war treaty empire president minister senator army revolution castle novelist
            composer director actor footballer painter
            """,
        "did": """
            bought lost found painted repaired borrowed sold forgot ordered returned cleaned
            photographed wrapped dropped designed chose
            """,
        "said": """
            mentioned explained promised admitted asked denied announced suggested insisted
            remembered complained hoped
            """,
        "moves": """
            moved travelled flew drove walked returned cycled sailed
            """,
        "plans": """
            plans wants hopes decided prefers refuses needs promised tries agreed
            """,
        "makes": """
            built created wrote organised started joined founded taught finished cancelled visited
            studied
            """,
        "subject": """
            history biology music law economics medicine design physics art languages engineering
            """,
        "money": """
            rent salary loan mortgage insurance savings tax refund bill discount pension
            """,
        "weather": """
            rain snow sunshine storm wind fog heat frost
            """,
    }.items()
}  # fmt: skip

_TEMPLATES = tuple(
    line.strip()
    for line in """
    {name}: I {did} a {quality} {thing} in {place} last {time} and felt really {feeling}.
    {name}: My {person} and I went {hobby} near the {spot}, it was {quality} but fun!
    {name}: Have you ever tried {hobby}? It helps me with {health}.
    {name}: We {moves} from {place} to {place} {number} years ago because of the {work}.
    {name}: The {event} in {place} was {feeling}, {number} people came and we ate {food}.
    {name}: That sounds great! What kind of {food} did your {person} cook for the {event}?
    {name}: I have been {hobby} for {number} months and my {person} is {feeling} about it.
    {name}: Our {animal} ran into the {spot} and {did} the {thing}, so we called the {person}.
    {name}: Thanks! I {makes} a {subject} club with {name} at the {spot}.
    What did {name} buy for the {person} at the {spot} in {time}?
    When did {name} and {name} go to the {event} in {place}?
    How many {thing} pictures has {name} {said} since {time}?
    Which {hobby} class does the {person} of {name} teach?
    {name}'s favourite {food} is {quality} and comes from {place}.
    {name} {plans} to visit {place} with a {person} before the {event}.
    {name} {said} that the {work} is on {time} at {number} in the {spot}.
    Please send the {work} to {name} by {time}; the {person} is {feeling} about the {money}.
    The {tech} {fault} appeared after we upgraded {tool} on the {quality} {tech}.
    We decided to use {tool} for the {tech} because the {tech} was too {quality}.
    Restart the {tech}, clear the {tech} and check the {tool} {fault} in the {work}.
    The user prefers {tool} over {tool} and keeps the {tech} in a {quality} {tech}.
    {name} has a {health} appointment with the {person} on {time} at {number}.
    The doctor recommended {food}, more {health} and less {food}.
    {name} is allergic to {food} and takes {health} in the {time}.
    {name} was a {quality} {history} born in {place} who {makes} the {subject} {event}.
    The {history} of {place} signed a {history} after the {history} of 19{number}.
    The {quality} {spot} in {place} is known for its {animal} and {science}.
    Scientists in {place} studied how {science} changes the {science} of the {spot}.
    A film directed by {name} about a {history} and a {animal} won the {event}.
    The {spot} was built by the {history} of {place} in {time} 18{number}.
    The {money} went up by {number} percent, so {name} {did} the {thing}.
    Because of the {weather} the {event} was moved to the {spot} on {time}.
    She {said} her {person} {makes} a band and plays the {thing} at the {event}.
    He {plans} to study {subject} in {place} and work as a {person}.
    My {thing} is {quality}; can you remind me to bring it to the {work} {time}?
    I live near the {spot} with my {person}, {number} {animal}s and a {quality} {thing}.
    Open question: who pays the {money} for the {thing} of {name}?
    The {event} taught {name} that {hobby} makes people {feeling}.
    """.strip().splitlines()
)


def sentences(number: int, *, seed: int = 1) -> Iterator[str]:
    """Yield so many different made-up sentences; the same seed gives the same ones."""
    chance = random.Random(seed)
    seen: set[str] = set()
    while len(seen) < number:
        template = _TEMPLATES[len(seen) % len(_TEMPLATES)]
        made = template.format_map(_Slots(chance))
        if made not in seen:
            seen.add(made)
            yield made


class _Slots(dict[str, str]):
    """Fills each slot of a template with another word of its list."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__()
        self._chance = chance

    def __missing__(self, name: str) -> str:
        words = _LISTS[name]
        return words[int(self._chance.random() * len(words))]
