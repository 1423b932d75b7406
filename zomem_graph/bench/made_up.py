"""Made-up people, places and values for the suites about truth, and the memory that these run on."""

import random
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from zomem_graph.memory import Memory
from zomem_graph.nodes.options import MemoryOptions, WriteOptions
from zomem_graph.nodes.scope import Scope
from zomem_graph.testing.clock import FixedClock
from zomem_graph.testing.embedder import SmallEmbedder

__all__ = ["ANN", "COLOURS", "KEYS", "NAMES", "PLACES", "START", "STREETS", "a_value", "made_up_memory"]

START = datetime(2016, 3, 7, 9, tzinfo=UTC)
ANN = Scope(persona="ann")

PLACES = "Harbour Mill Quarry Orchard Lighthouse Depot Foundry Chapel Granary Ferry Tannery Brewery".split()
COLOURS = "Amber Basalt Cedar Dune Ember Flint Garnet Heather Indigo Juniper Kelp Larch Moss Nettle".split()
NAMES = "Ines Tomas Wilma Radek Yusuf Petra Bram Odile Sunniva Marek Livia Anselm Greta Ruben".split()
STREETS = "Rope Walk|Tanner Row|Elm Rise|Canal Side|Bell Lane|Stone Quay|Long Acre|Glass Yard".split("|")
# Key, how its values are made, and how people say it. The first way to say it repeats the words of the question.
KEYS: Sequence[tuple[str, str, Sequence[str]]] = (
    ("port", "port", ("the port of {e} is {v}", "{e} now listens on {v}", "moved {e} over to {v}")),
    ("address", "address", ("the address of {e} is {v}", "{e} can be found at {v} these days")),
    ("owner", "name", ("the owner of {e} is {v}", "{v} has taken {e} over", "ask {v} about {e} from now on")),
    ("status", "status", ("the status of {e} is {v}", "{e} went {v}")),
    ("capacity", "number", ("the capacity of {e} is {v} people", "{e} holds {v} people since the rebuild")),
    ("opening hours", "hours", ("the opening hours of {e} are {v}", "{e} opens {v}")),
    ("next inspection", "date", ("the next inspection of {e} is on {v}", "they inspect {e} on {v}")),
    ("phone", "phone", ("the phone of {e} is {v}", "call {e} under {v}")),
    ("monthly rent", "money", ("the monthly rent of {e} is {v}", "{e} costs {v} a month as of this spring")),
    ("deploys on Friday", "switch", ("deploys on Friday at {e} are {v}", "{e} says deploys on Friday: {v}")),
)


def a_value(kind: str, chance: random.Random) -> str:
    """Return a value of a kind, such as a port or a date."""
    match kind:
        case "port":
            return str(chance.randint(1024, 65535))
        case "address":
            return f"{chance.randint(1, 99)} {chance.choice(STREETS)}"
        case "name":
            return f"{chance.choice(NAMES)} {chance.choice(COLOURS)}"
        case "status":
            return chance.choice(["open", "closed", "under repair", "for sale", "let"])
        case "number":
            return str(chance.randint(10, 4_000))
        case "hours":
            return f"{chance.randint(6, 11)}:00 to {chance.randint(15, 22)}:{chance.choice(['00', '30'])}"
        case "date":
            return (
                f"{chance.randint(1, 28)} {chance.choice(['March', 'June', 'October'])} {chance.randint(2026, 2030)}"
            )
        case "phone":
            return f"0{chance.randint(200, 999)} {chance.randint(100000, 999999)}"
        case "money":
            return f"{chance.randint(300, 5_000)} euros"
        case _:
            return chance.choice(["allowed", "not allowed", "allowed before noon"])


@contextmanager
def made_up_memory(folder: Path | None = None) -> Iterator[tuple[Memory, FixedClock]]:
    """Lend a memory on a clock of its own that embeds and feeds only when it is told to."""
    clock = FixedClock(START)
    options = MemoryOptions(write=WriteOptions(background=False, embed_inline=0))
    with TemporaryDirectory(prefix="zomem-bench-") as temporary:
        home = (folder or Path(temporary)) / "home"
        with Memory.open(home, embeddings=SmallEmbedder(), clock=clock, options=options) as memory:
            yield memory, clock
        shutil.rmtree(home, ignore_errors=True)
