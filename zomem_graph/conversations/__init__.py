"""Conversations from outside, whatever form they were saved in.

`read_conversation` is the one way in: chats as text or Markdown, JSON messages, our own bundled
form and the evaluation set LoCoMo all become the same frozen values.
"""

from zomem_graph.conversations.reading import ACCEPTED_FORMS, read_conversation
from zomem_graph.conversations.transcript import (
    Conversation,
    Message,
    Question,
    Role,
    Session,
)

__all__ = [
    "ACCEPTED_FORMS",
    "Conversation",
    "Message",
    "Question",
    "Role",
    "Session",
    "read_conversation",
]
