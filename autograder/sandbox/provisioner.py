"""A kernel provisioner: the kernel that jupyter_client starts lies inside bubblewrap.

Entry point `autograder-bubblewrap` of the group `jupyter_client.kernel_provisioners`. The kernel's five channels are
Unix sockets in a folder that both sides see, because inside there is no network.
"""

import contextlib
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
from autograder.sandbox.scratch import scratch
from autograder.sandbox.seccomp import as_descriptor
from autograder.sandbox.warm import HOLD, Cold, ended, fork_server, inside
from autograder.sandbox.watchdog import Watchdog

KILL_SECONDS = 5


class BubblewrapProvisioner(LocalProvisioner):
    """Starts the kernel inside the walls, watches it, and removes what it left."""

    given = Unicode("", help="the folder with the submission's files").tag(config=True)
    limits = Instance(Limits, args=())
    watchdog: Watchdog | None = None
    folder: Path | None = None
    sockets: Path | None = None
    """The folder that both sides see."""
    cold: tuple[list[str], Path, Path]
    """The command that starts a kernel from nothing, the submission's files, and the sockets' folder."""
    kernel: int | None = None
    """The descriptor of a kernel that was forked into the walls; None where bubblewrap itself started it."""
    leash: int | None = None
    """Our end of the pipe on which the walls around a forked kernel depend: when we are gone, so are they."""

    @property
    def verdict(self) -> str | None:
        """Why the watchdog ended the kernel, or None."""
        return self.watchdog.verdict_now() if self.watchdog else None

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        self.folder = Path(tempfile.mkdtemp(prefix="", dir=scratch()))
        self.sockets = sockets = self.folder / "s"
        sockets.mkdir()
        given = Path(self.given) if self.given else self.folder / "given"
        given.mkdir(exist_ok=True)
        manager = self.parent
        manager.transport, manager.ip, manager.cache_ports = "ipc", str(sockets / "k"), False
        manager.connection_file = str(sockets / "c.json")
        kwargs = await super().pre_launch(**kwargs)
        self.cold = kwargs["cmd"], given, sockets
        return kwargs | {"cwd": str(self.folder), "env": {},
                         "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> dict[str, Any]:
        server = fork_server()
        if server is not None:
            reading, self.leash = os.pipe()
            try:
                info = await self._launch(HOLD, stdin=reading, **kwargs)
                self.kernel = server.fork(self.process.pid, self.cold[0][3:], self.limits)
            except Cold:
                self.process.kill()
                self.process.wait()
            finally:
                os.close(reading)
        if self.kernel is None:
            info = await self._launch(self.cold[0], preexec_fn=self.limits.apply, **kwargs)  # a fork takes its limits
        with contextlib.suppress(Cold):  # nothing came up, as whoever waits for it will notice
            process = inside(self.process.pid, HOLD if self.kernel is not None else self.cold[0])
            self.watchdog = Watchdog(Path("/proc", str(process), "root", "proc"), self.limits, self.folder / "s",
                                     self.process.kill)
        return info

    async def _launch(self, command: list[str], **kwargs: Any) -> dict[str, Any]:
        """Build the walls around a command."""
        seccomp = as_descriptor()
        try:
            walls = sandbox_command(command, *self.cold[1:], self.limits, inner_environment(), seccomp)
            return await super().launch_kernel(walls, pass_fds=() if seccomp is None else (seccomp,), **kwargs)
        finally:
            if seccomp is not None:
                os.close(seccomp)

    async def poll(self) -> int | None:
        """Where the kernel was forked, the walls end with it."""
        if self.kernel is not None and self.process is not None and ended(self.kernel):
            self.process.kill()
            self.process.wait()
        return await super().poll()

    async def kill(self, restart: bool = False) -> None:
        """End it at once; jupyter_client would look again after a tenth of a second."""
        await super().kill(restart)
        if self.process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=KILL_SECONDS)

    async def cleanup(self, restart: bool = False) -> None:
        if self.watchdog is not None:
            self.watchdog.stop()
        for descriptor in (self.kernel, self.leash):
            if descriptor is not None:
                os.close(descriptor)
        self.kernel = self.leash = None
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
