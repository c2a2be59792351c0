# SPDX-License-Identifier: Apache-2.0
"""--long and its forms."""
import contextlib
import io
import unittest
from unittest import mock

from tools.testing import long_forms, main
from tools.testing.cases import FAILED, PASSED, Case


class Stage:
    """Stands for a stage that takes no time."""

    def __init__(self, name, outcome=PASSED):
        self.name, self.outcome = name, outcome

    def run(self):
        """One case."""
        return [Case(self.name, 0.0, self.outcome)]


FORMS = (long_forms.LongForm("one", "the first", 5, lambda: Stage("one")),
         long_forms.LongForm("two", "the second", 7, lambda: Stage("two", FAILED)))


@mock.patch.object(long_forms, "LONG_FORMS", FORMS)
class LongTest(unittest.TestCase):
    """The command line."""

    def run_main(self, *words):
        """Exit status, stdout, stderr."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                status = main.main(list(words))
            except SystemExit as end:
                status = end.code
        return status, out.getvalue(), err.getvalue()

    def test_runs_what_is_named_and_closes_as_the_default_run_does(self):
        for words, status, closing in ((["--long=one"], 0, "1 passed, 0 failed, 0 skipped"),
                                       (["--long", "one"], 0, "1 passed, 0 failed, 0 skipped"),
                                       (["--long=two"], 1, "0 passed, 1 failed, 0 skipped"),
                                       (["--long"], 1, "1 passed, 1 failed, 0 skipped"),
                                       (["--long=one", "--long=two"], 1, "1 passed, 1 failed, 0 skipped"),
                                       (["--long=one", "--long=one"], 0, "1 passed, 0 failed, 0 skipped")):
            got, out, _ = self.run_main(*words)
            self.assertEqual((got, out.splitlines()[-1]), (status, closing), words)

    def test_wrong_words_list_the_valid_ones(self):
        for words, message in ((["--long=three"], 'unknown long form: got "three", expected one, two'),
                               (["--long="], 'unknown long form: got "", expected one, two'),
                               (["--long=One"], 'unknown long form: got "One", expected one, two'),
                               (["--long", "--only", "unit"], "--long goes with none of --only, --e2e and --list"),
                               (["--long", "--list"], "--long goes with none of --only, --e2e and --list"),
                               (["--only", "fuzz"], 'unknown stage: got "fuzz", expected shell, python')):
            status, out, err = self.run_main(*words)
            self.assertEqual((status, out), (2, ""), words)
            self.assertIn(message, err)

    def test_help_lists_the_forms_with_their_minutes(self):
        status, out, _ = self.run_main("--help")
        self.assertEqual(status, 0)
        self.assertIn("one         the first; about 5 minutes", out)
        self.assertIn("two         the second; about 7 minutes", out)


class TableTest(unittest.TestCase):
    """The real table."""

    def test_each_entry_is_whole(self):
        self.assertIn("fuzz", long_forms.names())
        self.assertEqual(len(set(long_forms.names())), len(long_forms.names()))
        for form in long_forms.LONG_FORMS:
            self.assertRegex(form.name, "^[a-z0-9.-]+$")
            self.assertNotEqual(form.name, long_forms.ALL)
            self.assertNotIn("\n", form.what)
            self.assertGreater(form.minutes, 0)
            self.assertEqual(form.make().name, form.name)


if __name__ == "__main__":
    unittest.main()
