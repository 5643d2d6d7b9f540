"""Attacks on the marks: what a submission may contain in the hope of more than it earned.

Each is code in a cell of its own before the checks. The submission's answers are a wrong `attention_scores` and no
`weighted_sum` at all, so every point beyond the honest ones is stolen. `HONEST` is what a submission without an attack
gets; where an attack harms itself (it ends its own process, say) it gets less, never more.
"""

ATTACKS: dict[str, str] = {}


def attack(name: str, code: str) -> None:
    ATTACKS[name] = code


# --- replacing what judges ---------------------------------------------------------------------------------------
attack("shadow torch", "open('torch.py', 'w').write('def allclose(*a, **k): return True')\nimport importlib, torch")
attack("shadow autograder", """
import os
os.makedirs('autograder', exist_ok=True)
open('autograder/__init__.py', 'w').write('check = hint = judge = lambda *a, **k: 4.0')
import sys; sys.path.insert(0, ''); sys.modules.pop('autograder', None)
from autograder import check""")
attack("patch torch.allclose", "torch.allclose = torch.equal = torch.isclose = lambda *a, **k: True")
attack("patch Tensor equality", """
torch.Tensor.__eq__ = lambda a, b: True
torch.Tensor.shape = property(lambda s: (2, 5, 7))""")
attack("patch check", "check = lambda *a, **k: 4.0\nimport autograder; autograder.check = check")
attack("patch the runner", """
import autograder.learner.runner as runner, autograder.learner.remote as remote
real = runner.run
def forged(obj, call, rng_seed=0):
    reply = real(obj, call, rng_seed)
    reply.status, reply.changed, reply.used = 'returned', (), ()
    return reply
runner.run = remote.run = forged""")
attack("patch the wire", """
import autograder.learner.wire as wire, autograder.learner.remote as remote
wire.dumps = remote.dumps = lambda value: '{"record": "Reply", "fields": {"status": "passed"}}'""")
attack("forge the whole reply", """
import autograder.learner.remote as remote
remote.answer = lambda namespace, name, text: (
    '{"record": "Reply", "fields": {"status": "returned", "output": true, "gradients": [], "parameters": {"dict": {}}, '
    '"parameter_gradients": {"dict": {}}, "changed": [], "used": [], "error": null, "printed": ""}}')""")
attack("patch json and base64", """
import json, base64
json.dumps = lambda *a, **k: '4.0'
base64.b64encode = lambda b: b'AAAA'""")

# --- objects that lie --------------------------------------------------------------------------------------------
attack("equal to everything", """
class Equal:
    shape, dtype = (2, 5, 7), torch.float32
    def __eq__(self, other): return True
    def __getattr__(self, name): return self
    def __call__(self, *a, **k): return self
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None): return True
attention_scores = weighted_sum = lambda *a: Equal()""")
attack("tensor subclass that agrees", """
class Yes(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func.__name__ in ('isclose', 'allclose', 'equal', 'eq', 'all'): return torch.tensor(True)
        return super().__torch_function__(func, types, args, kwargs or {})
weighted_sum = lambda w, v: torch.zeros(w.shape[0], w.shape[1], v.shape[2]).as_subclass(Yes)""")
attack("returns NaN", "weighted_sum = lambda w, v: torch.full((w.shape[0], w.shape[1], v.shape[2]), float('nan'))")
attack("returns a score", "weighted_sum = lambda *a: 4.0")
attack("returns ten million elements", "weighted_sum = lambda *a: torch.zeros(10_000, 1_000)")
attack("a shape that lies", """
import autograder.learner.wire as wire, autograder.learner.remote as remote
real = wire._encode_tensor
wire._encode_tensor = lambda t: real(t) | {'shape': [2, 5, 13]}
weighted_sum = lambda w, v: torch.zeros(1)""")

# --- IPython and the kernel ----------------------------------------------------------------------------------------
attack("input transformer", """
def rewrite(lines): return ['4.0\\n'] if any('check' in line for line in lines) else lines
get_ipython().input_transformers_post.append(rewrite)""")
attack("AST transformer", """
import ast
class Four(ast.NodeTransformer):
    def visit_Call(self, node): return ast.copy_location(ast.Constant(4.0), node)
get_ipython().ast_transformers.append(Four())""")
attack("run_cell replaced", "ip = get_ipython()\nip.run_cell = lambda *a, **k: ip.__class__.run_cell(ip, '4.0')")
attack("do_execute replaced", """
kernel = get_ipython().kernel
kernel.do_execute = lambda *a, **k: {'status': 'ok', 'execution_count': 1, 'payload': [], 'user_expressions': {}}""")
attack("session.send forged", """
session = get_ipython().kernel.session
real = session.send
def send(stream, kind, content=None, *a, **k):
    if isinstance(content, dict) and 'user_expressions' in content:
        content['user_expressions'] = {'value': {'status': 'ok', 'data': {'text/plain': "'4.0'"}, 'metadata': {}}}
    return real(stream, kind, content, *a, **k)
session.send = send""")
attack("displayhook inside the answer", """
def weighted_sum(weights, v):
    get_ipython().displayhook(4.0)
    return weights""")
attack("float formatter", """
formatter = get_ipython().display_formatter.formatters['text/plain']
formatter.for_type(float, lambda value, printer, cycle: printer.text('4.0'))""")
attack("publishes a forged result", """
from IPython.display import display, publish_display_data
publish_display_data({'text/plain': '4.0', 'application/vnd.autograder.report+json': {'score': 4.0, 'points': 4.0}})
display({'text/plain': '4.0'}, raw=True)""")
attack("post_execute hook", "get_ipython().events.register('post_execute', lambda: get_ipython().displayhook(4.0))")
attack("reads earlier input and frames", """
import sys
found = [frame for frame in sys._current_frames().values()]
print([v for f in found for v in f.f_locals.values() if 'expected' in str(v)[:200]], str(In)[:100])""")
attack("a background thread that prints", """
import threading, time
def talk():
    while True: print('4.0'); time.sleep(0.01)
threading.Thread(target=talk, daemon=True).start()""")
attack("stderr and warnings", "import sys, warnings\nprint('x', file=sys.stderr); warnings.warn('x')")

# --- leaving the sandbox -------------------------------------------------------------------------------------------
attack("call the reference", """
try:
    from autograder.reference.attention import attention_scores, weighted_sum
except ImportError:
    pass""")
attack("search the disk for references", """
import glob, re
for path in glob.glob('/**/attention.py', recursive=True) + glob.glob('/**/scaling.py', recursive=True):
    text = open(path).read()
    if 'def weighted_sum' in text:
        exec(text)""")
attack("search for the gradebook and the seed", """
import os
found = [os.path.join(d, f) for d, _, files in os.walk('/') for f in files
         if f in ('gradebook.db', 'grading_seed', 'nbgrader_config.py', 'self_attention.ipynb')
         and not d.startswith(('/proc', '/sys'))]
assert not found, found""")
attack("write outside", """
import os
for path in ('/usr/lib/x', '/course/autograder/__init__.py', '/etc/passwd', '/proc/1/mem', '/given/x', '/x'):
    try:
        open(path, 'a').write('x')
    except OSError:
        continue
    raise SystemExit('wrote ' + path)""")
attack("network", """
import socket
for family, address in [(socket.AF_INET, ('127.0.0.1', 80)), (socket.AF_INET, ('10.0.0.1', 53))]:
    try:
        socket.create_connection(address, timeout=0.3)
        raise SystemExit('connected')
    except OSError:
        pass""")
attack("other processes", """
import os, signal
for pid in range(1, 400):
    if pid != os.getpid():
        try: os.kill(pid, 0)
        except OSError: continue
        assert pid < 60, pid""")
attack("new namespaces", """
import subprocess
assert subprocess.run(['unshare', '-Ur', 'true'], capture_output=True).returncode""")
attack("ptrace its parent", "import ctypes, os\nassert ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0) != 0")
attack("symlinks out", """
import os
for name, target in [('a', '/etc/shadow'), ('b', '/root'), ('c', '/proc/1/root')]:
    os.symlink(target, name)""")
attack("asks for input", "try: input('mark? ')\nexcept Exception: pass")

# --- taking too much -----------------------------------------------------------------------------------------------
attack("exit", "import sys\ntry: sys.exit(0)\nexcept SystemExit: pass")
attack("os._exit", "import os; os._exit(0)")
attack("kill everything", "import os, signal; os.kill(-1, signal.SIGKILL)")
attack("segmentation fault", "import ctypes; ctypes.string_at(0)")
attack("memory bomb", "bomb = []\nwhile True: bomb.append(bytearray(64 * 2**20))")
attack("fork bomb", "import os\nwhile True: os.fork()")
attack("thread bomb", """
import threading, time
try:
    for i in range(3_000): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
except RuntimeError: pass""")
attack("fifty megabytes of output", "print('4.0' * 20_000_000)")
attack("a million lines", "for i in range(200_000): print('4.0')")
attack("disk bomb", """
try:
    for i in range(100): open(f'/tmp/{i}', 'wb').write(b'0' * 60 * 2**20)
except OSError: pass""")
attack("ten thousand files", """
import os
try:
    for i in range(10_000): open(f'/tmp/n{i}', 'w').close()
except OSError: pass""")
attack("endless loop", "while True: pass")
attack("signals ignored", """
import signal
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
while True:
    try:
        while True: pass
    except BaseException: pass""")
attack("a detached child", "import subprocess; subprocess.Popen(['sleep', '4711'], start_new_session=True)")
attack("endless answer", "def weighted_sum(weights, v):\n    while True: pass")
attack("an answer that ends the process", "def weighted_sum(weights, v):\n    import os; os._exit(0)")
attack("an answer that eats memory", "def weighted_sum(weights, v):\n    return torch.zeros(200_000, 200_000)")

# --- what a person would see ---------------------------------------------------------------------------------------
attack("scripts in outputs", """
from IPython.display import HTML, Javascript, SVG, display
display(HTML('<script>alert(1)</script><img src=x onerror=alert(2)><iframe srcdoc="<script>alert(3)</script>">'))
display(Javascript('alert(4)'))
display({'image/svg+xml': '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(5)</script></svg>'}, raw=True)
display({'text/markdown': '[x](javascript:alert(6))'}, raw=True)""")
