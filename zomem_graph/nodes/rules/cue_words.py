"""Single words the cues are read by: function words, names the world knows, past forms. Tables only."""

from typing import Final

from zomem_graph.nodes.rules.phrases import word_set

__all__ = [
    "ANSWER_WORDS",
    "ASSISTANT_TALK",
    "FUNCTION_WORDS",
    "IN_BETWEEN",
    "IRREGULAR_PASTS",
    "NOT_PASTS",
    "SHARED_NOUNS",
    "TELLING",
    "WORLD_NAMES",
]

ASSISTANT_TALK: Final = word_set(
    """
    name names named call called age old birthday birth date born bot robot human person computer
    machine ai real alive
    generated voice artificial intelligence program made make maker create created creator built build
    design designed
    designer programmed developed trained company from originally origin originate come live place area
    country where hobby hobbies
    interests interested fun free time pets pet cat cats dog dogs animal animals kind kinds kid type
    types work works job employed employer employment employ boss responsible
    control controls controlled help assist able capable topics subjects questions ask answer know
    knowledge talk speaking speak
    speak with conversing talking chatting feel feeling feelings think thinking doing today day like
    likes favorite favourite love enjoy
    things thing something someone somebody anything stuff excel good best skills abilities features
    functions refer address pleasure have has own
    currently currently actually really else other than say tell how what who whom which when why for
    before here somewhere area state city town
    wondering whether if just more about now yourself years many much old any some else another actual
    living being pass test
    """
)

# "that would be correct", "maybe it is": an answer, when nothing else is said.
ANSWER_WORDS: Final = word_set(
    """
    correct incorrect right wrong true false sure unsure certain certainly maybe possible possibly
    perhaps likely unlikely agree
    disagree agreed case answer affirmative negative definitely absolutely actually honestly undecided
    accurate inaccurate
    """
)

# What follows "I" when the past is told and no ending shows it.
IRREGULAR_PASTS: Final = word_set(
    """
    bought went saw met read got took made gave found spent ate did said told wrote paid sold lost left
    began chose came drove flew ran
    won kept put heard felt thought learnt taught wore built sent broke forgot became grew led held set
    caught drank slept
    spoke stood swam sang cut hit quit lent rode woke threw fell hid dealt meant understood
    """
)
IN_BETWEEN: Final = word_set(
    """
    just also recently already last first ever never actually originally only
    once finally previously
    """
)
NOT_PASTS: Final = word_set("need feed exceed proceed succeed speed bleed breed heed")

# Before "me" in a request, so that "tell me" does not count as speaking of oneself.
TELLING: Final = word_set(
    """
    tell give show help let teach walk guide send write make suggest recommend find inform notify for
    ask get bring explain to
    remind buy order call sing read draw with wake quiz excuse pardon trust believe
    """
)

FUNCTION_WORDS: Final = word_set(
    """
    a an the and or but nor so if then than as at by for from in into of off on onto out over to up with
    without within
    about after before between during since until under is are was were be been being am do does did
    done has have had having
    will would shall should can could may might must not no yes i me my mine we us our ours you your
    yours he him his she her hers
    it its they them their theirs this that these those there here what which who whom whose when where
    why how all any both each
    few more most other others some such only own same very just also too again still already ever never
    now today please
    let get got make made tell give show need want like know think say said ask thing things something
    anything ok okay
    hi hello hey thanks thank
    der die das den dem des ein eine einen einem einer und oder aber ist sind war waren bin bist sein
    hat habe haben hatte hatten
    ich du er sie es wir ihr mir mich dir dich uns was wer wie wo wann warum welche welcher welches mit
    von zu zum zur im in an am auf
    fur uber nach bei noch schon nicht auch mal bitte
    el la los las un una y o pero es son era fue ser estar esta estan he ha han que quien como cuando
    donde cual con de del al en por para
    se me te le lo nos mi tu su no si ya muy mas
    le les un une des et ou mais est sont etait etre a ont ai as avons que qui quoi quel quelle comment
    quand pourquoi avec dans sur pour par
    de du au aux ce cette ces je il elle nous vous ils elles ne pas se
    o os um uma e mas sao foi ser ter tem eu ele ela voce que quem como quando onde qual com da do das
    dos na no nas nos por para nao
    """
)

# "the sky", "the difference between": definite, yet nobody's own.
SHARED_NOUNS: Final = word_set(
    """
    sky sun moon earth world universe internet web human brain heart body air ocean sea weather climate
    economy government
    government president past future difference differences meaning purpose point steps process effect
    effects benefit benefits
    advantage advantages disadvantages cause causes role importance history origin definition formula
    rule rules law laws theory relationship
    best most worst first last largest biggest smallest highest longest fastest tallest richest oldest
    youngest main average
    alphabet word words letter letters number numbers square cube root sum product result percentage
    capital population distance speed
    temperature color colour shape size cost costs price year century middle ages night day morning
    seasons planets stars
    reason reasons amount conversion concept idea requirements similarities key
    pros cons symptoms types kinds parts structure function use uses language english french spanish
    german chinese japanese
    following sentence passive active voice style theme right correct proper easiest fridge freezer oven
    microwave stove
    """
)

# Names that need nobody's memory to be understood.
WORLD_NAMES: Final = word_set(
    """
    english french german spanish italian portuguese chinese japanese korean russian arabic hindi latin
    greek dutch swedish turkish polish
    python java javascript typescript rust go c sql html css php ruby swift kotlin bash linux windows
    macos android ios git github docker
    kubernetes react excel word powerpoint google amazon apple microsoft facebook youtube wikipedia internet
    europe africa asia america antarctica australia usa uk us america england britain france germany
    spain italy portugal china japan india
    russia canada mexico brazil earth mars venus jupiter saturn moon sun christmas easter ramadan halloween
    january february march april may june july august september october november december monday tuesday
    wednesday thursday friday saturday sunday
    celsius fahrenheit kelvin bible quran shakespeare einstein newton second third first world war
    englische deutsche franzosische ingles espanol frances aleman anglais francais allemand portugues
    """
)
