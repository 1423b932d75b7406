"""One example a command, shown below its help. A test holds that each can be understood."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

__all__ = ["EXAMPLES", "with_examples"]

# Where the docstring has none and the bare command is no example.
EXAMPLES: Mapping[str, str] = MappingProxyType(
    {
        "demo": 'zomem demo --ask "Where do I live?"',
        "remember": 'zomem remember ana city "Porto" --category preference',
        "observe": "zomem observe chat.md --session monday",
        "capture file": "zomem capture chat.md --dry-run",
        "import": "zomem import chatgpt export.zip --dry-run",
        "delete": "zomem delete 1f2e3d4c",
        "search": 'zomem search "where does ana live?" --limit 5 --explain',
        "recall": 'zomem recall "what did I say about the harbour?"',
        "lookup": "zomem lookup ana city",
        "loops show": "zomem loops show 1f2e3d4c",
        "loops wake": "zomem loops wake 1f2e3d4c",
        "loops reopen": "zomem loops reopen 1f2e3d4c",
        "episodes list": 'zomem episodes list --since "last week" --outcome failure',
        "episodes show": "zomem episodes show 1f2e3d4c",
        "summaries show": "zomem summaries show 1f2e3d4c",
        "summaries run": "zomem summaries run --dry-run",
        "procedures show": "zomem procedures show deploy",
        "procedures evolve": "zomem procedures evolve deploy",
        "procedures learn": "zomem procedures learn site",
        "profile show": "zomem profile codex",
        "profile import": "zomem profile import executor-history.json",
        "profile export": "zomem profile export executor-history.json",
        "graph link": "zomem graph link --source site --target host --relation depends_on",
        "graph unlink": "zomem graph unlink --source site --target host",
        "graph ancestors": "zomem graph ancestors site",
        "graph descendants": "zomem graph descendants host",
        "graph infer": "zomem graph infer site --least 3",
        "budget track": "zomem budget track 1200 300",
        "checkpoint save": 'zomem checkpoint save "paint the boat" --file boat.md',
        "checkpoint load": "zomem checkpoint load 1f2e3d4c",
        "checkpoint restore": "zomem checkpoint restore 1f2e3d4c",
        "conflicts resolve-all": "zomem conflicts resolve-all --strategy supersede",
        "personas add": 'zomem personas add ann "Gardener"',
        "personas show": "zomem personas show ann",
        "personas inherit": "zomem personas inherit ann bob",
        "personas pool create": "zomem personas pool create garden ann bob",
        "personas pool add": "zomem personas pool add garden cleo",
        "personas pool remove": "zomem personas pool remove garden cleo",
        "index": "zomem index --rebuild",
        "models fetch": "zomem models fetch minilm",
        "health": "zomem health --json",
        "maintain run": "zomem maintain run --every 1h",
        "vault init": "zomem vault init --data-path /data/memory",
        "vault recall": 'zomem vault recall "what does ana like?"',
        "vault restore": "zomem vault restore fact-1f2e3d4c",
        "bench recall": "zomem bench recall --data locomo10.json",
        "bench hops": "zomem bench hops --data hotpot.json",
        "bench hyde": "zomem bench hyde --data locomo10.json",
        "bench followups": "zomem bench followups --data followups",
        "bench gate": "zomem bench gate --data sets",
        "bench vault": "zomem bench vault --data vault_sessions.jsonl",
        "bench capture": "zomem bench capture --data capture_messages.jsonl",
        "bench embedders": "zomem bench embedders --data locomo10.json",
    }
)


def with_examples(command: Any, path: str) -> Any:
    """Return a command, and all commands below it, each with an example under its help."""
    for name, inner in getattr(command, "commands", {}).items():
        with_examples(inner, f"{path} {name}")
    if not getattr(command, "commands", None) and "Example:" not in (command.help or ""):
        command.epilog = f"Example: {EXAMPLES.get(path, f'zomem {path}')}"
    return command
