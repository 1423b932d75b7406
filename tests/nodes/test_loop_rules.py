"""Which sentences leave something undone, of which kind, and which say that it is done."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zomem_graph.nodes.rules.loops import KINDS, fingerprint, kind_of, loops_in, priority_of, resolves

LOGIN = "Fix the login page"


def titles(text: str, *, role: str = "user") -> list[str]:
    return [loop.title for loop in loops_in(text, role=role)]


@pytest.mark.parametrize(
    ("text", "title", "kind"),
    [
        ("We still need to fix the login page.", "Fix the login page", "bug"),
        ("TODO: call the landlord about the heating", "Call the landlord about the heating", "commitment"),
        ("need to call the bank tomorrow", "Call the bank tomorrow", "commitment"),
        ("- [ ] Renew the passport", "Renew the passport", "task"),
        ("Pending: signature of the lease", "Signature of the lease", "task"),
        ("Waiting on approval from legal", "Waiting on approval from legal", "approval"),
        ("We should investigate the outage of Monday.", "Investigate the outage of Monday", "incident"),
        ("Wir müssen noch die Rechnung bezahlen.", "Wir müssen noch die Rechnung bezahlen", "commitment"),
        ("Hay que renovar el contrato.", "Renovar el contrato", "commitment"),
        ("Il faut corriger la page d'accueil.", "Corriger la page d'accueil", "bug"),
        ("我们需要修复登录页面。", "修复登录页面", "bug"),
    ],
)
def test_what_is_left_undone_opens_a_loop(text: str, title: str, kind: str) -> None:
    (loop,) = loops_in(text)

    assert (loop.title, loop.kind) == (title, kind)
    assert loop.quote in text


@pytest.mark.parametrize(
    "text",
    [
        "Good morning, how are you?",
        "Is this a bug?",
        "fix it now",
        "There is no need to call the bank.",
        "I don't need to pay the rent this month.",
        "There are no open issues.",
        "That should be fine for today.",
        "You must answer in JSON only.",
        "If it fails you must restart the worker.",
        "We must always run the linter first.",
        "The login bug is fixed.",
        "I have fixed the issue with the login page.",
        "- [x] Fix the login page",
        "The issue — as always — is time ...",
        "The Debugging of prefixes went well.",
        "> We need to fix the login page.",
        "```\n# TODO: fix the login page\n```",
        "<recalled-memory>We need to fix the login page.</recalled-memory>",
        "Something Long that we should do one day " + "and another thing too " * 5,
        "A text with Capitals.\nand a fragment that needs to stay out of it",
    ],
)
def test_talk_questions_rules_and_finished_work_open_none(text: str) -> None:
    assert titles(text) == []


@pytest.mark.parametrize("role", ["tool", "system"])
def test_only_people_and_assistants_open_loops(role: str) -> None:
    assert titles("TODO: fix the login page", role=role) == []
    assert titles("TODO: fix the login page", role="assistant") == [LOGIN]


def test_one_text_opens_each_loop_once_and_at_most_eight() -> None:
    assert titles("We need to fix the login page. Must fix the login page!") == [LOGIN]
    assert len(titles("\n".join(f"We need to call number {n}." for n in range(30)))) == 8


def test_a_long_title_is_cut_between_words() -> None:
    (loop,) = loops_in("Investigate " + "why the importer is so slow " * 3 + "on the old laptops")

    assert len(loop.title) <= 110


@pytest.mark.parametrize(
    ("text", "priority"),
    [
        ("This is urgent", 0.9),
        ("We must renew it", 0.9),
        ("a blocker for the release", 0.9),
        ("ist dringend", 0.9),
        ("这个很紧急", 0.9),
        ("not urgent at all", 0.6),
        ("mustard is out", 0.6),
        ("We should tidy up", 0.6),
    ],
)
def test_urgent_words_raise_the_priority(text: str, priority: float) -> None:
    assert priority_of(text) == priority


def test_kinds_are_tried_in_their_order() -> None:
    assert kind_of("Fix the outage") == "bug"
    assert kind_of("The outage must end") == "incident"
    assert kind_of("We must approve the plan") == "approval"
    assert kind_of("Water the plants") == "task"


def test_wording_habits_do_not_make_another_loop() -> None:
    assert fingerprint("bug", "Website", "Fix the LOGIN page.") == fingerprint("bug", "website", "fix login page")
    assert fingerprint("bug", None, LOGIN) == "bug::::fix login page"
    assert fingerprint("bug", None, LOGIN) != fingerprint("task", None, LOGIN)
    assert fingerprint("bug", "a", LOGIN) != fingerprint("bug", "b", LOGIN)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("I have fixed the login page.", LOGIN),
        ("login page: done", LOGIN),
        ("The login page is fixed but the signup form is not done.", LOGIN),
        ("Finally, after two long days with the vendor, the login page on staging is resolved.", LOGIN),
        ("The call with the landlord is done", "Call the landlord about the heating"),
        ("Die Rechnung der Werkstatt ist erledigt", "Rechnung der Werkstatt bezahlen"),
        ("La página de inicio está arreglada", "Arreglar la página de inicio"),
        ("La page d'accueil est corrigée", "Corriger la page d'accueil"),
        ("登录页面已经修复了", "修复登录页面"),
    ],
)
def test_a_statement_that_it_is_done_resolves_a_loop(text: str, title: str) -> None:
    assert resolves(text, title)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("The login page is not fixed.", LOGIN),
        ("The login page isn't fixed yet.", LOGIN),
        ("Is the login page fixed?", LOGIN),
        ("Once the login page is fixed we ship.", LOGIN),
        ("We want the login page fixed by Monday.", LOGIN),
        ("The login page is almost done.", LOGIN),
        ("We need to fix the login page.", LOGIN),
        ("All done, everything is fixed!", LOGIN),
        ("The contact page was closed.", LOGIN),
        ("The login page is fixed but the signup form is not done.", "Finish the signup form"),
        ("The heating is fixed.", "Ask Ana about rent, keys, heating, cellar, parking and the broken bell"),
        ("Die Rechnung der Werkstatt ist noch nicht erledigt", "Rechnung der Werkstatt bezahlen"),
        ("La página de inicio no está arreglada", "Arreglar la página de inicio"),
        ("La page d'accueil n'est pas corrigée", "Corriger la page d'accueil"),
        ("登录页面还没修复", "修复登录页面"),
        ("", LOGIN),
        ("The login page is fixed", ""),
    ],
)
def test_what_is_denied_planned_asked_or_about_something_else_resolves_none(text: str, title: str) -> None:
    assert not resolves(text, title)


_PIECES = st.sampled_from(
    [
        *(
            "We need to ",
            "fix ",
            "the login page",
            ". ",
            "\n",
            "- [ ] ",
            "not ",
            "done",
            "?",
            "TODO: ",
            "—",
            " is fixed",
        ),
        *("需要", "修复了", "ist erledigt", "must ", "if ", "```", "<think>", "A", " "),
    ]
)
_TEXTS = st.one_of(st.text(), st.lists(_PIECES, max_size=15).map("".join))


@given(_TEXTS)
def test_any_text_can_be_read_for_loops(text: str) -> None:
    for loop in loops_in(text):
        assert loop.quote in text
        assert loop.kind in KINDS
        assert loop.priority in {0.6, 0.9}
        assert loop.title.strip()
        assert len(loop.title) <= 110


@given(_TEXTS, _TEXTS)
def test_any_text_can_be_held_against_any_title(text: str, title: str) -> None:
    assert not (resolves(text, title) and not title.strip())
    assert fingerprint("task", text, title)


@pytest.mark.parametrize("unit", ["we need to ", "is fixed, ", "TODO: x\n", "not done. ", "修复", "- [ ] a", "."])
def test_reading_loops_takes_linear_time(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    began = time.process_time()
    loops_in(text)
    resolves(text, LOGIN)
    assert time.process_time() - began < 5
