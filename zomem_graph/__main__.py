"""`python -m zomem_graph` is `zomem`."""

from zomem_graph.cli import main

__all__: list[str] = []

main()
