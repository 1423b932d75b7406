"""The chat models of one memory: which workload asks which, each made once."""

from typing import TYPE_CHECKING

from zomem_graph.models.call_log import CallLog
from zomem_graph.models.chats import resolve_chat
from zomem_graph.models.missing import MissingChat
from zomem_graph.nodes.ports import ChatModel, Clock
from zomem_graph.nodes.rules.given import if_given, text
from zomem_graph.settings import Settings
from zomem_graph.stores.errors import ModelMissing

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

__all__ = ["Chats"]


class Chats:
    """Finds the chat model of a workload; what the memory was opened with wins over the settings."""

    def __init__(
        self,
        given: "str | BaseChatModel | ChatModel | None",
        settings: Settings,
        *,
        log: CallLog | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._given = given
        self._settings = settings
        self._log = log
        self._clock = clock
        self._made: dict[tuple[str, str | None], ChatModel | None] = {}

    def of(self, workload: str, *, named: str | None = None) -> ChatModel | None:
        """Return the model of a workload, None when there is none; `named` ("provider:model") wins.

        One that is set and cannot be had fails when it is asked, so that no more than its part of the work is
        lost; one that is named here raises ModelMissing at once.
        """
        text("workload", workload)
        if_given(text, "named", named)
        if (workload, named) not in self._made:
            self._made[workload, named] = self._resolved(workload, named)
        return self._made[workload, named]

    def _resolved(self, workload: str, named: str | None) -> ChatModel | None:
        wanted = named if named is not None else self._given
        if workload == "capture_fallback":
            # Only what was chosen for it: the usual model has just failed.
            wanted = self._settings.model_capture_fallback
            if wanted is None:
                return None
        elif wanted is None and workload == "extraction":
            wanted = self._settings.model_capture
        try:
            return resolve_chat(wanted, self._settings, workload, log=self._log, clock=self._clock)
        except ModelMissing as error:
            if named is not None:
                raise
            return MissingChat(str(error))
