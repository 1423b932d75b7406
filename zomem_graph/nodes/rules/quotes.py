"""What a user really said: quotes must occur in it, and what was not said by the user is cut out of it.

A host may put recalled memory, a model's thoughts, tool output or its own instructions into a user message.
None of that may be captured, or memory would feed on itself.
"""

import re
import unicodedata
from typing import Final

from zomem_graph.nodes.rules._wordlists import words
from zomem_graph.nodes.rules.fence import strip_fences

__all__ = ["quote_occurs", "strip_not_user_text", "strip_recalled"]

_QUOTE_MARKS: Final = str.maketrans(
    dict.fromkeys("“”„‟«»「」『』″", '"') | dict.fromkeys("‘’‚‛`´′", "'") | {"–": "-", "—": "-", "…": "..."}
)
_EDGES: Final = " \"'."

_THOUGHT_TAGS: Final = words("recalled-memory think thinking thought reasoning")
"""Once opened, these reach to the end of the text when they are not closed."""
_BLOCK_TAGS: Final = _THOUGHT_TAGS | words(
    "system system-reminder system_prompt instructions tool tool_call tool_calls tool_result tool_results",
    "tool_response tool_output function_call function_calls function_result function_results observation",
    "retrieved_context context documents document search_results memory memories assistant",
)
_TAG = re.compile(r"<(?P<slash>/?)(?P<name>[a-z][a-z_-]{2,24})(?:[ \t\n][^<>]{0,200})?>", re.IGNORECASE)
_CHAT_MARKUP = re.compile(r"<\|(?:im_start|start_header_id)\|>\s{0,3}(?P<role>\w{1,20})|<</?SYS>>|<\|im_end\|>")
_BROKEN_THOUGHT = re.compile(r"^\s{0,20}(?:think|thinking)>", re.IGNORECASE)

_OTHER_SPEAKER = re.compile(
    r"(?:\[|#{1,4} ?|\*\*)?(?:system|assistant|ai|tool|function|developer|observation|thought|action(?:"
    r" input)?"
    r"|heartbeat|tool (?:result|output|call)|function (?:result|output)|system prompt)(?:\]"
    r"|\*\*)? ?[:：](?:\*\*)?"
    r"|\[(?:system|assistant|tool|function|observation|search|web|document)"
    r"(?:[ _-](?:result|output|call|response)s?)?\]",
    re.IGNORECASE,
)
_USER_SPEAKER = re.compile(r"(?:\[|#{1,4} ?|\*\*)?(?:user|human|me)(?:\]|\*\*)? ?[:：]", re.IGNORECASE)
_SYSTEM_PROMPT = re.compile(
    r"(?:you are|you're|act as|du bist|eres|tu es|你是) (?:an? |the |ein |eine |un |une |una )?"
    r"[\w ,'’-]{0,60}\b(?:assistant|agent|ai|model|chatbot|bot|copilot|assistent|asistente|助手)\b",
    re.IGNORECASE,
)
_DUMP_LINE = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?\S{0,12}\s"
    r"|\[?(?:INFO|DEBUG|WARN|WARNING|ERROR|TRACE|FATAL)\b[\]:]?\s"
    r"|  File \"|\s{1,8}at [\w.$]{1,80}\(|[\[{]\"|HTTP/\d"
    # How recall writes a line: "- [2026-01-01 · fact · abcd1234] …".
    r"|\s{0,8}(?:[-*•]\s{1,4})?\[\d{4}-\d\d-\d\d ?[·|][^\]\n]{1,80}\]"
)
_DUMP_BEGINS = re.compile(r"Traceback \(most recent")
"""What takes all up to the next empty line with it: the message of an error is in its last line."""


def quote_occurs(quote: str, text: str) -> bool:
    """Return whether a quote stands in a text as whole words; blanks, case and quote marks are free."""
    wanted = _plain(quote).strip(_EDGES)
    if not wanted:
        return False
    whole = _plain(text)
    start = whole.find(wanted)
    while start >= 0:
        if _between_words(whole, start) and _between_words(whole, start + len(wanted)):
            return True
        start = whole.find(wanted, start + 1)
    return False


def strip_recalled(text: str) -> str:
    """Return a message without recalled fences, thoughts and tagged tool output; all else stays verbatim."""
    if "<" not in text and "think>" not in text:
        return text
    return _without_chat_markup(_without_blocks(_BROKEN_THOUGHT.sub("<think>", strip_fences(text))))


def strip_not_user_text(text: str) -> str:
    """Return only what the user said himself: no recalled text, dumps, other speakers, host instructions.

    What is left keeps its order; a line break stands for each piece taken out, so no sentence spans the gap.
    """
    return _without_foreign_lines(strip_recalled(text))


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFKC", text.translate(_QUOTE_MARKS)).casefold()
    return " ".join(text.split())


def _between_words(text: str, place: int) -> bool:
    """Return whether a place is no place inside a word or number; scripts without blanks have none."""
    if place in {0, len(text)}:
        return True
    left, right = text[place - 1], text[place]
    spaced = left < "\u2e80" and right < "\u2e80"
    return not (spaced and left.isalnum() and right.isalnum())


def _without_blocks(text: str) -> str:
    """Return the text without the contents of tags that mark what the user did not write."""
    tags = [(tag, tag["name"].lower()) for tag in _TAG.finditer(text) if tag["name"].lower() in _BLOCK_TAGS]
    closings: dict[str, list[int]] = {}
    for place in range(len(tags) - 1, -1, -1):
        if tags[place][0]["slash"]:
            closings.setdefault(tags[place][1], []).append(place)
    kept: list[str] = []
    end = 0
    for place, (tag, name) in enumerate(tags):
        if tag.start() < end:
            continue
        waiting = closings.get(name, [])
        while waiting and waiting[-1] < place:
            waiting.pop()
        if tag["slash"]:
            # A thought whose opening tag was lost: all before it is thought too.
            if name in _THOUGHT_TAGS:
                kept.clear()
                end = tag.end()
        elif waiting:
            kept += [text[end : tag.start()], "\n"]
            end = tags[waiting[-1]][0].end()
        elif name in _THOUGHT_TAGS:
            return "".join([*kept, text[end : tag.start()]])
    return "".join([*kept, text[end:]])


def _without_chat_markup(text: str) -> str:
    """Return the text without the turns of others in raw chat templates."""
    kept: list[str] = []
    end = 0
    inside_other = False
    for mark in _CHAT_MARKUP.finditer(text):
        if not inside_other:
            kept += [text[end : mark.start()], "\n"]
        end = mark.end()
        role = mark["role"]
        inside_other = role.lower() not in {"user", "human"} if role else mark[0] == "<<SYS>>"
    return "".join([*kept, "" if inside_other else text[end:]])


def _without_foreign_lines(text: str) -> str:
    """Return the text without lines of other speakers, logs, stack traces, JSON and system prompts.

    A line that begins with another speaker's label takes all up to the next label or empty line with it.
    """
    kept: list[str] = []
    foreign = False
    for line in text.splitlines(keepends=True):
        begin = line.lstrip()
        if not begin or _USER_SPEAKER.match(begin):
            foreign = False
        elif _OTHER_SPEAKER.match(begin) or _SYSTEM_PROMPT.match(begin) or _DUMP_BEGINS.match(begin):
            foreign = True
        if not foreign and not _DUMP_LINE.match(line):
            kept.append(line)
    return "".join(kept)
