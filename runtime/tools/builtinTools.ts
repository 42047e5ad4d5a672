// The tools that come with Work Ledger, in the order in which the model sees them.

import { bash } from './bash.ts';
import { editFile } from './edit_file.ts';
import { glob } from './glob.ts';
import { grep } from './grep.ts';
import { readFile } from './read_file.ts';
import type { Tool } from './tool.ts';
import { webFetch } from './web_fetch.ts';
import { writeFile } from './write_file.ts';

export const builtinTools: readonly Tool[] = [readFile, writeFile, editFile, glob, grep, bash, webFetch];
