"""The knowledge graph: tie facts, find the way between two, see where it is thin, draw it.

Run it: python examples/knowledge_graph.py
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from zomem_graph import Memory


def main() -> None:
    with TemporaryDirectory() as home, Memory.open(home) as memory:
        memory.remember("project.ffb-site", "name", "FFB website redesign project")
        memory.remember("project.ffb-site", "status", "in review")
        memory.remember("decision.hosting", None, "Decided to use Zo hosting")
        memory.remember("system.zo", "infrastructure", "Zo Computer infrastructure setup")
        memory.remember("team.ana", "role", "Designs [[project.ffb-site]] from the [[design.tokens]]")  # two links

        graph = memory.graph
        graph.link("project.ffb-site.name", "decision.hosting", "depends_on", 0.8)
        graph.link("decision.hosting", "system.zo", "related")

        print(graph.text(graph.find_connections("project.ffb-site", "system.zo")))
        print()
        print(graph.text(graph.knowledge_gaps()))

        print()
        for found in graph.ancestors("project.ffb-site").found:
            print("project.ffb-site needs", found.thing.label)
        graph.link("decision.hosting", "project.ffb-site.name", "part_of")
        print("a round:", graph.text(graph.cycles()[0]))

        memory.remember("project.ffb-site", "name", "FFB website, second edition")  # links hold for the new value
        print("still needs:", [each.thing.label for each in graph.ancestors("project.ffb-site").found])

        page = Path(home) / "graph.html"
        page.write_text(graph.export("project.ffb-site", format="html"), "utf-8")
        print(f"a page to open in a browser: {page.stat().st_size // 1024} kB, nothing loaded from anywhere")
        print(graph.export("project.ffb-site", format="mermaid"))


if __name__ == "__main__":
    main()
