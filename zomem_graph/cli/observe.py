"""`zomem observe`: the turns of a conversation, word for word."""

from typing import Annotated

import typer

from zomem_graph.cli.call import Call, command
from zomem_graph.cli.words import FileWord, TimeZone, conversation_in, messages_of, session_name

__all__ = ["observe"]


@command
def observe(
    call: Call,
    file: FileWord,
    session: Annotated[str | None, typer.Option("--session", help="Name of the session; else the file's.")] = None,
    time_zone: TimeZone = None,
) -> None:
    """Store what was said, word for word and once: a file that has grown adds only what is new."""
    conversation = conversation_in(file)
    kept: dict[str, int] = {}
    with call.memory() as memory:
        scope = call.scope(memory, time_zone)
        with call.screen.progress("storing", len(conversation.sessions)) as advance:
            for each in conversation.sessions:
                name = session_name(conversation, each, session)
                kept[name] = len(memory.observe(messages_of(each), scope=scope, session=name, read_again=True))
                advance(1)
        total = sum(len(each.messages) for each in conversation.sessions)
        new = sum(kept.values())
        document = {"turns": new, "already_known": total - new, "sessions": kept, "skipped": conversation.skipped}
        # Said before the memory is closed, which goes on with embedding for a while.
        call.answer(document, lambda screen: screen.line(f"{new} new turns, {total - new} already known"))
        call.notes([f"skipped {line}" for line in conversation.skipped])
        waiting = memory.background.unembedded()
    if waiting > memory.options.write.embed_batch:
        call.notes([f"up to {waiting} texts wait for a vector; words find them now, meaning after `zomem flush`"])
