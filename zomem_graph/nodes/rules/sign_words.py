"""Phrases that show, wherever they stand, what a message is about, in seven languages. Tables only.

Spec F60 and F61 were the start; the words of its author's own trade are left out (spec W14).
"""

from enum import StrEnum
from typing import Final

from zomem_graph.nodes.rules.phrases import PhraseBook

__all__ = ["ANYWHERE", "Sign"]


class Sign(StrEnum):
    """What a phrase anywhere in the message shows."""

    OPEN_WORK = "asks about unfinished or earlier work"
    STEP = "names the next step or the rest"
    SHARED_PAST = "points at what was done or said together"
    PAST_TIME = "names a past time"
    AGAIN = "again, still, already"
    RECALL = "asks to be reminded"
    OWN = "my, our"
    OWN_STATE = "asks about one's own past or habits"
    TO_COME = "what will, can or should be"
    AGENDA = "the user's calendar, lists, orders"
    HOW_TO = "asks how something is done"
    ADVICE = "asks for a suggestion"
    SITUATION = "tells about oneself"
    COMMON = "a topic the world knows"


ANYWHERE: Final = PhraseBook(
    {
        Sign.OPEN_WORK: """
            update me on|catch me up|bring me up to date|bring me up to speed|progress on|progress with
            status on|status update|ready to continue
            where were we|where are we with|where are we on|where do we stand
            left to do|still to do|what is left|what was left|what is left on|still left|still open
            still pending|still unresolved|still outstanding|still missing
            still waiting|still blocked|yet to do|any news|any update on|any updates|any progress
            any luck with|update on the|what is the status|status of|the state of
            how far did you|how far did we|how far are we|how far along|how is it coming|coming along
            did we ever|did you ever|have we ever fixed|did you finish|have you finished
            did you manage to
            did we finish|have we finished|is there still|are we still|were we still|what were we
            what are we still|what did we decide|what have we decided|what had we decided
            did we decide|what did we agree|did we agree|have we agreed|what was decided|what was agreed
            what came out of|what became of|whatever happened to|what was the outcome
            what was the result|what were the results|what happened with|what happened to the
            how did it go|where did we|pick up where|on hold|unfinished|outstanding items
            open points|open items|open loop|open loops|open tasks|open issues|loose ends|still need to
            still have to|do we still|we left|you left|i left off|get done|got done
            noch offen|noch ausstehend|noch zu tun|noch erledigen
            wie ist der stand|der stand|wie weit sind wir|wie weit bist du|was ist aus|was wurde aus
            hatten wir|haben wir|waren wir|was fehlt noch|gibt es neues|was steht noch an
            liegen geblieben|beschlossen|ausgemacht|vereinbart
            nos quedamos|nos habiamos quedado|sigue pendiente|siguen pendientes|pendiente|pendientes
            sigue abierto|sigue abierta|que falta|que faltaba|quedo pendiente|que habiamos
            habiamos decidido|que decidimos|que paso con
            como va|como vamos|alguna novedad|en que quedamos|hay noticias
            en etions nous|en est on|on en etait|nous en etions|en sommes nous|toujours ouvert
            toujours ouverte|toujours en attente|en suspens|que reste t il|qu est ce qu il reste
            reste a faire|du nouveau
            avait decide|avions decide|avons decide|avons nous decide|a decide|qu est devenu|ou en est
            on avait
            ainda esta pendente|ainda pendente|pendente|pendentes|ainda esta aberto
            em aberto|o que falta|o que faltava|tinhamos decidido|decidimos|combinamos
            tinhamos combinado|como esta indo|alguma novidade
            o que aconteceu com|que fim levou
            说到哪|讲到哪|做到哪|写到哪|进行到哪|到哪里了|到哪了|还没解决|还没完成|还没做|没做完|未完成|进展|进度|怎么样了|剩下的|剩下哪些|待办|还有什么没|我们决定|决定了什么|我们定的
            どこまで|未解決|進捗|残って|残りの|未完了|やりかけ|どうなりました|どうなった|その後|決めました|決めたっけ|決まりました
        """,
        Sign.STEP: """
            next step|next steps|what is next|what comes next|next on the|next item|next task|next point
            next chapter|next part|next section|the rest of the|rest of the plan|remaining tasks
            remaining steps
            remaining items|follow up on|following up|to follow up|follow up to|circling back
            second option|first option|third option
            nachster schritt|nachste schritt|nachsten schritte|nachsten punkt|nachste kapitel|rest des
            rest der
            proximo paso|siguiente paso|siguientes pasos|proximos pasos|siguiente capitulo
            prochaine etape|prochaines etapes|etape suivante|chapitre suivant
            proximo passo|proximos passos|proxima etapa
            继续写|继续做|继续讨论|继续处理|继续修改|接着写|接着做|接着讨论|下一章|下一节|接下来|続きを|続きから|次のステップ|次の章|次のステージ
        """,
        Sign.SHARED_PAST: """
            last time|like last time|as last time|as before|as we discussed|as we agreed|as i said
            as i told you|as i mentioned|we were|we had|we started|we talked|we discussed|we spoke
            we agreed|we decided|we chose
            we planned|we used|we made|we wrote|we did|we said|we went|we were talking
            we were discussing|we have been|we have discussed|we have talked|you started|you were saying
            you were going|you were working|you said|you told|you mentioned|you suggested
            you recommended|you gave|you proposed|you wrote|you made|you sent|you showed|you promised
            you explained|you listed|you provided|you described|you had|you helped|you came up with
            i told you|i said|i mentioned|i asked|i gave you|i sent you|i showed you
            i shared|our last|our previous|our earlier|our conversation|our discussion|our chat|our call
            our talk|our session|previous conversation|previous chat|previous discussion
            earlier conversation|last conversation|last session|last chat|talked about|discussed earlier
            have we|had we|did we|were we|did i tell|did i say|did i mention|did you say|did you tell
            did you suggest|did you recommend|did you mention
            letztes mal|beim letzten mal|wie besprochen|wir besprochen|wir gesprochen|wir hatten
            wir haben|wir waren|du hast|du hattest|du meintest|hast du|hattest du|dir erzahlt|dir gesagt
            ich dir|hatten wir|haben wir|unser gesprach|unserem gesprach|unserer unterhaltung
            la ultima vez|como la ultima vez|hablamos|dijimos|quedamos|acordamos|decidimos|comentamos
            me dijiste|me recomendaste|me sugeriste|te dije|te conte|te comente|nuestra conversacion
            habiamos
            la derniere fois|comme la derniere fois|on avait|nous avions|nous avons|avons nous|on a dit
            on a parle|on a decide|tu m as|tu as dit|tu avais|je t ai|t ai je|notre conversation
            notre discussion
            da ultima vez|como da ultima vez|conversamos|falamos|combinamos|decidimos|voce disse
            voce sugeriu|voce recomendou|te disse|te contei|eu te|nossa conversa|tinhamos
            上次|上回|之前说|之前讨论|刚才说|我们讨论|我们说过|我们聊|你说过|你推荐|跟你说|告诉过你|和你说|对你说|前回|この前|先日|前に話|前に言|以前話|話したっけ|言ったっけ
            言いましたか|教えてくれた|勧めてくれた|さっき
        """,
        Sign.PAST_TIME: """
            yesterday|last night|last week|last weekend|last month|last year|last spring|last summer
            last fall|last autumn|last winter|last monday|last tuesday|last wednesday|last thursday
            last friday|last saturday
            last sunday|ago|earlier|previous|previously|before|in the past|past week|past month
            past year|past few|past couple|few days|the other day|recently|recent|lately|back then
            back in|formerly|so far|until now|to date|originally|this morning
            since january|since february|since march|since april|since may|since june|since july
            since august|since september|since october|since november|since december|since last
            first time|most recent|most recently|at first|used to
            on monday|on tuesday|on wednesday|on thursday|on friday|on saturday|on sunday
            gestern|vorgestern|letzte woche|letzten monat|letztes jahr|letzten|letzte|letztes|vorige
            vorigen|voriges|neulich|fruher|vorhin|damals|bisher|zuletzt|vor kurzem|kurzlich|dieses jahr
            ayer|anteayer|semana pasada|mes pasado|ano pasado|la otra vez|antes|hace|hasta ahora
            anteriormente|ultimamente|pasado|pasada
            hier|avant hier|semaine derniere|mois dernier|annee derniere|il y a|l autre jour|auparavant
            recemment|precedemment|jusqu ici|derniere|dernier|avant
            ontem|anteontem|semana passada|mes passado|ano passado|outro dia|antes|faz|ha dias
            ultimamente|anteriormente|recentemente|passado|passada
            昨天|前天|上周|上个月|去年|以前|之前|早些时候|刚才|最近|昨日|一昨日|先週|先月|去年|以前|前に|さっき|最近|この間
        """,
        Sign.AGAIN: """
            again|still|already|anymore|any more|yet|once more|another look|back up|no longer
            wieder|nochmal|noch einmal|noch|schon|immer noch|weiterhin|weiter|weitermachen|erneut
            otra vez|de nuevo|todavia|aun|sigue|siguen|ya|encore|toujours|deja|a nouveau|de novo|ainda
            ja|novamente
            又|再|还|还在|仍然|已经|まだ|また|もう|再び
        """,
        Sign.RECALL: """
            do you remember|you remember|remember when|remember what|remember the|can you recall
            do you recall|recall what|recall the|remind me|can you remind|i forgot|i forget
            i have forgotten|i cannot remember|i can not remember|i do not remember|cannot recall
            i do not recall
            what do you know about me|know about me|you know about my|you know my|what did i|what have i
            what had i|what was i|where did i|when did i|how did i|why did i|who did i|which did i
            whom did i|based on what i|knowing me|about me|like i told|what i told|what i said
            have we met|what was the name of|what was it called|who was it that|who recommended
            what did we|when did we|where did we|why did we|how did we|which did we|why we|remind us
            you called me|call me|name you have for me|refer to me
            happened first|came first|started first|days passed|days had passed|weeks passed
            months passed|weeks had passed|months had passed|passed between|passed since
            from first to last|order from|earliest to latest|first to last|how long had i
            how long have i|how many times have|how many times did
            weisst du noch|erinnerst du dich|erinnere mich|habe ich dir|hab ich dir|was habe ich
            was hab ich|wo habe ich|wann habe ich|ich dir gesagt|ich dir erzahlt|was weisst du uber mich
            uber mich
            te acuerdas|recuerdas|recuerdame|te dije|te conte|que te dije|que sabes de mi|se me olvido
            como se llamaba
            tu te souviens|te souviens tu|vous souvenez vous|rappelle moi|rappelez moi|je t ai dit
            ce que je t ai|que sais tu de moi|j ai oublie|sur moi
            voce lembra|voce se lembra|lembra do|lembra da|lembra de|se lembra|me lembra|me lembre
            eu te disse|que eu disse|esqueci|sobre mim
            还记得|记得我|我说过|告诉过你|提醒我|跟你说的|我忘了|关于我|覚えて|思い出|っけ|忘れ|言ったか|私について
        """,
        Sign.OWN: """
            my|mine|our|ours|myself|ourselves
            mein|meine|meinem|meinen|meiner|meines|unser|unsere|unserem|unseren|unserer|unseres
            mi|mis|nuestro|nuestra|nuestros|nuestras|mio|mia|mon|ma|mes|notre|nos|meu|minha|meus|minhas
            nosso|nossa|nossos|nossas
            我的|我们的|我家|咱们|我妈|我爸|我姐|我妹|我哥|我弟|私の|僕の|俺の|わたしの|うちの|私たちの|自分の|ぼくの|私は|僕は
        """,
        Sign.OWN_STATE: """
            did i|did we|have i|have we|had i|had we|was i|were we|am i|do i|do we|i have|i had|i was
            we have|we had|we were
            i usually|i normally|i often|i always|i currently|i own|i like best|i prefer|the usual
            habe ich|hab ich|hatte ich|war ich|bin ich|ich habe|ich hatte|ich war|haben wir|hatten wir
            waren wir|wir haben|wir hatten|ich gelesen|ich gekauft|ich gesagt
            he comprado|hice|fui|compre|deje|puse|comi|vi|lei|dije|conoci|pague|viaje|tengo|tenia|suelo
            me gusta|me gusto|me gustaba|hicimos|fuimos|compramos
            j ai|ai je|j avais|avais je|j etais|etais je|suis je alle|suis je|avons nous|nous avons
            j aime|j aimais|je prefere
            eu fiz|eu fui|eu comprei|eu li|eu vi|eu comi|eu deixei|eu coloquei|eu disse|eu tenho
            eu tinha|eu gosto|eu gostei|comprei|deixei|fizemos|fomos
            我买|我去|我看|我吃|我住|我喜欢|我放|我用|我做|我学|我对|我有|我是不是|我什么时候|我在哪|我几|我多|私が|僕が|買った|行った|食べた|住んで|好きな|好きだった|置いた
        """,
        Sign.AGENDA: """
            meeting|meetings|appointment|appointments|calendar|schedule|agenda|reminder|reminders
            deadline|deadlines|todo list|to do list|to do|todo|shopping list
            package|parcel|order status|days off|time off|vacation days|balance|transactions
            termin|termine|besprechung|kalender|einkaufsliste|erinnerungen|cita|citas|reunion|reuniones
            calendario|recordatorios|rendez vous|reunions|agenda|rappels
            reuniao|reunioes|compromissos|lembretes|会议|日程|提醒|购物清单|会議|予定|リマインダー|買い物リスト
        """,
        Sign.HOW_TO: """
            how to|how do i|how do you|how can i|how should i|what do i do|what do i need to|what to do
            step by step|instructions|do i need to|do i need|do i have to|should i
            is it safe to|the best way to|wie man|como hacer|comment faire|como fazer
            怎么|如何|どうやって|やり方
        """,
        Sign.TO_COME: """
            will|shall|should|would|can|could|need to|needs to|have to|has to|must|want to|going to
            werde|werden|wird|soll|sollte|kann|konnte|muss|mochte|debo|deberia|puedo|quiero|tengo que
            dois|devrais
            peux|veux|devo|deveria|posso|quero|应该|可以|需要|想要|べき|できる|必要
        """,
        Sign.ADVICE: """
            any tips|any advice|any suggestions|any suggestion|any ideas|any recommendations
            any recommendation|some tips|some advice|some suggestions|some ideas|some recommendations
            some inspiration|suggestions for|recommendations for|what do you recommend
            what would you recommend|what do you suggest|what would you suggest|recommend|suggest
            suggestions|recommendations|tips|advice
            do you think|what do you think|have any thoughts|any thoughts|could you help me
            can you help me|ideas on|ideas for|good idea|do you have any
            empfiehl|empfehlung|empfehlungen|was empfiehlst du|tipps|ideen|vorschlage|recomienda
            recomiendame|recomendacion|recomendaciones|sugerencias|consejos|sugiere
            recommande|recommandations|conseils|suggestions|des idees|recomenda|recomende|recomendacoes
            dicas|sugestoes|sugira|推荐|建议|おすすめ|お勧め|アドバイス|提案
        """,
        Sign.SITUATION: """
            i am|i have been|i have got|i am thinking|i am planning|i am looking|i am trying|i am going
            i am feeling|i feel|i want to|i was thinking|i have a|i have an|i have some|i need to
            i noticed|i think|i would like|i like|i love|i would enjoy|i enjoy|i live
            ich bin|ich plane|ich suche|ich uberlege|ich mochte|estoy|quiero|planeo|je suis|je cherche
            je pense|je prevois|je voudrais|estou|quero|pretendo
            我想|我打算|我正在|私は|したいです|しようと思って
        """,
        Sign.COMMON: """
            synonym|synonyms|antonym|antonyms|plural of|opposite of|meaning of|definition of|mean by
            capital of|population of|currency of|square root|cube root|percent of|exchange rate
            conversion rate|the weather|weather like|weather in|weather for|weather today
            weather tomorrow|weather forecast|forecast
            what time is it|what is the time|the time in|the current time|current time|time zone
            timezone|time is it|time it is|what day is it|what is the date|today s date|tomorrow s date
            todays date|date today|date tomorrow|date is it|day is today|day of the week|the date
            is it going to rain|will it rain|raining
            calories|calorie|nutrition|nutritional|nutrients|carbs|how much protein|trivia|fun fact
            fun facts|interesting fact|random fact|a fact|facts about|joke|jokes|riddle|pun
            something funny|make me laugh|haiku|limerick|poem|coin|dice|die roll|how do you say
            how to say|how would you say|the word for|word for
            how do you spell|how to spell|spelling of|spell the word|spelled|spelling|pronounce
            pronunciation|who wrote|who painted|who invented|who discovered|who composed|who directed
            world war|times table|multiplied by|divided by|the sum of|the average of|meaning of life
            purpose of life|point of life|leap year|prime number|convert|celsius|fahrenheit|kilometers
            kilometres|in inches|in centimeters
            recipe for|recipes for|recipe|in french|in spanish|in german|in english|in italian
            in japanese|in chinese|in portuguese|in russian|plot of|author of|chemical symbol
            boiling point|atomic number|speed of light|how far is the|distance between|distance from
            distance to the|heads or tails|in the alphabet|random number|random password|stand for
            stands for|what does the word
            hauptstadt|einwohner|bedeutet|synonym fur|quadratwurzel|wetter|witz|gedicht|wie spat ist es
            ins englische|ins deutsche|auf englisch|komponiert|erfunden|wie viel ist|wie viel sind
            rezept|entfernt|uhrzeit
            capital de|significa|sinonimo|raiz cuadrada|clima|tiempo hace|chiste|poema|que hora es
            al ingles|al espanol|en ingles|quien pinto|quien escribio|quien invento|receta|poblacion
            capitale|signifie|synonyme|racine carree|meteo|blague|poeme|quelle heure|en anglais
            en francais|qui a ecrit|qui a peint|qui a invente|recette|combien font|fois
            capital da|capital do|raiz quadrada|clima|piada|poema|que horas sao|para o ingles|em ingles
            quem escreveu|quem pintou|quem inventou|receita
            首都|是什么意思|什么意思|同义词|平方根|天气|笑话|写一首|写首|诗|几点|翻译|英文怎么说|等于多少|等于几|乘以|除以|加上|什么是|人口|汇率|谁写|谁发明|菜谱|写一个|写一篇|解释
            首都|という意味|の意味|同義語|平方根|天気|冗談|ジョーク|俳句|詩を|何時|翻訳|訳して|英語で|とは何|とは|人口|為替|誰が書|発明|レシピ|書いて|一番高い|説明して|作文
        """,
    }
)
