// Hooks of a client on a busy machine: what they let go on without an answer, because none came in time, is told again, and the client waits
// for it. How long that takes decides nothing in a test.

import { readFile, writeFile } from 'node:fs/promises';

/**
 * A shell script that runs a program (words of a shell, "$@" among them) as hooks do. The end of a session is told later than the client waits
 * for it.
 */
export const patientScript = (program: string): string => `#!/bin/sh
[ "$2" != session-end ] || sleep 3
case $2 in pre-tool-use | post-tool-use) ;; *) exec ${program} ;; esac
input=$(cat)
for n in $(seq 100); do
  said=$(printf %s "$input" | ${program} 2>"$0.$$")
  grep -q 'the database does not answer' "$0.$$" || break
done
cat "$0.$$" >&2; rm -f "$0.$$"
printf %s "$said"
`;

/** Lets a client wait for the hooks that a file of its settings names. `second`: as it counts. */
export async function waitForHooks(file: string, second = 1): Promise<void> {
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.replaceAll(/"timeout": (?!3\b)\d+/g, `"timeout": ${600 * second}`)); // of 3 s it grants no more
}

/** The same of hooks that run a program by its path, which is told again what it did not answer in time. */
export async function makePatient(file: string, second = 1): Promise<void> {
  const text = await readFile(file, 'utf8');
  const program = /"command": "([^"]*) hook pre-tool-use/.exec(text)?.[1] ?? '';
  const script = `${file}.sh`;
  await writeFile(script, patientScript(`${program} "$@"`), { mode: 0o755 });
  await writeFile(
    file,
    text.replaceAll(/"command": "[^"]* hook (pre|post)-tool-use/g, (_, when: string) => `"command": "${script} hook ${when}-tool-use`),
  );
  await waitForHooks(file, second);
}
