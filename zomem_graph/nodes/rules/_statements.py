"""Which sentences of a message state something, and which only ask, imagine, doubt, quote or command.

The tables hold all languages together: their words hardly collide, and chat mixes languages anyway.
"""

import re
from typing import Final

from zomem_graph.nodes.rules._foreign_text import FOREIGN_REST, without_foreign_text
from zomem_graph.nodes.rules._wordlists import alternatives
from zomem_graph.nodes.rules.quotes import strip_not_user_text

__all__ = [
    "LONGEST_SENTENCE",
    "clauses",
    "is_question",
    "opened",
    "own_sentences",
    "sentences",
    "states_a_rule",
    "statements",
    "without_quotations",
]

LONGEST_SENTENCE: Final = 500
"""Characters; a longer run without an end mark is a dump, not speech."""

_FENCED_CODE = re.compile(r"```[^`]{0,20000}(?:```|$)|~~~[^~]{0,20000}(?:~~~|$)")
_CODE_LINE = re.compile(
    r"\s*(?:\$ |>>> |#!|#include\b|@\w+\s*$|from [\w.]+ import |import [\w.{]+(?: as \w+| from .+)?;?\s*$"
    r"|(?:const|let|var) \w+ ?[=:]|(?:async )?(?:def|function|fn|func) ?\w*\(|class \w+[:({ ]"
    r"|return\b.*[;)\]]?\s*$"
    r"|(?:public|private|static) (?:static |void |class |final )|(?:SELECT|INSERT INTO|UPDATE|DELETE"
    r" FROM|CREATE"
    r"|ALTER) [\w*]|if ?\(|for \w+ in .*:|while ?\(|(?:git|npm|pnpm|pip|docker|kubectl) [a-z]+"
    r" [\w./-]|curl -|</?\w+[^>]{0,80}>\s*$)"
    r"|.{0,300}(?:[;{}]\s*$|=> ?\{|\)\s*:\s*$|&& \w+ |\|\| ?\")"
)
_QUOTED_LINE = re.compile(r"\s*(?:>|\|)")
_ABBREVIATED: Final = alternatives("mr mrs ms dr prof st no nr vs etc e.g i.e z.b bzw ca inc ltd co jr sr sra mme")
_SENTENCE_END = re.compile(r"(?<!\b[A-Za-z])(?<!\d\.)(?<![.!?…])[.!?…]++[\"'”’)]*+(?=\s)|[。！？]+|\s{2,}|\n")
_ABBREVIATION = re.compile(rf"(?:^|[\s(]){_ABBREVIATED}\.$", re.IGNORECASE)

_QUESTION = re.compile(
    r"^(?:(?:hi|hey|hello|ok|okay|so|and|but|well|please|sorry|hmm|oh|quick question)[,:!]?\s+){0,2}(?:"
    r"(?:who|what|whats|what's|when|when's|where|where's|why|which|whose|how|how's|is|isn't|are"
    r"|aren't|am|was"
    r"|were|does|doesn't|did|didn't|can|could|would|should|shall|will|won't|has|have you|have we|do"
    r" i|do you"
    r"|do we|do they|may i|any idea|is it|i wonder|wondering|tell me|remind me|do you remember)\b"
    r"|(?:wer|was|wann|wo|warum|welche\w{0,2}|wie|ist|sind|hast|hat|kannst|könntest|soll|weißt)\s"
    r"|(?:¿|quién|qué|cuándo|cuál|cómo|sabes|puedes)|(?:qui|quand|où|pourquoi|quel\w{0,3}|est-ce"
    r"|comment|peux-tu)\s)",
    re.IGNORECASE,
)
_TURN_TO_QUESTION = re.compile(
    r"(?:,|\s+-)\s+(?:so\s+|but\s+|and\s+)?(?:can|could|would|do|does|did|what|which|who|where|how"
    r"|is|are|should|will|any"
    r"|kannst|puedes|peux-tu|est-ce)\b|[，,]\s*(?:你|能|可以)",
    re.IGNORECASE,
)
_QUESTION_END = re.compile(r"[?？][\"'”’)\s]*$|(?:吗|呢|么)[。！\s]*$|(?:谁|什么|哪里|哪儿|多少|怎么|为什么|哪个)")

_IMAGINED = re.compile(
    r"\b(?:if|unless|suppose|supposing|imagine|assume|assuming|pretend|hypothetically|let's say|lets"
    r" say|what if|would"
    r"|wouldn't|might|maybe|perhaps|could|should|wish|hopefully|thinking (?:about|of)|considering"
    r"|someday|one day"
    r"|i'd|we'd|he'd|she'd|they'd|in theory|wenn|falls|vielleicht|würde|würden|könnte|könnten|hätte"
    r"|wäre|sollte|angenommen|mal angenommen"
    r"|si|quizás|quizá|tal vez|ojalá|podría|gustaría|supongamos|imagina|peut-être|pourrais|pourrait"
    r"|aimerais"
    r"|voudrais|imaginons|supposons|probablement|s'il|si j'\w+)\b"
    r"|如果|假如|假设|要是|也许|可能|或许|想要|打算|希望|大概",
    re.IGNORECASE,
)
_IMAGINED_START = re.compile(r"^(?:in case|when|whenever|once|say|als ob|cuando|quand)\b|^(?:等|当)", re.IGNORECASE)
_DOUBTED = re.compile(
    r"\b(?:i think|i guess|i believe|i suppose|i assume|probably|possibly|presumably|not sure|unsure"
    r"|not certain"
    r"|seems?|seemingly|apparently|supposedly|allegedly|likely|to be confirmed|tbc|tbd|as far as i"
    r" know|afaik|iirc"
    r"|if i remember|hard to say|my guess|best guess|no idea|don't know|do not know|dunno|not known|unknown"
    r"|ich glaube|ich denke|wahrscheinlich|vermutlich|nicht sicher|keine ahnung|weiß nicht"
    r"|creo que|no estoy segur[oa]|probablemente|no sé|je crois|je pense|pas sûre?|sans doute|je ne"
    r" sais pas"
    r"|i may|we may|may be)\b|我觉得|我猜|不确定|好像|应该是|不知道",
    re.IGNORECASE,
)
_REPORTED = re.compile(
    r"\b(?:said|says|told|claims?|claimed|according to|heard|mentioned|wrote|writes|states|stated"
    r"|they say|rumou?r"
    r"|word is|used to say|keeps saying|did you hear|someone|somebody|the message reads|message"
    r" reads|quote|quotes"
    r"|in the (?:movie|film|book|novel|song|story|game|dream)|sagte|sagt|meinte|laut|angeblich"
    r"|behauptet|gehört dass"
    r"|dijo|dice|dicen|según|cuenta|contó|a dit|dit que|selon|paraît|prétend|raconte)\b"
    r"|听说|据说|他说|她说|他们说|有人说",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:isn't true|not true|is not true|never said|didn't say|did not say|that's not|that is not"
    r"|haven't decided"
    r"|have not decided|hasn't|has not|never agreed|no api key|not my)\b|没有决定",
    re.IGNORECASE,
)
_QUOTATION = re.compile(r"[\"“„«][^\"“”„«»\n]{0,400}[\"”“»]|(?<!\w)['‘][^'’\n]{12,400}['’](?!\w)|「[^」\n]{0,200}」")
_LONG_QUOTE_WORDS: Final = 3
_REQUEST = re.compile(
    r"(?:(?:ok|okay|so|and|hey|hi)[,:]?\s+){0,2}(?:can|could|would|will) you\b|please\b", re.IGNORECASE
)

_SUBJECT: Final = (
    r"(?:i|i'm|i’m|i've|i’ve|i'll|im|we|we're|we’re|we've|my|our|he|she|it|it's|they|the|you|your"
    r"|this|that|there"
    r"|everyone|everybody|people|no|please|can|could|do|what|which|who|where|especially|mostly"
    r"|though|although"
    r"|because|since|just|in case|by the way|btw|remember|block|not|so|but|budget|ich|mein|meine|wir|und"
    r"|yo|mi|mis|vivo|je|j|mon|ma|nous)"
)
_CLAUSE_END = re.compile(
    r"\s*[;；]\s*|\s+[-–—]+\s+|\s*\.\.\.\s*"
    rf"|,\s+(?:and\s+|but\s+|so\s+|then\s+|also\s+)?(?={_SUBJECT}\b)"
    r"|\s+(?:and|but|so|because|though|although|while|cause|und|aber|denn|y|pero|et"
    rf"|mais)\s+(?={_SUBJECT}[\s'’])"
    r"|，|,\s+(?=[^,]{0,40}\b(?:is|are)\s)",
    re.IGNORECASE,
)
_CARRIED = re.compile(
    r"\s+(?:and|but)\s+(?=(?:also\s+|currently\s+|now\s+)?(?:live|work|love|like|hate|prefer|use"
    r"|speak|play|moved"
    r"|drive|own|grew|come|enjoy|started|have)\s)"
    r"|\s+(?:und)\s+(?=(?:wohne|arbeite|lebe|mag|liebe|spreche)\s)|\s+y\s+(?=(?:vivo|trabajo|soy"
    r"|tengo|me gusta)\s)",
    re.IGNORECASE,
)
_SUBJECT_OF: Final = {"my": "I", "mi": "I", "me": "I", "mein": "ich", "vivo": "I", "soy": "I", "trabajo": "I"}
_FIRST_PERSON = re.compile(r"^(?:i|we|ich|wir|yo|me|my|mein|mi|vivo|soy|trabajo)\b", re.IGNORECASE)


def own_sentences(text: str) -> list[str]:
    """Return the sentences of a message that are the user's own words, each a literal piece of it.

    What the user only shows is left out: recalled memory, tools' and others' words, quoted lines, code, and the
    text he wants translated, explained or judged. Whoever learns from a message, a pattern or a model, reads these.
    """
    own: list[str] = []
    for sentence in sentences(without_foreign_text(strip_not_user_text(text))):
        if FOREIGN_REST.match(sentence):
            break
        own.append(sentence)
    return own


def without_quotations(text: str) -> str:
    """Return a text with empty quote marks for every quotation of three words or more."""
    return _QUOTATION.sub(lambda found: '""' if len(found[0].split()) >= _LONG_QUOTE_WORDS else found[0], text)


def states_a_rule(sentence: str) -> bool:
    """Return whether a sentence makes a rule: the user orders it, and does not ask about it or report it."""
    if is_question(sentence) and not _REQUEST.match(sentence):
        return False
    return not _REPORTED.search(sentence) and without_quotations(sentence) == sentence


def is_question(sentence: str) -> bool:
    """Return whether a sentence asks something, with or without a question mark."""
    return bool(_QUESTION.match(sentence) or _QUESTION_END.search(sentence))


def statements(text: str) -> list[str]:
    """Return the sentences that state something as the speaker's own, each a literal piece of the text."""
    stated: list[str] = []
    for sentence in own_sentences(text):
        said = _before_question(sentence)
        if len(said) <= LONGEST_SENTENCE and _states(said):
            stated.append(said)
    return stated


def clauses(sentence: str) -> list[str]:
    """Return the parts of a sentence with a subject of their own, with "I" before one that shares it."""
    parts: list[str] = []
    for clause in _CLAUSE_END.split(_MEMO.sub("", opened(sentence))):
        found = _FIRST_PERSON.match(opened(clause))
        # "so much energy and love everywhere" shares no subject.
        first, *sharing = _CARRIED.split(clause) if found else [clause]
        subject = _SUBJECT_OF.get(found[0].lower(), found[0]) if found else ""
        parts += [first, *(f"{subject} {rest}" for rest in sharing)]
    return [bare for part in parts if (bare := opened(part.strip(" ,:!.。\t")))]


_MEMO = re.compile(
    r"^(?:please )?(?:remember|don['’]t forget|do not forget|keep in mind|note)(?: that|:|,)? (?=i\b"
    r"|i['’]|my|our|we|the )",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"(?:hi|hey|hello|hiya|morning|good morning|good evening|btw|by the way|just so you know|so you"
    r" know|fyi|for the"
    r" record|also|well|ok|okay|so|and|but|oh|anyway|honestly|actually|thanks|thank you|no|yes|yeah"
    r"|plus|because"
    r"|since|currently|right now|today|as of (?:today|now)|just|unfortunately|luckily|finally|update"
    r"|heads up|übrigens"
    r"|hallo|also|hola|por cierto|además|bonjour|salut|au fait|你好|顺便说一下|另外)"
    r"(?:[,:!，：\s]+|\s-+\s)",
    re.IGNORECASE,
)


def opened(clause: str) -> str:
    """Return a clause without the words that only lead in: greetings, "by the way", "and"."""
    for _ in range(4):
        lead = _LEAD.match(clause)
        if not lead or lead.end() == len(clause):
            break
        clause = clause[lead.end() :]
    return clause.strip()


def _before_question(sentence: str) -> str:
    """Return what is stated before a question in the same sentence ("I live in Rome, can you …?")."""
    if sentence.endswith(("?", "？")) and (turn := _TURN_TO_QUESTION.search(sentence)):
        return sentence[: turn.start()]
    return sentence


def _states(sentence: str) -> bool:
    """Return whether a sentence is an unhedged statement of the speaker's own."""
    if is_question(sentence) or without_quotations(sentence) != sentence:
        return False
    return not (
        _IMAGINED_START.match(sentence)
        or any(doubt.search(sentence) for doubt in (_IMAGINED, _DOUBTED, _REPORTED, _DENIED))
    )


def sentences(text: str) -> list[str]:
    """Return the sentences of a text without its code and quoted lines."""
    found: list[str] = []
    for line in _spoken_lines(text):
        start = 0
        for end in _SENTENCE_END.finditer(line):
            if not _ABBREVIATION.search(line[max(start, end.end() - 8) : end.end()]):
                found.append(line[start : end.end()].strip())
                start = end.end()
        found.append(line[start:].strip())
    return [sentence for sentence in found if sentence]


def _spoken_lines(text: str) -> list[str]:
    """Return the lines of prose; when code stands unfenced among them, none that could be code."""
    lines = [
        line for piece in _FENCED_CODE.split(text) for line in piece.splitlines() if not _QUOTED_LINE.match(line)
    ]
    if not any(_CODE_LINE.match(line) for line in lines):
        return lines
    return [line for line in lines if not _CODE_LINE.match(line) and not re.match(r"\s{2,}|\S+\s*=\s*\S", line)]
