"""The patterns for German, Spanish, French and Chinese: a small table each, with the same English keys."""

from typing import Final

from zomem_graph.nodes.rules._fact_rules import PROJECT, Rule, rule
from zomem_graph.nodes.rules._noun_phrases import NAME

__all__ = ["ATTRIBUTES", "KIN", "OTHER_RULES"]

KIN: Final[dict[str, str]] = {
    word: key
    for key, names in (
        ("sister", "schwester hermana soeur sœur 姐姐 妹妹"),
        ("brother", "bruder hermano frère 哥哥 弟弟"),
        ("mother", "mutter madre mère 妈妈"),
        ("father", "vater padre père 爸爸"),
        ("wife", "frau mujer esposa femme 妻子 老婆"),
        ("husband", "mann marido esposo mari 丈夫 老公"),
        ("daughter", "tochter hija fille 女儿"),
        ("son", "sohn hijo fils 儿子"),
        ("dog", "hund perro perra chien 狗"),
        ("cat", "katze kater gato gata chat chatte 猫"),
        ("boss", "chef chefin jefe jefa patron patronne 老板"),
        ("friend", "freund freundin amigo amiga ami amie 朋友"),
    )
    for word in names.split()
}
"""What kin and pets are called, and the key for each."""

ATTRIBUTES: Final[dict[str, str]] = {
    "adresse": "address", "version": "version", "frist": "deadline", "besitzer": "owner", "puerto": "port",
    "dirección": "address", "versión": "version", "presupuesto": "budget", "fecha límite": "deadline",
    "responsable": "owner", "adresse ip": "address", "échéance": "deadline", "date limite": "deadline",
    "port": "port", "host": "host", "hôte": "host", "budget": "budget", "status": "status", "url": "url",
    "端口": "port", "地址": "address", "主机": "host", "版本": "version", "截止日期": "deadline",
    "预算": "budget",
    "负责人": "owner",
}  # fmt: skip
"""What attributes are called, and the key for each."""

_KINDS: Final = "|".join(sorted(KIN, key=len, reverse=True))
_K: Final = "|".join(sorted(ATTRIBUTES, key=len, reverse=True))
_ZH_VALUE: Final = r"(?P<v>[^，。！？,\s]{1,30})"

_GERMAN: Final = (
    rule(r"ich (?:wohne|lebe) nicht (?:mehr|länger) in (?P<v>.+)",
    "city", "place", value="no longer {}", tier="permanent", ends=True),
    rule(r"ich arbeite nicht (?:mehr|länger) (?:bei|für) (?:der |dem |den )?(?P<v>.+?)(?= als |$|,)",
    "employer", "organisation", value="no longer {}", tier="permanent", ends=True),
    rule(r"ich bin nicht mehr (?:gegen|auf) (?P<v>.+?) allergisch",
    "allergies", "things", value="no longer {}", tier="permanent", ends=True),
    rule(r"ich bin nicht (?:gegen|auf) (?P<v>.+?) allergisch",
    "allergies", "things", value="not {}", tier="permanent"),
    rule(r"(?i:ich hei(?:ß|ss)e|mein name ist)"
    rf" (?P<v>{NAME})", "name", "name", tier="permanent", cased=True),
    rule(r"ich (?:wohne|lebe)(?: jetzt)? in (?P<v>.+)", "city", "place", tier="permanent"),
    rule(r"ich bin (?:jetzt )?nach (?P<v>.+?) (?:umgezogen|gezogen)", "city", "place", tier="permanent"),
    rule(r"ich komme aus (?P<v>.+)", "hometown", "place", tier="permanent"),
    rule(r"ich arbeite (?:bei|für) (?:der |dem |den )?(?P<v>.+?)(?= als |$"
    r"|,)", "employer", "organisation", tier="permanent"),
    rule(r"ich arbeite (?:.{1,60} )?als (?P<v>.+)", "job", "thing", tier="permanent"),
    rule(r"ich bin (?:stark )?(?:gegen|auf) (?P<v>.+?)"
    r" allergisch", "allergies", "things", tier="permanent"),
    rule(r"ich bin allergisch (?:gegen|auf) (?P<v>.+)", "allergies", "things", tier="permanent"),
    rule(r"ich bin (?P<v>veganer|veganerin|vegetarier|vegetarierin"
    r"|vegan)\b", "diet", "exact", tier="permanent"),
    rule(r"ich (?:mag|hasse) (?:kein|keine|keinen|keinerlei)"
    r" (?P<v>.+)", "dislikes", "liked", category="preference"),
    rule(r"ich hasse (?P<v>.+)", "dislikes", "liked", category="preference"),
    rule(r"ich (?:mag|liebe) (?!kein)(?:sehr |gerne? )?(?P<v>.+)", "likes", "liked", category="preference"),
    rule(r"ich bevorzuge (?P<v>.+)", "prefers", "thing", category="preference"),
    rule(r"mein geburtstag ist (?:am )?(?P<v>.+)", "birthday", "dated", tier="permanent"),
    rule(r"ich bin (?P<v>\d{1,3})(?: jahre alt)?$", "age", "age"),
    rule(r"ich spreche (?P<v>.+)", "languages", "languages", tier="permanent"),
    rule(rf"(?i:(?:mein|meine) (?P<k>{_KINDS})(?: heißt| ist)?)"
    rf" (?P<v>{NAME})", "{k}", "name", tier="permanent", cased=True),
    rule(rf"(?:der|die|das) (?P<k>{_K}) (?:des|der|vom|von|für) (?:den |die |das )?(?P<e>.{{2,30}}?)"
    r" (?:ist|lautet)(?: jetzt)? (?P<v>.+)", "{k}", "by key", entity="{e}"),
    rule(r"wir haben uns für (?P<v>.+?)"
    r" entschieden", "decision", "decided", entity=PROJECT, category="decision"),
    rule(r"wir haben (?:beschlossen|entschieden|vereinbart),? (?:dass"
    r" )?(?P<v>.+)", "decision", "decided", entity=PROJECT, category="decision"),
)  # fmt: skip

_SPANISH: Final = (
    rule(r"(?:yo )?ya no vivo en (?P<v>.+)",
    "city", "place", value="no longer {}", tier="permanent", ends=True),
    rule(r"(?:yo )?ya no trabajo (?:en|para) (?P<v>.+?)(?= desde | como |$|,)",
    "employer", "organisation", value="no longer {}", tier="permanent", ends=True),
    rule(r"(?:yo )?ya no soy alérgic[oa] (?:al|a la|a los|a las|a) (?P<v>.+)",
    "allergies", "things", value="no longer {}", tier="permanent", ends=True),
    rule(r"(?:yo )?no soy alérgic[oa] (?:al|a la|a los|a las|a) (?P<v>(?!nada|ning).+)",
    "allergies", "things", value="not {}", tier="permanent"),
    rule(rf"(?i:me llamo|mi nombre es) (?P<v>{NAME})", "name", "name", tier="permanent", cased=True),
    rule(r"(?:I )?(?:yo )?vivo en (?P<v>.+)", "city", "place", tier="permanent"),
    rule(r"(?:me he mudado|me mudé|nos mudamos) a (?P<v>.+)", "city", "place", tier="permanent"),
    rule(r"soy de (?P<v>.+)", "hometown", "place", tier="permanent"),
    rule(r"(?:I )?trabajo (?:en|para) (?P<v>.+?)(?= desde | como |$"
    r"|,)", "employer", "organisation", tier="permanent"),
    rule(r"(?:I )?trabajo (?:.{1,60} )?como (?P<v>.+)", "job", "thing", tier="permanent"),
    rule(r"(?:I )?soy alérgic[oa] (?:al|a la|a los|a las|a)"
    r" (?P<v>.+)", "allergies", "things", tier="permanent"),
    rule(r"(?:I )?soy (?P<v>vegetarian[oa]|vegan[oa])\b", "diet", "exact", tier="permanent"),
    rule(r"(?:I )?me (?:gustan?|encantan?) (?:mucho )?(?:el |la |los |las"
    r" )?(?P<v>.+)", "likes", "liked", category="preference"),
    rule(r"(?:no me gustan?|odio) (?:nada )?(?:el |la |los |las"
    r" )?(?P<v>.+)", "dislikes", "liked", category="preference"),
    rule(r"prefiero (?P<v>.+)", "prefers", "thing", category="preference"),
    rule(r"mi cumpleaños es (?:el )?(?P<v>.+)", "birthday", "dated", tier="permanent"),
    rule(r"(?:I )?tengo (?P<v>\d{1,3}) años", "age", "age"),
    rule(rf"(?i:mi (?P<k>{_KINDS})(?: se llama| es)?)"
    rf" (?P<v>{NAME})", "{k}", "name", tier="permanent", cased=True),
    rule(rf"(?:el|la) (?P<k>{_K}) (?:del|de la|de) (?P<e>.{{2,30}}?) (?:es|está en)(?: ahora)?"
    r" (?P<v>.+)", "{k}", "by key", entity="{e}"),
    rule(r"(?:hemos decidido|decidimos|hemos acordado|acordamos)"
    r" (?P<v>.+)", "decision", "decided", entity=PROJECT, category="decision"),
)  # fmt: skip

_FRENCH: Final = (
    rule(r"(?:je n['’]habite plus|je ne vis plus) (?:à|en|au) (?P<v>.+)",
    "city", "place", value="no longer {}", tier="permanent", ends=True),
    rule(r"je ne travaille plus (?:chez|pour) (?P<v>.+?)(?= comme | depuis |$|,)",
    "employer", "organisation", value="no longer {}", tier="permanent", ends=True),
    rule(r"je ne suis plus allergique (?:aux|au|à la|à l['’]|à) ?(?P<v>.+)",
    "allergies", "things", value="no longer {}", tier="permanent", ends=True),
    rule(r"je ne suis pas allergique (?:aux|au|à la|à l['’]|à) ?(?P<v>(?!rien|quoi|auc).+)",
    "allergies", "things", value="not {}", tier="permanent"),
    rule(rf"(?i:je m['’]appelle|mon nom est) (?P<v>{NAME})", "name", "name", tier="permanent", cased=True),
    rule(r"(?:j['’]habite|je vis|j['’]ai déménagé) (?:maintenant )?(?:à|en|au)"
    r" (?P<v>.+)", "city", "place", tier="permanent"),
    rule(r"je viens de (?P<v>[A-Z].+)", "hometown", "place", tier="permanent", cased=True),
    rule(r"je travaille (?:chez|pour) (?P<v>.+?)(?= comme | depuis |$"
    r"|,)", "employer", "organisation", tier="permanent"),
    rule(r"je travaille (?:.{1,60} )?comme (?P<v>.+)", "job", "thing", tier="permanent"),
    rule(r"je suis allergique (?:aux|au|à la|à l['’]"
    r"|à) ?(?P<v>.+)", "allergies", "things", tier="permanent"),
    rule(r"je suis (?P<v>végétarien(?:ne)?|végane?|vegan)\b", "diet", "exact", tier="permanent"),
    rule(r"(?:j['’]adore|j['’]aime(?: beaucoup| bien)?) (?:le |la |les "
    r"|l['’])?(?P<v>.+)", "likes", "liked", category="preference"),
    rule(r"(?:je n['’]aime pas|je déteste) (?:le |la |les "
    r"|l['’])?(?P<v>.+)", "dislikes", "liked", category="preference"),
    rule(r"je préfère (?P<v>.+)", "prefers", "thing", category="preference"),
    rule(r"mon anniversaire est (?:le )?(?P<v>.+)", "birthday", "dated", tier="permanent"),
    rule(r"j['’]ai (?P<v>\d{1,3}) ans", "age", "age"),
    rule(rf"(?i:(?:mon|ma) (?P<k>{_KINDS})(?: s['’]appelle)?)"
    rf" (?P<v>{NAME})", "{k}", "name", tier="permanent", cased=True),
    rule(rf"(?:le|la|l['’]) ?(?P<k>{_K}) (?:du|de la|de l['’]|de) ?(?P<e>.{{2,30}}?) est(?:"
    r" maintenant)? (?P<v>.+)", "{k}", "by key", entity="{e}"),
    rule(r"(?:on a|nous avons) (?:décidé|convenu|choisi) (?:de "
    r"|d['’])?(?P<v>.+)", "decision", "decided", entity=PROJECT, category="decision"),
)  # fmt: skip

_CONTACT: Final = (
    rule(
        r"(?:meine|mi|mon|我的)\s?(?:neue |nuevo |nouvelle )?(?:e-?mail(?:-?adresse)?|correo(?:"
        r" electrónico)?|adresse e-?mail"
        r"|邮箱|电子邮件).{0,20}?(?P<v>[\w.+-]+@[\w-]+\.\S+)",
        "email", "email", tier="permanent",
    ),
)  # fmt: skip

_CHINESE: Final = (
    rule(r"我(?:已经|现在)?(?:不再|不)住在(?P<v>[\u4e00-\u9fff]{2,8}?)(?:了|$)",
    "city", "exact", value="no longer {}", tier="permanent", ends=True),
    rule(r"我(?:已经|现在)?不再?在(?P<v>.{2,20}?)(?:工作|上班)",
    "employer", "thing", value="no longer {}", tier="permanent", ends=True),
    rule(r"我对(?P<v>.{1,20}?)(?:已经)?不再过敏",
    "allergies", "things", value="no longer {}", tier="permanent", ends=True),
    rule(r"我对(?P<v>.{1,20}?)不过敏", "allergies", "things", value="not {}", tier="permanent"),
    rule(r"我(?:叫|的名字是|的名字叫)(?P<v>[\u4e00-\u9fff·A-Za-z]{2,8})$", "name", "exact", tier="permanent"),
    rule(r"(?:我)?(?:现在|目前)?(?:住在"
    r"|搬到了?)(?P<v>[\u4e00-\u9fff]{2,8})(?:了)?$", "city", "exact", tier="permanent"),
    rule(r"我(?:来自|是)(?P<v>[\u4e00-\u9fff]{2,6})(?:人)$", "hometown", "exact", tier="permanent"),
    rule(r"我对(?P<v>.{1,20}?)(?<![不没再])(?:严重)?过敏", "allergies", "things", tier="permanent"),
    rule(r"我(?:现在)?在(?P<v>.{2,20}?)(?:工作|上班)", "employer", "thing", tier="permanent"),
    rule(r"我是(?:一名|一个|一位)(?P<v>[\u4e00-\u9fff]{2,8})$", "job", "exact", tier="permanent"),
    rule(
        rf"我(?:很|非常|最|特别)?(?:不喜欢|讨厌|不爱){_ZH_VALUE}",
        "dislikes", "liked", category="preference",
    ),
    rule(rf"我(?:很|非常|最|特别|也)?(?:喜欢|爱){_ZH_VALUE}", "likes", "liked", category="preference"),
    rule(rf"我的生日是{_ZH_VALUE}", "birthday", "thing", tier="permanent"),
    rule(r"我(?:今年)?(?P<v>\d{1,3})岁", "age", "age"),
    rule(rf"我(?:的)?(?P<k>{_KINDS})(?:名)?叫{_ZH_VALUE}", "{k}", "thing", tier="permanent"),
    rule(rf"我(?:养了|有)一[只条](?P<k>猫|狗)(?:，)?(?:名)?叫{_ZH_VALUE}", "{k}", "thing", tier="permanent"),
    rule(rf"(?P<e>[^，。\s]{{1,20}}?)的(?P<k>{_K})(?:现在)?(?:是|为|改为"
    r"|改成)\s?(?P<v>[^，。]+)", "{k}", "thing", entity="{e}"),
    rule(r"我们(?:已经)?(?:决定|选择|选定"
    r"|商定)了?(?P<v>[^，。]+)", "decision", "decided", entity=PROJECT, category="decision"),
)  # fmt: skip

OTHER_RULES: Final[tuple[tuple[Rule, ...], ...]] = tuple(
    (only,) for only in (*_GERMAN, *_SPANISH, *_FRENCH, *_CONTACT, *_CHINESE)
)
"""Groups of rules, here of one each."""
