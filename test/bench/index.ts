// `npm run bench -- NAME [arguments]` runs test/bench/NAME.ts.

import { readdirSync } from 'node:fs';

const names = readdirSync(import.meta.dirname).filter((file) => file.endsWith('.ts') && file !== 'index.ts').map((file) => file.slice(0, -3));
const [name = ''] = process.argv.splice(2, 1);
if (!names.includes(name)) {
  console.error(`which benchmark? ${names.join(', ')}`);
  process.exit(2);
}
await import(`./${name}.ts`);
