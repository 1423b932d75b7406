"""`zomem link`: tie two things together."""

from zomem_graph.cli.call import Call, command
from zomem_graph.cli.tying import Relation, Source, Target, Weight, link_words

__all__ = ["link"]


@command
def link(call: Call, source: Source, target: Target, relation: Relation = "related", weight: Weight = 1.0) -> None:
    """Tie two things together; the same link is replaced.

    Example: zomem link --source ID --target ID --relation depends_on --weight 0.8
    """
    link_words(call, source, target, relation, weight)
