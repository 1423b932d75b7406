"""How requests begin, in five languages; courtesies are set aside before. Tables only.

Spec F60 and F61 were the start; the words of its author's own trade are left out (spec W14).
"""

from enum import StrEnum
from typing import Final

from zomem_graph.nodes.rules.phrases import PhraseBook

__all__ = ["OPENINGS", "Opening"]


class Opening(StrEnum):
    """How a request begins, courtesies and frames left out."""

    RESUME = "resume"
    REWORK = "rework"
    TASK = "task"
    KNOWLEDGE = "knowledge"
    HOW_TO = "how to"


OPENINGS: Final = PhraseBook(
    {
        Opening.RESUME: """
            continue|resume|carry on|keep going|keep working|go on with|go ahead|go back to|proceed
            revisit|return to|back to|get back to
            let us continue|let us go on|let us pick|let us resume|let us get back|let us finish
            let us revisit|let us return
            let us go with|let us keep|let us use the|let us stick with|let us wrap up|let us move on
            let us go back|pick up
            follow up|following up|finish the|finish my|finish our|finish up|complete the|finalize the
            finalise the|wrap up|i am back|we are back
            try again|retry|once more|one more time|do it again|do the same|do the rest|do the next|undo
            revert|redo|roll back|rollback|merge it|ship it|send it|go with
            and then|then what|the next|the rest|the remaining|same as|same for|same thing|the same as
            implement the rest|implement the next
            write the next|write the rest|start with the next|continue with|to continue|circling back
            picking up|as discussed|as agreed|as we
            no use|no undo|no not|update the|update my|update our|where were we|where are we
            and what about the|any news
            any update|any updates|any progress|remind me what|remind me where|use the other
            use the second|use the first|take the second|take the first
            weiter mit|mach weiter|weitermachen|lass uns weiter|lass uns mit|zuruck zu|zuruck zum
            zuruck zur|nochmal|noch einmal|mach das|mach es
            setz fort|setze fort|fortsetzen|nimm die|nimm das|nimm den|mach den rest|aktualisiere die
            aktualisiere das|aktualisiere den
            und die|und der|und das|wie weit sind
            sigue|siga|continua|continuemos|retoma|retomemos|retomar|volvamos|volviendo a|sigamos
            termina el|termina la
            acaba el|acaba la|deshaz|hazlo|repite|actualiza el|actualiza la
            continue|continuons|reprends|reprenons|reprendre|revenons|on continue|on reprend|termine le
            termine la|finis le|finis la
            annule|refais|mets a jour|lance la suite|poursuivons
            continua|continue|continuemos|vamos continuar|vamos voltar|vamos retomar|retoma|retome
            retomar|voltando a|voltando ao
            termina o|termine o|termine a|desfaz|atualize o|atualize a|atualiza o
        """,
        Opening.REWORK: """
            fix the|check the|review the|investigate the|compare the|follow the|test the|rerun the
            run the|send the|deploy the
            change the|rename the|move the|remove the|extend the|adjust the|make it|make the|add it
            put it|use the|take the|take another look
            did we|did you|do we still|have we|have you|are we|is it done|is that done|was that|so what
            so where|so how|so did|so is
            what about|how about|and|no|not
            prufe|uberprufe|korrigiere|repariere|revisa|arregla|corrige|verifie|verifica
        """,
        Opening.TASK: """
            translate|flip a coin|flip coin|toss a coin|flip|roll a die|roll a dice|roll dice|roll
            tell me a|tell me an|tell me some|tell a
            sing|write a|write an|write me a|write me an|write some|write me some|write two|write three
            write five|write ten|compose|give me a|give me an
            give me some|give me five|give me ten|give me three|generate|create a|create an|create new
            create some|make up a|make up an|make me a|build a|build an
            build new|invent|draw|list three|list five|list ten|list some|list all|list the|name a
            name an|name three|name five|name ten|name some
            convert|calculate|compute|solve|simplify|factor|integrate
            differentiate|spell|define|rephrase|rewrite this|rewrite the following|paraphrase|proofread
            correct this|correct the following
            summarize this|summarise this|summarize the following|summarize|summarise|explain|describe
            compare|contrast|pick a|choose a number|choose a|choose between
            act as|imagine|pretend|simulate|brainstorm|classify|sort|count|what is a good name|share a
            share some|say something
            ubersetze|ubersetz|schreib ein|schreib eine|schreib einen|schreibe ein|schreibe eine
            schreibe einen|schreib mir ein|schreib mir eine
            schreib mir einen|erzahl mir|erzahle mir|erzahl einen|erklar|erklare|erklar mir|erklare mir
            definiere|berechne|nenne|nenn mir|liste
            fasse zusammen|rechne|wurfle|wirf eine munze|gib mir ein|gib mir eine|gib mir einen|erfinde
            buchstabiere
            traduce|traduzca|escribe un|escribe una|escribeme un|escribeme una|cuentame|cuenta un
            explica|explicame|define|calcula|nombra|enumera
            dame un|dame una|resume este|resume el siguiente|resume la siguiente|convierte|inventa
            lanza una moneda
            traduis|traduisez|ecris un|ecris une|ecris moi un|ecris moi une|ecrivez un|raconte
            raconte moi|explique|explique moi|definis|calcule|cite
            donne moi un|donne moi une|enumere|resume ce|resume cette|convertis|invente|lance une piece
            traduza|traduz|escreva um|escreva uma|escreve um|escreve uma|conte|conta|conte me|me conte
            explique|explica|defina|calcule|cite|liste|resuma
            de me um|de me uma|converta|invente|jogue uma moeda
        """,
        Opening.KNOWLEDGE: """
            what is a|what is an|what are|what is|what was a|what does|what do you call|what causes
            what makes|what kind of|what kinds of
            what type of|what types of|what sort of|what happens if|what happens when|what happened in
            what country|what language|what colour|what color|what year|what day is
            what is the difference
            how a|how an|how does|how do|how did|how can|how could|how would|how to|how long to|how soon
            how healthy|how hard is it|how long does|how long do|how long will|how long is
            how long should|how long can|how many|how much|how far|how big|how tall|how old is the
            how fast|how hot|how high|how deep|how often should|how often do you
            why is|why are|why do|why does|why did|why was|why were|why can|why not|who wrote
            who painted|who invented|who discovered|who composed|who directed
            who built|who founded|who won|who was|who were|where is|where are|where do|where does
            when did the|when was the|when is|which country|which is
            which planet|which language|in which|in what|is a|is an|can a|can you use|does a
            explain|describe|define|difference between|meaning of
            was ist|was sind|was bedeutet|was heisst|wie funktioniert|wie funktionieren|wie viele
            wie viel|wieviel|wie weit|wie lange|wie hoch
            wie gross|wie macht man|wie kann man|wie schreibt man|wie sagt man|wie heisst die
            wie heisst der|wie heisst das|warum ist|warum sind|wer hat|wer war|wo liegt|wo ist|wann war
            welches land
            que es|que son|que significa|cual es|cuales son|como funciona|como se|como puedo|como hacer
            cuantos|cuantas|cuanto|cuanta|por que|quien
            donde esta|donde queda|cuando fue|en que
            qu est ce que|qu est ce qu|c est quoi|quelle est|quel est|quels sont|quelles sont
            que signifie|comment|combien|pourquoi|qui a|qui est l auteur
            ou est|ou se trouve|quand a|dans quel|dans quelle
            o que e|o que sao|o que significa|qual e|quais sao|como funciona|como se|como fazer
            como posso|quantos|quantas|quanto|quanta|por que
            quem|onde fica|quando foi|em que
        """,
        Opening.HOW_TO: """
            how do i|how do you|how do we|how do people|how can i|how can you|how could i|how could you
            how should i|how would i|how would you|how might i|how may i
            how to|how does one|how am i supposed to|how long should i|how long do i|how often should i
            how often do i need|how much should i
            what do i need|what do i do|what can i do|what should i do|what should i|what must i do to
            what steps|what are the steps|what is the best way|what is the easiest way
            what is a good way|what are good ways|what are some ways|what are some tips
            what is the process|what would i|what can i use|what could i use
            can i|could i|should i|may i|is it ok|is it okay|is it safe|is it possible|is there a way
            are there ways|do i need|do i have to|when should i|when do i need|where can i
            walk me through|guide me through|show me how|teach me|steps to|steps for|tips for
            instructions for|instructions to|the best way to|ways to|directions for|directions to
            need help|help with|learn how to|learn to|know how to|what is the right way|what is the proper way
            wie kann ich|wie mache ich|wie soll ich|soll ich|kann ich|muss ich|wie koche ich
            como puedo|como hago|puedo|debo|como podria
            comment faire|comment puis je|est ce que je peux|puis je|dois je|comment cuire
            como faco|como posso|posso|devo
        """,
    }
)
