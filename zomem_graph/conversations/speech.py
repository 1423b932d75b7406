"""Whether a label looks like somebody's name, and what follows it like something said."""

import re
from typing import Final

from zomem_graph.nodes.rules._wordlists import words

__all__ = ["heads_a_line", "is_note_word", "looks_like_a_name", "looks_spoken"]

_LONGEST_READ: Final = 2_000
_NOTES: Final = words(
    "note notes nb ps p.s. todo tip tips hint example examples warning caution important summary result results step",
    "steps ingredients method instructions update edit source sources link url http https re subject from to cc date",
    "time address title problem solution conclusion reason pros cons output input total tldr",
)
"""Words that people put before a colon inside a message."""
_HEADS: Final = _NOTES | words(
    "remember reminder reminders memo fyi btw imo plan plans goal goals idea ideas task tasks fact facts message",
    "quote decision decisions rule rules background context motto wish request topic today tonight yesterday",
    "tomorrow next then also and but so first second third finally",
    "monday tuesday wednesday thursday friday saturday sunday",
    "preference preferences allergy allergies bio name email phone mobile birthday job hobby hobbies likes dislikes",
    "issue bug feature status agenda meeting deadline diary journal log groceries shopping list budget price cost",
    "password passwords passcode passphrase pw pin login wifi account weather dinner lunch breakfast menu size now",
    "recipe project version error info details options option rating review location place city country language",
    "notiz hinweis achtung wichtig frage idee aufgabe aufgaben ziel zutaten einkaufsliste beispiel datum ort heute",
    "morgen gestern erinnerung merke passwort kennwort adresse termin liste zusammenfassung",
    "nota notas recordatorio importante lista pregunta ejemplo hoy mañana ayer tarea tareas ingredientes resumen",
    "aviso contraseña dirección fecha nombre lembrete senha hoje amanhã ontem exemplo tarefa endereço",
    "rappel liste idée exemple aujourd'hui demain hier tâche tâches ingrédients résumé attention date nom",
    "promemoria elenco esempio oggi domani ieri compito ingredienti riassunto attenzione indirizzo",
    "notitie belangrijk lijst boodschappen voorbeeld vandaag gisteren taak wachtwoord adres",
    "заметка важно план список пример сегодня завтра вчера задача напоминание пароль адрес дата",
)
"""Words that rather head a line of a note than name somebody."""
_OF_SENTENCES: Final = words(
    "my your his her its our their the a an this that these those i you he she it we they is are was were be do does",
    "has have had will can here there mein meine dein deine unser unsere der die das ist sind war ich wir hier",
    "mi tu su mis el la los las es son está mon ma mes ton ta notre le les est sont ce meu minha o os são",
    "mio mia il è mijn het zijn мой моя моё мои наш наша это",
)
"""Words that make a label the beginning of a sentence: my ski pass is, the code, hier ist."""
_PARTICLES: Final = words("van von der den de da di do dos del della du la le bin ibn al el zu ten ter y e of and")
_SPEAKING: Final = words(
    "i i'm i've i'd i'll me my mine we we're our us you you're your yours hi hello hey thanks thank yes yeah no nope",
    "ok okay sure please sorry bye let's",
    "ich mich mir mein meine meinen wir uns unser du dich dir dein ihr sie hallo danke ja nein bitte tschüss",
    "yo me mi mis conmigo nosotros nos tú te tu usted hola gracias sí adiós soy tengo vivo estoy",
    "je j'ai j'aime j'habite moi mon ma mes nous tu toi vous votre salut bonjour merci oui non",
    "eu meu minha você nós oi olá obrigado obrigada sim não io mio mia noi ciao grazie sì",
    "ik mijn wij jij hoi dank nee ja mój moja mam jestem cześć dziękuję tak jag mig min du hej tack",
    "я мне меня мой моя мы нас ты тебя тебе вы вам привет да нет спасибо ben benim merhaba",
)
_SPEAKING_CJK: Final = re.compile("[我你您咱]|私|僕|俺|あなた|です|ます|저는|나는|제가|내가")
_WORD: Final = re.compile(r"[^\W\d_][\w'’]*")
_SENTENCE: Final = re.compile(r"[^\W\d_a-zà-öø-ÿа-я][^\n]{0,400}?\s\S+\s\S+[.…。]\s*(?:[^\W\d_a-z]|$)")


def is_note_word(label: str) -> bool:
    """Return whether a label begins with a word that never names somebody: note, todo, summary of."""
    return label.casefold().split()[0] in _NOTES


def heads_a_line(label: str) -> bool:
    """Return whether a label rather heads a line of a note: plan, shopping list, wifi password."""
    several = label.casefold().split()
    return several[0] in _HEADS or several[-1] in _HEADS


def looks_like_a_name(label: str) -> bool:
    """Return whether a label is one to three words in capitals, particles such as "van" aside."""
    several = label.split()
    if any(word.casefold() in _OF_SENTENCES for word in (several[0], several[-1])) or "的" in label:
        return False
    names = [word for word in several if word.casefold() not in _PARTICLES]
    return 0 < len(names) <= 3 and not any(word[0].islower() for word in (*names, several[0], several[-1]))


def looks_spoken(text: str) -> bool:
    """Return whether a text speaks of "me" or "you", greets, asks, exclaims, or is a whole sentence."""
    text = text[:_LONGEST_READ]
    if text.rstrip().endswith(("?", "!", "？", "！")) or _SPEAKING_CJK.search(text):
        return True
    said = (word.replace("’", "'").casefold() for word in _WORD.findall(text))
    return not _SPEAKING.isdisjoint(said) or _SENTENCE.match(text) is not None
