"""Say what a wheel lacks of the package in the checkout, or holds beyond it: `check_wheel.py WHEEL`."""

import subprocess
import sys
import zipfile

PACKAGE = "zomem_graph/"


def main(wheel: str) -> int:
    """Return 0 when the wheel holds every tracked file of the package and nothing else."""
    tracked = subprocess.run(["git", "ls-files", PACKAGE], capture_output=True, text=True, check=True)
    wanted = set(tracked.stdout.splitlines())
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    for title, names in (("missing", wanted - held), ("foreign", held - wanted)):
        if names:
            sys.stderr.write(f"{title} in {wheel}: {', '.join(sorted(names))}\n")
    return int(wanted != held)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
