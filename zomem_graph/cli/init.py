"""`zomem init`: make the memory if there is none; say where things are. Safe to repeat."""

from zomem_graph.cli.call import Call, command

__all__ = ["init"]


@command
def init(call: Call) -> None:
    """Make the memory if there is none and say where everything is. Safe to repeat."""
    with call.memory() as memory:
        places = {
            "home": str(memory.settings.home),
            "database": memory.stores.database.place,
            "index": memory.settings.chroma_url or str(memory.stores.home.chroma),
            "backups": str(memory.stores.home.backups),
            "settings": str(memory.settings.home / "zomem.yaml"),
            "persona": call.persona(memory),
            "embedder": memory.embedder.identity if memory.embedder else "none",
        }
        notes = memory.standing_notes()
    call.answer(places, lambda screen: screen.pairs(places))
    call.notes(notes)
