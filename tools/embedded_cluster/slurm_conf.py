# SPDX-License-Identifier: Apache-2.0
"""The configuration files of the cluster: Slurm's, and the private /etc/hosts, passwd and group."""

import os
import shutil
from pathlib import Path

from .machines import CLONE, Node
from .slurm_root import SlurmRoot
from .state import INSIDE, State

ALICE = "alice:x:2001:2001::/home/alice:/bin/bash\n"
PRODUCT = ("cli/nccl-tune", "launcher/nccl-launch", "bench/nccl-bench", "spank/spank_nccl_tune.so",
           "envplugin/libnccl-env-nccl-tune.so")
PLUGIN = "spank_nccl_tune.so"
# Where our packages put it, below the root they are installed in.
INSTALLED = ("usr/bin", "usr/lib/nccl-bench", "usr/lib/nccl-tune")
# Programs and libraries of tests that go with the product; they stand ahead of the machine's own.
INSTEAD = "instead"
DROP_IN = Path("etc/slurm/plugstack.conf.d/zz-nccl_tune.conf")
PLUGIN_OF = "spank/spank_nccl_tune_{}.so"  # for a Slurm that is not the machine's

# Why each line is there: docs/cluster.md, "What differs from a real cluster".
SLURM_CONF = """\
ClusterName=embedded
SlurmctldHost=head({head})
AuthType=auth/munge
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={inside}/controller
SlurmdSpoolDir=/run/slurmd
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
SlurmctldLogFile={inside}/logs/slurmctld.log
SlurmdLogFile={inside}/logs/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
MpiDefault=none
PlugStackConfig={inside}/conf/plugstack.conf
SlurmdParameters=config_overrides
GresTypes=gpu
KillWait=2
AuthInfo=cred_expire=10
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,sched_interval=1,bf_interval=1
"""
NODE = ("NodeName={name} NodeAddr={addr} CPUs=16 Boards=1 SocketsPerBoard=2 CoresPerSocket=8 ThreadsPerCore=1 "
        "RealMemory=8000{gres} State=UNKNOWN\n")
PARTITION = "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n"


def slurm_conf(nodes: list[Node], head: str) -> str:
    """slurm.conf for these nodes and the controller at address `head`."""
    lines = [NODE.format(name=node.name, addr=node.addr.ip, gres=f" Gres=gpu:{node.gpus}" if node.gpus else "")
             for node in nodes]
    return SLURM_CONF.format(head=head, inside=INSIDE) + "".join(lines) + PARTITION


def gres_conf(nodes: list[Node]) -> str:
    """gres.conf: the GPUs of each node."""
    return "".join(f"NodeName={node.name} Name=gpu File=/dev/nvidia[0-{node.gpus - 1}]\n" if node.gpus > 1 else
                   f"NodeName={node.name} Name=gpu File=/dev/nvidia0\n" for node in nodes if node.gpus)


def cgroup_conf(version: str) -> str:
    """Turns cgroups off. Slurm 22.05 does not know `disabled`; its cgroup/v1 then finds nothing and needs nothing."""
    old = version.split(".")[:2] < ["22", "99"]
    return "CgroupPlugin=cgroup/v1\n" if old else "CgroupPlugin=disabled\n"


def hosts(nodes: list[Node], head: str) -> str:
    """/etc/hosts: the names of the cluster by their management addresses."""
    return f"127.0.0.1 localhost\n{head} head\n" + "".join(f"{node.addr.ip} {node.name}\n" for node in nodes)


def accounts(path: Path, line: str) -> str:
    """/etc/passwd or /etc/group of the root with alice in it."""
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        others = [text for text in file if not text.startswith("alice:")]
    return "".join(others) + line


def write(state: State, nodes: list[Node], head: str, rootless: bool, root: SlurmRoot) -> None:
    """Writes all configuration files."""
    files = {"slurm.conf": slurm_conf(nodes, head), "gres.conf": gres_conf(nodes),
             "cgroup.conf": cgroup_conf(root.slurm_version()),
             "hosts": hosts(nodes, head), "plugstack.conf": f"include {INSIDE}/conf/plugstack.conf.d/*.conf\n",
             "passwd": accounts(root.path / "etc/passwd", "" if rootless else ALICE),
             "group": accounts(root.path / "etc/group", "" if rootless else "alice:x:2001:\n")}
    (state.conf / "plugstack.conf.d").mkdir(parents=True)
    for name, text in files.items():
        (state.conf / name).write_text(text, encoding="utf-8", errors="surrogateescape")


def _find_product(folder: Path) -> dict[str, Path]:
    """What is built, by its path below the build folder; a folder with all files side by side will do as well, and so
    will a root in which our packages are installed.

    What this user may not read, such as the build folder of root, counts as not built."""
    found = {}
    flat = [folder, *(folder / below for below in INSTALLED)]
    benches = [f"bench/{path.name}" for where in (folder / "bench", *flat) for path in _shared_objects(where)
               if path.name.startswith("libnccl_bench_")]
    for name in dict.fromkeys((*PRODUCT, *benches)):
        for path in (folder / name, *(where / Path(name).name for where in flat)):
            if os.access(path, os.R_OK) and path.is_file():
                found[name] = path
                break
    return found


def _shared_objects(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.so")) if os.access(folder, os.R_OK | os.X_OK) else []


def _plugin_of(root: SlurmRoot, folder: Path) -> Path | None:
    """The plugin built for the Slurm of another root."""
    name = Path(PLUGIN_OF.format(root.release))
    return next((path for path in (folder / name, folder / name.name) if path.is_file()), None)


def install_product(state: State, folder: Path, root: SlurmRoot) -> list[str]:
    """Copies the built product into the cluster, puts the plugin's drop-in in place, gives back what is not built."""
    found = _find_product(folder)
    if not root.is_host:
        found.pop(f"spank/{PLUGIN}", None)
        plugin = _plugin_of(root, folder)
        found |= {f"spank/{PLUGIN}": plugin} if plugin else {}
    state.bin.mkdir()
    more = folder / INSTEAD
    others = {path.name: path for path in more.iterdir() if path.is_file()} if os.access(more, os.R_OK | os.X_OK) else {}
    for name, path in (found | others).items():
        target = state.bin / Path(name).name
        new = target.with_name(target.name + ".new")
        shutil.copyfile(path, new)
        os.chmod(new, 0o755)
        new.rename(target)
    if f"spank/{PLUGIN}" in found:
        _install_drop_in(folder, state.conf / "plugstack.conf.d" / "nccl_tune.conf")
    return [name for name in PRODUCT if name not in found]


def _install_drop_in(folder: Path, target: Path) -> None:
    """The drop-in that is installed, or else the one that we ship, with the plugin's path in the cluster."""
    installed = folder / DROP_IN
    shipped = installed if installed.is_file() else CLONE / "etc" / "nccl_tune.conf"
    text = shipped.read_text(encoding="utf-8") if shipped.is_file() else f"optional {PLUGIN}\n"
    lines = []
    for line in text.splitlines():
        words = line.split()
        if len(words) > 1 and words[0] in ("optional", "required") and os.path.basename(words[1]) == PLUGIN:
            line = " ".join([words[0], f"{INSIDE}/bin/{PLUGIN}", *words[2:]])
        lines.append(line + "\n")
    target.write_text("".join(lines), encoding="utf-8")
