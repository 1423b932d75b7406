"""Which sentences leave something undone, of which kind, and which say that it is done."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zomem_graph.nodes.rules.closing import done_by, is_said_again, resolves
from zomem_graph.nodes.rules.loops import KINDS, fingerprint, kind_of, loops_in, priority_of

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


CLOSING = [
    ("I need to fix the login bug.", "I fixed the login bug."),
    ("I need to fix the login bug.", "The login issue is resolved."),
    ("TODO: fix the parser.", "The parser is fixed."),
    ("TODO: fix the parser.", "Finally fixed the parser!"),
    ("TODO: backups of the server", "The server backups are done."),
    ("TODO: backups", "Backups are done."),
    ("I need to finish the report.", "The report is finished."),
    ("I need to finish the report.", "Done with the report."),
    ("- [ ] Deploy the website", "The website is deployed, done."),
    ("- [ ] Deploy the website", "We deployed the website this morning."),
    ("- [ ] Update the README", "The README is updated and done."),
    ("- [ ] Update the README", "I have updated the README."),
    ("- [ ] Send the invoice", "I sent the invoice, it's done."),
    ("- [ ] Send the invoice", "The invoice was sent to Karim."),
    ("I must pay the rent.", "I paid the rent yesterday."),
    ("We need to buy milk and eggs.", "I bought milk and eggs."),
    ("I need to call the plumber.", "I called the plumber."),
    ("I have to tell Ana about the move.", "I told Ana about the move."),
    ("I still need to write the rollback script.", "I wrote the rollback script last night."),
    ("We should build the new index.", "The new index is built."),
    ("I have to read the contract.", "I've read the contract."),
    ("Ada needs to send the invoice.", "Ada sent the invoice."),
    ("We must renew the TLS certificate before June!", "The TLS certificate is renewed, done."),
    ("The login bug is not fixed.", "The login bug is fixed."),
    ("The payment export is still broken, we must fix it.", "The payment export is fixed now."),
    ("I need to fix the login bug for Ada.", "I fixed the login bug."),
    ("Next step: review the docs.", "I reviewed the docs, done."),
    ("Wir müssen noch die Rechnung bezahlen.", "Ich habe die Rechnung heute bezahlt."),
    ("I need to book the flights to Rome.", "Booked the flights to Rome!"),
    ("TODO: renew passport", "My passport got renewed today."),
    ("I should reply to Sam.", "I replied to Sam."),
    ("We should cancel the subscription.", "The subscription has been cancelled."),
    ("TODO: Arzttermin absagen", "Den Arzttermin habe ich abgesagt."),
    ("Tengo que llamar al médico.", "He llamado al médico."),
    ("Je dois réserver le train.", "Le train est réservé."),
    ("TODO: Rechnung bezahlen", "Die Rechnung ist erledigt."),
    ("Ich muss noch die Steuererklärung abgeben.", "Ich habe die Steuererklärung abgegeben."),
    ("Hay que pagar la factura.", "Ya pagué la factura."),
    ("Hay que pagar la factura.", "La factura está pagada."),
    ("Il faut envoyer la facture.", "J'ai envoyé la facture."),
    ("Il faut corriger la page.", "La page est corrigée."),
    ("我们需要修复登录。", "登录已经修复了"),
    ("我需要提交报告。", "报告已经提交了"),
]
OPEN_STILL = [
    ("I need to fix the login bug.", "I fixed the login page."),
    ("I need to fix the login bug.", "I fixed the signup bug."),
    ("I need to fix the login bug.", "The bug is fixed."),
    ("I need to fix the login bug.", "I fixed the login bug's test data."),
    ("TODO: fix the parser.", "The parser will be fixed tomorrow."),
    ("TODO: fix the parser.", "Is the parser fixed?"),
    ("TODO: fix the parser.", "is the parser fixed"),
    ("TODO: fix the parser.", "The parser tests are fixed."),
    ("TODO: fix the parser.", "The fixed parser breaks the build."),
    ("TODO: fix the parser.", "I think the parser is fixed."),
    ("TODO: fix the parser.", "The lexer is fixed and the parser is slow."),
    ("TODO: fix the parser.", "Make sure the parser is fixed."),
    ("TODO: fix the parser.", "The parser is documented."),
    ("TODO: fix the parser.", "I need to leave the parser, I'm done for today."),
    ("TODO: backups of the server", "Backups are nearly done."),
    ("TODO: backups", "Backups are nearly done."),
    ("TODO: backups", "The slides are done, backups are not."),
    ("I need to finish the report.", "The report is not finished."),
    ("I need to finish the report.", "I sent the report."),
    ("- [ ] Deploy the website", "The website is being deployed."),
    ("- [ ] Deploy the website", "The website was closed."),
    ("- [ ] Send the invoice", "I sent the offer, it's done."),
    ("- [ ] Send the invoice", "I never sent the invoice."),
    ("- [ ] Send the invoice", "I have not sent the invoice."),
    ("- [ ] Send the invoice", "I'll have the invoice sent by Friday."),
    ("- [ ] Cancel the subscription", "Do not cancel the subscription, it has done its job."),
    ("- [ ] Update the README", "I plan to have the README updated."),
    ("I need to call Karim.", "Karim called."),
    ("I need to call Karim.", "Karim called about the heating."),
    ("I have to read the contract.", "I read contract law."),
    ("I need to fix the login bug on iOS.", "The login bug on Android is fixed."),
    ("We need to call the landlord about the heating.", "I called the plumber about the heating."),
    ("We must renew the TLS certificate before June!", "All done for today!"),
    ("Wir müssen noch die Rechnung bezahlen.", "Die Rechnung ist noch nicht bezahlt."),
    ("Wir müssen noch die Rechnung bezahlen.", "Die Rechnung wird morgen bezahlt."),
    ("Hay que pagar la factura.", "La factura no está pagada."),
    ("Hay que pagar la factura.", "¿Está pagada la factura?"),
    ("Il faut envoyer la facture.", "La facture n'est pas envoyée."),
    ("我们需要修复登录。", "登录还没修复"),
    ("我需要提交报告。", "登录已经提交了"),
]


def left_open(undone: str, said: str) -> list[str]:
    """Return the titles a first text opens and a second one does not close."""
    opened = titles(undone)
    assert opened, undone
    return [title for place, title in enumerate(opened) if place not in done_by(said, opened)]


@pytest.mark.parametrize(("undone", "said"), CLOSING)
def test_a_deed_that_was_asked_for_and_done_is_closed_however_short_its_title(undone: str, said: str) -> None:
    assert left_open(undone, said) == []


@pytest.mark.parametrize(("undone", "said"), OPEN_STILL)
def test_another_thing_another_deed_or_one_not_done_yet_closes_nothing(undone: str, said: str) -> None:
    assert left_open(undone, said) == titles(undone)


@pytest.mark.parametrize(
    ("said", "done"),
    [
        ("I fixed the login page for Ada.", ["Fix the login page for Ada"]),
        ("I fixed the login page.", []),
        ("I tested the login page for Bob.", ["Test the login page for Bob"]),
        ("The login page for Bob is done.", []),
    ],
)
def test_of_loops_that_match_the_better_one_is_closed_and_of_equals_none(said: str, done: list[str]) -> None:
    known = ["Fix the login page for Ada", "Fix the login page for Bob", "Test the login page for Bob"]

    assert [known[place] for place in done_by(said, known)] == done


def test_a_loop_said_to_be_open_still_is_the_same_loop() -> None:
    assert is_said_again("The login bug is not fixed", "Fix the login bug for Ada")
    assert is_said_again("Repair the parser", "Fix the parser")
    assert not is_said_again("The login bug is not fixed", "Fix the signup bug for Ada")
    assert not is_said_again("Fix the login bug", "Fix the login bug for Ada")
    assert not is_said_again("Test the parser", "Fix the parser")


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
