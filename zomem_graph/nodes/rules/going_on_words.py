"""How one asks to go on, and where one stopped, in fourteen languages. Tables only.

A phrase is whole words in any case, with or without accents; Chinese and Japanese phrases are substrings, and the
simplified form stands for the traditional one.
"""

from enum import StrEnum
from typing import Final

from zomem_graph.nodes.rules.phrases import PhraseBook

__all__ = ["GOING_ON", "Going"]


class Going(StrEnum):
    """What a phrase adds to "go on from where we stopped"."""

    ON = "go on"
    WHERE = "where, the point"
    WERE = "we were"
    STOPPED = "we left off: says who"
    PAUSED = "stopped: says not who"
    WE = "we, you, I"
    WITH = "with, at, on: a topic follows"
    GLUE = "holds the rest together"


GOING_ON: Final = PhraseBook(
    {
        Going.ON: """
            continue|resume|proceed|go on|go ahead|carry on|carry right on|keep going|keep on|keep on going
            keep at
            keep working|pick up|pick it up|pick things up|pick this up|pick it back up|take it up again
            move on|moving on
            keep it going|get going again|press on|push on
            weiter|weiter im text|weitermachen|weiter machen|mach weiter|mache weiter|machen weiter
            mach du weiter|weiterarbeiten
            weiterfuhren|weiter geht es|weiter gehts|weiter geht s|weitergehen|weiter gehen|fortfahren|fortsetzen
            fahr fort|fahre fort|fahren fort|fahren wir fort|fahren sie fort|setz fort|setze fort|setzen wir fort
            fort|anknupfen|knupf an|knupfe an|knupfen an
            continua|continue|continuemos|continuar|continuamos|continuo|sigue|siga|sigamos|seguimos|seguir
            sigo|prosigue
            prosiga|prosigamos|prosigamos|proseguimos|proseguir|retoma|retome|retomemos|retomamos|retomar|reanuda
            reanudemos|reanudar|procede|proceda|adelante|sigue adelante|seguimos adelante
            continuez|continuons|continuer|on continue|poursuis|poursuivez|poursuivons|poursuivre|on poursuit
            reprends
            reprenez|reprenons|reprendre|on reprend|enchaine|enchainons|on enchaine
            continuamos|continuemos|segue|seguimos|sigamos|segue em frente|siga em frente|vamos em frente
            prossegue
            prossiga|prossigamos|prosseguimos|prosseguir|retomamos|retomemos
            continui|continuate|continuiamo|continuare|continua pure|continui pure|prosegui|prosegua|proseguiamo
            proseguire|prosegui pure|riprendi|riprenda|riprendiamo|riprendere|procedi|procediamo|vai avanti
            vada avanti|andiamo avanti|andare avanti|avanti|vai pure avanti
            ga door|ga maar door|gaan door|gaan we door|ga verder|ga maar verder|gaan verder|gaan we verder|verder
            verdergaan|verder gaan|doorgaan|door gaan|vervolg|hervat|hervatten|pak de draad op
            pak de draad weer op
            pakken we de draad weer op|pak weer op
            fortsätt|fortsätta|fortsätter|fortsätter vi|kör vidare|gå vidare|går vidare|fortsæt|fortsætte
            gå videre|fortsett
            fortsette|jatka|jatketaan|jatkakaa
            продолжай|продолжайте|продолжаем|продолжим|продолжить|продолжать|продолжи|продолжите|дальше
            идём дальше
            пойдём дальше|поехали дальше|возобнови|вперёд|возобновим|продовжуй|продовжуйте|продовжуємо|продовжимо
            далі|давай далі
            продовжити|працягвай|продължавай|продължи|nastavi|nastavimo
            kontynuuj|kontynuujmy|kontynuować|kontynuujemy|dalej|idź dalej|idziemy dalej|jedziemy dalej
            jedźmy dalej
            lećmy dalej|pokračuj|pokračujte|pokračujme|pokračovat|dál|folytasd|folytassuk|continuă|continuăm
            mergi mai departe|mergem mai departe
            devam|devam et|devam edin|devam edelim|devam ediyoruz|devam edebilirsin|devam edebiliriz
            devam edebilir miyiz
            sürdür|sürdürelim
            أكمل|اكمل|استمر|تابع|واصل|كمل|لنكمل|لنتابع|ادامه بده|ادامه دهید|ادامه بدهیم|המשך|תמשיך|תמשיכי
            נמשיך|בוא נמשיך
            जारी रखें|जारी रखो|जारी रखिए|आगे बढ़ो|आगे बढ़ें|आगे बढ़िए|চালিয়ে যান|চালিয়ে যাও
            계속|계속해|계속해줘|계속해 줘|계속해주세요|계속해 주세요|계속하자|계속하세요|계속합시다|계속할까
            계속할까요|계속하죠|이어서
            이어가자|이어서 가자|계속해라|계속해요|계속하면 돼|계속해도 돼|계속 가자
            συνέχισε|συνεχίστε|συνέχεια|ας συνεχίσουμε|συνεχίζουμε|tiếp tục|tiếp đi|lanjut|lanjutkan|teruskan
            endelea|ทำต่อ|ต่อเลย|ดำเนินการต่อ
            继续|接着|往下|接下去|继续下去|続け|続き|続行|再開|再开|つづけ|つづき|先に進|次に進|次へ進
        """,
        Going.WHERE: """
            where|from where|the point|the place|the spot|that point|wherever
            wo|da wo|dort wo|an der stelle|der stelle|woran
            donde|adonde|por donde|desde donde|el punto|al punto|del punto|en que|en que punto
            ou|la ou|d ou|jusqu ou|au point|du point|a quel point|a l endroit
            onde|de onde|donde|no ponto|do ponto|em que|em que ponto|em que parte
            dove|da dove|dal punto|al punto|a che punto|da che punto
            waar|vanwaar|vanaf waar|het punt|op welk punt
            var|där|hvor|der hvor
            где|там где|на чем|на чём|на том месте|с того места|с места|с момента|с того момента|де|на чому
            з місця
            gdzie|na czym|od miejsca|w którym|od momentu|tam gdzie|kde
            nerede|nerde|yerden|en son nerede|어디|어디까지|어디서|데서부터|데부터|곳부터|곳에서|부분부터
            哪里|哪儿|哪一步|哪步|哪了|哪|什么地方|的地方|地方|之处|处|どこまで|どこで|どこ|ところ|所から|箇所
        """,
        Going.WERE: """
            were we|we were|waren wir|wir waren
            ibamos|estabamos|etions nous|nous etions|on etait|on en etait|en etait on|en est on|en etions nous
            nous en etions|en sommes nous|estavamos|iamos|a gente estava|eravamo|byliśmy|waren we|we waren
            var vi|vi var
        """,
        Going.STOPPED: """
            left off|leave off|we stop|you stop|i stop|we left it|we leave it|we left things|we leave things
            broke off|break off
            lo dejamos|la dejamos|dejamos|dejaste|lo dejaste|habiamos dejado|lo habiamos dejado|quedamos|quedaste
            habiamos quedado|paramos|detuvimos|interrumpimos
            slap vi|vi slap|parei|paraste|ficamos|ficaste|interrompemos|tinhamos parado|tinhamos ficado
            eravamo rimasti|eravamo rimaste|siamo rimasti|siamo arrivati|eravamo arrivati|siamo interrotti
            siamo fermati|siamo fermate|eravamo fermati
            abbiamo interrotto
            avevamo interrotto|abbiamo lasciato|avevamo lasciato|eri rimasto|ti sei fermato|ti eri fermato
            остановились|остановились мы|мы закончили|мы прервались|прервались|зупинилися|зупинились
            skończyliśmy|przerwaliśmy|stanęliśmy|zatrzymaliśmy się|skončili jsme
            kalmıştık|kaldık|kaldığımız|kaldığın|kalmıştın|bırakmıştık|bıraktık|bıraktığımız|bıraktığın
            했지|했죠|했더라|했었지|했나|했나요|했었죠|멈췄지|멈췄죠|멈춘|중단한|하다 만
            说到|讲到|聊到|写到|做到|进行到|停在|停下|話し|停下来|停|中断|打断|中止|止ま|止め|終わ|進みました
            進んだ|やりました
        """,
        Going.PAUSED: """
            stopped|paused|interrupted|left
            aufgehört|stehen geblieben|stehengeblieben|stehenblieben|unterbrochen|abgebrochen|pausiert
            arrêté|arrêtés|arrêtée|arrêtées|interrompu|interrompus|laissé|dejado|quedado|parado|parou
            rimasto|rimasti|fermato|fermati|interrotto|interrotti|gebleven|gestopt|opgehouden|onderbroken|slutade
            stannade|stoppet
            остановился|остановилась|закончил|закончила|закончили|прервали
        """,
        Going.WE: """
            we|you|i|us|let us|wir|ich|du|ihr|sie|uns|nosotros|tu|yo|usted|nous|on|vous|je|a gente|nos|voce|eu
            noi|io
            we|wij|jij|je|ik|vi|jag|мы|ты|я|вы|нам|ми|biz|nous nous|우리|तुम|आप|हम|제가|내가
            我们|咱们|我|你|您|私たち|私
        """,
        Going.WITH: """
            with|with the|on the|on my|on our|mit|mit dem|mit der|mit den|bei|beim|bei der|bei dem|bei den|am
            an der|con|con el
            con la|con los|con las|con il|con lo|col|sul|sulla|avec|avec le|avec la|avec les|pour|pour le
            pour la|com
            com o|com a|no|na|met|met de|met het|bij|bij de|bij het|aan de|aan het|med|с|со|над|по|z|ze|nad
            przy|ile
        """,
        Going.GLUE: """
            and|und|et|did|had|have|been|are|at|from|in|it|that|this|there|here|right|exactly|just|please|now
            then|again|work|working|back|what
            doing|to|can|could|should|shall|will|may|want|would like|last|last time|yesterday|simply|were
            da|dort|hier|genau|dann|einfach|mal|doch|jetzt|bitte|gestern|vorhin|zuletzt|letztes mal|haben
            hatten|hast
            hattest|habe|hatte|hab|sind|waren|bin|bist|war|warst|wurden|konnen|konnt|kannst|kann|sollen
            sollten|lass
            lasst|wollen
            wollten|es|es kann|von|ab|an|davon|damit|dran|wieder|gleich|gern|mach|mache|machen|macht|setz
            setze|setzen
            knupf|knupfe|knupfen|das
            lo|la|nos|me|te|se|le|vamos|vamos a|podemos|puedes|puede|quiero|habiamos|hemos|ayer|ahi|ibas|iba
            estabas|alli|desde
            de|a|y
            la ultima vez|ultima vez|queremos|pues|antes
            est|etait|avons|avions|avait|as|avais|etions|etais|sommes|s|t|l|d|est ce qu|est ce que|peux|peut
            pouvez|pouvons
            veux|hier|depuis|allez|allons|avec ca|cela|ca|la|y|en|m|ete|la derniere fois
            e|que|e que|foi que|ontem|da ultima vez|pode|podes|vamos|tinhamos|quero|queremos|estava|de|do|no
            pure|ci|ci siamo|siamo|avevamo|abbiamo|ti|sei|mi|possiamo|puoi|puo|vorrei|ieri|allora|per favore
            per piacere|da
            l ultima volta
            l ultima|volta|hai
            zijn|waren|hebben|hadden|ben ik|laten|laat|zullen|kunnen|kan|kun|nu|maar|alsjeblieft|alstublieft
            weer|gisteren
            vorige keer|mee|dat
            låt|oss|låt oss|lad|la oss|sist|igår|kan|skal|ska|nu|då
            давай|давайте|можешь|можете|можно|можем|с|того|места|того места|в|прошлый раз|вчера|тогда
            пожалуйста|будь ласка|с того
            którego|miejsca|proszę|możesz|możemy|ostatnio|ostatniego|wczoraj|od|się|můžeme
            haydi|hadi|lütfen|en son|geçen sefer|dün|tam olarak|şimdi
            아까|지난번에|지난번|하던|하던 거|하던 것|거|것|그거|다시|진행|진행해|진행해줘|진행해 줘|해줘
            해 줘|해주세요|진행해 주세요|주세요|진행하자|해|하자|그럼|자
            से|من فضلك|cảm phiền|đi|te rog|prosím|gärna|be nådig
            从|自|由|刚才|刚刚|上次|上回|之前|昨天|那里|那儿|这里|里|来|去|做|写|说|讲|干|聊|弄|搞|进行|的|了
            吧|吗|呢|啊|啦|掉|儿|过|着
            请|把|就|那|再|它|下去|可以|能|要|我们|任务|工作
            前回|先ほど|さっき|この前|昨日|ましょう|ましょうか|ください|下さい|てください|てくださ
            お願いします|お願い|ましたか|ました
            でしたか|でした|でしたっけ|ってたっけ|ったっけ|たっけ|っけ|います|します|しましょう|して|する
            したところ|した|では|それでは
            から|まで|を|の|に|は|へ|て|で|た|か|ね|よ|いい|も|し|めて|んで|もらえ|もらって|くれ|ちょうだい
            いただけ|やって|ます|る|みました|んだ|進
        """,
    }
)
