# SPDX-License-Identifier: Apache-2.0
"""JSON reports of two programs: the same members in the same order, of the same types, with the same values.

Values that are measured, and those that name this run, are compared by their form alone: the number of decimals, the
layout of a time. The environment is left out on both sides, as ours is an allow-list; so is our own member, the last.
"""
import json
import re

OWN_MEMBER = "nccl_bench"
LEFT_OUT = "left out"
MEASURED = {"time", "cpu_time", "alg_bw", "bus_bw", "bandwidth", "min_us", "max_us", "avg_us", "p50_us", "p95_us", "p99_us",
            "stdev_us", "cv_pct", "times_us", "per_process_max_times_us", "start_time", "end_time", "pid", "hostname"}


class _Float(str):
    """A number with a point, as it is written."""


class _Object(list):
    """The members in their order, also those that come twice."""


def without_environment(text):
    """The report with one word instead of the variables: nccl-tests writes all of them, secrets too."""
    start = re.search(r'"env"\s*:\s*', text)
    if not start:
        return text
    try:
        _, end = json.JSONDecoder().raw_decode(text, start.end())
    except ValueError:
        end = len(text)
    return f'{text[: start.end()]}["{LEFT_OUT}"]{text[end:]}'


def _read(text):
    return json.loads(text, parse_float=_Float, object_pairs_hook=_Object)


def _form(value):
    """What is compared of a measured value."""
    if isinstance(value, _Float):
        return f"number with {len(value.partition('.')[2])} decimals"
    if isinstance(value, str):
        return f"text {re.sub(r'[0-9]', '0', value)}" if re.match(r"\d{4}-", value) else "text"
    return "whole number" if isinstance(value, int) else type(value).__name__


def _lines(value, path, is_measured):
    """The value as lines, one for each leaf, in order."""
    if isinstance(value, _Object):
        yield f"{path}: object of {len(value)}"
        for key, member in value:
            yield from _lines(member, f"{path}.{key}", is_measured or key in MEASURED)
    elif isinstance(value, list):
        yield f"{path}: list of {len(value)}"
        for number, member in enumerate(value):
            yield from _lines(member, f"{path}[{number}]", is_measured)
    else:
        yield f"{path}: {_form(value) if is_measured else f'{_form(value)} {value!r}'}"


def forms(text, is_ours):
    """The report as lines to be compared. ValueError: it is no JSON."""
    report = _read(text)
    if is_ours and isinstance(report, _Object) and report and report[-1][0] == OWN_MEMBER:
        report.pop()
    if isinstance(report, _Object):
        report[:] = [(key, [LEFT_OUT] if key == "env" else value) for key, value in report]
        # The program's path is where each was built.
        report[:] = [(key, [value[0].rpartition("/")[2], *value[1:]] if key == "args" and value else value)
                     for key, value in report]
    return "\n".join(_lines(report, "", False))
