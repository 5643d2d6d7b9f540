"""Run as a script by `test_ordinary_user`: builds sandboxes and says in JSON who it is and what came of each."""

import json
import os
import sys
from pathlib import Path

from autograder.learner.calls import Call
from autograder.sandbox.kernel import Sandbox, Stopped
from autograder.sandbox.limits import MIB, Limits

LIMITS = Limits(cell_seconds=20, memory=700 * MIB, processes=20, disk_bytes=8 * MIB, file_bytes=4 * MIB)
TRIES = {
    "network": "import socket; socket.create_connection(('1.1.1.1', 53), timeout=1)",
    "write": "open('/usr/x', 'w')",
    "namespaces": "import subprocess; print(subprocess.run(['unshare', '-U', 'true'], capture_output=True).returncode)",
    "user": "import os; print(os.getuid())",
    "criteria": "import autograder.judging",
    "filter": "print([line for line in open('/proc/self/status') if line.startswith('Seccomp:')])",
    "large file": "open('big', 'wb').write(b'0' * (5 * 2**20))",
}
BOMBS = {
    "memory": "x = [bytearray(50 * 2**20) for _ in range(1000)]",
    "processes": "import os, time\nfor _ in range(200):\n    if os.fork() == 0: time.sleep(60)\ntime.sleep(15)",
}


def said(outputs) -> str:
    return " ".join(str(o.get("text") or o.get("evalue") or "") for o in outputs)


def main() -> dict:
    capabilities = next(line.split()[1] for line in Path("/proc/self/status").read_text().splitlines()
                        if line.startswith("CapEff"))
    found = {"me": [os.geteuid(), int(capabilities, 16)]}
    with Sandbox(limits=LIMITS) as box:
        found |= {name: said(box.execute(code)) for name, code in TRIES.items()}
        box.execute("def double(x):\n    return 2 * x")
        found["call"] = box.ask("double", Call((3,)), 0).output
    for name, code in BOMBS.items():
        with Sandbox(limits=LIMITS) as box:
            try:
                found[name] = said(box.execute(code))
            except Stopped as reason:
                found[name] = f"stopped: {reason}"
    return found


if __name__ == "__main__":
    json.dump(main(), sys.stdout)
