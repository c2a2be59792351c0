# SPDX-License-Identifier: Apache-2.0
"""How output of the runners becomes cases."""
import unittest

from tools.testing.cases import FAILED, PASSED, SKIPPED, from_tap_line, from_test_xml


class TapTest(unittest.TestCase):
    """Lines of bats."""

    def test_results(self):
        for line, name, outcome, seconds in (
                ("ok 1 a port that goes down in 616ms", "s: a port that goes down", PASSED, 0.616),
                ("not ok 2 it fails in 10ms", "s: it fails", FAILED, 0.01),
                ("ok 3 without a time", "s: without a time", PASSED, 0.0),
                ("ok 4 within 5ms in 7ms", "s: within 5ms", PASSED, 0.007)):
            case = from_tap_line("s", line)
            self.assertEqual((case.name, case.outcome, case.seconds), (name, outcome, seconds))

    def test_skips_carry_their_reason(self):
        for line, name, reason in (("ok 1 x in 0ms # skip (needs root)", "s: x", "needs root"),
                                   ("ok 2 y # skip needs a GPU", "s: y", "needs a GPU"),
                                   ("ok 3 z # skip", "s: z", "no reason given")):
            case = from_tap_line("s", line)
            self.assertEqual((case.name, case.outcome, case.detail), (name, SKIPPED, reason))

    def test_other_lines_are_none(self):
        for line in ("", "1..5", "# comment", "okay 1 x", "not ok", "ok x", " ok 1 indented", "-- file", "ok 1"):
            self.assertIsNone(from_tap_line("s", line), line)


class XmlTest(unittest.TestCase):
    """Reports of the build tool."""

    def test_gtest(self):
        text = """<testsuites><testsuite name="A">
          <testcase name="Good" classname="A" status="run" result="completed" time="0.5"/>
          <testcase name="Bad" classname="A" status="run" time="0.1"><failure message="1 != 2"/></testcase>
          <testcase name="Skipped" classname="A" status="run" result="skipped" time="0"><skipped message="f:1&#10;no GPU"/></testcase>
          <testcase name="DISABLED_Old" classname="A" status="notrun" time="0"/>
        </testsuite></testsuites>"""
        got = [(c.name, c.outcome, c.detail) for c in from_test_xml("//a:t", text)]
        self.assertEqual(got, [("//a:t A/Good", PASSED, ""), ("//a:t A/Bad", FAILED, "1 != 2"),
                               ("//a:t A/Skipped", SKIPPED, "no GPU"),
                               ("//a:t A/DISABLED_Old", SKIPPED, "disabled in the source")])

    def test_a_plain_program(self):
        text = '<testsuites><testsuite name="a/t"><testcase name="a/t" status="run" duration="1" time="1"></testcase></testsuite></testsuites>'
        got = from_test_xml("//a/t", text)
        self.assertEqual([(c.name, c.outcome, c.seconds) for c in got], [("//a/t", PASSED, 1.0)])
        text = text.replace("></testcase>", '><error message="exited with error code 1"></error></testcase>')
        self.assertEqual(from_test_xml("//a/t", text)[0].outcome, FAILED)

    def test_a_broken_report_is_a_failure(self):
        for text in ("", "<", "<testsuites>", "text", "<a></b>", "\0"):
            self.assertEqual(from_test_xml("//a:t", text)[0].outcome, FAILED, text)


if __name__ == "__main__":
    unittest.main()
