// The number of the version, where it stands outside of sql/work_ledger.control, which is the one that counts. Read and set as text,
// so that everything else in these files stays as it is.

import { readFileSync, writeFileSync } from 'node:fs';

const copies: readonly { file: string; at: RegExp }[] = [
  { file: 'package.json', at: /^(  "version": ")([^"]+)/m },
  { file: 'package-lock.json', at: /^(  "version": ")([^"]+)/m },
  { file: 'package-lock.json', at: /^(    "": \{\n      "name": "work-ledger",\n      "version": ")([^"]+)/m },
  { file: 'plugin/.claude-plugin/plugin.json', at: /^(  "version": ")([^"]+)/m },
];
const original = { file: 'sql/work_ledger.control', at: /^(default_version = ')([^']+)/m };

/** Copies below the folder `at` that are not the version, each as a sentence. */
export function differingCopies(at: URL, version: string): string[] {
  return copies
    .map((copy) => ({ file: copy.file, says: copy.at.exec(readFileSync(new URL(copy.file, at), 'utf8'))?.[2] }))
    .filter(({ says }) => says !== version)
    .map(({ file, says }) => `${file} says version ${says}, work_ledger.control says ${version}`);
}

/** Sets the version everywhere below the folder `at`. */
export function setVersion(at: URL, version: string): void {
  for (const { file, at: place } of [original, ...copies]) {
    const text = readFileSync(new URL(file, at), 'utf8');
    if (!place.test(text)) throw new Error(`${file} has no version where one was expected`);
    writeFileSync(
      new URL(file, at),
      text.replace(place, (_, before: string) => before + version),
    );
  }
}
