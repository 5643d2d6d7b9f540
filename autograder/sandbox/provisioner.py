"""A kernel provisioner: the kernel that jupyter_client starts lies inside bubblewrap.

Entry point `autograder-bubblewrap` of the group `jupyter_client.kernel_provisioners`. The kernel's five channels are
Unix sockets in a folder that both sides see, because inside there is no network.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import KernelManager
from jupyter_client.provisioning import LocalProvisioner
from traitlets import Instance, Unicode

from autograder.sandbox.bubblewrap import inner_environment, sandbox_command
from autograder.sandbox.limits import Limits
from autograder.sandbox.seccomp import as_descriptor
from autograder.sandbox.watchdog import Watchdog


class BubblewrapProvisioner(LocalProvisioner):
    """Starts the kernel inside the walls, watches it, and removes what it left."""

    given = Unicode("", help="the folder with the submission's files").tag(config=True)
    limits = Instance(Limits, args=())
    watchdog: Watchdog | None = None
    folder: Path | None = None
    seccomp: int | None = None

    @property
    def verdict(self) -> str | None:
        """Why the watchdog ended the kernel, or None."""
        return self.watchdog.verdict if self.watchdog else None

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        # A socket's path has at most 107 bytes, so the folder's name is short.
        self.folder = Path(tempfile.mkdtemp(prefix="nss-"))
        sockets = self.folder / "s"
        sockets.mkdir()
        given = Path(self.given) if self.given else self.folder / "given"
        given.mkdir(exist_ok=True)
        manager = self.parent
        manager.transport, manager.ip, manager.cache_ports = "ipc", str(sockets / "k"), False
        manager.connection_file = str(sockets / "c.json")
        kwargs = await super().pre_launch(**kwargs)
        self.seccomp = as_descriptor()
        kwargs["cmd"] = sandbox_command(kwargs["cmd"], given, sockets, self.limits, inner_environment(), self.seccomp)
        inherited = () if self.seccomp is None else (self.seccomp,)
        return kwargs | {"cwd": str(self.folder), "preexec_fn": self.limits.apply, "env": {}, "pass_fds": inherited,
                         "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> dict[str, Any]:
        try:
            info = await super().launch_kernel(cmd, **kwargs)
        finally:
            if self.seccomp is not None:
                os.close(self.seccomp)
        process = self.process
        self.watchdog = Watchdog(process.pid, self.limits, self.folder / "s", process.kill)
        return info

    async def cleanup(self, restart: bool = False) -> None:
        if self.watchdog is not None:
            self.watchdog.stop()
        await super().cleanup(restart)
        if self.folder is not None and not restart:
            shutil.rmtree(self.folder, ignore_errors=True)


def sandboxed(manager_class: type[KernelManager], given: Path | None, limits: Limits) -> KernelManager:
    """A kernel manager whose IPython kernel starts inside the walls, whatever kernels are installed here."""
    config = {"given": str(given) if given else "", "limits": limits}
    spec = KernelSpec(
        argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"], display_name="Sandbox",
        language="python", interrupt_mode="message",
        metadata={"kernel_provisioner": {"provisioner_name": "autograder-bubblewrap", "config": config}})
    manager = manager_class()
    manager._kernel_spec = spec
    return manager
