"""The verbs a to-do begins with, and the words that say such a deed was done.

English verbs are known by a table, because "Review the plan" and "Karim the plumber" are written alike; in
German, Spanish and French the past is formed from the infinitive, in whatever place of the title it stands.
"""

import re
from functools import lru_cache
from typing import Final

from zomem_graph.nodes.rules._wordlists import words
from zomem_graph.stores.stems import stem

__all__ = ["ALL_DONE", "INFINITIVES", "RETURNED", "VERBS", "deed_of", "family", "is_same_as_its_past", "pasts_of"]

VERBS: Final = words(
    "add adjust align analyse analyze announce answer apply approve archive arrange ask assemble assign",
    "attach audit automate backup bake benchmark book borrow bring buy build calculate call cancel celebrate",
    "change charge check choose clarify clean clear close collect compare compile complete configure confirm",
    "connect contact convert cook copy create cut deal debug decide decorate define delete deliver deploy",
    "describe design develop disable discuss document double download draft draw drop edit email enable",
    "escalate evaluate examine expand explain export extend extract feed figure file fill finalise finalize",
    "find finish fix follow format forward gather generate get give hand harden hire implement import improve",
    "increase inform insert install integrate introduce investigate invite invoice iron join keep launch",
    "learn limit list load log look lower mail make measure meet mend merge message migrate mow move notify",
    "obtain offer open optimise optimize order organise organize pack paint patch pay phone pick ping plan",
    "plant postpone prepare present print process profile proofread provide publish pull purchase push",
    "put read rebuild rebase receive record redo reduce refactor refill register reinstall release remind",
    "remove rename renew rent reopen reorder repair replace reply report request rerun reschedule research",
    "reserve reset resolve respond restart restore retry return review revise rewrite ring rotate run save",
    "scan schedule search sell send setup ship shorten sign simplify solve sort speak specify split start",
    "stop store submit subscribe summarise summarize switch sync talk teach tell terminate test thank tidy",
    "tighten track train transfer translate trim try tune turn type uninstall unsubscribe update upgrade",
    "upload use vacuum validate verify visit walk warn wash watch water wipe wrap write",
)
"""What a to-do asks for. Verbs that are first names or common nouns before a name (mark, bill) are left out."""

INFINITIVES: Final = words(
    "bezahlen zahlen schicken kaufen buchen prüfen bestellen machen aufräumen erneuern verlängern kündigen",
    "reparieren aktualisieren testen beantworten vorbereiten anmelden abmelden absagen erstellen einreichen",
    "putzen holen abholen abgeben anrufen beheben besprechen bringen lesen schreiben überweisen",
    "unterschreiben verschieben senden lösen enviar pagar comprar llamar reservar revisar actualizar renovar",
    "arreglar terminar preparar limpiar entregar escribir resolver hacer buscar firmar cancelar envoyer payer",
    "acheter appeler réserver vérifier corriger terminer renouveler préparer nettoyer écrire rendre prendre",
    "signer annuler",
)
"""The same in German, Spanish and French, where the verb may stand anywhere."""

RETURNED: Final = words("answer ask call contact email invite mail meet message phone ping remind reply ring tell")
"""What the other one may do as well: "Karim called" is not "call Karim"."""

ALL_DONE: Final = words(
    "done completed finished erledigt fertig abgeschlossen hecho hecha hechos hechas listo lista listos listas",
    "terminado terminada terminados terminadas completado completada completados completadas terminé terminée",
    "terminés terminées fini finie finis finies fait faite faits faites",
)
"""Words that end whatever there was to do; the others end one deed."""

_PASTS: Final[dict[str, str]] = {
    past: base
    for base, pasts in (
        line.split(": ")
        for line in (
            "bring: brought|build: built|rebuild: rebuilt|buy: bought|choose: chose chosen|deal: dealt|do: did done",
            "redo: redid redone|draw: drew drawn|feed: fed|find: found|get: got gotten|give: gave given|hand: handed",
            "keep: kept|learn: learnt|lend: lent|light: lit|make: made|meet: met|mow: mown|pay: paid",
            "rewrite: rewrote rewritten|ring: rang|run: ran|rerun: reran|sell: sold|send: sent|speak: spoke spoken",
            "take: took taken|teach: taught|tell: told|think: thought|write: wrote written|win: won|wear: wore worn",
            "backup: backed|setup: set|hide: hid hidden|drive: drove driven|go: went gone|see: saw seen",
            "eat: ate eaten",
        )
        for line in line.split("|")
    )
    for past in pasts.split()
}
_SAME_PAST: Final = words("cut put read reset run rerun set setup split let quit shut cost")
_FAMILIES: Final[dict[str, str]] = {
    one: line.split()[0]
    for line in (
        "fix resolve solve repair mend debug patch sort",
        "deploy ship release launch publish deliver",
        "finish complete finalise finalize do",
        "send mail email",
        "write draft",
        "buy purchase order",
        "call phone ring",
        "approve confirm sign",
        "delete remove",
    )
    for one in line.split()
}
_FOREIGN_PASTS: Final[dict[str, str]] = {
    past: base
    for base, pasts in (
        line.split(": ")
        for line in (
            "abgeben: abgegeben|anrufen: angerufen|beheben: behoben|besprechen: besprochen|bringen: gebracht",
            "finden: gefunden|geben: gegeben|lesen: gelesen|lösen: gelöst|nehmen: genommen|schreiben: geschrieben",
            "sprechen: gesprochen|treffen: getroffen|überweisen: überwiesen|unterschreiben: unterschrieben",
            "verschieben: verschoben|schließen: geschlossen|senden: gesendet gesandt|umziehen: umgezogen",
            "escribir: escrito escrita escribí|hacer: hecho hecha hice|abrir: abierto abierta|ver: visto vista",
            "poner: puesto puesta puse|decir: dicho dije|resolver: resuelto resuelta|pagar: pagué|buscar: busqué",
            "entregar: entregué|llamar: llamado llamada llamé|écrire: écrit écrite|faire: fait faite",
            "prendre: pris prise|mettre: mis mise|lire: lu lue|recevoir: reçu reçue|rendre: rendu rendue",
        )
        for line in line.split("|")
    )
    for past in pasts.split()
}
_SEPARABLE: Final = re.compile(r"(ab|an|auf|aus|ein|vor|zu|nach|weg|mit|um|fest|hoch|her|hin|zurück|durch)(\w{3,})$")
_ROMANCE_INFINITIVE: Final = re.compile(r"(?:ar|er|ir|re)$")
_ROMANCE_PASTS: Final = words("ado ada ados adas é ée és ées amos ido ida idos idas í imos i ie is ies u ue us ues")
_PAST_ENDING: Final = re.compile(r"\w\wed$")


def family(base: str) -> str:
    """Return the verb that stands for all that mean the same deed, as a stem: fix for repair and solve."""
    return stem(_FAMILIES.get(base, base))


@lru_cache(maxsize=20_000)
def deed_of(word: str) -> str | None:
    """Return the family of the deed an English past form tells of ("sent", "repaired"), or None."""
    if word in _PASTS:
        return family(_PASTS[word])
    if not _PAST_ENDING.search(word):
        return None
    bare = stem(word)
    return next((family(verb) for verb in _STEMS.get(bare, ())), bare)


def is_same_as_its_past(base: str) -> bool:
    """Return whether a verb has one form for what is to be done and what was done: "read", "put"."""
    return base in _SAME_PAST


@lru_cache(maxsize=2_000)
def pasts_of(word: str) -> frozenset[str]:
    """Return the past forms of a word if it is a German, Spanish or French infinitive; most never occur."""
    found = {past for past, base in _FOREIGN_PASTS.items() if base == word}
    if len(word) < 5:
        return frozenset(found)
    if word.endswith("n"):
        root = word.removesuffix("n").removesuffix("e")
        found |= {f"ge{root}t", f"{root}t", f"ge{root}et"}
        if parts := _SEPARABLE.match(root):
            found |= {f"{parts[1]}ge{parts[2]}t", f"{parts[1]}{parts[2]}t"}
    if _ROMANCE_INFINITIVE.search(word):
        found |= {word[:-2] + ending for ending in _ROMANCE_PASTS}
    return frozenset(found - {word})


_STEMS: Final[dict[str, tuple[str, ...]]] = {stem(verb): (verb,) for verb in sorted(VERBS | _FAMILIES.keys())}
