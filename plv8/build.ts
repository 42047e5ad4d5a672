// Bundles the functions of this folder for the database, each into one body that both plv8 and PL/JS accept. Only scalars go in and out,
// because PL/JS 1.0.5 crashes the server if a function returns a table. JSON is passed as text, because plv8 turns a key __proto__ into a
// prototype. An exception is returned as an answer, which SQL raises with a code.

import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';

const functions = [
  {
    name: 'json_schema_errors',
    module: './jsonSchema.ts',
    takes: ['p_schema text', 'p_value text'],
    calls: 'schemaErrors(JSON.parse(p_schema), JSON.parse(p_value))',
  },
  { name: 'markdown_codeblocks', module: './markdown.ts', takes: ['p_text text'], calls: 'codeBlocks(p_text)' },
  { name: 'markdown_file_references', module: './markdown.ts', takes: ['p_text text'], calls: 'fileReferences(p_text)' },
  { name: 'recorded_runs_parse', module: './readers/recordedRun.ts', takes: ['p_content text'], calls: 'parseRecordedRuns(p_content)' },
] as const;

/** SQL that replaces the stand-ins with the functions; the installer fills in `@language@` and `@extschema@`. */
export async function databaseFunctions(): Promise<string> {
  const bodies = new Map<string, string>();
  for (const module of new Set(functions.map((one) => one.module))) {
    const { outputFiles } = await build({
      entryPoints: [fileURLToPath(new URL(module, import.meta.url))],
      bundle: true,
      write: false,
      format: 'iife',
      globalName: 'bundle',
      target: 'es2022',
      platform: 'neutral',
      mainFields: ['module', 'main'],
      charset: 'ascii',
      minify: true,
      legalComments: 'none',
    });
    const [file] = outputFiles;
    if (!file || file.text.includes('$bundle$')) throw new Error(`${module} cannot be bundled`);
    bodies.set(module, file.text);
  }
  // Evaluated once per connection: the engines keep globalThis, and evaluating takes milliseconds and memory.
  const made = functions.map(
    ({ name, module, takes, calls }) => `create or replace function @extschema@._js_${name}(${takes.join(', ')})
  returns jsonb
  language @language@
  immutable
  as $bundle$
const bundle = globalThis['work_ledger ${module}'] ??= (() => {
${bodies.get(module)}
return bundle;
})();
try {
  return { value: bundle.${calls} };
} catch (error) {
  return { error: /RangeError|InternalError/.test(error.name) ? 'it is too large or nests too deep' : String(error.message).split('\\n')[0].slice(0, 300) };
}
$bundle$;
`,
  );
  // Sets who may call what, as at the end of sql/api.
  return [...made, 'select @extschema@._functions_close(), @extschema@._roles_apply();\n'].join('\n');
}

if (import.meta.main) process.stdout.write(await databaseFunctions());
