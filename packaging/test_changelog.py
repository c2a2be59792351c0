# SPDX-License-Identifier: Apache-2.0
"""The version and the Debian changelog, made from base/version.h and CHANGELOG.md."""
import unittest

import changelog
from changelog import BadInput

GOOD = """\
# Changelog

## 0.2.0 (unreleased)

Second version.

- One thing,
  told on two lines.
- Another.

## 0.1.0 (2025-03-04)

- First.
"""
MADE = """\
nccl-tune (0.2.0) UNRELEASED; urgency=medium

  Second version.
  * One thing,
    told on two lines.
  * Another.

 -- nccl-tune maintainers <maintainers@nccl-tune.invalid>  Thu, 01 Jan 2026 00:00:00 +0000

nccl-tune (0.1.0) unstable; urgency=medium

  * First.

 -- nccl-tune maintainers <maintainers@nccl-tune.invalid>  Tue, 04 Mar 2025 00:00:00 +0000
"""


class Version(unittest.TestCase):
    def test_is_read_from_the_header(self):
        self.assertEqual(changelog.version_of('x\ninline constexpr std::string_view kVersion = "1.20.3";\n'), "1.20.3")

    def test_bad(self):
        for header in ("", 'kVersion = "";', 'kVersion = "v1";', 'kVersion = "1 2";', 'kVersion = "1";\nkVersion = "2";'):
            with self.subTest(header), self.assertRaisesRegex(BadInput, "base/version.h: got [02] lines with kVersion"):
                changelog.version_of(header)


class Convert(unittest.TestCase):
    def test_converts(self):
        self.assertEqual(changelog.convert(GOOD, "0.2.0"), (MADE, changelog.UNRELEASED))

    def test_a_released_version_has_its_own_date(self):
        text, seconds = changelog.convert("## 1.0 (1970-01-02)\n", "1.0")
        self.assertEqual(seconds, 86400)
        self.assertIn("  * No changes are listed.\n", text)

    def test_bad(self):
        table = (
            ("", "1.0", 'got "none" as the newest version, expected "1.0" as base/version.h has it'),
            ("text only\n", "1.0", 'got "none"'),
            ("## 1.0 (unreleased)\n", "1.1", 'got "1.0" as the newest version, expected "1.1"'),
            ("\n## 1.0\n", "1.0", 'CHANGELOG.md:2: got "## 1.0", expected'),
            ("## 1.0 (soon)\n", "1.0", 'CHANGELOG.md:1: got "## 1.0 \\(soon\\)"'),
            ("## one (unreleased)\n", "1.0", "CHANGELOG.md:1: got"),
            ("## 1.0 (2025-13-01)\n", "1.0", 'got the date "2025-13-01", expected YYYY-MM-DD'),
        )
        for markdown, version, message in table:
            with self.subTest(markdown), self.assertRaisesRegex(BadInput, message):
                changelog.convert(markdown, version)


if __name__ == "__main__":
    unittest.main()
