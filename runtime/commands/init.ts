// `work-ledger init`: writes a first faculty and its prompt into this directory. Asks nothing and overwrites nothing.

import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';

import { answeringDocker } from '../../sandbox/docker.ts';
import { sandboxImage } from '../../sandbox/image.ts';
import { UsageError } from '../ledger/errors.ts';
import { projectOf } from '../project.ts';
import { isConfigured, projectNamedIn } from './configFile.ts';
import { exit, note, print } from './output.ts';

const isRoot = process.getuid?.() === 0;

export async function init(name: string, options: { dir: string; json?: boolean }): Promise<number> {
  if (!/^[\w-]{1,40}$/.test(name)) throw new UsageError(`"${name}" is not a name for a faculty: letters, digits, - and _, at most 40`);
  const hasDocker = await answeringDocker()
    .then((docker) => docker.getImage(sandboxImage).inspect())
    .then(
      () => true,
      () => false,
    );
  const pathOf = (file: string): string => join(options.dir, file);
  const project = await projectOf(process.cwd());
  // A file in a directory above applies here; another one would replace it, with its database.
  const isSettled = !isConfigured(process.cwd());
  // Written once, in the file that both the commands run here and the faculty's file read.
  const ownProject = isSettled || (await projectNamedIn(resolve(options.dir))) !== null ? null : project;
  const files: Record<string, string> = {
    [pathOf(`${name}.toml`)]: facultyText(name, hasDocker, ownProject),
    [pathOf(`${name}.md`)]: promptText,
  };
  const there = Object.keys(files).find((path) => existsSync(path));
  if (there !== undefined) throw new UsageError(`${there} already exists and was not changed; choose another name: work-ledger init NAME`);
  if (isSettled) files['work-ledger.toml'] = configText(relative('.', pathOf(`${name}.toml`)), project);
  await mkdir(options.dir, { recursive: true });
  for (const [path, text] of Object.entries(files)) await writeFile(path, text, { flag: 'wx' });
  print(
    { files: Object.keys(files) },
    Object.keys(files)
      .map((path) => `wrote ${path}`)
      .join('\n'),
    options.json ?? false,
  );
  note(`
${hasDocker ? 'Its files and commands are in a container.' : `Its tools read and write files in this directory, and run commands on this machine ${isRoot ? 'as another user than root (WORK_LEDGER_COMMANDS_AS; docs/security.md)' : 'as you'} (workspace = "host").`} Next:
  export ANTHROPIC_API_KEY=…
  work-ledger work${isSettled ? '' : ` --faculty ${pathOf(`${name}.toml`)}`}                       # in a terminal of its own
  work-ledger submit 'Find out what this project does'
  work-ledger logs ID --follow`);
  return exit.ok;
}

const facultyText = (
  name: string,
  hasDocker: boolean,
  project: string | null,
): string => `# An agent. Every key: select * from v_faculty_keys (work-ledger sql)
[faculty]
name = "${name}"
accepts = ["task"]                  # the work types that it takes
${project === null ? '' : `project = ${JSON.stringify(project)}\n`}
[faculty.engage]
model = "claude-sonnet-5-5"
system_prompt_file = "${name}.md"
tools = ["read_file", "write_file", "edit_file", "glob", "grep", "bash", "web_fetch"]
max_turns = 50
workspace = "${hasDocker ? 'container' : 'host'}"${hasDocker ? '             # in a container; "host": in workspace_dir itself' : '                  # tools act on this machine, as you; "container": in Docker'}
workspace_dir = "."

[faculty.recover]
max_attempts = 3
`;

const promptText = `You work in a software project. Look before you change anything, make the smallest change that does the job, and run the
tests before you say that it is done.

Say what you found in plain words: what was wrong, what you changed, and how you know that it works now.
`;

const configText = (
  faculty: string,
  project: string,
): string => `# Settings of Work Ledger in this directory and below. Flags and the environment come first.
project = ${JSON.stringify(project)}   # whose work is submitted and done here; the faculties here are of it, too
faculties = [${JSON.stringify(faculty)}]   # saved when a worker starts
# tools = ["tools.ts"]
${isRoot ? '' : '# '}workspace_roots = ["."]   # below these, whoever submits work may name its directory; a worker that is root serves no other
# database_url = "postgresql://user@host:5432/database"
# schema = "work_ledger"
`;
