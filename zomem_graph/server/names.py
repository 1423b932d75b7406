"""The names of the tools, for what must not load the protocol's library; a test holds them to the table of tools."""

__all__ = ["TOOL_NAMES"]

TOOL_NAMES = (
    "memory_search",
    "memory_recall",
    "memory_continuation",
    "memory_lookup",
    "memory_stats",
    "memory_episodes",
    "memory_open_loops",
    "memory_procedures",
    "cognitive_profile",
    "memory_graph",
    "memory_metrics",
    "memory_resolve_loop",
    "memory_store",
    "memory_capture",
    "memory_link",
    "memory_unlink",
    "memory_prune",
    "memory_maintain",
    "memory_delete",
    "memory_retract",
    "memory_forget",
)
