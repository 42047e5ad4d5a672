// `work-ledger` without arguments: in a project that has a work-ledger.toml its newest work, elsewhere how to begin.

import { isConfigured } from './configFile.ts';
import { note } from './output.ts';

export function unasked(): string[] {
  if (!isConfigured(process.cwd())) return [];
  note('work-ledger list --limit 5 (all commands: work-ledger --help)');
  return ['list', '--limit', '5'];
}
