"""The conversation that `zomem demo` lives through when no file is given, written for this project."""

import json
from dataclasses import replace
from importlib.resources import files

from zomem_graph.conversations import Conversation, read_conversation
from zomem_graph.conversations.json_form import questions_from_json

__all__ = ["bundled_conversation"]


def bundled_conversation() -> Conversation:
    """Return the bundled conversation with its 30 labelled questions."""
    folder = files("zomem_graph.demo")
    conversation = read_conversation(folder.joinpath("conversation.json").read_text(encoding="utf-8"))
    known = {message.id: message for message in conversation.messages}
    entries = json.loads(folder.joinpath("questions.json").read_text(encoding="utf-8"))
    return replace(conversation, questions=questions_from_json(entries, known=known))
