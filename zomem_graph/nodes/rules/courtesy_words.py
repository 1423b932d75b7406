"""What a message may hold without asking for anything, in seven languages. Tables only.

English, German, Spanish, French, Portuguese, Chinese, Japanese; whole words in any case, with or without accents.
Words to go on have a table of their own.
"""

from enum import StrEnum
from typing import Final

from zomem_graph.nodes.rules.phrases import PhraseBook

__all__ = ["COURTESIES", "FRAMES", "Courtesy", "Frame"]


class Courtesy(StrEnum):
    """What a message may consist of without asking for anything."""

    GREETING = "greeting"
    FAREWELL = "farewell"
    THANKS = "thanks"
    ANSWER = "answer"
    REPAIR = "repair"
    POLITE = "polite"
    PROCEED = "proceed"


COURTESIES: Final = PhraseBook(
    {
        Courtesy.GREETING: """
            hi|hello|hey|hiya|howdy|yo|hi there|hello there|hey there|greetings|morning|evening
            good morning|good afternoon|good evening|good day|nice to meet you|welcome|welcome back
            how are you|how are you doing|how are things|how is it going|how have you been|what is up
            sup|how is your day|how is your day going|how do you do|are you there|anyone there
            hope you are well
            hope you are doing well|long time no see|happy new year|merry christmas|are you okay|are you ok
            hallo|moin|servus|gruss gott|guten morgen|guten tag|guten abend|gruss dich|na|hallihallo
            wie geht es dir
            wie geht es ihnen|wie gehts|alles gut
            hola|buenos dias|buenas tardes|buenas noches|buenas|que tal|como estas|como esta|saludos
            bonjour|bonsoir|salut|coucou|comment ca va|ca va|comment allez vous|comment vas tu
            ola|oi|bom dia|boa tarde|boa noite|tudo bem|e ai|como vai
            ciao|namaste|aloha
            你好|您好|嗨|哈喽|早上好|早安|下午好|晚上好|晚安|大家好|你好吗|最近好吗
            こんにちは|こんばんは|おはようございます|おはよう|はじめまして|もしもし|お元気ですか|元気ですか|どうも
        """,
        Courtesy.FAREWELL: """
            bye|bye bye|goodbye|good bye|see you|see ya|see you later|see you soon|see you tomorrow
            later|take care
            good night|have a nice day|have a good day|have a great day|have a nice weekend|have a good one
            have a nice evening|have a good evening|talk to you later|talk to you soon|talk soon|ttyl
            cheers|so long
            until next time|until tomorrow|nice talking to you|nice seeing you|good talking to you
            nice chatting
            good speaking to you|good chat|it was nice talking to you|it was nice seeing you|farewell
            i have to go|i must go
            that is all|that is it|that will be all|nothing else|for now|that was all|signing off
            tschuss|auf wiedersehen|bis bald|bis morgen|bis spater|schonen tag|schonen abend|gute nacht
            das war es|das wars
            adios|hasta luego|hasta manana|hasta pronto|chao|nos vemos|eso es todo
            au revoir|a bientot|a demain|bonne nuit|bonne journee|bonne soiree|a plus|c est tout
            tchau|ate logo|ate amanha|ate mais|so isso|e so
            再见|拜拜|明天见|回头见|さようなら|またね|また明日|じゃあね|おやすみなさい|おやすみ|では
        """,
        Courtesy.THANKS: """
            thanks|thank you|thank you so much|thank you very much|thanks a lot|thanks a bunch
            thanks so much|many thanks
            thanks again|thx|ty|tysm|much appreciated|i appreciate it|i appreciate that|appreciate it
            appreciated
            for your help|for the help|for helping|for helping me|for your time|for that|for the info
            for the information
            for that response|for everything|that helps|that helped|that was helpful|very helpful
            really helpful
            so helpful|helpful|you are the best|you are great|you rock|you are awesome|well done
            good job|great job
            nice work|great work|good work|keep it up|i am grateful|no problem|you are welcome|i owe you one
            danke|danke dir|danke schon|dankeschon|vielen dank|herzlichen dank|besten dank|danke sehr
            sehr hilfreich|weiter so|sigue asi
            gracias|muchas gracias|mil gracias|te lo agradezco|muy amable|merci|merci beaucoup
            merci bien|mille mercis
            obrigado|obrigada|muito obrigado|muito obrigada|valeu
            谢谢|谢谢你|谢谢您|多谢|感谢|非常感谢|太谢谢了|辛苦了
            ありがとう|ありがとうございます|ありがとうございました|どうもありがとう|助かりました|助かった|感謝します
        """,
        Courtesy.ANSWER: """
            ok|okay|k|kk|yes|yeah|yep|yup|ya|yea|aye|no|nope|nah|sure|sure thing|of course|right|correct
            exactly|great
            good|nice|cool|fine|alright|all right|got it|i got it|i see|i understand|understood
            makes sense|true|false
            maybe|perhaps|possibly|probably|not sure|i am not sure|i do not know|i do not really know
            i am unsure
            i am really not sure|idk|no idea|i have no idea|hm|hmm|hmmm|oh|ah|aha|wow|lol|haha|hahaha
            interesting
            never mind|nevermind|forget it|forget about it|stop|stop it|stop talking|cancel|cancel it
            cancel that
            absolutely|definitely|indeed|affirmative|negative|that is right|that is correct|that is true
            that is wrong
            that is false|that is not right|that is not true|that is not correct|this is true|this is false
            it is true|it is false|is true|is false|totally|certainly|for sure|i agree|i think so
            i guess|i guess so
            i believe so|i do not think so|either|could be|it could be|might be|awesome|perfect|amazing
            wonderful
            very good|very nice|too|well|not really|no way|no thanks|no thank you|i disagree|not at all
            ja|jo|nein|nee|doch|klar|genau|gut|super|prima|alles klar|verstanden|vielleicht|stimmt|achso
            aha|nichts
            si|claro|vale|de acuerdo|bien|bueno|perfecto|entendido|quizas|tal vez|genial
            oui|non|d accord|bien sur|parfait|compris|peut etre|ouais|c est bon|tres bien
            sim|nao|certo|claro|beleza|ta bom|perfeito|entendi|talvez|otimo
            好的|好|好吧|嗯|是的|是|不是|不|对|可以|行|明白|明白了|知道了|没问题|也许|哈哈|不用了|没事
            はい|いいえ|うん|ううん|わかりました|わかった|了解|了解です|了解しました|大丈夫|大丈夫です|多分|なるほど|そうですね
            いいですね|いいね
        """,
        Courtesy.REPAIR: """
            repeat|repeat that|repeat please|can you repeat that|could you repeat that
            please repeat that|say that again
            say it again|can you say that again|could you say that again|what did you say
            what did you just say|pardon
            pardon me|come again|i did not hear you|i did not hear that|i did not catch that|i missed that
            sorry i missed that|what was that|one more time please|please repeat the last thing
            say it one more time
            say that one more time|i did not get that|what was that again|you said what
            wie bitte|kannst du das wiederholen|que dijiste|puedes repetir|puedes repetirlo|perdon
            peux tu repeter|pardon
            pode repetir|再说一遍|什么|もう一度言って|もう一回言って|何ですか
        """,
        Courtesy.POLITE: """
            please|pls|plz|kindly|just|so|then|now|also|um|uh|sorry|excuse me|by the way|btw|my friend
            friend|buddy|mate
            dude|man|today|everyone|everybody|all|there|guys|team|assistant|dear|sir|again|and you|a lot
            so much|very much
            for me|if you can|when you can
            bitte|mal|doch mal|dann|jetzt|nun|also|noch|zusammen|alle|allerseits|liebe|lieber
            por favor|ahora|entonces|pues|s il te plait|s il vous plait|stp|svp|maintenant|alors|donc
            agora|entao|a todos
            a tous|tout le monde
            请|吧|啊|了|呢|麻烦|麻烦你|一下|那|那就|就|你|ください|お願いします|お願い|お願いいたします|では|じゃあ|ね|よ|です|で
        """,
        Courtesy.PROCEED: """
            ready to continue|ready to go on
            status|status report|status update|progress|progress report|todo|todos|to do|stand der dinge
            next|next one|next please|next up|go for it|do it|do that|do this|do so|do both
            do all of them|let us do it|let us do that|let us go|let us start
            let us begin|let us do this|you can start|please do|please do so|yes please
            yes do|sure go ahead|lgtm|looks good|looks good to me|sounds good|sounds good to me
            works for me|that works
            ship it|make it so|as planned|as discussed|as agreed|as you suggested|as suggested
            same again|the same again
            same as before|same as last time|like last time|like before|as before|as usual|the usual
            and then|then what
            what then|what is next|what next|what now|now what|and now|and next|on to the next
            on to the next one|more
            more please|go|start|begin|start now|get started|get going|let us get started|finish it
            finish it up|send it
            send that|merge it|merge that|run it|run that|apply it|apply that|deploy it|push it
            commit it|save it|use it
            use that|use that one|take it|take that one|try it|try that|try again|retry|try once more
            once more|again please
            do it again|redo it|redo|undo|undo it|undo that|revert it|revert that|wrap it up
            approved|agreed
            confirmed|accepted|that one|this one|the first one|the second one|the third one|the last one
            the other one
            the first|the second|the third|the latter|the former|option one|option two|option a|option b
            option 1|option 2
            option 3|number one|number two|number 1|number 2|both|both of them|all of them
            all of the above|go with that
            go with it|go with the first|go with the first one|go with the second|go with the second one
            i am back|back|lead on|onwards|forward
            leg los|los|los geht es|los gehts|mach das|mach das so|mach es|mach es so|so machen
            so machen wir es|so machen wir das
            machen wir so|passt|passt so|passt mir|einverstanden|fang an
            nachster|nachste|nachstes|nachster schritt|und dann|was nun|was jetzt|nochmal|noch einmal
            wie gehabt
            wie besprochen|wie immer|so wie besprochen|ab damit|gern|gerne|nur zu|ich bin zuruck|bin wieder da
            hazlo|hazlo asi|haz eso|dale|dale pues
            siguiente|el siguiente|la siguiente|y ahora|y ahora que|y luego|otra vez|de nuevo|como siempre
            como quedamos|como acordamos|vamos|me parece bien|suena bien
            vas y|allez y|allons y|la suite
            lance|lance la suite|lance ca|fais le|fais ca|fais comme ca|faites le|suivant|suivante
            et apres|et ensuite
            et maintenant|encore|encore une fois|comme prevu|comme d habitude|comme convenu|ca marche
            ca me va|on y va|tu peux y aller|go
            pode ir
            em frente|vamos la|vai em frente|faz isso|faca isso|pode fazer|manda ver|proximo|proxima|e agora
            e depois|de novo|mais uma vez|como combinado|como sempre|parece bom
            下一步|下一个|就这么做|就这么办|就这样做|就这样
            这么做|这样做|照做|照旧|照常|开始吧|开始|去做吧|做吧|动手吧|然后呢|接下来呢|再来一次|再试一次|按计划|发吧|搞定它|老样子
            続けよう|次|次へ|次に|次は|次の|進んで|進めて|進めよう|それで|そのまま|やって|やりましょう
            始めて|始めよう|どうぞ|もう一度|もう一回|いつもの|前回と同じ|実行して|送って
        """,
    }
)


class Frame(StrEnum):
    """Words that wrap a request without changing what is asked."""

    REQUEST = "request"


FRAMES: Final = PhraseBook(
    {
        Frame.REQUEST: """
            can you|could you|would you|will you|can you please|could you please|would you please
            would you mind
            i want you to|i need you to|i would like you to|i want to know|i need to know|i would like to know
            i just want to know|i really want to know|i want to find out|i need to find out
            i would like to find out
            i would love to know|i am curious|i was curious|i am trying to find out|i am trying to figure out
            i want to learn|i want to see|i need to see|i would like to see|i need help with|i need help
            help me|help me to|help me with
            can you tell me|could you tell me|would you tell me|can you please tell me|please tell me
            tell me|let me know
            can you let me know|could you let me know|inform me|show me|give me an answer|do you know
            do you happen to know
            i wonder|i was wondering|i am wondering|quick question|one question|question|a question
            any idea|please
            if you can|just|now|so|ok so|okay so|well|and|but|also|hey|hi|hello|yo|i have a question
            i want|i need
            i would like|i like to know|need to know|want to know|may i know|may i ask|can i ask|let us
            you|ai|please can you
            ich mochte wissen|ich wurde gern wissen|kannst du mir sagen|konnen sie mir sagen|sag mir
            sag mal|weisst du
            kannst du|konntest du|konnen sie|bitte|und|hallo|also
            quiero saber|me gustaria saber|puedes decirme|podrias decirme|dime|sabes|puedes|podrias
            por favor|y|hola
            je veux savoir|j aimerais savoir|peux tu me dire|pouvez vous me dire|dis moi|sais tu|peux tu
            pourrais tu|et|bonjour
            quero saber|gostaria de saber|pode me dizer|voce pode me dizer|me diga|voce sabe|pode
            voce pode|poderia|e|oi|ola
        """
    }
)
