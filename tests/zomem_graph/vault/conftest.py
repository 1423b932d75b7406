from pathlib import Path

import pytest

from tests.zomem_graph.vault.kit import Ground


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    return Ground(tmp_path)
