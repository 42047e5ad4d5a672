// The workspace of a work item in a container, against a real daemon: what its commands are, see and can do, what ends them,
// how its files stay, come in and get out, and that the host stands as before.

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import Docker from 'dockerode';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';

import { ContainerWorkspace, listVolumes, pullFiles, pushFiles, removeVolume, VOLUME_LABEL } from '../../sandbox/containerWorkspace.ts';
import type { WorkspaceSettings } from '../../sandbox/containerWorkspace.ts';
import { openDirectory } from '../../sandbox/openDirectory.ts';
import { containerOptions, reap } from '../../sandbox/sandboxContainer.ts';
import { ServedDirectories } from '../../sandbox/servedDirectories.ts';
import { WorkspaceUnavailable } from '../../sandbox/workspace.ts';
import type { ProcessResult, RunOptions } from '../../sandbox/workspace.ts';
import { docker, image, noDocker } from '../docker.ts';
import { until } from '../workerProcess.ts';

const canary = 'canary-77d0e2';
process.env['WORK_LEDGER_CANARY'] = canary;
const MiB = 1024 * 1024;
const limits = { maxBytes: 16 * MiB, maxFiles: 100 };
const opened: { id: string; workspace: ContainerWorkspace }[] = [];
let workspace: ContainerWorkspace;
let directory: string;
let neverStarted: Docker.Container;

function open(
  more: Partial<WorkspaceSettings> = {},
  id = randomUUID(),
  daemon = docker,
  bind = async (): Promise<void> => {},
): ContainerWorkspace {
  const made = new ContainerWorkspace(
    daemon,
    id,
    { image, memoryBytes: 128 * MiB, cpus: 1, sizeBytes: 32 * MiB, seed: null, ...more },
    bind,
  );
  opened.push({ id, workspace: made });
  return made;
}
const run = (command: string, options: Partial<RunOptions> = {}, of = workspace): Promise<ProcessResult> =>
  of.run(command, { timeoutSeconds: 300, signal: new AbortController().signal, ...options });
const out = async (command: string, of = workspace): Promise<string> => (await run(command, {}, of)).stdout;
const read = async (path: string, of = workspace): Promise<string> => (await of.readFile(path, 1000)).toString();
/** One that is not started. */
const made = (): Promise<Docker.Container> =>
  docker.createContainer(
    containerOptions(
      { image, memoryBytes: 64 * MiB, cpus: 1 },
      { program: '', workingDir: '/tmp', maxProcesses: 1, maxOpenFiles: 64, maxFileBytes: MiB, mounts: {} },
    ),
  );
const isThere = (container: Docker.Container): Promise<boolean> =>
  container.inspect().then(
    () => true,
    () => false,
  );
/** Without those that are being removed: a worker of another test reaps whatever has ended, so may be at it, too. */
const containersOf = async (id: string): Promise<unknown[]> => {
  const listed = await docker.listContainers({ all: true, filters: { label: [`${VOLUME_LABEL}=${id}`] } });
  return listed.filter(({ State }) => State !== 'removing');
};

describe.skipIf(noDocker !== null)('a workspace container', () => {
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'workspace-test-'));
    await writeFile(join(directory, 'host'), 'untouched');
    neverStarted = await made();
    workspace = open();
    await workspace.writeFile('a', 'b');
  });
  afterAll(async () => {
    for (const one of opened) await one.workspace.close();
    for (const one of opened) {
      await removeVolume(docker, one.id);
      expect(await containersOf(one.id)).toEqual([]);
    }
    await neverStarted.remove({ force: true }).catch(() => {});
    await rm(directory, { recursive: true, force: true });
  });
  afterEach(async () => {
    expect(await readFile(join(directory, 'host'), 'utf8')).toBe('untouched');
    expect(await out('echo alive')).toBe('alive\n');
  });

  test('runs commands as nobody, without capabilities, network, secrets, or a way to its PID 1', async () => {
    expect(await out('id -u; pwd; grep -h "CapEff\\|NoNewPrivs\\|Seccomp:" /proc/self/status')).toBe(
      '65534\n/home/agent\nCapEff:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n',
    );
    expect((await out('env | sort')).split('\n').filter((line) => !/^(PWD|SHLVL|_|OLDPWD)=/.test(line))).toEqual([
      'HOME=/tmp',
      'HOSTNAME=sandbox',
      'LANG=C.UTF-8',
      'PATH=/usr/bin:/bin',
      '',
    ]);
    expect(await out('ls /sys/class/net')).toBe('lo\n');
    expect((await run('touch /x /usr/x /home/x; ls /proc/1/fd; cat /proc/1/environ; kill -9 1; echo still')).stdout).toBe('still\n');
    expect(
      await out(
        `grep -rl "${canary.slice(0, 4)}""${canary.slice(4)}" /proc/1/environ /proc/1/cmdline /tmp /home /etc 2>/dev/null; echo none`,
      ),
    ).toBe('none\n');
    expect(JSON.stringify(await containersOf(opened[0]!.id))).not.toContain(canary);
  });

  test('gives output, errors, exit code and stdin, and keeps the ends of what is long', async () => {
    expect(await run('cat; echo err >&2; exit 3', { stdin: '{"a": 1}' })).toMatchObject({
      stdout: '{"a": 1}',
      stderr: 'err\n',
      exitCode: 3,
      signal: null,
      cause: null,
      isTruncated: false,
    });
    const flood = await run('echo first; yes | head -c 200000000; echo last', { maxBytes: 1000 });
    expect(flood).toMatchObject({ exitCode: 0, isTruncated: true });
    expect(flood.stdout).toMatch(/^first\ny\n[^]*\n\[… 1999\d{5} bytes omitted …\]\n[^]*y\nlast\n$/);
    expect(flood.stdout.length).toBeLessThan(1100);
    expect((await run('head -c 3 /dev/zero; printf "\\377"')).stdout).toBe('␀␀␀\ufffd');
  });

  test('ends a command at its timeout, at an abort, and whatever it leaves behind', async () => {
    // One that this machine, busy as it is, let set its trap in time.
    for (let timeoutSeconds = 1; ; timeoutSeconds *= 2) {
      const ended = await run(`trap '' TERM; echo > trapped; while :; do sleep 0.1; done`, { timeoutSeconds });
      expect(ended).toMatchObject({ cause: 'timeout' });
      if ((await run('rm trapped')).exitCode !== 0) continue;
      expect(ended.signal).toBe('SIGKILL');
      break;
    }
    const stop = new AbortController();
    const running = run('touch up; sleep 60', { signal: stop.signal });
    await until(() =>
      workspace.readFile('up', 1).then(
        () => true,
        () => null,
      ),
    );
    stop.abort();
    expect(await running).toMatchObject({ cause: 'abort' });
    await run('rm up');
    // In its group, out of its group, and holding the output open.
    const left = await run('sleep 998 & setsid sleep 999 & (setsid setsid sleep 997 &) ; echo over');
    expect(left).toMatchObject({ stdout: 'over\n', exitCode: 0, cause: null });
    expect(await out('grep -l sleep /proc/[0-9]*/comm; echo none')).toBe('none\n');
    // Gone when the command has ended: one that was killed lives on until its memory is given back.
    await run(
      `setsid python3 -c 'x = bytearray(60_000_000); open("big", "w"); import time; time.sleep(99)' > /dev/null 2>&1 & until [ -e big ]; do sleep 0.05; done; rm big`,
    );
    expect(await out('cat /proc/[0-9]*/comm | grep -c python')).toBe('1\n');
  });

  test('runs several side by side; one that kills all it can kills only commands', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => out(`touch here${n}; until [ $(ls here* | wc -l) = 8 ]; do sleep 0.05; done; echo ${n}`)),
    );
    await run('rm here*');
    expect(answers).toEqual(['0\n', '1\n', '2\n', '3\n', '4\n', '5\n', '6\n', '7\n']);
    await run('kill -9 -1; kill -9 1');
    expect(await read('a')).toBe('b');
  });

  test('stands a fork bomb, a memory bomb and one in a child', async () => {
    await run('bomb() { bomb | bomb & }; bomb; sleep 2', { timeoutSeconds: 4 });
    expect(await out('echo alive')).toBe('alive\n');
    expect(await run('exec python3 -c "x = bytearray(10**9)"')).toMatchObject({ cause: 'memory', signal: 'SIGKILL' });
    expect(await read('a')).toBe('b');
    expect(await run('python3 -c "x = bytearray(10**9)"; exit $?')).toMatchObject({ cause: 'memory', exitCode: 137 });
    expect(await run('kill -9 $$')).toMatchObject({ cause: null, signal: 'SIGKILL' });
  });

  test('holds no more than it may, and lets room be made', async () => {
    expect(await run('for i in $(seq 1 100); do head -c 8000000 /dev/zero > big$i; sleep 0.2; done')).toMatchObject({ cause: 'full' });
    await expect(workspace.writeFile('more', 'x'.repeat(MiB))).rejects.toThrow('the workspace is full: it holds 32 MiB');
    expect(await run('rm big*')).toMatchObject({ exitCode: 0, cause: null });
    await workspace.writeFile('more', 'x'.repeat(MiB));
    // One file at once, and very many empty ones.
    expect((await run('head -c 100000000 /dev/zero > big')).exitCode).not.toBe(0);
    await run('rm -f big');
    const small = open({ sizeBytes: 4 * MiB });
    expect(await run(`exec python3 -c 'for n in range(10**9): open(str(n), "x").close()'`, { timeoutSeconds: 100 }, small)).toMatchObject({
      cause: 'full',
    });
    await run('rm -f more');
  });

  test('reads and writes regular files in it alone, by whatever path', async () => {
    await run(
      'mkfifo fifo; mknod null c 1 3; python3 -c "import socket; socket.socket(1).bind(\'pipe\')"; ln -s /etc/passwd out; ln -s a in; ln -s . self; mkdir -p d; ln -s /etc etc; ln -s loop loop; ln -s /proc/1 one; ln a hard; : > "$(printf "new\\nline")"',
    );
    for (const [path, says] of [
      ['pipe', 'not a regular file'],
      ['fifo', 'does not exist'],
      ['null', 'does not exist'],
      ['out', 'outside'],
      ['d', 'is a directory'],
      ['etc/passwd', 'outside'],
      ['loop', 'too many symbolic links'],
      ['one/environ', 'permission denied'],
      ['../../etc/passwd', 'outside'],
      ['/etc/passwd', 'outside'],
      ['/proc/self/root/etc/passwd', 'outside'],
      ['nothing', 'does not exist'],
      ['a/b', 'not a directory'],
      ['a\0b', 'must not contain NUL'],
      ['x'.repeat(300), 'too long'],
      ['/dev/zero', 'outside'],
      ['/home/agent2/x', 'does not exist'],
    ] as const)
      await expect(workspace.readFile(path, 1000), path).rejects.toThrow(says);
    for (const [path, says] of [
      ['pipe', 'not a regular file'],
      ['out', 'outside'],
      ['etc/x', 'outside'],
      ['/tmp/x', 'outside'],
      ['.', 'is a directory'],
      ['d', 'is a directory'],
      ['../x', 'outside'],
    ] as const) {
      await expect(workspace.writeFile(path, 'x'), path).rejects.toThrow(says);
    }
    expect(await read('in')).toBe('b');
    expect(await read('self/self/a')).toBe('b');
    expect(await read('/home/agent/a')).toBe('b');
    await workspace.writeFile('hard', 'c');
    expect(await read('a')).toBe('b');
    await run('echo "#!/bin/sh" > run.sh; chmod 755 run.sh');
    await workspace.writeFile('run.sh', '#!/bin/sh\necho ran\n');
    expect(await out('./run.sh')).toBe('ran\n');
    const found: string[] = [];
    for await (const file of workspace.files('.')) found.push(file.path);
    expect(found.toSorted()).toEqual(['a', 'hard', 'new\nline', 'run.sh']);
    await expect(workspace.readFile('a', 0)).rejects.toThrow('too large: 1 bytes; at most 0 are allowed');
  });

  test('lists no deeper than 200 directories, and a deeper tree ends nothing', async () => {
    const deep = open();
    const [seen, unseen] = [`${'d/'.repeat(200)}file`, 'd/'.repeat(1800)];
    await deep.writeFile(seen, '');
    await run(`mkdir -p ${unseen} && touch ${unseen}file`, {}, deep);
    await expect(deep.writeFile(`e/${unseen}file`, '')).rejects.toThrow('too many directories');
    const found: string[] = [];
    for await (const file of deep.files('.')) found.push(file.path);
    expect(found).toEqual([seen]);
  });

  test('a directory that is swapped for a link all the time leads nobody out', async () => {
    await run('mkdir -p real; echo inside > real/hostname');
    const stop = new AbortController();
    const swapping = run(
      `python3 -c '
import os, shutil
while True:
    try:
        os.rename("real", "swap"), os.rename("swap", "real"), os.symlink("/etc", "swap"), os.unlink("swap")
    except OSError:
        shutil.rmtree("swap", ignore_errors=True), shutil.rmtree("real", ignore_errors=True)
        os.makedirs("real")
        open("real/hostname", "w").write("inside\\n")'`,
      { timeoutSeconds: 600, signal: stop.signal },
    );
    let [inside, met] = [0, 0];
    while (inside < 50 || met < 500) {
      const got = await read('swap/hostname').catch(() => null);
      if (got === null) met++; // the link, or nothing
      if (got !== null) expect(['', 'inside\n']).toContain(got);
      if (got === 'inside\n') inside++;
      await workspace.writeFile('swap/work-ledger-test', 'x').catch(() => {});
    }
    stop.abort();
    await swapping;
    expect(await out('ls /etc | grep work-ledger; echo none')).toBe('none\n');
    await run('rm -rf swap real');
  });

  test('whoever comes first starts it, and the others wait', async () => {
    const id = randomUUID();
    const own = open({}, id);
    expect(await Promise.all([1, 2, 3, 4].map((n) => out(`echo ${n}`, own)))).toEqual(['1\n', '2\n', '3\n', '4\n']);
    expect(await containersOf(id)).toHaveLength(1);
  });

  test('files stay when the container goes; the next worker finds them', async () => {
    const id = randomUUID();
    const first = open({}, id);
    await first.writeFile('kept', 'by the first');
    const second = open({}, id);
    expect(await read('kept', second)).toBe('by the first');
    await first.close();
    expect(await containersOf(id)).toHaveLength(1);
    expect(await read('kept', first)).toBe('by the first');
    expect(await listVolumes(docker)).toContain(id);
    expect(await removeVolume(docker, id)).toBe(false); // in use
  });

  test('ends with the process that started it, also when that is killed', async () => {
    const id = randomUUID();
    const after = open({}, id);
    const child = spawn(process.execPath, [fileURLToPath(new URL('startWorkspace.ts', import.meta.url)), id], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    expect(await containersOf(id)).toHaveLength(1);
    child.kill('SIGKILL');
    await until(async () => {
      await reap(docker);
      return (await containersOf(id)).length === 0;
    });
    expect(await read('begun', after)).toBe('yes');
  });

  test('begins with the files of a directory, and asks no more of the host', async () => {
    const seed = join(directory, 'seed');
    await mkdir(join(seed, 'src/empty'), { recursive: true });
    await writeFile(join(seed, 'src/run.sh'), '#!/bin/sh\necho seeded\n', { mode: 0o755 });
    await writeFile(join(seed, 'nothing'), '');
    await symlink('src/run.sh', join(seed, 'link'));
    const id = randomUUID();
    const seeded = open({ seed: () => openDirectory(seed) }, id);
    expect(await out('./link; ls -A; ls src; stat -c %U:%a src/run.sh; echo more >> src/run.sh', seeded)).toBe(
      'seeded\nlink\nnothing\nsrc\nempty\nrun.sh\nnobody:755\n',
    );
    expect(await readFile(join(seed, 'src/run.sh'), 'utf8')).not.toContain('more');
    await writeFile(join(seed, 'later'), 'x');
    expect(await out('ls later; tail -1 src/run.sh', open({ seed: () => openDirectory(seed) }, id))).toBe('more\n'); // once
    await writeFile(join(seed, 'large'), Buffer.alloc(40 * MiB));
    await expect(open({ seed: () => openDirectory(seed) }).readFile('large', 1)).rejects.toThrow(`${seed} holds more than 32 MiB`);
    await expect(
      open({
        seed: () => new ServedDirectories([directory]).open({ path: join(directory, 'no-such'), namedBy: null, isAdministered: false }),
      }).readFile('x', 1),
    ).rejects.toThrow('does not exist');
  });

  test('files get out, but no link, device or path that leads elsewhere', async () => {
    const id = randomUUID();
    const own = open({}, id);
    const into = join(directory, 'pulled');
    await mkdir(into);
    await symlink('/etc', join(into, 'trap'));
    await run(
      'mkdir -p d/e; echo deep > d/e/file; echo "#!/bin/sh" > run; chmod 755 run; ln -s /etc/passwd link; python3 -c "import os; os.mkdir(\'dir\')"; : > empty',
      {},
      own,
    );
    expect(await pullFiles(docker, id, image, into, limits)).toEqual({ files: 3, leftOut: ['link'] });
    expect(await readFile(join(into, 'd/e/file'), 'utf8')).toBe('deep\n');
    expect((await stat(join(into, 'run'))).mode & 0o777).toBe(0o755);
    await run('mkdir trap; echo x > trap/work-ledger-test', {}, own);
    await expect(pullFiles(docker, id, image, into, limits)).rejects.toThrow('symbolic link');
    expect(await readdir('/etc')).not.toContain('work-ledger-test');
    await run('rm -rf trap; head -c 20000000 /dev/zero > large', {}, own);
    await expect(pullFiles(docker, id, image, into, limits)).rejects.toThrow('more than 16 MiB');
    await expect(pullFiles(docker, randomUUID(), image, into, limits)).rejects.toThrow(/no such volume/i);
  });

  test('files are put in while it runs', async () => {
    const id = randomUUID();
    const own = open({}, id);
    await own.writeFile('mine', 'agent');
    const from = join(directory, 'pushed');
    await mkdir(from);
    await writeFile(join(from, 'given'), 'by a person');
    await pushFiles(docker, id, image, from, limits);
    expect(await out('cat given mine; echo more >> given; : > new', own)).toBe('by a personagent');
    const early = randomUUID();
    await pushFiles(docker, early, image, from, limits);
    expect(await out('cat given', open({}, early))).toBe('by a person');
  });

  test('what an image declares as a volume goes with the container that copied', async () => {
    const declaring = await docker.createContainer({ Image: image });
    const { Id } = (await declaring.commit({ changes: 'VOLUME /declared' })) as { Id: string };
    await declaring.remove({ v: true });
    // Those of the containers that are made of it: of other images others make some meanwhile.
    const nameless: string[] = [];
    const create = docker.createContainer.bind(docker);
    const making = vi.spyOn(docker, 'createContainer').mockImplementation(async (options: Docker.ContainerCreateOptions) => {
      const container = await create(options);
      const { Mounts } = await container.inspect();
      nameless.push(...Mounts.flatMap(({ Name = '' }) => (/^[0-9a-f]{64}$/.test(Name) ? [Name] : [])));
      return container;
    });
    try {
      const id = randomUUID();
      open({}, id);
      const from = join(directory, 'copied');
      await mkdir(from);
      await writeFile(join(from, 'given'), 'x');
      await pushFiles(docker, id, Id, from, limits);
      expect(await pullFiles(docker, id, Id, from, limits)).toMatchObject({ files: 1 });
      expect(nameless.length).toBeGreaterThan(1);
      expect((await docker.listVolumes()).Volumes.filter(({ Name }) => nameless.includes(Name))).toEqual([]);
    } finally {
      making.mockRestore();
      await docker.getImage(Id).remove({ force: true });
    }
  });

  test('a container that dies in the middle says so, and the next request has another', async () => {
    const id = randomUUID();
    const own = open({}, id);
    await own.writeFile('kept', 'x');
    const running = expect(run('sleep 60', {}, own)).rejects.toThrow(WorkspaceUnavailable);
    const [container] = await docker.listContainers({ filters: { label: [`${VOLUME_LABEL}=${id}`] } });
    await docker.getContainer(container!.Id).kill();
    await running;
    expect(await read('kept', own)).toBe('x');
  });

  test('a container that cannot begin says what it complained of', async () => {
    const begun = await docker.createContainer({ Image: image });
    const { Id } = (await begun.commit({ changes: 'ENTRYPOINT ["/bin/sh", "-c", "echo the loader is broken >&2; exit 1"]' })) as {
      Id: string;
    };
    await begun.remove({ v: true });
    try {
      await expect(open({ image: Id }).readFile('x', 1)).rejects.toThrow('its container ended before it was ready: the loader is broken');
    } finally {
      await docker.getImage(Id).remove({ force: true });
    }
  });

  test('a container that is about to start is kept, whatever time it is for who removes old ones', async () => {
    const starting = await made();
    const now = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000);
    try {
      await reap(docker);
      expect(await isThere(starting)).toBe(true);
    } finally {
      now.mockRestore();
      await starting.remove({ force: true });
    }
  });

  test('a container that was never started is removed after a minute', async () => {
    await until(async () => {
      await reap(docker);
      return !(await isThere(neverStarted));
    });
  });

  test('no volume is made where it may not be', async () => {
    const id = randomUUID();
    let asked = 0;
    const elsewhere = open({}, id, docker, async () => {
      asked++;
      throw new WorkspaceUnavailable('its files are elsewhere');
    });
    await expect(out('echo hello', elsewhere)).rejects.toThrow('its files are elsewhere');
    await expect(out('echo hello', elsewhere)).rejects.toThrow('its files are elsewhere');
    expect(asked).toBe(2);
    expect(await listVolumes(docker)).not.toContain(id);
  });

  test('says what is missing: no image, no daemon', async () => {
    await expect(open({ image: 'no-such-image' }).readFile('x', 1)).rejects.toThrow('there is no image no-such-image');
    await expect(open({}, randomUUID(), new Docker({ socketPath: '/nowhere.sock' })).readFile('x', 1)).rejects.toThrow(
      WorkspaceUnavailable,
    );
  });
});
