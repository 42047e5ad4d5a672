// The sandbox against a real daemon: what code in it is, sees and can do, what ends it, and that the host and the engine
// stand as before.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import type { Container } from 'dockerode';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { CodeSandbox } from '../../sandbox/codeSandbox.ts';
import type { CodeResult, SandboxOptions } from '../../sandbox/codeSandbox.ts';
import { generateSdk } from '../../sandbox/generateSdk.ts';
import { containerOptions, LABEL, ownerLabel, pythonProgram, reap, SandboxContainer } from '../../sandbox/sandboxContainer.ts';
import { clearSockets } from '../../sandbox/toolSocket.ts';
import type { CodeCall, CodeCallAnswer } from '../../sandbox/toolSocket.ts';
import { docker, dockerSocket, image, noDocker } from '../docker.ts';
import { startProxy } from '../faults/proxy.ts';
import { until } from '../workerProcess.ts';

const canary = 'canary-5b1e7c';
process.env['WORK_LEDGER_CANARY'] = canary;
const MiB = 1024 * 1024;
let sandbox: CodeSandbox;
let directory: string;

const echo = {
  name: 'echo',
  description: 'Says it again.',
  input_schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
};
const open = (more: Partial<SandboxOptions> = {}): CodeSandbox =>
  new CodeSandbox({ docker, image, memoryBytes: 128 * MiB, cpus: 1, pool: 0, ...more });
const answer = async (call: CodeCall): Promise<CodeCallAnswer> =>
  call.name === 'echo' ? { value: call.input['text'] } : { error: `no ${call.name}` };
const run = (code: string, timeoutSeconds = 300, of = sandbox, onCall = answer): Promise<CodeResult> =>
  of.run({ code, sdk: generateSdk([echo], of.socketPath), timeoutSeconds, signal: new AbortController().signal, onCall });
const json = async (code: string, of = sandbox): Promise<unknown> => {
  const result = await run(code, 300, of);
  expect(result).toMatchObject({ verdict: 'ok', error: null });
  return JSON.parse(result.returned ?? 'null');
};
/** Those of a process, without what is being removed: a worker of another test reaps whatever has ended, so may be at it, too. */
const containers = async (pid = process.pid, all = true): Promise<unknown[]> => {
  const listed = await docker.listContainers({ all, filters: { label: [`${LABEL}=${ownerLabel(pid)}`] } });
  return listed.filter(({ State }) => State !== 'removing');
};

describe.skipIf(noDocker !== null)('a sandbox', () => {
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sandbox-test-'));
    await writeFile(join(directory, 'host'), 'untouched');
    sandbox = open();
  });
  afterAll(async () => {
    await sandbox?.close();
    await rm(directory, { recursive: true, force: true });
  });
  // After whatever the code did: host and daemon are as before, and nothing is left. That the engine lives the next test shows.
  afterEach(async () => {
    expect(await readFile(join(directory, 'host'), 'utf8')).toBe('untouched');
    expect(await containers()).toEqual([]);
  });

  test('is nobody: no rights, no secrets, the environment that it is given', async () => {
    expect(
      await json(`
status = dict(line.split(":\\t") for line in open("/proc/self/status").read().splitlines() if ":\\t" in line)
return {"ids": [os.getuid(), os.geteuid(), os.getgid()], "groups": os.getgroups(), "caps": [status[k] for k in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")],
  "no_new_privs": status["NoNewPrivs"], "seccomp": status["Seccomp"], "env": dict(os.environ), "ps": sorted(p for p in os.listdir("/proc") if p.isdigit())[:1]}`),
    ).toEqual({
      ids: [65534, 65534, 65534],
      groups: expect.not.arrayContaining([0]),
      caps: Array<string>(5).fill('0000000000000000'),
      no_new_privs: '1',
      seccomp: '2',
      env: { PATH: '/usr/bin:/bin', HOME: '/tmp', LANG: 'C.UTF-8', HOSTNAME: 'sandbox' },
      ps: ['1'],
    });
    const inspected: string[] = [];
    const found = await run(
      `
import subprocess
echo("look")
return subprocess.run(["grep", "-rlas", "canary-5b1e7c", "/proc/self/environ", "/proc/1", "/run", "/tmp", "/etc", "/home", "/root"], capture_output=True, text=True).stdout`,
      300,
      sandbox,
      async (call) => {
        for (const { Id } of await docker.listContainers({ filters: { label: [`${LABEL}=${ownerLabel()}`] } }))
          inspected.push(JSON.stringify(await docker.getContainer(Id).inspect()));
        return answer(call);
      },
    );
    expect(inspected).toHaveLength(1);
    expect(found.returned).toBe('');
    expect(inspected.join('')).not.toContain(canary);
  });

  test('can write nowhere but in a small scratch directory, where nothing can be run', async () => {
    expect(
      await json(`
import subprocess
def tried(what):
    try:
        return what() or "done"
    except OSError as error:
        return error.strerror
open("/tmp/x.sh", "w").write("#!/bin/sh\\necho run")
os.chmod("/tmp/x.sh", 0o755)
return {"root": tried(lambda: open("/x", "w")), "usr": tried(lambda: open("/usr/bin/x", "w")), "etc": tried(lambda: open("/etc/passwd", "a")), "sys": tried(lambda: open("/proc/sys/kernel/core_pattern", "w")),
  "run": tried(lambda: subprocess.run(["/tmp/x.sh"])), "socket": tried(lambda: os.unlink("/run/work-ledger/tool.sock")), "chmod": tried(lambda: os.chmod("/run/work-ledger/tool.sock", 0)),
  "replace": tried(lambda: open("/run/work-ledger/other", "w")), "cgroup": tried(lambda: open("/sys/fs/cgroup/memory/memory.limit_in_bytes", "w")), "docker": os.path.exists("/var/run/docker.sock"),
  "seen": tried(lambda: os.listdir("/run/work-ledger"))}`),
    ).toEqual({
      root: 'Read-only file system',
      usr: 'Read-only file system',
      etc: expect.stringMatching(/Read-only|denied/),
      sys: expect.stringMatching(/Read-only|denied/),
      run: 'Permission denied',
      socket: 'Read-only file system',
      chmod: 'Read-only file system',
      replace: 'Read-only file system',
      cgroup: expect.stringMatching(/Read-only|denied|No such/),
      docker: false,
      seen: 'Permission denied',
    });
    expect(await run('for n in range(20):\n    open(f"/tmp/{n}", "wb").write(b"x" * 10_000_000)')).toMatchObject({
      verdict: 'error',
      error: expect.stringMatching(/No space left on device|MemoryError/),
    });
  });

  test('reaches no network, in no way', async () => {
    expect(
      await json(`
import socket
def tried(*what):
    try:
        socket.socket(*what)
        return "open"
    except OSError as error:
        return error.errno
def resolved():
    try:
        return socket.getaddrinfo("example.com", 80)
    except OSError as error:
        return "no"
return {"tcp": tried(socket.AF_INET, socket.SOCK_STREAM), "udp": tried(socket.AF_INET, socket.SOCK_DGRAM), "tcp6": tried(socket.AF_INET6, socket.SOCK_STREAM), "raw": tried(socket.AF_INET, socket.SOCK_RAW, 1),
  "packet": tried(17, socket.SOCK_RAW), "netlink": tried(16, socket.SOCK_RAW), "vsock": tried(40, socket.SOCK_STREAM), "alg": tried(38, 5), "dns": resolved(), "devices": os.listdir("/sys/class/net") if os.path.isdir("/sys/class/net") else []}`),
    ).toEqual({
      tcp: 1,
      udp: 1,
      tcp6: 1,
      raw: 1,
      packet: 1,
      netlink: 1,
      vsock: 1,
      alg: 1,
      dns: 'no',
      devices: expect.not.arrayContaining(['eth0']),
    });
  });

  test.runIf(process.arch === 'x64')('may not make 28 system calls that escapes are made of', async () => {
    const refused = {
      ptrace: 101,
      process_vm_readv: 310,
      process_vm_writev: 311,
      io_uring_setup: 425,
      io_uring_enter: 426,
      keyctl: 250,
      add_key: 248,
      request_key: 249,
      bpf: 321,
      perf_event_open: 298,
      userfaultfd: 323,
      mount: 165,
      umount2: 166,
      pivot_root: 155,
      chroot: 161,
      setns: 308,
      unshare: 272,
      pidfd_open: 434,
      pidfd_getfd: 438,
      kcmp: 312,
      open_by_handle_at: 304,
      name_to_handle_at: 303,
      init_module: 175,
      kexec_load: 246,
      reboot: 169,
      swapon: 167,
      acct: 163,
      quotactl: 179,
    };
    expect(
      await json(`
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def call(number):
    ctypes.set_errno(0)
    return [libc.syscall(number, 0, 0, 0, 0, 0), ctypes.get_errno()]
verdicts = {name: call(number) for name, number in ${JSON.stringify(refused)}.items()}
verdicts["clone_newuser"] = [libc.syscall(56, 0x10000000, 0, 0, 0, 0), ctypes.get_errno()]
verdicts["personality"] = [libc.syscall(135, 0x0040000), ctypes.get_errno()]
return {name: verdict for name, verdict in verdicts.items() if verdict != [-1, 1]}`),
    ).toEqual({});
  });

  test("fails at the known ways out: runc, core_pattern, release_agent, the daemon's socket, devices, the host's files", async () => {
    const host = await mkdtemp(join(tmpdir(), 'escape-'));
    expect(
      await json(`
import glob, socket, stat, subprocess
def tried(what):
    try:
        return repr(what() or "done")
    except (OSError, IndexError) as error:
        return ""
def write(path, text):
    with open(path, "w") as file:
        file.write(text)
def connect(path):
    socket.socket(socket.AF_UNIX).connect(path)
shell = "#!/bin/sh\\necho out > ${host}/out\\n"
open("/tmp/shell", "w").write(shell)
os.chmod("/tmp/shell", 0o755)
ways = {
  "overwrite the runtime that started us": lambda: write("/proc/1/exe", "x"),
  "overwrite it by a descriptor": lambda: os.open("/proc/1/exe", os.O_RDWR),
  "core_pattern": lambda: write("/proc/sys/kernel/core_pattern", "|/tmp/shell"),
  "modprobe": lambda: write("/proc/sys/kernel/modprobe", "/tmp/shell"),
  "uevent_helper": lambda: write("/sys/kernel/uevent_helper", "/tmp/shell"),
  "release_agent": lambda: [write(path, "/tmp/shell") for path in glob.glob("/sys/fs/cgroup/*/release_agent") + ["/sys/fs/cgroup/release_agent"]],
  "notify_on_release": lambda: [write(path, "1") for path in glob.glob("/sys/fs/cgroup/*/notify_on_release") + ["/sys/fs/cgroup/notify_on_release"]],
  "a cgroup of its own": lambda: os.mkdir(glob.glob("/sys/fs/cgroup/*")[0] + "/mine"),
  "sysrq": lambda: write("/proc/sysrq-trigger", "h"),
  "the daemon": lambda: connect("/var/run/docker.sock"),
  "the daemon, by /run": lambda: connect("/run/docker.sock"),
  "containerd": lambda: connect("/run/containerd/containerd.sock"),
  "an abstract socket of the host": lambda: connect("\\0/containerd-shim/x.sock"),
  "a device": lambda: os.mknod("/tmp/disk", stat.S_IFBLK | 0o600, os.makedev(8, 0)),
  "memory": lambda: open("/dev/mem", "rb"),
  "kernel memory": lambda: open("/proc/kcore", "rb").read(1),
  "a descriptor that leaked": lambda: [os.listdir(f"/proc/self/fd/{n}") for n in range(3, 64) if os.path.exists(f"/proc/self/fd/{n}")][0],
  "the working directory of the runtime": lambda: os.listdir("/proc/1/cwd/../../../../var/lib/docker"),
  "the root of PID 1": lambda: os.listdir("/proc/1/root/"),
  "another namespace": lambda: open("/proc/1/ns/mnt"),
  "a map of users": lambda: write("/proc/self/uid_map", "0 0 1"),
  "oom of others": lambda: write("/proc/1/oom_score_adj", "-1000"),
  "a setuid program": lambda: [p for p in ("/bin/su", "/bin/mount", "/usr/bin/newuidmap") if os.path.exists(p) and os.stat(p).st_mode & stat.S_ISUID][0],
  "a shell from scratch": lambda: subprocess.run(["/tmp/shell"]),
}
return {name: worked for name, way in ways.items() if (worked := tried(way))}`),
    ).toEqual({});
    expect(await readdir(host)).toEqual([]);
    expect(await docker.ping()).toBeTruthy();
    await rm(host, { recursive: true });
  });

  test('is set up as section 5 of the CIS benchmark for Docker asks', async () => {
    const seen: Record<string, never>[] = [];
    await run('return echo("look")', 300, sandbox, async (call) => {
      for (const { Id } of await docker.listContainers({ filters: { label: [`${LABEL}=${ownerLabel()}`] } }))
        seen.push((await docker.getContainer(Id).inspect()) as never);
      return answer(call);
    });
    expect(seen).toHaveLength(1);
    const { HostConfig: host, Config: config } = seen[0] as unknown as {
      HostConfig: Record<string, unknown>;
      Config: Record<string, unknown>;
    };
    // null or empty, by version
    for (const none of [host['Devices'], host['PortBindings'], config['ExposedPorts']]) expect(Object.keys(none ?? {})).toEqual([]);
    expect((host['RestartPolicy'] as { Name: string }).Name).toMatch(/^(no)?$/);
    expect(seen[0]).toMatchObject({
      Config: { User: '65534:65534', Tty: false },
      HostConfig: {
        Privileged: false,
        ReadonlyRootfs: true,
        NetworkMode: 'none',
        PidMode: '',
        IpcMode: 'none',
        UTSMode: '',
        UsernsMode: '',
        PublishAllPorts: false,
        DeviceRequests: null,
        CapDrop: ['ALL'],
        CapAdd: null,
        Memory: 128 * MiB,
        MemorySwap: 128 * MiB,
        PidsLimit: 64,
        CgroupParent: '',
        SecurityOpt: ['no-new-privileges', expect.stringMatching(/^seccomp=\{/)],
        Ulimits: expect.arrayContaining([{ Name: 'core', Soft: 0, Hard: 0 }]),
        LogConfig: { Type: 'none' },
        Binds: [expect.stringMatching(/:\/run\/work-ledger:ro$/)],
      },
    });
  });

  test('sees nothing of PID 1 and cannot end it', async () => {
    expect(
      await json(`
import signal
def tried(what):
    try:
        return what()
    except OSError as error:
        return error.strerror
for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP, signal.SIGSEGV, signal.SIGALRM, signal.SIGINT):
    os.kill(1, number)
return {"environ": tried(lambda: open("/proc/1/environ").read()), "fd": tried(lambda: os.listdir("/proc/1/fd")), "mem": tried(lambda: open("/proc/1/mem", "r+b").read(1)),
  "stdout": tried(lambda: open("/proc/1/fd/1", "w")), "cmdline": tried(lambda: open("/proc/cmdline").read())}`),
    ).toEqual({
      environ: 'Permission denied',
      fd: 'Permission denied',
      mem: 'Permission denied',
      stdout: 'Permission denied',
      cmdline: '',
    });
  });

  test.each<[string, string, number, object]>([
    ['an endless loop', 'while True: pass', 1, { verdict: 'timeout', error: 'The code was killed after 1 seconds.' }],
    [
      'one that ignores every signal',
      'import signal\nfor n in range(1, 65):\n    try: signal.signal(n, signal.SIG_IGN)\n    except (OSError, ValueError): pass\nwhile True: pass',
      1,
      { verdict: 'timeout' },
    ],
    [
      'a memory bomb',
      'x = []\nwhile True: x.append(bytearray(10_000_000))',
      300,
      { verdict: expect.stringMatching(/^(memory|error)$/), error: expect.stringMatching(/memory/i) },
    ],
    [
      'a memory bomb in a child',
      'import subprocess\nsubprocess.run(["python3", "-c", "x = []\\nwhile True: x.append(bytearray(10_000_000))"])\nreturn "survived"',
      300,
      { verdict: expect.stringMatching(/^(memory|ok)$/) },
    ],
    ['a fork bomb', 'while True: os.fork()', 3, { verdict: expect.stringMatching(/^(timeout|error|killed)$/) }],
    [
      'a bomb of descriptors',
      'x = []\nwhile True: x.append(open("/dev/null"))',
      300,
      { verdict: 'error', error: expect.stringContaining('Too many open files') },
    ],
    [
      'a huge file',
      'with open("/tmp/x", "wb") as f:\n    while True: f.write(b"x" * 1_000_000)',
      300,
      { verdict: 'error', error: expect.stringMatching(/File too large|No space left/) },
    ],
    ['a flood on stdout', 'while True: print("x" * 1000)', 300, { verdict: 'output' }],
    ['a flood on stderr', 'import sys\nwhile True: sys.stderr.write("x" * 1000)', 300, { verdict: 'output' }],
    ['one line without an end', 'import sys\nwhile True: sys.stdout.write("x" * 1_000_000)', 300, { verdict: 'output' }],
    ['500 MB returned', 'return "x" * 500_000_000', 300, { verdict: expect.stringMatching(/^(memory|error)$/) }],
    [
      '5 MB returned',
      'return "x" * 5_000_000',
      300,
      {
        verdict: 'error',
        error: 'The code returned 5000000 characters; at most 1000000 are allowed. Return what matters, and write the rest to a file.',
      },
    ],
    [
      'no JSON returned',
      'return {"a": object()}',
      300,
      { verdict: 'error', error: 'The code returned a dict that is not JSON (object). Return text, numbers, lists or dictionaries.' },
    ],
    ['a circle returned', 'a = []\na.append(a)\nreturn a', 300, { verdict: 'error', error: expect.stringContaining('Circular reference') }],
    ['NaN returned', 'return float("nan")', 300, { verdict: 'error', error: expect.stringContaining('not JSON') }],
    ['a syntax error', 'return (', 300, { verdict: 'error', error: expect.stringContaining("'(' was never closed") }],
    [
      'os._exit',
      'os._exit(7)',
      300,
      { verdict: 'killed', error: 'The code ended its own process with exit code 7, and returned nothing.' },
    ],
    ['sys.exit', 'import sys\nsys.exit("enough")', 300, { verdict: 'error', error: "The code called sys.exit('enough')." }],
    [
      'threads left running',
      'import threading, time\nfor _ in range(5): threading.Thread(target=time.sleep, args=(1000,)).start()\nreturn "left"',
      300,
      { verdict: 'ok', returned: 'left' },
    ],
    [
      'a daemon left running',
      'if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        import time\n        time.sleep(1000)\n    os._exit(0)\nreturn "left"',
      300,
      { verdict: 'ok', returned: 'left' },
    ],
    ['deep recursion', 'def f(): f()\nf()', 300, { verdict: 'error', error: expect.stringContaining('RecursionError') }],
    ['a star import, without a return', 'from math import *\nsqrt(16)', 300, { verdict: 'ok', returned: '4.0' }],
    ...['{"kind": "text", "text": NaN}', '{"kind": "text", "text": 5}', '{"kind": "error", "error": {}}', 'null', '['.repeat(100_000)].map(
      (said): [string, string, number, object] => [
        `${said.slice(0, 40)} in place of its answer`,
        `os.write(3, b'${said}\\n')\nimport time\ntime.sleep(3600)`,
        300,
        { verdict: 'killed', returned: null },
      ],
    ),
    // what is stored of it is storableText()'s to say
    ['lone surrogates', 'return "a\\ud800b"', 300, { verdict: 'ok', returned: 'a\ud800b' }],
  ])('%s: a clear verdict in bounded time', async (_, code, timeout, verdict) => {
    expect(await run(code, timeout)).toMatchObject(verdict);
  });

  test('is used once: nothing of one run is there in the next', async () => {
    const pooled = open({ pool: 1 });
    try {
      expect(await run('open("/tmp/marker", "w").write("x")\nreturn os.uname().nodename', 300, pooled)).toMatchObject({ verdict: 'ok' });
      for (let n = 0; n < 3; n++)
        expect(await run('return os.path.exists("/tmp/marker")', 300, pooled)).toMatchObject({ returned: 'false' });
    } finally {
      await pooled.close();
    }
  });

  test('survives what code does to its socket', async () => {
    expect(
      await json(`
import socket
def raw(data, wait=True):
    s = socket.socket(socket.AF_UNIX)
    s.connect("/run/work-ledger/tool.sock")
    try:
        s.sendall(data)
        s.settimeout(5)
        return s.recv(100).decode(errors="replace").split("\\r\\n")[0] if wait else s
    except OSError as error:
        return error.strerror
slow = [raw(b"POST /call HTTP/1.1\\r\\nx-slow: ", False) for _ in range(20)]
return {"malformed": raw(b"\\x00\\xff not http\\r\\n\\r\\n"), "header": raw(b"POST / HTTP/1.1\\r\\nx: " + b"x" * 20000 + b"\\r\\n\\r\\n")[:12], "no json": raw(b"POST / HTTP/1.1\\r\\nhost: x\\r\\ncontent-length: 2\\r\\n\\r\\nno")[:12],
  "still": echo("here"), "slow": len(slow)}`),
    ).toMatchObject({ malformed: '', 'no json': 'HTTP/1.1 200', still: 'here', slow: 20 });
    expect(
      await json(
        'import socket\nkept = 0\nfor _ in range(10_000):\n    s = socket.socket(socket.AF_UNIX)\n    s.connect("/run/work-ledger/tool.sock")\n    s.close()\n    kept += 1\nreturn [kept, echo("here")]',
      ),
    ).toEqual([10_000, 'here']);
    expect(await run('try:\n    echo("x" * 20_000_000)\nexcept ToolError as error:\n    return str(error)')).toMatchObject({
      returned: 'a call can have at most 16777216 bytes',
    });
    expect(
      await run(
        'import threading\nfound = []\ndef one(n):\n    found.append(echo(str(n)) == str(n))\nts = [threading.Thread(target=one, args=(n,)) for n in range(40)]\n[t.start() for t in ts]\n[t.join() for t in ts]\nreturn [len(found), all(found)]',
      ),
    ).toMatchObject({ returned: '[40, true]' });
  });

  test('takes calls over its own stdin and stdout where no socket can be mounted', async () => {
    const relayed = open({ transport: 'stdio' });
    try {
      expect(
        await run('return [echo("a" * n)[:3] for n in (1, 10, 200_000)] + [os.path.exists("/run/work-ledger")]', 300, relayed),
      ).toMatchObject({ verdict: 'ok', returned: '["a", "aaa", "aaa", false]' });
      expect(
        await run(
          'import threading\nts = [threading.Thread(target=echo, args=("x" * 100_000,)) for n in range(20)]\n[t.start() for t in ts]\n[t.join() for t in ts]\nreturn "all"',
          300,
          relayed,
        ),
      ).toMatchObject({ returned: 'all' });
      expect(await run('while True: pass', 1, relayed)).toMatchObject({ verdict: 'timeout' });
    } finally {
      await relayed.close();
    }
  });

  test.each(['socket', 'stdio'] as const)(
    'serves a session: files in /tmp stay, nothing that runs does, what ends badly ends it (%s)',
    async (transport) => {
      const own = open({ transport });
      const next = (code: string, session = 'a', timeoutSeconds = 300) =>
        own.run({
          code,
          session,
          sdk: generateSdk([echo], own.socketPath),
          timeoutSeconds,
          signal: new AbortController().signal,
          onCall: answer,
        });
      try {
        expect(
          await next(
            'import subprocess\nsubprocess.Popen("sleep 60 & setsid sleep 61", shell=True)\nopen("/tmp/kept", "w").write("x")\nreturn echo("one")',
          ),
        ).toMatchObject({ verdict: 'ok', returned: 'one' });
        expect(
          await next(
            'import subprocess\nreturn [os.path.exists("/tmp/kept"), echo("two"), subprocess.run("grep -l sleep /proc/[0-9]*/comm", shell=True, capture_output=True, text=True).stdout]',
          ),
        ).toMatchObject({ returned: '[true, "two", ""]' });
        expect(await next('return os.path.exists("/tmp/kept")', 'b')).toMatchObject({ returned: 'false' });
        expect(await next('raise ValueError("no")')).toMatchObject({ verdict: 'error' });
        expect(await Promise.all([next('return os.path.exists("/tmp/kept")'), next('return os.path.exists("/tmp/kept")')])).toMatchObject([
          { returned: 'true' },
          { returned: 'false' },
        ]); // at once: one of its own
        expect(await next('while True: pass', 'b', 1)).toMatchObject({ verdict: 'timeout' });
        expect(await containers()).toHaveLength(1); // a rests, b is over
        await own.endSessions(60_000);
        expect(await containers()).toHaveLength(1);
        await own.endSessions(0);
        expect(await containers()).toEqual([]);
      } finally {
        await own.close();
      }
    },
  );

  test('is told to stop, and stops at once', async () => {
    const stop = new AbortController();
    const running = sandbox.run({
      code: 'echo("on")\nimport time\ntime.sleep(3600)',
      sdk: generateSdk([echo], sandbox.socketPath),
      timeoutSeconds: 3600,
      signal: stop.signal,
      onCall: async (call) => {
        stop.abort();
        return answer(call);
      },
    });
    expect(await running).toMatchObject({ verdict: 'aborted' });
  });

  test('code that does not read the answer to its call ends nothing but itself, over stdin and stdout too', async () => {
    const relayed = open({ transport: 'stdio' });
    const code = `
import json, socket, time
body = json.dumps({"ordinal": 0, "name": "echo", "input": {"text": "x" * 2_000_000}})
connection = socket.socket(socket.AF_UNIX)
connection.connect(${JSON.stringify(relayed.socketPath)})
connection.sendall(f"POST /call HTTP/1.1\\r\\nhost: x\\r\\ncontent-length: {len(body)}\\r\\n\\r\\n{body}".encode())
connection.recv(10)
connection.close()
return echo("read")`;
    expect(await run(code, 300, relayed)).toMatchObject({ verdict: 'ok', returned: 'read' });
    await relayed.close();
  });

  test('what is no line of JSON ends the container, and nothing here', async () => {
    const options = containerOptions(
      { image, memoryBytes: 64 * MiB, cpus: 1 },
      {
        program: 'import time\nprint("hello")\ntime.sleep(3600)',
        workingDir: '/tmp',
        maxProcesses: 8,
        maxOpenFiles: 64,
        maxFileBytes: MiB,
        mounts: {},
      },
    );
    await expect(SandboxContainer.start(docker, options)).rejects.toThrow('ended before it was ready');
  });

  test('is left at its deadline where the daemon hangs', async () => {
    const { default: Docker } = await import('dockerode');
    const proxy = await startProxy({ path: dockerSocket });
    const own = open({ docker: new Docker({ protocol: 'http', host: '127.0.0.1', port: proxy.port }), transport: 'stdio' });
    const hang = async (call: CodeCall): Promise<CodeCallAnswer> => {
      proxy.silence();
      return answer(call);
    };
    expect(await run('echo("on")\nimport time\ntime.sleep(3600)', 1, own, hang)).toMatchObject({ verdict: 'timeout' });
    proxy.cutAll(); // only now the daemon closes the stdin of its container
    await own.close();
    await proxy.close();
    await until(async () => {
      await reap(docker);
      return (await containers()).length === 0;
    });
  });

  test('ends by itself when the process that started it is killed', async () => {
    const starter = fileURLToPath(new URL('startSandbox.ts', import.meta.url));
    const child = spawn(process.execPath, [starter], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data'); // its code runs
    expect(await containers(child.pid, false)).toHaveLength(2); // and one waits
    child.kill('SIGKILL');
    await until(async () => (await containers(child.pid, false)).length === 0);
    await until(async () => {
      await reap(docker);
      return (await containers(child.pid)).length === 0;
    });
    await clearSockets();
    expect((await readdir(tmpdir())).filter((name) => name.startsWith(`work-ledger-sandbox-${child.pid}-`))).toEqual([]);
  });

  /** Talks to a container for twice as long as its patience, then falls silent. Null: this machine was too busy to talk in time. */
  async function talk(program: string, silenceSeconds: number): Promise<{ wasRunning: boolean; status: number } | null> {
    const kind = {
      program: pythonProgram(program),
      silenceSeconds,
      workingDir: '/tmp',
      maxProcesses: 64,
      maxOpenFiles: 256,
      maxFileBytes: MiB,
      mounts: {},
    };
    const container = await docker.createContainer(containerOptions({ image, memoryBytes: 64 * MiB, cpus: 1 }, kind));
    const stream = await container.attach({ stream: true, hijack: true, stdin: true, stdout: true, stderr: true });
    try {
      await container.start();
      const begunAt = performance.now();
      let [saidAt, longestPause] = [begunAt, 0];
      while (saidAt - begunAt < 2 * silenceSeconds * 1000) {
        stream.write('\n');
        await sleep(100);
        longestPause = Math.max(longestPause, performance.now() - saidAt);
        saidAt = performance.now();
      }
      const wasRunning = (await container.inspect()).State.Running;
      if (performance.now() - saidAt + longestPause > (silenceSeconds * 1000) / 2) return null;
      return { wasRunning, status: ((await container.wait()) as { StatusCode: number }).StatusCode };
    } finally {
      stream.end();
      await container.remove({ force: true }).catch(() => {}); // it has ended: the worker of another test may be at it
    }
  }

  test.each(['supervisor', 'workspace'])('%s ends when nobody says a word, though nobody closes its stdin', async (program) => {
    let ended: Awaited<ReturnType<typeof talk>> = null;
    for (let silenceSeconds = 1; ended === null; silenceSeconds *= 2) ended = await talk(program, silenceSeconds);
    expect(ended).toEqual({ wasRunning: true, status: 1 });
  });

  test.skipIf(process.platform !== 'linux')('is removed, running or not, once its owner is no more', async () => {
    const child = spawn('true');
    await once(child, 'exit');
    const made: Container[] = [];
    const start = async (label: string): Promise<void> => {
      const kind = {
        program: 'import time; time.sleep(600)',
        workingDir: '/tmp',
        maxProcesses: 64,
        maxOpenFiles: 256,
        maxFileBytes: MiB,
        mounts: {},
        labels: { [LABEL]: label },
      };
      const container = await docker.createContainer(containerOptions({ image, memoryBytes: 64 * MiB, cpus: 1 }, kind));
      made.push(container);
      await container.start();
    };
    try {
      await start(ownerLabel(child.pid)).catch(() => {}); // the worker of another test may have been faster
      await start('another-boot/4026531836/1');
      await start(ownerLabel());
      await reap(docker);
      const running = (): Promise<(boolean | string)[]> =>
        Promise.all(
          made.map((container) =>
            container.inspect().then(
              ({ State }) => State.Running,
              () => 'removed',
            ),
          ),
        );
      await until(async () => (await running())[0] === 'removed'); // another worker may be at it just now, which this one leaves to it
      expect(await running()).toEqual(['removed', true, true]);
    } finally {
      await Promise.allSettled(made.map((container) => container.remove({ force: true })));
    }
  });

  test('is of an image without setuid programs, compilers and package managers', async () => {
    expect(
      await json(`
import subprocess, shutil
def find(*what):
    return subprocess.run(["find", "/", "-xdev", *what], capture_output=True, text=True).stdout.split()
return {"setuid": find("-type", "f", "-perm", "/6000"), "writable": [p for p in find("-type", "f", "-writable") if not p.startswith(("/proc", "/tmp", "/dev"))],
  "programs": [name for name in ("gcc", "cc", "ld", "make", "apt", "apt-get", "dpkg", "su", "sudo", "mount", "curl", "wget", "ssh") if shutil.which(name) and name != "mount"]}`),
    ).toEqual({ setuid: [], writable: [], programs: [] });
  });

  test('says what is missing: no image, no daemon', async () => {
    const noImage = open({ image: 'no-such-image' });
    expect(await noImage.problem()).toBe('there is no image no-such-image: work-ledger workspace image builds one');
    expect(await run('return 1', 300, noImage)).toMatchObject({
      verdict: 'infrastructure',
      error: expect.stringContaining('no-such-image'),
    });
    await noImage.close();
    const { default: Docker } = await import('dockerode');
    const noDaemon = open({ docker: new Docker({ socketPath: join(directory, 'no.sock') }) });
    expect(await run('return 1', 300, noDaemon)).toMatchObject({
      verdict: 'infrastructure',
      error: 'no Docker daemon answers (ENOENT): start one, or set DOCKER_HOST',
    });
    await noDaemon.close();
  });
});
