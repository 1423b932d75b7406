"""How things are named: ids and content hashes."""

from hashlib import blake2s
from uuid import uuid4

__all__ = ["content_hash", "new_id"]


def new_id() -> str:
    """Return a new id of 32 hexadecimal digits."""
    return uuid4().hex


def content_hash(*parts: str) -> str:
    """Return a hash of texts; the same parts give the same hash on every machine."""
    digest = blake2s(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()
