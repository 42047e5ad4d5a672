// Debian's Chromium, driven without a download. Where there is none, `missing` says so.

import { existsSync } from 'node:fs';

import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';

const found = [process.env['CHROMIUM'], '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  (path) => path !== undefined && existsSync(path),
);

/** Why a browser cannot be driven here; null: it can. */
export const missing = found === undefined ? 'there is no Chromium: apt-get install chromium, or CHROMIUM=PATH' : null;

/** A fuse: how long a page takes on a busy machine decides nothing. */
const PATIENT_MS = 300_000;

export async function launch(): Promise<Browser> {
  if (found === undefined) throw new Error(missing ?? '');
  const browser = await chromium.launch({
    timeout: PATIENT_MS,
    executablePath: found,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--force-color-profile=srgb', '--font-render-hinting=none'],
  });
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async (options) => {
    const context = await newContext(options);
    context.setDefaultTimeout(PATIENT_MS);
    return context;
  };
  return browser;
}
