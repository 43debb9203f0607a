from autograder.words import MOST_NAMES, lasting, printable, shown, some


def test_a_student_s_word_is_short_and_harmless():
    assert shown("a\x1b[31m<b>\n\u202ec") == "a?[31m?b???c"
    assert len(shown("x" * 1000)) == 60
    assert shown("müde.ipynb") == "müde.ipynb"


def test_text_for_a_terminal_does_nothing_there():
    assert printable("a < b\x1b]0;x\x07") == "a < b?]0;x?"


def test_of_many_names_the_first_are_told():
    names = [f"s{number}" for number in range(MOST_NAMES + 2)]
    assert some(names[:2]) == "s0, s1"
    assert some(names[:MOST_NAMES]).endswith(names[MOST_NAMES - 1])
    assert some(names) == f"{', '.join(names[:MOST_NAMES])} and 2 more"


def test_a_time_span_is_told_in_its_two_largest_units():
    spans = {0.2: "1 second", 40: "40 seconds", 60: "1 minute", 3599: "59 minutes 59 seconds", 86400: "1 day"}
    spans |= {93600: "1 day 2 hours", 86460: "1 day", 90059: "1 day 1 hour", 200 * 86400: "200 days"}
    assert {seconds: lasting(seconds) for seconds in spans} == spans
