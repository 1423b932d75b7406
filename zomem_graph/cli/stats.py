"""`zomem stats`: how much of everything there is."""

from zomem_graph.cli.call import Call, command

__all__ = ["stats"]


@command
def stats(call: Call) -> None:
    """Count what is stored; with --persona, what that persona may read.

    Example: zomem stats --persona ann
    """
    with call.memory() as memory:
        scope = call.note_stranger(memory, call.scope(memory)) if call.shared.persona else None
        counted = memory.stats(scope=scope)
    call.answer(counted, lambda screen: screen.pairs(_flat(counted)))


def _flat(counted: dict[str, object]) -> dict[str, object]:
    """Return the counts without nesting: "items turn:current" beside "facts"."""
    flat: dict[str, object] = {}
    for name, value in counted.items():
        if isinstance(value, dict):
            flat.update({f"{name} {inner}" if inner != name else name: count for inner, count in value.items()})
        elif isinstance(value, list):
            flat[name] = ", ".join(map(str, value))
        else:
            flat[name] = value if value is not None else "none"
    return flat
