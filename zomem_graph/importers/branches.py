"""Conversations that are trees: an edited question or a second answer opens a branch. One is current."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

__all__ = ["TreeNode", "current_branch"]


@dataclass(frozen=True, slots=True)
class TreeNode:
    """One place in the tree: who it answers, when it was made, and whether anything was said there."""

    parent: str | None
    at: datetime | None = None
    spoken: bool = True


def current_branch(nodes: Mapping[str, TreeNode], current: str | None) -> list[str]:
    """Return the ids from the root to the current node, in order.

    Without a known current node the newest leaf that says something is taken, the later one of equals.
    Only the parents count; one that does not exist is a root, and a ring is walked once.
    """
    if current is None or current not in nodes:
        current = _newest_leaf(nodes)
    branch: dict[str, None] = {}
    while current is not None and current in nodes and current not in branch:
        branch[current] = None
        current = nodes[current].parent
    return list(branch)[::-1]


def _newest_leaf(nodes: Mapping[str, TreeNode]) -> str | None:
    parents = {node.parent for node in nodes.values()}
    leaves = [name for name in nodes if name not in parents] or list(nodes)
    said = [name for name in leaves if nodes[name].spoken] or leaves
    newest: str | None = None
    for name in said:
        if newest is None or _age(nodes[name]) >= _age(nodes[newest]):
            newest = name
    return newest


def _age(node: TreeNode) -> float:
    return node.at.timestamp() if node.at is not None else float("-inf")
