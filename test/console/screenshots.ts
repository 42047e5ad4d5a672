// Pictures of every page: node test/console/screenshots.ts [DIRECTORY] takes all of them, in three widths and both modes;
// with --docs those that README and docs/ show, into docs/. ONLY=now,run takes some. The fonts are Inter and JetBrains Mono where they are
// installed (Debian: fonts-inter, fonts-jetbrains-mono).

import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { parseRecordedRuns } from '../../plv8/readers/recordedRun.ts';
import { replayRun } from '../replay.ts';
import { launch } from './browser.ts';
import { play } from './play.ts';

const isForDocs = process.argv.includes('--docs');
const directory = isForDocs ? new URL('../../docs/', import.meta.url).pathname : (process.argv[2] ?? 'build/shots');
await mkdir(directory, { recursive: true });

/** A recorded session of many calls: the one that RECORDED names, or one that is beside the repository; none if RECORDED is empty. */
const recorded = new URL('../../../shared/transcripts/marot-spotter/', import.meta.url).pathname;
const file =
  process.env['RECORDED'] ??
  (existsSync(recorded)
    ? readdirSync(recorded)
        .filter((name) => name.endsWith('.jsonl'))
        .map((name) => join(recorded, name))[0]
    : undefined);
const [run] = !file ? [] : parseRecordedRuns(await readFile(file, 'utf8'));
let replayed: string | undefined;
const playing = await play(0, async (url) => {
  if (run) replayed = (await replayRun(run, url, 'ledger', 5)).workItemId;
});
const { crew, running } = playing;
const { root, paused, note } = crew.ids;

const pages: [name: string, path: string][] = [
  ['now', '/'],
  ['work', '/work'],
  ['run', `/work/${root}`],
  ['run-failed', `/work/${crew.ids.failed}`],
  ['item', `/work/${root}/journal`],
  ['ledger', `/work/${root}/ledger`],
  ['turns', `/work/${root}/turns`],
  ['waterfall', `/work/${root}/waterfall`],
  ['cost', `/work/${root}/cost`],
  ['timeline', `/work/${replayed ?? root}/context?policy=clear`],
  ['crew-timeline', `/work/${root}/context`],
  ['fleet', '/fleet'],
  ['sessions', `/sessions?packet=${paused}`],
  ['knowledge', '/knowledge?q=import%20lock'],
  ['notes', '/notes'],
  ['note', `/note/${note}`],
  ['note-earlier', `/note/${note}?version=1`],
  ['note-edit', `/notes/edit?note=${note}`],
  ['keys', '/keys'],
];
const wanted = isForDocs
  ? ([
      ['now', 1280, 'light'],
      ['run', 1280, 'light'],
      ['timeline', 1280, 'light'],
    ] as const)
  : pages.flatMap(
      ([name]) =>
        [
          [name, 1440, 'light'],
          [name, 1440, 'dark'],
          [name, 820, 'light'],
          [name, 400, 'light'],
          [name, 400, 'dark'],
        ] as const,
    );

const browser = await launch();
try {
  for (const [name, width, mode] of wanted) {
    if (process.env['ONLY'] && !process.env['ONLY'].split(',').includes(name)) continue;
    const path = pages.find(([one]) => one === name)?.[1] ?? '/';
    const page = await browser.newPage({
      viewport: { width, height: width < 500 ? 860 : 900 },
      colorScheme: mode,
      reducedMotion: 'reduce',
    });
    page.setDefaultTimeout(300_000);
    await page.goto(`${running.address}?token=${running.token}`);
    await page.goto(new URL(path, running.address).href);
    await page.locator('#connection .good').waitFor();
    await page.locator('[data-later]').waitFor({ state: 'detached' });
    await page.screenshot({
      path: join(directory, isForDocs ? `console-${name}.png` : `${name}-${width}-${mode}.png`),
      fullPage: !isForDocs,
    });
    process.stdout.write(`${name} ${width} ${mode}\n`);
    await page.close();
  }
} finally {
  await browser.close();
  await playing.close();
}
