"""The words that open a loop, tell its kind, or close it, in the languages the rules read.

Latin words match whole, with the endings shown; Chinese ones match anywhere.
"""

import re
from typing import Final

from zomem_graph.nodes.rules._wordlists import words

__all__ = [
    "ADVICE",
    "ATTRIBUTIVE",
    "AUXILIARY",
    "BEING",
    "CLOSED",
    "EMPTY",
    "FAULTS",
    "HOLLOW",
    "KIND_SIGNS",
    "NEED",
    "NOT_CLOSED",
    "NOT_OPEN",
    "NOT_YET",
    "OPENS",
    "OPENS_NEED",
    "PASSING",
    "TASK_VERB",
    "URGENT",
    "URGENT_DENIED",
]


def _whole(latin: str, chinese: str = "") -> re.Pattern[str]:
    """Return a pattern for any of the words; blanks in them match runs of blanks."""
    pattern = rf"(?<!\w)(?:{latin})(?!\w)" + (f"|{chinese}" if chinese else "")
    return re.compile(pattern.replace(" ", r"\s+"), re.IGNORECASE)


OPENS: Final = _whole(
    r"to-?do|next steps?|follow[ -]?ups?|following up|needs? to|should|must|have to|has to|pending"
    r"|waiting (?:on|for)"
    r"|unresolved|bugs?|issues?|fix|investigate|approvals?|confirm"
    r"|muss|müssen|sollten?|nächster schritt|nachfassen|warten auf|warte auf|offener punkt|fehler|untersuchen"
    r"|freigabe|bestätigen"
    r"|hay que|tengo que|tenemos que|debemos|pendientes?|esperando|arreglar|investigar|aprobación|confirmar"
    r"|il faut|je dois|nous devons|on doit|reste à|en attente|à faire|corriger|enquêter|approbation"
    r"|confirmer",
    "待办|需要|必须|应该|下一步|跟进|等待|待确认|待解决|修复|调查|审批|确认",
)
"""Hints of something unfinished (spec F47, with the other languages)."""

KIND_SIGNS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    (
        "bug",
        _whole(
            r"bugs?|errors?|broken|fail(?:s|ed|ing|ure)?|issues?|fix(?:es)?|fehler|kaputt|beheben|fallo"
            r"|roto|arreglar"
            r"|bogue|erreur|cassée?|corriger",
            "错误|缺陷|修复|故障",
        ),
    ),
    (
        "incident",
        _whole(r"incidents?|outages?|downtime|502|521|alerts?|ausfall|störung|caída|panne", "宕机|事故|中断"),
    ),
    (
        "approval",
        _whole(
            r"approv(?:e|es|al|als)|confirm(?:s|ation)?|decision needed|freigabe|genehmig\w*|bestätig\w*"
            r"|aprobar"
            r"|aprobación|confirmar|approuver|approbation|confirmer|valider",
            "审批|批准|确认",
        ),
    ),
    (
        "commitment",
        _whole(
            r"next steps?|follow[ -]?ups?|following up|needs? to|should|must|have to|has to|to-?do|muss"
            r"|müssen|sollten?"
            r"|nachfassen|hay que|tengo que|tenemos que|debemos|il faut|je dois|nous devons|on doit|reste à",
            "需要|必须|应该|待办|下一步|跟进",
        ),
    ),
)
"""Kinds and their signs, in the order in which they are tried (spec F63)."""

URGENT: Final = _whole(
    r"must|urgent(?:ly|e)?|blockers?|critical|outage|asap|dringend|kritisch|crítico|crítica|critique"
    r"|bloquante?",
    "紧急|必须|严重",
)
URGENT_DENIED: Final = _whole(
    r"(?:not|isn['’]t|nicht|no es|pas) (?:urgent|critical|dringend|urgente|kritisch)", "不紧急"
)

OPENS_NEED: Final = re.compile(
    r"^(?:(?:to-?do|next steps?|follow[ -]?up|action(?: item)?|pending|open)\s*[:：]\s*"
    r"|(?:and|but|so|also|then|ok|okay)\s+"
    r"|(?:(?:i|we)(?:['’]ll)?\s+)?(?:(?:also|still|really|just)\s+)*(?:needs?\s+to|have\s+to|must|should)\s+"
    r"|hay\s+que\s+|il\s+faut\s+|(?:待办|下一步)[:：]\s*|我们?(?:还)?(?:需要|必须|应该))",
    re.IGNORECASE,
)
"""What stands before the deed itself and is left out of the title."""

NOT_OPEN: Final = re.compile(
    r"\b(?:no need to|(?:don['’]?t|do not|doesn['’]t|didn['’]t|needn['’]t|not) (?:need|have) to|must not"
    r"|mustn['’]t"
    r"|shouldn['’]t|should not|no (?:\w+ )?(?:issues?|bugs?|follow[ -]?ups?|todos?|approvals?)|not an issue"
    r"|isn['’]t an issue|should be (?:fine|ok|okay|good|enough|easy|there)|should have been|must have"
    r"|must be (?:nice|fun"
    r"|hard|joking|kidding|tired|great)|needed to|had to|used to|nicht nötig|muss nicht|müssen nicht|kein"
    r" fehler"
    r"|no hay que|no tengo que|sin pendientes|pas besoin|il ne faut pas)\b|不需要|不必|无需|没有问题",
    re.IGNORECASE,
)
ADVICE: Final = re.compile(
    r"^(?:if|when|whenever|once|suppose|imagine|unless|pretend|wenn|falls|si|cuando|quand|如果)\b"
    r"|\byou(?:r \w+)? (?:\w+ )?(?:must|should|need to|have to)\b|\b(?:always|never)\b|\bone should\b"
    r"|^(?:every|each) ",
    re.IGNORECASE,
)
"""General rules, advice and orders to the assistant: nothing of the user's own that is unfinished."""
TASK_VERB: Final = _whole(
    r"fix|check|investigate|confirm|approve|send|write|call|update|review|follow up|finish|add|remove|ask"
    r"|book|pay|plan"
    r"|schedule|prepare|deploy|merge|release|test|clean|move|renew|order|reply|answer"
)

CLOSED: Final = _whole(
    r"resolved|fixed|done|completed|closed|approved|shipped|finished|solved|merged|deployed|delivered"
    r"|sorted out"
    r"|taken care of|signed off|erledigt|behoben|fertig|gelöst|abgeschlossen|geschlossen|genehmigt|repariert"
    r"|resuelt[oa]s?|arreglad[oa]s?|hech[oa]s?|terminad[oa]s?|completad[oa]s?|cerrad[oa]s?|aprobad[oa]s?"
    r"|solucionad[oa]s?"
    r"|list[oa]s?|résolue?s?|corrigée?s?|réglée?s?|terminée?s?|finie?s?|faite?s?|fermée?s?|approuvée?s?"
    r"|livrée?s?",
    "(?:解决|修复|修好|完成|关闭|批准|发布|发送|提交|支付|更新|部署|做完|写完|做好)了|搞定了?"
    "|已经?(?:解决|修复|完成|关闭|批准|发布|发送|提交|支付|更新|部署)",
)
"""Words that say something is over (spec F65, with the other languages)."""
NOT_CLOSED: Final = re.compile(
    r"\b(?:not|never|no|none|nothing|nobody|without|cannot|almost|nearly|partly|half|barely|hardly|until"
    r"|once|when|if"
    r"|unless|before|whether|to be|be|being|gets?|getting|want|wants|needs?|hope|hopefully|will|would"
    r"|should|could|might"
    r"|must|may|can|please|maybe|perhaps|probably|possibly|likely|supposed|supposedly|allegedly|think|guess|doubt"
    r"|wonder|ensure|make sure|check that|verify that|let me know|tell me|remind me"
    r"|plans? to|planning to|intend to|going to|about to|trying|tried to|failed to"
    r"|vielleicht|wahrscheinlich|quizás?|tal vez|probablemente|peut-être|probablement"
    r"|nicht|noch|kein\w{0,2}|nie|fast|muss|müssen|soll\w{0,2}|wird|werden|wenn"
    r"|sobald|bis|nunca|casi"
    r"|todavía|aún|sin|si|cuando|hasta|falta|debe|pas|ne|jamais|presque|quand|doit|sera|sauf)\b|n['’]t\b"
    r"|\bn['’]"
    r"|没|未|不|如果|等|需要|必须|要",
    re.IGNORECASE,
)
"""What, before the closing word, takes it back: denied, wished, conditional or still to come."""

NOT_YET: Final = re.compile(
    r"\bnot yet\b|\bnoch nicht\b|\btodavía no\b|\bpas encore\b|\b(?:tomorrow|next (?:week|month|year))\b"
    r"|\bby (?:\w+day|noon|tonight|then|the end)\b|(?<!heute )(?<!gestern )\bmorgen\b"
    r"|(?<!esta )(?<!la )\bmañana\b|\bdemain\b|明天|下周",
    re.IGNORECASE,
)
"""What, anywhere in the clause, says that it is not so today."""
ATTRIBUTIVE: Final = re.compile(r"\b(?:the|an?|my|our|your|their)\s+$", re.IGNORECASE)
"""What makes a word for done an adjective: "the fixed parser is slow" does not say that it is fixed now."""
NEED: Final = re.compile(
    r"^(?:[\w'’]+\s+){1,3}?(?:still\s+|also\s+)?(?:needs?\s+to|ha(?:s|ve)\s+to|must|should)\s+"
    r"|^(?:i['’]?m\s+|we['’]?re\s+)?waiting (?:on|for)\s+"
)
"""What in the normal form of a title says who has to do it."""
AUXILIARY: Final = words("have has had having is are was were been be got am already i've we've you've they've")
BEING: Final = words("is are was were been be got gets am s ist sind war wurde wurden está están es son fue est sont")
FAULTS: Final = words(
    "bug bugs issue issues error errors problem problems defect defects fehler fehlers problem probleme problema",
    "problemas fallo fallos bogue bogues erreur erreurs problème problèmes",
)
"""Words for what is wrong with a thing; which of them is said makes no difference."""
HOLLOW: Final = re.compile(
    r"需要|必须|应该|待办|下一步|跟进|等待|修复|解决|完成|搞定|关闭|批准|发布|发送|提交|支付|更新|部署|已经?|我们|我|了|的|把"
)
"""Chinese words that tell nothing about which loop is meant."""
PASSING: Final = words(
    "today yesterday now morning afternoon evening tonight night week month ago earlier monday tuesday",
    "wednesday thursday friday saturday sunday last just together too myself ourselves himself herself well",
    "good later everything thing heute gestern jetzt endlich schon vorhin eben bereits morgen hoy ayer ya",
    "ahora hier aujourd'hui maintenant enfin déjà",
)
"""Words for when and how."""

EMPTY: Final = words(
    "the a an of to in on at for with from by and or but is are was were be been it its this that these those",
    "i we you he she they my our your his her their me us them have has had do does did will would can could",
    "not no now then so as just also still again already there here up out off about into over all some any",
    "please finally need needs must should fix todo next step follow pending waiting unresolved bug bugs",
    "issue issues confirm urgent critical blocker der die das den dem ein eine einen und oder ist sind war",
    "wir ich haben habe hat nicht noch muss müssen zu für mit von im am el la los las un una y o es son hay",
    "que de del en por para con se lo le les des du et ou est sont il faut je nous on doit dois devons à au",
    "aux dans pour avec ai as avons ont été cette wurde wurden worden hab está están esta este he hemos han",
    "sido ya tengo tenemos debemos mi mis mein meine mon ma mes todo got am been going let make i'm i've i'll",
    "i'd we're we've we'll you've they've they're don't",
)
"""Words that tell nothing about which loop is meant."""
