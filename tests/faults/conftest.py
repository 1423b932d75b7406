"""What the fault tests share: one nursery of processes."""

from collections.abc import Iterator

import pytest

from tests.faults.nursery import Nursery


@pytest.fixture(scope="session")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    """A place that starts real processes, each within milliseconds."""
    with Nursery(tmp_path_factory.mktemp("nursery")) as made:
        yield made
