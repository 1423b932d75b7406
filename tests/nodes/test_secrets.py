"""What is a secret by its shape, what is harmless, and what redaction leaves behind.

Every secret here is made up; those with an issuer's prefix are put together at run time so that no
scanner takes this file for a leak.
"""

import random
import string
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zomem_graph.nodes.rules.secrets import find_secrets, looks_secret, redact


def made_up(length: int, seed: int = 7) -> str:
    return "".join(random.Random(seed).choices(string.ascii_letters + string.digits, k=length))


PEM = "\n".join(
    [
        "-----BEGIN RSA " + "PRIVATE KEY-----",
        *(made_up(64, seed) for seed in range(6)),
        "-----END RSA PRIVATE KEY-----",
    ]
)
JWT = f"eyJ{made_up(20)}.eyJ{made_up(40)}.{made_up(43)}"

SECRETS = [
    (PEM, "private key"),
    ("AKI" + "A" + made_up(16).upper(), "aws key"),
    ("gh" + "p_" + made_up(36), "github token"),
    ("github" + "_pat_" + made_up(40), "github token"),
    ("sk" + "-proj-" + made_up(40), "api key"),
    ("sk" + "_live_" + made_up(24), "stripe key"),
    ("xox" + "b-" + made_up(12) + "-" + made_up(24), "slack token"),
    ("AI" + "za" + made_up(35), "google key"),
    (JWT, "json web token"),
    ("hf" + "_" + "aB" * 17, "hugging face token"),
    ("4111 1111 1111 1111", "card number"),
    ("378282246310005", "card number"),
]


@pytest.mark.parametrize(("secret", "kind"), SECRETS)
def test_a_value_in_an_issuers_form_is_a_secret_wherever_it_stands(secret: str, kind: str) -> None:
    clean, removed = redact(f"here it is: {secret} and that was all")

    assert removed == 1
    assert clean == f"here it is: [secret removed: {kind}] and that was all"
    assert looks_secret(secret) == kind


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("password = hunter2", "hunter2"),
        ("DB_PASS=s3cr3t!", "s3cr3t"),
        ("pass: hunter22", "hunter22"),
        ("pw: hunter22", "hunter22"),
        ("password hunter22", "hunter22"),
        ("use the password hunter22, please", "hunter22"),
        ("ｐａｓｓｗｏｒｄ: hunter22", "hunter22"),
        ("curl -H 'Bearer abcdefghijklmnop1234'", "abcdefghijklmnop1234"),
        ("mysql -h db.local -u root -pS3cretPw shop", "S3cretPw"),
        ("sshpass -p S3cretPw ssh me@host", "S3cretPw"),
        ("export TOKEN=s3cr3tvalue9", "s3cr3tvalue9"),
        ('{"password": "hunter2", "port": 5}', "hunter2"),
        ("<password>hunter2</password>", "hunter2"),
        ("pw hunter22", "hunter22"),
        ("the pass is correcthorse9", "correcthorse9"),
        ("my pass\u200bword is swor\u200bdfish9", "swor\u200bdfish9"),
        ('the wifi password is   "blue horse"', "blue horse"),
        ('password: "correct horse battery staple"', "correct horse"),
        ("curl -s -u admin:S3cr3tPw https://x.example", "S3cr3tPw"),
        ("Пароль: qwerty12", "qwerty12"),
        ("a minha senha é gato77", "gato77"),
        ("パスワードはabc12345", "abc12345"),
        ("my password is tr0ub4dor&3x", "tr0ub4dor&3x"),
        ("the wifi password is swordfish", "swordfish"),
        ("das Passwort lautet Sommer2024!", "Sommer2024"),
        ("la contraseña es gato77", "gato77"),
        ("le mot de passe est chat88!", "chat88"),
        ("密码是abc12345", "abc12345"),
        ("pin: 4821", "4821"),
        ("mysql --password hunter2 -u root", "hunter2"),
        ("postgresql://app:pa55word@db.example:5432/x", "pa55word"),
        ("redis://:s3cret-word@cache.example/0", "s3cret-word"),
        ("Authorization: Bearer abcdef0123456789", "abcdef0123456789"),
        ("Authorization: Basic dXNlcjpwYXNzd29yZDEyMw==", "dXNlcjpwYXNzd29yZDEyMw=="),
        ("curl -H 'authorization: token 8f3kd93kdk2kd93k'", "8f3kd93kdk2kd93k"),
        ("https://x.example/cb?access_token=abc123def456&x=1", "abc123def456"),
        ("aws_secret_access_key = " + "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY", "wJalrXUtnFEMI"),
        ("AccountKey=Zm9vYmFyMTIzNDU2Nzg5MA==;", "Zm9vYmFyMTIz"),
        ("the api key abcd1234efgh5678ijkl works", "abcd1234efgh5678ijkl"),
        ("client_secret: 8f3kd93kdk2kd93kdkd9", "8f3kd93kdk2kd93kdkd9"),
        ("SECRET_KEY_BASE=abcdefghijklmnop", "abcdefghijklmnop"),
    ],
)
def test_a_value_after_a_secret_word_is_taken_out(text: str, secret: str) -> None:
    clean, removed = redact(text)

    assert removed == 1
    assert secret not in clean


@pytest.mark.parametrize(
    "text",
    [
        "no API key in the build",
        "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 fixes the token bug",
        "token refresh broke in 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "max_tokens = 4096",
        "token_budget=1000",
        "tokens = 1.5k",
        "tokens used: 12k/20k",
        "tokenizer: cl100k_base",
        "token_type: bearer",
        "the password is wrong",
        "the password is required.",
        "the password is case-sensitive",
        "password: please choose one",
        "password: str = Field(default=None)",
        "password = getpass()",
        'password = os.environ["DB_PASSWORD"]',
        "password = settings.db_password",
        "password=********",
        "TOKEN=$MY_TOKEN",
        "token = next(tokens)",
        "secret santa list is due 2024-12-24T10:00:00Z",
        "the secret: patience and butter",
        "my secret ingredient is nutmeg",
        "the secretary is on leave until 2027",
        "Bearer of bad news arrived yesterday evening",
        "Basic understanding of regular expressions",
        "postgres://localhost:5432/db",
        "order 4111 1111 1111 1112",
        "call +49 4111 1111 1111 1111",
        "-----BEGIN CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----",
        "the key is under the pot",
        "[secret removed: password]",
        "password = [secret removed: password]",
        "The password manager we use is Bitwarden",
        "the password policy is strict",
        "our password reset page is broken-again",
        "The secret sauce is Worcestershire42",
        "my boarding pass is LH4567, the pass B12345 too",
        "PASS: test_login2",
        "the mountain pass is 2100m high and closed until May 2026",
        'password: "please enter your own word"',
        'her password hint is "first pet"',
        "curl -u admin:$PW https://x.example",
        "passwords sha256-hashed since v2",
        "the bearer of the letter",
        "mysql -p shop",
        "全角：ｐａｓｓ！",
    ],
)
def test_harmless_text_is_kept(text: str) -> None:
    assert find_secrets(text) == []
    assert redact(text) == (text, 0)
    assert looks_secret(text) is None


def test_a_key_without_its_last_line_is_taken_out_too() -> None:
    clean, removed = redact(PEM[:300] + "\n\nSee you tomorrow!")

    assert removed == 1
    assert clean.endswith("See you tomorrow!")
    assert PEM[40:60] not in clean


def test_the_key_of_a_fact_tells_what_its_value_is() -> None:
    assert looks_secret("hunter2") is None
    assert looks_secret("hunter2", key="wifi_password") == "password"
    assert looks_secret("4096", key="max_tokens") is None
    assert looks_secret("Lyon", key="city") is None


def test_spans_are_ordered_and_never_overlap() -> None:
    spans = find_secrets(f"password = {JWT} and api_key: {SECRETS[4][0]} then pin: 4821")

    assert len(spans) == 3
    assert all(left.end <= right.start for left, right in pairwise(spans))


_PIECES = st.sampled_from(
    [
        "password",
        " = ",
        "hunter2",
        "token:",
        " is ",
        "\n",
        "ghp_" + "a1" * 20,
        "://a:b@",
        "Bearer ",
        "'",
        "sk-",
        "4111 ",
        "1111 ",
        "abcd1234efgh5678",
        "[secret removed: x]",
        "[secret removed: ",
        "--",
        "&",
        ".",
        "eyJ",
        "-----BEGIN ",
    ]
)
_TEXTS = st.one_of(st.text(), st.lists(_PIECES, max_size=15).map("".join))


@given(_TEXTS)
def test_redacting_twice_changes_nothing(text: str) -> None:
    clean, removed = redact(text)

    assert redact(clean) == (clean, 0)
    assert (removed == 0) == (clean == text)
    assert find_secrets(clean) == []


@given(_TEXTS)
def test_spans_lie_inside_any_text(text: str) -> None:
    assert all(0 <= span.start < span.end <= len(text) for span in find_secrets(text))


@pytest.mark.parametrize("unit", ["a", "Lorem ipsum dolor sit amet.\n"])
def test_ten_megabytes_are_searched_in_seconds(unit: str) -> None:
    text = unit * (10_000_000 // len(unit))
    began = time.process_time()
    find_secrets(text)
    assert time.process_time() - began < 10


@pytest.mark.parametrize(
    "unit",
    [
        "token=",
        "token ",
        "-----BEGIN PRIVATE KEY-----",
        "eyJ",
        "password='",
        "bearer ",
        "SG.aaaaaaaaaaaaaaaaa",
        "sk-a",
        "password a a a a a ",
        "password for a ",
        "password (a",
        "password's a1",
        "a1bcdef is my ",
        "changed my password to ",
        "login pass ",
        "pass a1bcdef",
        "pwd:",
        "\\n",
        "-",
        "AAAAAAAAAAAAAAAA\n",
        "a.b_c-",
        "4 ",
    ],
)
def test_no_text_takes_more_than_linear_time(unit: str) -> None:
    text = "-----BEGIN PRIVATE KEY-----" + unit * (400_000 // len(unit))
    began = time.process_time()
    find_secrets(text)
    assert time.process_time() - began < 5
