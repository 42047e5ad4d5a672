// Debian's Chromium, driven without a download. Where there is none, `missing` says so.

import { existsSync } from 'node:fs';

import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';

const found = [process.env['CHROMIUM'], '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  (path) => path !== undefined && existsSync(path),
);

/** Why a browser cannot be driven here; null: it can. */
export const missing = found === undefined ? 'there is no Chromium: apt-get install chromium, or CHROMIUM=PATH' : null;

export function launch(): Promise<Browser> {
  if (found === undefined) throw new Error(missing ?? '');
  return chromium.launch({
    executablePath: found,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--force-color-profile=srgb', '--font-render-hinting=none'],
  });
}
