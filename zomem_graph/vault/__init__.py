"""The vault: memory that survives reboots and redeployments, in files people can read (VM Memory Oracle)."""

from zomem_graph.vault.core import Vault
from zomem_graph.vault.options import VaultOptions

__all__ = ["Vault", "VaultOptions"]
