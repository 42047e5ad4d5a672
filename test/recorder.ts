// What a process loads: every module that it asks for, by import or by require, written into the file LOADED when it exits.

/** For node --import. */
export const recorder = `data:text/javascript,${encodeURIComponent(`
  import { writeFileSync } from 'node:fs';
  import { registerHooks } from 'node:module';
  const urls = new Set();
  registerHooks({ resolve(specifier, context, next) {
    const found = next(specifier, context);
    urls.add(found.url);
    return found;
  } });
  process.on('exit', () => writeFileSync(process.env.LOADED, [...urls].join('\\n')));
`)}`;
