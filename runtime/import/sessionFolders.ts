// Where other programs keep their sessions on this machine, and which files there are sessions.

import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';

/** `is`: whether a file, given by its path below the folder, is to be read. `isFlat`: subfolders contain none. */
export type SessionFolder = { folder: string; is: (below: string) => boolean; isFlat?: true };

export const claudeHome = (): string => process.env['CLAUDE_CONFIG_DIR'] || join(homedir(), '.claude');
export const codexHome = (): string => process.env['CODEX_HOME'] || join(homedir(), '.codex');

/** A recording of any program. */
export const isRecording = (file: string): boolean => /\.(jsonl|traj|json|vscdb)$/.test(file) && !file.endsWith('.meta.json');

const isLines = (file: string): boolean => file.endsWith('.jsonl');

/** The session folders of the supported programs, whether they exist or not. */
export function sessionFolders(): SessionFolder[] {
  const home = homedir();
  const settings = process.env['XDG_CONFIG_HOME'] || join(home, '.config');
  const cursor = process.platform === 'darwin' ? join(home, 'Library', 'Application Support') : settings;
  return [
    { folder: join(claudeHome(), 'projects'), is: isLines },
    { folder: join(codexHome(), 'sessions'), is: isLines },
    { folder: join(process.env['GEMINI_CLI_HOME'] || home, '.gemini', 'tmp'), is: (file) => /(^|\/)chats\/.+\.jsonl?$/.test(file) },
    { folder: join(process.env['COPILOT_HOME'] || join(home, '.copilot'), 'session-state'), is: isLines },
    { folder: join(process.env['PI_CODING_AGENT_DIR'] || join(home, '.pi', 'agent'), 'sessions'), is: isLines },
    { folder: join(cursor, 'Cursor', 'User', 'globalStorage'), is: (file) => file === 'state.vscdb', isFlat: true },
  ];
}

/** A file or a folder that was named; it need not exist yet. */
export async function folderAt(path: string): Promise<SessionFolder> {
  const [whole, name] = [resolve(path), basename(path)];
  const isFolder = (await stat(whole).catch(() => null))?.isDirectory() ?? !isRecording(name);
  return isFolder ? { folder: whole, is: isRecording } : { folder: dirname(whole), is: (file) => file === name, isFlat: true };
}
