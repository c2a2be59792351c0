# SPDX-License-Identifier: Apache-2.0
"""How programs around nccl-tests read its output, each rule written anew from what is known of the program.

A function takes the whole text and returns what the program would find in it, or raises as it would. What a rule needs
of the text is what nccl-bench's output must keep (docs/formats.md).
"""
import json
import os
import re
import subprocess


def lines_of(text):
    """As a file is read."""
    return text.splitlines()


def cloudai_rows(text):
    """cloudai's report: of the lines that begin with a digit those of 13 words."""
    rows = [line.split() for line in lines_of(text) if re.match(r"\d", line.strip())]
    return [row for row in rows if len(row) == 13]


def cloudai_devices(text):
    """cloudai's report: devices per node, name of the GPU, ranks."""
    highest, name, ranks = {}, "Unknown", 0
    for line in lines_of(text):
        if all(word in line for word in ("Rank", "device", "NVIDIA")):
            ranks += 1
            place = re.search(r"on\s+([\w\-.]+)\s+device\s+(\d+)", line)
            if place:
                highest[place[1]] = max(highest.get(place[1], -1), int(place[2]))
            kind = re.search(r"NVIDIA\s+(.+?)(?=\s*$|\s+\[|\s+device)", line)
            name = kind[1].strip() if kind else name
    return max(highest.values(), default=-1) + 1, name, ranks


def cloudai_has_columns(text):
    """cloudai's report: the 13 names in one line."""
    names = r"size\s+count\s+type\s+redop\s+root\s+time\s+algbw\s+busbw\s+#wrong\s+time\s+algbw\s+busbw\s+#wrong"
    return re.search(names, text) is not None


def cloudai_succeeded(text):
    """cloudai's job status."""
    wanted = ("# Out of bounds values", "# Avg bus bandwidth")
    unwanted = ("Test NCCL failure", "Test failure")
    return all(word in text for word in wanted) and not any(word in text for word in unwanted)


def cloudai_best(text):
    """cloudai's grade: the greatest of words 7 and 10 (from 0) of every line of more than ten words."""
    best = 0.0
    for line in lines_of(text):
        words = line.split()
        if not line.strip().startswith("#") and len(words) > 10:
            best = max(best, float(words[7]), float(words[10]))
    return best


def superbench(text, in_place=False):
    """superbench's nccl-bw: {size: (time, algbw, busbw)}, columns counted from the end of the line of names."""
    lines = lines_of(text)
    begin = max(i for i, line in enumerate(lines) if "out-of-place" in line)
    end = max(i for i, line in enumerate(lines) if "Out of bounds values" in line)
    names = next(line for line in lines[begin + 1:end] if "time" in line and "busbw" in line)[1:].split()

    def column(name):
        return -1 - names[::-1].index(name) if in_place else names.index(name) - len(names)

    columns = [column(name) for name in ("time", "algbw", "busbw")]
    rows = [line.split() for line in lines[begin + 1:end] if not line.lstrip().startswith("#")]
    return {int(row[0]): tuple(float(row[at]) for at in columns) for row in rows}


NVCRE_ROW = re.compile(
    r"^\s*(\d+)\s+(\d+)\s+(\w+)\s+(\w+)\s+(-?\d+)" + 2 * (3 * r"\s+(\d+(?:\.\d+)?)" + r"\s+(\S+)"))


def nvcre(text):
    """NVCRE: (size, busbw out of place) of rows with words for type and redop and plain decimals."""
    return [(int(row[1]), float(row[8])) for row in map(NVCRE_ROW.match, lines_of(text)) if row]


RAMBLE_NUMBER = r"(\d+\.?\d+)"
RAMBLE_ROW = re.compile(
    r"^\s*(\d+)\s+(\d+)\s+(\S+)\s+(\S+)\s+(\S+)" + 2 * (3 * (r"\s+" + RAMBLE_NUMBER) + r"\s+(\S+)") + r"\s*$")


def ramble(text):
    """Ramble's application: (size, busbw out of place, busbw in place) of rows of 13 fields."""
    return [(int(row[1]), float(row[8]), float(row[12])) for row in map(RAMBLE_ROW.match, lines_of(text)) if row]


def ai_cloud_validation(text):
    """ai-cloud-validation: average, and {size: (busbw out of place, in place)} by position with a check of the type."""
    average = float(re.search(r"Avg bus bandwidth\s*:\s*([\d.]+)", text)[1])
    rows = {}
    for words in map(str.split, lines_of(text)):
        if len(words) >= 13 and words[0].isdigit() and words[2].isalpha():
            rows[int(words[0])] = (float(words[7]), float(words[11]))
    return average, rows


def gcm(text):
    """gcm's check-nccl: the first number of the line of the average."""
    line = next(line for line in lines_of(text) if "Avg bus bandwidth" in line)
    return float(re.search(r"\d+(?:\.\d+)?", line)[0])


def azure_nhc(text):
    """Azure's node health check: the sixth word of any line with the word; no FAILED anywhere."""
    if "FAILED" in text:
        return None
    return [line.split()[5] for line in lines_of(text) if "bandwidth" in line]


def oci_hpc(text):
    """oci-hpc's active check: the sixth word of the line of the average."""
    return [float(line.split()[5]) for line in lines_of(text) if "Avg bus bandwidth" in line]


def gcp_average(text):
    """GCP's cluster health scanner: what stands after the colon of the average."""
    return float(re.search(r"# Avg bus bandwidth\s*:\s*(\S+)", text)[1])


def gcp_nodes(text):
    """GCP's cluster health scanner: every word after " on "."""
    return sorted(set(re.findall(r" on\s+(\S+)", text)))


AWSOME_ROW = re.compile(
    r"^\s*(\d+)\s+(\d+)\s+(float|double|int|half)\s+(sum|prod|max|min|none)\s+(-?\d+)"
    + 2 * r"\s+(\d+\.?\d*)\s+(\d+\.?\d*)\s+(\d+\.?\d*)\s+(\d+|N/A)" + r"\s*$")


def awsome_csv(text):
    """awsome-distributed-training's nccl_to_csv: (size, busbw out of place, in place), and the average."""
    rows = [(int(row[1]), float(row[8]), float(row[12])) for row in map(AWSOME_ROW.match, lines_of(text)) if row]
    return rows, float(re.search(r"# Avg bus bandwidth\s*:\s*([\d.]+)", text)[1])


AWSOME_AWK = "/^[[:space:]]*[0-9]+[[:space:]]+[0-9]+/ { if ($(NF-1) + 0 > best) best = $(NF-1) + 0 } END { print best + 0 }"


def awsome_health_check(text):
    """awsome-distributed-training's health check 5: the last field but one of the rows, by awk itself."""
    run = subprocess.run(["awk", AWSOME_AWK], input=text, stdout=subprocess.PIPE, text=True, check=True,
                         env=os.environ | {"LC_ALL": "C"})
    return float(run.stdout)


def sichek(text):
    """sichek: what stands after the colon of the average."""
    line = next(line for line in lines_of(text) if "Avg bus bandwidth" in line)
    return float(line.split(":", 1)[1].strip())


def xxrjun(text):
    """xxrjun's parser: program, sizes asked for, hosts, average, number of rows."""
    return {
        "program": re.search(r"# Collective test starting: (\S+)", text)[1],
        "sizes": tuple(map(int, re.search(r"minBytes (\d+) maxBytes (\d+)", text).groups())),
        "hosts": re.findall(r"on\s+(\S+)\s+device\s+\d+", text),
        "average": float(re.search(r"# Avg bus bandwidth\s*:\s*([\d.e+-]+)", text)[1]),
        "rows": len(re.findall(r"^\s*\d+\s+\d+\s+\w+\s+\w+\s+-?\d+(?:\s+\S+){8}\s*$", text, re.MULTILINE)),
    }


def analyze_perf_json(text):
    """nccl-tests' own reader of its JSON: layout, whether the times agree, and processes by node."""
    data = json.loads(text)
    agree = []
    for result in data["results"]:
        for place in ("out_of_place", "in_place"):
            times = result.get(place + "_per_iter", {})
            processes = times.get("per_process_max_times_us", [])
            if processes:
                longest = [max(column) for column in zip(*processes)]
                agree.append(all(abs(a - b) < 0.001 for a, b in zip(times["times_us"], longest)))
    count = len(data["results"][0].get("out_of_place_per_iter", {}).get("per_process_max_times_us", []))
    nodes = {}
    for process, device in enumerate(data["config"]["devices"][:count]):
        nodes.setdefault(device["hostname"], []).append(process)
    return data["version"], agree, nodes
