"""The words by which a message leans on what was said before it, in seven languages. Tables only."""

from enum import StrEnum
from typing import Final

from zomem_graph.nodes.rules.phrases import PhraseBook, word_set

__all__ = [
    "AUXILIARIES",
    "COMPARATIVES",
    "COMPLETING",
    "EMPTY_IT",
    "INTERJECTIONS",
    "LEANING",
    "OPEN_RELATIONS",
    "PAST_MARKS",
    "PRONOUNS",
    "RANKS",
    "RELATIONAL",
    "VAGUE",
    "Lean",
]


class Lean(StrEnum):
    """A phrase that leans on the conversation, wherever it stands or only at the start."""

    LINK = "opens with a link to what came before"
    POINT = "points at something said before"
    FURTHER = "asks for more of the same"
    EMPTY = "looks like a pronoun but is none"


LEANING: Final = PhraseBook(
    {
        Lean.LINK: """
            what about|how about|and what about|and how about|what else|who else|where else|how else
            why else|anything else|any other|any others|any more|and|but|or|so|then|also|because
            und was ist mit|was ist mit|und|aber|oder|also|sondern|denn|y que hay de|que hay de|y|pero
            o sea|entonces
            et|mais|ou bien|alors|donc|et pour|e quanto a|e|mas|entao
            那么|那|可是|但是|还有|じゃあ|では|それで|でも|そして
        """,
        Lean.POINT: """
            of it|of this|of that|of them|of these|of those|about it|about that|about this|about them
            in it|in that|for it|for that|with it|with that|with them|after that|before that|like that
            like this|by that|by this|which one|which ones|that one|this one|the one|the ones
            is that|is this|was that|was this|are these|are those|were these|were those|does that
            does this|did that|did this|why that|why this|in that case|at that time|from there|up there
            over there|the latter|the former|such a|such an|as a result|at the time|what happened then
            er|ihn|ihm|ihnen|seine|seinen|seinem|seiner|dessen|deren|dies|diese|dieser|dieses|diesen
            diesem|davon|dazu|dafur|damit|daran|daruber|darin|dabei|dagegen|dort|jener|jene|jenes
            ist das|war das|macht das|bedeutet das|sie
            ella|ellos|ellas|eso|esto|ese|esa|esos|esas|este|esta|estos|estas|aquel|aquella|aquello|su
            sus|alli|ahi
            elle|elles|ils|cela|ca|celui ci|celle ci|celui la|celle la|cette|ces|son|sa|ses|leur|leurs
            la bas|est il|sont ils|a t il|etait il
            ele|eles|elas|isso|isto|esse|essa|esses|essas|aquele|aquela|aquilo|dele|dela|deles|delas
            nele|nela|seu|sua|seus|suas
            它|他|她|这个|那个|这些|那些|这样|那样|其中|这种|那种|それ|これ|あれ|その|この|あの|そこ|彼|彼女|そんな|こんな
        """,
        Lean.FURTHER: """
            another|others|other|else|instead|additional|similar ones|both|neither|either|the rest
            the next|the previous|the same as|do the same|again|as well
            andere|anderen|anderes|anderer|noch ein|noch eine|noch einen|noch mehr|sonst noch
            stattdessen|beide|weitere|weiteren
            otro|otra|otros|otras|ademas|ambos|en su lugar|tambien|mas ejemplos|autre|autres|encore un
            encore une|plutot|aussi|les deux|outro|outra|outros|outras|tambem|alem disso|ambos
            其他|另外|别的|还有|另一个|他に|ほかに|別の|もう一つ|もっと
        """,
        Lean.EMPTY: """
            other than|besides|est ce|il y a|il faut|il fait|s il|es que|o que e que|apart from
            each other|one another|the other day|both of us|either or
        """,
    }
)

PRONOUNS: Final = word_set(
    """
    he she they it him her them his hers its their theirs himself herself
    themselves itself
    """
)
# "it" that stands for nothing: "is it safe to …", "what does it mean to …".
EMPTY_IT: Final = word_set(
    """
    mean take cost feel matter possible true safe legal ok okay worth better best hard easy difficult
    necessary important bad good
    common normal like likely rain snow wise healthy cheaper useful wrong right
    """
)
PAST_MARKS: Final = word_set("did was were had happened happen")
AUXILIARIES: Final = word_set(
    """
    is are was were be do does did has have had can could will would should may might must happened
    happens happen
    tell describe give show explain compare list write make find define translate mean means plays live lives
    """
)
COMPARATIVES: Final = word_set(
    """
    younger older better worse cheaper larger bigger smaller faster slower
    stronger safer less easier harder
    """
)
# After "the X": what completes it, and what leaves open of what.
COMPLETING: Final = word_set("of between in by who that which whose where when named called")
OPEN_RELATIONS: Final = word_set("for to on with about against")
RANKS: Final = word_set("most first last second third best worst least own same other next only few many")
INTERJECTIONS: Final = word_set("oh ah wow hmm hm ok okay interesting great nice cool right really")
# Nouns that say nothing without "of what".
RELATIONAL: Final = word_set(
    """
    type types kind kinds symptom symptoms cause causes effect effects benefit benefits advantage
    advantages disadvantage disadvantages
    pro pros con cons risk risks danger dangers source sources level levels concern concerns use uses
    example examples feature features
    characteristic characteristics member members role impact origin origins cost costs price difference
    differences similarity
    similarities alternative alternatives option options step steps task tasks project projects measure
    measures method methods
    part parts component components reason reasons result results outcome consequence consequences
    purpose meaning author
    drawback drawbacks limitation limitations implication implications contribution contributions
    challenge challenges version versions
    variety varieties species ingredient ingredients criticism reaction reactions winner influence
    influences significance
    """
)
VAGUE: Final = word_set(
    """
    some any good important notable main recent related key common famous popular nearby major special
    certain best possible typical
    """
)
