"""What people write when they tell a password, and what they write with the same words when they do not.

Each sentence is made up; no secret here opens anything.
"""

import pytest

from zomem_graph.nodes.rules.secrets import looks_secret, redact

TOLD = [
    # a bare value, behind a word that is a verb and a ticket too
    ("pass hunter2xyz", "hunter2xyz"),
    ("router login: admin, pass hunter2xyz.", "hunter2xyz"),
    ("user ana pass hunter22", "hunter22"),
    ("the pass is: correcthorse9", "correcthorse9"),
    ("pass for staging = correcthorse9", "correcthorse9"),
    ("pw is x9Klm2", "x9Klm2"),
    ("pw for the NAS: x9Klm2", "x9Klm2"),
    # linking words and a sign
    ("password is: x9Klm2", "x9Klm2"),
    ("the password is = x9Klm2", "x9Klm2"),
    ("password is now: x9Klm2", "x9Klm2"),
    ("passphrase was: x9Klm2", "x9Klm2"),
    ("the passcode will be x9Klm2", "x9Klm2"),
    ("password -> x9Klm2", "x9Klm2"),
    ("Password → x9Klm2", "x9Klm2"),
    ("password - x9Klm2", "x9Klm2"),
    ("password – x9Klm2, please keep it", "x9Klm2"),
    # what it is for
    ("password for prod = x9Klm2", "x9Klm2"),
    ("password for prod := swordfish", "swordfish"),
    ("password for the wifi: blueHorse9", "blueHorse9"),
    ("password of Ana's router: x9Klm2", "x9Klm2"),
    ("the password for db-01 is x9Klm2", "x9Klm2"),
    ("wifi password (guests): x9Klm2", "x9Klm2"),
    ("password on the NAS - x9Klm2", "x9Klm2"),
    ("password guest wifi: x9Klm2", "x9Klm2"),
    # possessive forms
    ("my password's x9Klm2", "x9Klm2"),
    ("My password’s x9Klm2 by the way", "x9Klm2"),
    ("the passcode's now x9Klm2", "x9Klm2"),
    # a password that is changed, and one that is named after
    ("I changed the password to x9Klm2", "x9Klm2"),
    ("set my wifi password to x9Klm2 please", "x9Klm2"),
    ("the password has been changed to x9Klm2", "x9Klm2"),
    ("x9Klm2 is my wifi password", "x9Klm2"),
    ("use x9Klm2 as the password", "x9Klm2"),
    # numbers
    ("pin is 4711", "4711"),
    ("my pin's 4711", "4711"),
    ("PIN for the card: 4711", "4711"),
    ("the pin → 4711", "4711"),
    # other languages
    ("Das Passwort für den Server: x9Klm2", "x9Klm2"),
    ("Passwort ist: x9Klm2", "x9Klm2"),
    ("Passwort vom WLAN = x9Klm2", "x9Klm2"),
    ("Kennwort lautet: x9Klm2", "x9Klm2"),
    ("Ich habe das Passwort auf x9Klm2 geändert", "x9Klm2"),
    ("x9Klm2 ist mein Passwort.", "x9Klm2"),
    ("la contraseña es: gato77", "gato77"),
    ("contraseña del router: gato77", "gato77"),
    ("la contraseña para el wifi = gato77", "gato77"),
    ("le mot de passe est : chat88", "chat88"),
    ("mot de passe du wifi : chat88", "chat88"),
    ("mot de passe pour la prod = chat88", "chat88"),
    ("la password è gatto77", "gatto77"),
    ("a senha do wifi é: gato77", "gato77"),
    ("senha para o servidor: gato77", "gato77"),
    ("wachtwoord voor de server = kater77", "kater77"),
    ("wachtwoord is: kater77", "kater77"),
    ("hasło do wifi: kot77x", "kot77x"),
    ("hasło to kot77x", "kot77x"),
    ("пароль от вайфая: qwerty12", "qwerty12"),
    ("мой пароль — qwerty12", "qwerty12"),
    ("lösenordet är: hemligt9", "hemligt9"),
    ("lösenord till servern: hemligt9", "hemligt9"),
    ("wifi şifresi = kedi77", "kedi77"),
    ("密码是：abc12345", "abc12345"),
    ("パスワードは：abc12345", "abc12345"),
]

HARMLESS = [
    "pass the salt",
    "Please pass the bread2go box",
    "I'll pass tomorrow",
    "I will pass stage2boss soon",
    "pass param1 to the function",
    "you pass arg2value by name",
    "pass python3 as the interpreter",
    "They pass utf8strings around.",
    "pass int32array",
    "pass level20 first",
    "pass it on",
    "pass/fail: 12of15",
    "pass rate: 95pct",
    "bypass = valve3b",
    "a monthly pass is 49 euros",
    "my pass expires in May",
    "My ski pass is: Day3of5",
    "my ski pass: Alpin2024",
    "the day pass: Zone2b",
    "mountain pass - 2100m",
    "the passage to room101",
    "the password policy is strict",
    "password is hard to remember",
    "password strength - 8chars minimum",
    "password rules: 12chars",
    "password length = 12chars",
    "the password reset for team2 is on Monday",
    "our password vault: Bitwarden",
    "The password is: forgotten",
    "the password's expired",
    "the password's 8 characters long",
    "my password's strength is fine",
    "the password's owner is Bob",
    "password for the router: unknown",
    "password for the wifi: ask Ana",
    "password for the login form: required",
    "password (min 8): required",
    "password for https://x.example/login is needed",
    "password for http://localhost:8080 please",
    "password at 10:30",
    "password - see the vault",
    "Password -> settings page",
    "the wifi password is on the fridge",
    "password hints for the team - see page12",
    "I forgot my password yesterday - day2of3",
    "I forgot the password for server01",
    "I changed the password to something longer",
    "I reset the password on server01",
    "I changed my password to log in to web01",
    "1Password is my password manager",
    "Office365 is the password source",
    "the pin is lost",
    "my pin's gone",
    "the pins of the connector: bent",
    "what is the pin for the door?",
    "The secret of success: patience",
    "the token's expiry is 3600s",
    "credentials for prod: see 1Password",
    "Passwort vergessen",
    "das Passwort ist zu kurz",
    "Passwort für den Server: unbekannt",
    "Passau: 3 Tage",
    "la contraseña es demasiado corta",
    "olvidé la contraseña del router",
    "mot de passe pour prod : perdu",
    "J'ai changé le mot de passe hier",
    "esqueci a senha do wifi",
    "het wachtwoord is vergeten",
    "zapomniałem hasła do wifi",
    "пароль от wifi я забыл",
    "lösenordet är för kort",
    "şifremi unuttum",
    "密码是什么",
    "パスワードは忘れた",
]


@pytest.mark.parametrize(("text", "secret"), TOLD)
def test_a_password_that_somebody_tells_is_taken_out(text: str, secret: str) -> None:
    clean, removed = redact(text)

    assert removed == 1
    assert secret not in clean
    assert clean.replace("[secret removed: password]", secret) == text


@pytest.mark.parametrize("text", HARMLESS)
def test_talk_of_passwords_passes_and_pins_is_kept_whole(text: str) -> None:
    assert redact(text) == (text, 0)
    assert looks_secret(text) is None


def test_of_several_ways_to_tell_it_none_hides_another() -> None:
    clean, removed = redact("password hunter2xyz is old, the new password for prod is x9Klm2")

    assert removed == 2
    assert "hunter2xyz" not in clean
    assert "x9Klm2" not in clean
