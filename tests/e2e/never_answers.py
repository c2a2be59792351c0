#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A file that is opened and never answers, as a hung driver's: a process that reads it cannot even be killed.

  never_answers.py PID FILE    puts it over FILE in the mount namespace of PID, until this process is killed

A file system in user space (Linux' include/uapi/linux/fuse.h) whose only file is its root. It agrees to the protocol and
takes every further request without a reply; a request that was taken lets go of nobody. Prints "there", then "asked"."""
import os
import struct
import subprocess
import sys

INIT = 26
HEADER_IN, HEADER_OUT = struct.Struct("<IIQ"), struct.Struct("<IiQ")  # length, opcode or error, number of the request
INIT_OUT = struct.Struct("<IIIIHHIIHHI28x")  # version, read-ahead, flags, and limits


def main(pid, path):
    """Serves until it is killed."""
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=100444,user_id=0,group_id=0,allow_other"
    subprocess.run(["nsenter", "-t", pid, "-m", "mount", "-i", "-t", "fuse", "never", "-o", options, path], check=True,
                   pass_fds=[device])
    print("there", flush=True)
    while True:
        request = os.read(device, 1 << 17)
        _, opcode, number = HEADER_IN.unpack_from(request)
        if opcode == INIT:
            major, minor, read_ahead = struct.unpack_from("<III", request, 40)
            body = INIT_OUT.pack(major, min(minor, 31), read_ahead, 0, 12, 10, 4096, 1, 0, 0, 0)
            os.write(device, HEADER_OUT.pack(HEADER_OUT.size + len(body), 0, number) + body)
        else:
            print("asked", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
