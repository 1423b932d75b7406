"""Tools that let a model use its memory itself: search, save, forget, open loops."""

from typing import Any

from langchain_core.tools import BaseTool, StructuredTool
from langgraph.prebuilt import ToolRuntime

from zomem_graph.memory import Memory
from zomem_graph.nodes.node import state_of
from zomem_graph.nodes.ports import services_given
from zomem_graph.nodes.rules.fence import Line, fence
from zomem_graph.nodes.scope import NOBODY, Scope, scope_of_run
from zomem_graph.stores.errors import ZomemError

__all__ = ["memory_tools"]


def memory_tools(memory: Memory) -> list[BaseTool]:
    """Return `memory_search`, `memory_save`, `memory_forget` and `memory_open_loops`.

    Who asks comes from the run's context or config, else from the thread, never from the model. What fails is said
    to the model in words it can act on.
    """
    services_given(memory)

    def memory_search(query: str, runtime: ToolRuntime[Any, Any], limit: int = 5) -> str:
        """Search long-term memory for what the user said, decided, prefers or is working on."""
        scope = _scope(memory, runtime)
        try:
            hits = memory.search(query, scope=scope, limit=min(max(limit, 1), 20))
        except ZomemError as error:
            return f"Memory could not be searched: {error}"
        lines = [Line(text=f"{hit.text} (id {hit.id})", at=hit.created_at, kind=hit.kind) for hit in hits]
        return fence(lines, zone=scope.zone) or "Memory holds nothing about that."

    def memory_save(entity: str, key: str, value: str, runtime: ToolRuntime[Any, Any]) -> str:
        """Save one lasting fact: entity is what it is about, key one attribute of it, value what holds now."""
        scope = _scope(memory, runtime)
        try:
            fact = memory.remember(entity, key, value, persona=scope.persona, source="tool")
        except ZomemError as error:
            return f"Not saved: {error}"
        said = f"Saved as {fact.id[:8]}: {fact.text}"
        return said if scope.named else f"{said} ({NOBODY}: everybody can read it)"

    def memory_forget(id: str, runtime: ToolRuntime[Any, Any]) -> str:  # noqa: A002  # what search shows
        """Erase one remembered thing for good, by the id that memory_search shows, when the user asks for it."""
        scope = _scope(memory, runtime)
        try:
            memory.forget(persona=scope.persona, id=id)
        except ZomemError as error:
            return f"Not forgotten: {error}"
        return "Forgotten."

    def memory_open_loops(runtime: ToolRuntime[Any, Any]) -> str:
        """List what is unfinished: tasks, bugs, approvals and promises that nobody has closed."""
        scope = _scope(memory, runtime)
        try:
            loops = memory.loops.list(scope=scope)
        except ZomemError as error:
            return f"Open loops could not be read: {error}"
        lines = [Line(text=loop.title, at=loop.created_at, kind=loop.kind, id=loop.id) for loop in loops]
        return fence(lines, zone=scope.zone) or "Nothing is open."

    functions = (memory_search, memory_save, memory_forget, memory_open_loops)
    return [StructuredTool.from_function(function) for function in functions]


def _scope(memory: Memory, runtime: ToolRuntime[Any, Any]) -> Scope:
    state = state_of(runtime.state)
    return scope_of_run(runtime.context, runtime.config.get("configurable"), state, strict=memory.strict_scope)
