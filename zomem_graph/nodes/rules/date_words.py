"""Words for times in English, German, Spanish, French and Portuguese, and a few in Chinese and Japanese.

Each phrase is read as one canonical token, so that one small grammar serves all languages.
"""

import re
from typing import Final

from zomem_graph.nodes.rules.phrases import fold, has_cjk

__all__ = ["LONGEST_PHRASE", "MONTHS", "NUMBERS", "TOKENS", "UNITS", "UNSPACED", "WEEKDAYS"]

UNITS: Final = ("second", "minute", "hour", "day", "week", "month", "year")
WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
    "november",
    "december",
)  # fmt: skip

# Canonical token: its spellings. Tokens with "<" stand before the amount, those with ">" behind it.
_SPELLINGS: Final = {
    "now": "now|jetzt|ahora|maintenant|agora|现在",
    "today": "today|this morning|this afternoon|this evening|tonight|heute|hoy|aujourd hui|hoje|今天|今日",
    "yesterday": "yesterday|gestern|ayer|hier|ontem|昨天|昨日",
    "day before yesterday": """
        day before yesterday|the day before yesterday|vorgestern|anteayer|antes de ayer|avant hier
        anteontem|前天|一昨日
    """,
    "tomorrow": "tomorrow|morgen|manana|demain|amanha|明天|明日",
    "day after tomorrow": """
        day after tomorrow|the day after tomorrow|ubermorgen|pasado manana|apres demain|depois de amanha
        后天|明後日
    """,
    "last night": "last night|gestern abend|gestern nacht|anoche|hier soir|ontem a noite|昨晚|昨夜",
    "this": "this|current|diese|dieser|dieses|diesen|diesem|este|esta|ce|cet|cette|本|这",
    "last": """
        last|previous|letzte|letzter|letztes|letzten|letztem|vorige|vorigen|voriges|vergangene
        vergangenen|pasado|pasada|ultimo|ultima|dernier|derniere|passado|passada|上|先
    """,
    "past": "past|letzten|ultimos|ultimas|derniers|dernieres",
    "next": """
        next|coming|nachste|nachster|nachstes|nachsten|nachstem|kommende|kommenden|proximo|proxima
        prochain|prochaine|que viene|que vem|下
    """,
    "ago>": "ago|back|atras|earlier|前",
    "ago<": "vor|hace|il y a|ha|faz",
    "hence>": "from now|hence|later",
    "in": "in|im|en|em|dans|dentro de|daqui a|during|over",
    "second": "s|second|seconds|sec|secs|sekunde|sekunden|segundo|segundos|seconde|secondes",
    "minute": "minute|minutes|min|mins|minuten|minuto|minutos",
    "hour": "hour|hours|hr|hrs|h|stunde|stunden|hora|horas|heure|heures",
    "day": "day|days|d|tag|tage|tagen|dia|dias|jour|jours|天|日",
    "week": "week|weeks|wk|wks|w|woche|wochen|semana|semanas|semaine|semaines|周|週間|週|星期",
    "weekend": "weekend|weekends|wochenende|fin de semana|week end|周末|週末",
    "month": "m|mo|month|months|monat|monate|monaten|monats|mes|meses|mois|个月|か月|ヶ月|月",
    "year": "y|year|years|yr|yrs|jahr|jahre|jahren|jahres|ano|anos|annee|annees|ans|年",
    "last week": "上周|上星期|先週|上个星期",
    "last month": "上个月|上月|先月",
    "last year": "去年|昨年|l an dernier|an dernier|l annee derniere",
    "this week": "本周|这周|这个星期|今週",
    "this month": "本月|这个月|今月",
    "this year": "今年",
    "next week": "下周|来週|下个星期",
    "next month": "下个月|来月",
    "next year": "明年|来年",
    "monday": "monday|montag|lunes|lundi|segunda feira|星期一|周一|月曜日|月曜",
    "tuesday": "tuesday|dienstag|martes|mardi|terca feira|星期二|周二|火曜日|火曜",
    "wednesday": "wednesday|mittwoch|miercoles|mercredi|quarta feira|星期三|周三|水曜日|水曜",
    "thursday": "thursday|donnerstag|jueves|jeudi|quinta feira|星期四|周四|木曜日|木曜",
    "friday": "friday|freitag|viernes|vendredi|sexta feira|星期五|周五|金曜日|金曜",
    "saturday": "saturday|samstag|sonnabend|sabado|samedi|星期六|周六|土曜日|土曜",
    "sunday": "sunday|sonntag|domingo|dimanche|星期日|星期天|周日|日曜日|日曜",
    "january": "january|jan|januar|janner|enero|janvier|janeiro",
    "february": "february|feb|februar|febrero|fevrier|fevereiro",
    "march": "march|mar|marz|marzo|mars|marco",
    "april": "april|apr|abril|avril",
    "may": "may|mai|mayo|maio",
    "june": "june|jun|juni|junio|juin|junho",
    "july": "july|jul|juli|julio|juillet|julho",
    "august": "august|aug|agosto|aout",
    "september": "september|sep|sept|septiembre|septembre|setembro",
    "october": "october|oct|oktober|okt|octubre|octobre|outubro",
    "november": "november|nov|noviembre|novembre|novembro",
    "december": "december|dec|dezember|dez|diciembre|decembre|dezembro",
    "": "the|on|of|am|um|el|la|las|los|le|les|l|du|de|del|do|da|na|au|der|den|dem|das|die|vom|des|的|の|に",
}

NUMBERS: Final = {
    word: value
    for value, words in {
        1: "a an one ein eine einem einen einer un una une um uma 一",
        2: "two couple zwei zwo dos deux dois duas 二 两",
        3: "three few drei tres trois 三",
        4: "four vier cuatro quatre quatro 四",
        5: "five funf cinco cinq 五",
        6: "six sechs seis 六",
        7: "seven sieben siete sept sete 七",
        8: "eight acht ocho huit oito 八",
        9: "nine neun nueve neuf nove 九",
        10: "ten zehn diez dix dez 十",
        11: "eleven elf once onze",
        12: "twelve zwolf doce douze doze",
    }.items()
    for word in words.split()
}

TOKENS: Final = {
    tuple(fold(phrase).split()): token
    for token, phrases in reversed(_SPELLINGS.items())
    for phrase in re.split(r"[|\n]", phrases.strip())
}
LONGEST_PHRASE: Final = max(len(phrase) for phrase in TOKENS)
UNSPACED: Final = tuple(sorted((phrase[0] for phrase in TOKENS if has_cjk(phrase[0])), key=len, reverse=True))
