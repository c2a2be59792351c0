# SPDX-License-Identifier: Apache-2.0
"""What a test run yields: cases, and how each runner's output becomes cases."""
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"

TAP_LINE = re.compile(r"^(?P<not>not )?ok (?P<number>\d+) (?P<rest>.*)$")
TAP_TIME = re.compile(r" in (?P<ms>\d+)ms$")
TAP_SKIP = re.compile(r"^(?P<name>.*?)(?: in \d+ms)? # skip(?: \(?(?P<reason>.*?)\)?)?$")


@dataclass
class Case:
    """One test case: where it stands, how long it took, how it ended and why."""

    name: str
    seconds: float
    outcome: str
    detail: str = ""


def from_tap_line(suite, line):
    """The case of one line of bats' TAP output, or None when the line is none."""
    match = TAP_LINE.match(line)
    if not match:
        return None
    rest = match["rest"]
    skip = TAP_SKIP.match(rest)
    if skip and not match["not"]:
        return Case(f"{suite}: {skip['name']}", 0.0, SKIPPED, skip["reason"] or "no reason given")
    time = TAP_TIME.search(rest)
    seconds = int(time["ms"]) / 1000 if time else 0.0
    name = TAP_TIME.sub("", rest)
    return Case(f"{suite}: {name}", seconds, FAILED if match["not"] else PASSED)


def from_test_xml(target, text):
    """The cases in one test.xml of the build tool. A test that is no gtest program is one case."""
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        return [Case(target, 0.0, FAILED, f"its report is no XML: {error}")]
    return [_from_element(target, element) for element in root.iter("testcase")]


def _from_element(target, element):
    short = "/".join(part for part in (element.get("classname"), element.get("name")) if part)
    name = target if short in ("", target.lstrip("/")) else f"{target} {short}"
    seconds = float(element.get("time") or element.get("duration") or 0)
    problem = element.find("failure")
    problem = problem if problem is not None else element.find("error")
    if problem is not None:
        return Case(name, seconds, FAILED, (problem.get("message") or "").strip())
    skipped = element.find("skipped")
    if skipped is not None or element.get("result") == "skipped":
        reason = (skipped.get("message") if skipped is not None else "") or "no reason given"
        return Case(name, seconds, SKIPPED, reason.strip().splitlines()[-1])
    if element.get("status") == "notrun":
        return Case(name, seconds, SKIPPED, "disabled in the source")
    return Case(name, seconds, PASSED)
