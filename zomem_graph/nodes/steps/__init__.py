"""One step of a message's life each, over the stores and models; no LangGraph here."""
