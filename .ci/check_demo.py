"""Judge what `zomem --json demo` printed: did the new thread remember? `check_demo.py FILE`."""

import json
import sys
from pathlib import Path

FEWEST_RECALLED = 20  # of the 30 bundled questions; how many are right is a test's business
MOST_STALE = 2  # of the 8 about a value that changed: the old one stands first and no word says that it has changed


def main(path: str) -> int:
    """Return 0 when enough questions met memory in the host node's request, and no old values before new ones."""
    questions = json.loads(Path(path).read_text("utf-8"))["questions"]
    recalled = [one for one in questions if one["decision"] == "inject" and one["block"].strip()]
    sys.stdout.write(f"{len(recalled)} of {len(questions)} questions met memory\n")
    stale = [one["question"] for one in questions if one["stale_first"]]
    sys.stdout.write(f"{len(stale)} met an old value first{': ' if stale else ''}{'; '.join(stale)}\n")
    return int(len(recalled) < FEWEST_RECALLED or len(stale) > MOST_STALE)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
