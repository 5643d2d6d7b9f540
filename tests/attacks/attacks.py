"""Attacks on the marks: what a submission may contain in the hope of more than it earned.

Each is code in a cell of its own, after the answers and before the checks. The answers are a right `attention_scores`,
an `attention_weights` that is wrong in one way, and no `weighted_sum` at all: so every point beyond the honest ones is
stolen, and every point below them is lost without need. Code that got out of the sandbox says so with an AssertionError
or with SystemExit.
"""

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Attack:
    """harms_itself: it may cost the attacker's own answers. seconds: time for its cell; to search a disk takes long."""

    name: str
    code: str
    where: str
    harms_itself: bool = False
    seconds: float = 8


ATTACKS: dict[str, Attack] = {}
JUDGES, MACHINE = "what judges", "the machine"


def attack(where: str, name: str, code: str, harms_itself: bool = False, seconds: float = 8) -> None:
    assert name not in ATTACKS
    ATTACKS[name] = Attack(name, code, where, harms_itself, seconds)


# --- replacing what judges ---------------------------------------------------------------------------------------
attack(JUDGES, "shadow torch", """
open('torch.py', 'w').write('def allclose(*a, **k): return True')
import importlib, torch""")
attack(JUDGES, "shadow autograder", """
import os
os.makedirs('autograder', exist_ok=True)
open('autograder/__init__.py', 'w').write('check = hint = judge = lambda *a, **k: 4.0')
import sys; sys.path.insert(0, ''); sys.modules.pop('autograder', None)
from autograder import check""")
attack(JUDGES, "patch torch.allclose", "torch.allclose = torch.equal = torch.isclose = lambda *a, **k: True")
attack(JUDGES, "patch Tensor equality", """
torch.Tensor.__eq__ = lambda a, b: True
torch.Tensor.shape = property(lambda s: (2, 5, 7))""", harms_itself=True)
attack(JUDGES, "patch check", "check = lambda *a, **k: 4.0\nimport autograder; autograder.check = check")
attack(JUDGES, "patch the runner", """
import autograder.learner.runner as runner, autograder.learner.remote as remote
real = runner.run
def forged(obj, call, rng_seed=0):
    reply = real(obj, call, rng_seed)
    reply.status, reply.changed, reply.used = 'returned', (), ()
    return reply
runner.run = remote.run = forged""")
attack(JUDGES, "patch the wire", """
import autograder.learner.wire as wire, autograder.learner.remote as remote
wire.dumps = remote.dumps = lambda value: '{"record": "Reply", "fields": {"status": "passed"}}'""", harms_itself=True)
attack(JUDGES, "forge the whole reply", """
import autograder.learner.remote as remote
remote.answer = lambda namespace, name, text: (
    '{"record": "Reply", "fields": {"status": "returned", "output": true, "gradients": [], "parameters": {"dict": {}}, '
    '"parameter_gradients": {"dict": {}}, "changed": [], "used": [], "error": null, "printed": ""}}')""",
       harms_itself=True)
attack(JUDGES, "patch json and base64", """
import json, base64
json.dumps = lambda *a, **k: '4.0'
base64.b64encode = lambda b: b'AAAA'""", harms_itself=True)

# --- objects that lie --------------------------------------------------------------------------------------------
attack(JUDGES, "equal to everything", """
class Equal:
    shape, dtype = (2, 5, 7), torch.float32
    def __eq__(self, other): return True
    def __getattr__(self, name): return self
    def __call__(self, *a, **k): return self
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None): return True
weighted_sum = lambda *a: Equal()""")
attack(JUDGES, "tensor subclass that agrees", """
class Yes(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func.__name__ in ('isclose', 'allclose', 'equal', 'eq', 'all'): return torch.tensor(True)
        return super().__torch_function__(func, types, args, kwargs or {})
weighted_sum = lambda w, v: torch.zeros(w.shape[0], w.shape[1], v.shape[2]).as_subclass(Yes)""")
attack(JUDGES, "returns NaN", """
weighted_sum = lambda w, v: torch.full((w.shape[0], w.shape[1], v.shape[2]), float('nan'))""")
attack(JUDGES, "returns a score", "weighted_sum = lambda *a: 4.0")
attack(JUDGES, "returns ten million elements", "weighted_sum = lambda *a: torch.zeros(10_000, 1_000)")
attack(JUDGES, "a shape that lies", """
import autograder.learner.wire as wire, autograder.learner.remote as remote
real = wire._encode_tensor
wire._encode_tensor = lambda t: real(t) | {'shape': [2, 5, 13]}
weighted_sum = lambda w, v: torch.zeros(1)""", harms_itself=True)

# --- IPython and the kernel ----------------------------------------------------------------------------------------
attack(JUDGES, "input transformer", """
def rewrite(lines): return ['4.0\\n'] if any('check' in line for line in lines) else lines
get_ipython().input_transformers_post.append(rewrite)""")
attack(JUDGES, "AST transformer", """
import ast
class Four(ast.NodeTransformer):
    def visit_Call(self, node): return ast.copy_location(ast.Constant(4.0), node)
get_ipython().ast_transformers.append(Four())""")
attack(JUDGES, "run_cell replaced", """
ip = get_ipython()
ip.run_cell = lambda *a, **k: ip.__class__.run_cell(ip, '4.0')""")
attack(JUDGES, "do_execute replaced", """
kernel = get_ipython().kernel
kernel.do_execute = lambda *a, **k: {'status': 'ok', 'execution_count': 1, 'payload': [], 'user_expressions': {}}""",
       harms_itself=True)
attack(JUDGES, "session.send forged", """
session = get_ipython().kernel.session
real = session.send
def send(stream, kind, content=None, *a, **k):
    if isinstance(content, dict) and 'user_expressions' in content:
        content['user_expressions'] = {'value': {'status': 'ok', 'data': {'text/plain': "'4.0'"}, 'metadata': {}}}
    return real(stream, kind, content, *a, **k)
session.send = send""", harms_itself=True)
attack(JUDGES, "displayhook inside the answer", """
def weighted_sum(weights, v):
    get_ipython().displayhook(4.0)
    return weights""")
attack(JUDGES, "float formatter", """
formatter = get_ipython().display_formatter.formatters['text/plain']
formatter.for_type(float, lambda value, printer, cycle: printer.text('4.0'))""")
attack(JUDGES, "publishes a forged result", """
from IPython.display import display, publish_display_data
publish_display_data({'text/plain': '4.0', 'application/vnd.autograder.report+json': {'score': 4.0, 'points': 4.0}})
display({'text/plain': '4.0'}, raw=True)""")
attack(JUDGES, "post_execute hook", """
get_ipython().events.register('post_execute', lambda: get_ipython().displayhook(4.0))""")
attack(JUDGES, "reads earlier input and frames", """
import sys
found = [frame for frame in sys._current_frames().values()]
print([v for f in found for v in f.f_locals.values() if 'expected' in str(v)[:200]], str(In)[:100])""")
attack(JUDGES, "a background thread that prints", """
import threading, time
def talk():
    while True: print('4.0'); time.sleep(0.01)
threading.Thread(target=talk, daemon=True).start()""")
attack(JUDGES, "stderr and warnings", "import sys, warnings\nprint('x', file=sys.stderr); warnings.warn('x')")

attack(JUDGES, "endless lists in place of a reply", """
session = get_ipython().kernel.session
real = session.send
def send(stream, kind, content=None, *a, **k):
    if isinstance(content, dict) and 'user_expressions' in content:
        content['user_expressions'] = {'value': {'status': 'ok', 'data': {'text/plain': '[1,' * 5_000_000}}}
    return real(stream, kind, content, *a, **k)
session.send = send""", harms_itself=True)
attack(JUDGES, "messages that are not what they should be", """
session = get_ipython().kernel.session
for content in ({'execution_state': 'idle'}, [1], 'x', None, {'data': {'text/plain': ['4.0']}}, {'text': 4.0}):
    for kind in ('status', 'stream', 'execute_result', 'display_data', 'error', 'evil'):
        session.send(get_ipython().kernel.iopub_socket, kind, content, parent={'msg_id': 4.0})""")
attack(JUDGES, "a message a hundred thousand brackets deep", """
session = get_ipython().kernel.session
session.pack = lambda thing: b'[' * 100_000 + b']' * 100_000""", harms_itself=True)
attack(JUDGES, "numbers that are no numbers", """
class Big(float):
    def __repr__(self): return '1e999'
def weighted_sum(weights, v):
    return [Big('inf'), {1: 2}, weights, (weights,) * 50]""")
attack(JUDGES, "says that it is idle and goes on", """
import threading, time
kernel = get_ipython().kernel
kernel.session.send(kernel.iopub_socket, 'status', {'execution_state': 'idle'}, parent=kernel.get_parent())
def later():
    time.sleep(1)
    kernel.session.send(kernel.iopub_socket, 'execute_result',
                        {'data': {'text/plain': '4.0'}, 'metadata': {}, 'execution_count': 5},
                        parent=kernel.get_parent())
threading.Thread(target=later).start()""")
attack(JUDGES, "a module that is nothing but lies", """
import sys, types
class Liar(types.ModuleType):
    def __getattr__(self, name): return lambda *a, **k: True
for name in list(sys.modules):
    if name.startswith('autograder'): sys.modules[name] = Liar(name)""", harms_itself=True)

# --- leaving the sandbox -------------------------------------------------------------------------------------------
attack(MACHINE, "call the reference", """
try:
    from autograder.reference.attention import attention_scores, weighted_sum
except ImportError:
    pass""")
attack(MACHINE, "search the disk", """
import os
secret = ('gradebook.db', 'grading_seed', 'nbgrader_config.py', 'self_attention.ipynb', 'scaling.ipynb', 'students.csv')
found = []
for folder, folders, files in os.walk('/'):
    folders[:] = [f for f in folders if f not in ('proc', 'sys') or folder != '/']
    found += [os.path.join(folder, f) for f in files if f in secret]
    for name in {'attention.py', 'scaling.py', 'self_attention.py', 'catalogue.py'} & set(files):
        with open(os.path.join(folder, name)) as file:
            if 'def weighted_sum' in file.read(): found.append(os.path.join(folder, name))
assert not found, found""", seconds=300)
attack(MACHINE, "write outside", """
import os
for path in ('/usr/lib/x', '/course/autograder/__init__.py', '/etc/passwd', '/proc/1/mem', '/given/x', '/x'):
    try:
        open(path, 'a').write('x')
    except OSError:
        continue
    raise SystemExit('wrote ' + path)""")
attack(MACHINE, "network", """
import socket
for family, address in [(socket.AF_INET, ('127.0.0.1', 80)), (socket.AF_INET, ('10.0.0.1', 53))]:
    try:
        socket.create_connection(address, timeout=0.3)
        raise SystemExit('connected')
    except OSError:
        pass""")
attack(MACHINE, "other processes", """
import os, signal
for pid in range(1, 400):
    if pid != os.getpid():
        try: os.kill(pid, 0)
        except OSError: continue
        assert pid < 60, pid""")
attack(MACHINE, "new namespaces", """
import subprocess
assert subprocess.run(['unshare', '-Ur', 'true'], capture_output=True).returncode""")
attack(MACHINE, "ptrace its parent", "import ctypes, os\nassert ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0) != 0")
attack(MACHINE, "symlinks out", """
import os
for name, target in [('a', '/etc/shadow'), ('b', '/root'), ('c', '/proc/1/root')]:
    os.symlink(target, name)""")
attack(MACHINE, "asks for input", "try: input('mark? ')\nexcept Exception: pass")

attack(MACHINE, "wait in the home folder for the next start", """
import os
for folder in ('~/.ipython/profile_default/startup', '~/.local/lib/python3.11/site-packages', '.'):
    os.makedirs(os.path.expanduser(folder), exist_ok=True)
    for name in ('00.py', 'sitecustomize.py', 'usercustomize.py', 'torch.py', 'evil.pth'):
        open(os.path.join(os.path.expanduser(folder), name), 'w').write('import os; os._exit(0)')
os._exit(0)""")
attack(MACHINE, "take over the kernel's sockets", """
import os, socket, ipykernel.connect
folder = os.path.dirname(ipykernel.connect.get_connection_file())
for name in os.listdir(folder):
    if name.startswith('k'):
        os.unlink(os.path.join(folder, name))
        socket.socket(socket.AF_UNIX).bind(os.path.join(folder, name))""")
attack(MACHINE, "fill the folder of the sockets", """
import os, time, ipykernel.connect
folder = os.path.dirname(ipykernel.connect.get_connection_file())
os.makedirs(os.path.join(folder, 'deep'))
while True:
    open(os.path.join(folder, 'deep', str(time.monotonic())), 'wb').write(b'0' * 2**20); time.sleep(0.05)""")
attack(MACHINE, "system calls that no notebook needs", """
import ctypes, platform
libc = ctypes.CDLL(None, use_errno=True)
numbers = {'x86_64': (101, 165, 272, 308, 250, 321, 298, 323, 310),
           'aarch64': (117, 40, 97, 268, 219, 280, 241, 282, 270)}
for number in (*numbers.get(platform.machine(), ()), 425, 428, 438):
    assert libc.syscall(number, 0, 0, 0, 0, 0, 0) == -1 and ctypes.get_errno() in (1, 38), number""")
attack(MACHINE, "the other end of inherited files", """
import os
for name in os.listdir('/proc/self/fd'):
    try: target = os.readlink('/proc/self/fd/' + name)
    except OSError: continue
    inside = ('socket:', 'anon_inode:', 'pipe:', '/dev/null', '/proc/', '/submission', '/tmp/')
    assert target.startswith(inside), target""")

# --- taking too much -----------------------------------------------------------------------------------------------
attack(MACHINE, "exit", "exit()")
attack(MACHINE, "os._exit", "import os; os._exit(0)")
attack(MACHINE, "kill everything", "import os, signal; os.kill(-1, signal.SIGKILL)")
attack(MACHINE, "segmentation fault", "import ctypes; ctypes.string_at(0)")
attack(MACHINE, "memory bomb", "bomb = []\nwhile True: bomb.append(bytearray(64 * 2**20))")
attack(MACHINE, "fork bomb", "import os\nwhile True: os.fork()")
attack(MACHINE, "thread bomb", """
import threading, time
try:
    for i in range(3_000): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
except RuntimeError: pass""")
attack(MACHINE, "fifty megabytes of output", "print('4.0' * 20_000_000)")
attack(MACHINE, "a million lines", "for i in range(200_000): print('4.0')")
attack(MACHINE, "disk bomb", """
try:
    for i in range(100): open(f'/tmp/{i}', 'wb').write(b'0' * 60 * 2**20)
except OSError: pass""")
attack(MACHINE, "ten thousand files", """
import os
try:
    for i in range(10_000): open(f'/tmp/n{i}', 'w').close()
except OSError: pass""")
attack(MACHINE, "endless loop", "while True: pass")
attack(MACHINE, "signals ignored", """
import signal
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
while True:
    try:
        while True: pass
    except BaseException: pass""")
DETACHED = ["sleep", f"{1_000_000 + os.getpid()}"]
"""A command that nobody else on this machine runs."""
attack(MACHINE, "a detached child", f"import subprocess; subprocess.Popen({DETACHED}, start_new_session=True)")
attack(MACHINE, "endless answer", "def weighted_sum(weights, v):\n    while True: pass")
attack(MACHINE, "an answer that ends the process", "def weighted_sum(weights, v):\n    import os; os._exit(0)")
attack(MACHINE, "an answer that eats memory", "def weighted_sum(weights, v):\n    return torch.zeros(200_000, 200_000)")

# --- the copies of the process that are judged ----------------------------------------------------------------------
attack(JUDGES, "a stranger at the door of the copies", """
import ipykernel, os, threading, time
from multiprocessing.connection import Client
forged = (b'{"record": "Reply", "fields": {"status": "returned", "output": true, "gradients": [], "parameters": '
          b'{"dict": {}}, "parameter_gradients": {"dict": {}}, "buffers": {"dict": {}}, "changed": [], "used": [], '
          b'"error": null, "printed": ""}}')
door = os.path.join(os.path.dirname(ipykernel.get_connection_file()), 'd')
def knock():
    while True:
        try:
            for _ in range(3): Client(door, 'AF_UNIX').send_bytes(forged)
        except Exception: time.sleep(0.001)
threading.Thread(target=knock, daemon=True).start()""", harms_itself=True)
attack(JUDGES, "a fork that is none", "import os; os.fork = lambda: 1")
attack(JUDGES, "a fork that is the kernel itself", "import os; os.fork = lambda: 0", harms_itself=True)
attack(JUDGES, "every child ends at once", "import os; os.register_at_fork(after_in_child=lambda: os._exit(0))")
attack(JUDGES, "a copy that serves somebody else", """
import autograder.learner.copies as copies
copies.FUNCTIONS = dict.fromkeys(copies.FUNCTIONS, lambda *texts: 'weighted_sum')""", harms_itself=True)
attack(JUDGES, "a copy that answers without end", """
import autograder.learner.copies as copies
copies.FUNCTIONS = dict.fromkeys(copies.FUNCTIONS, lambda *texts: '[' * 20_000_000)""", harms_itself=True)

# --- what a person would see ---------------------------------------------------------------------------------------
attack(MACHINE, "scripts in outputs", """
from IPython.display import HTML, Javascript, SVG, display
display(HTML('<script>alert(1)</script><img src=x onerror=alert(2)><iframe srcdoc="<script>alert(3)</script>">'))
display(Javascript('alert(4)'))
display({'image/svg+xml': '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(5)</script></svg>'}, raw=True)
display({'text/markdown': '[x](javascript:alert(6))'}, raw=True)""")
attack(MACHINE, "text that cannot be written", r"""
from IPython.display import display
print('\ud800')
display({'text/plain': '\udfff', 'text/html': '<b>\ud800</b>', '\ud800/x': '\ud800'}, raw=True)
def weighted_sum(weights, v):
    raise ValueError('\ud800')""")
attack(MACHINE, "scripts in the text of an exception", """
class Evil(Exception): pass
Evil.__name__ = Evil.__qualname__ = '<script>alert(7)</script>'
def weighted_sum(weights, v):
    raise Evil('<img src=x onerror=alert(8)>')""")
