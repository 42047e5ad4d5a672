// The version after this one, made up: a copy of the sources with another number, another column, functions and a view of another shape,
// and the upgrade script that goes with them. So this version can be seen as the older one of two.

import { appendFileSync, cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { build, digest, extensionScript, version } from '../sql/extensionSource.ts';

const root = fileURLToPath(new URL('../', import.meta.url));

export const nextVersion = version().replace(/\.(\d+)\.\d+$/, (_, minor: string) => `.${Number(minor) + 1}.0`);

/** `oldest`: the oldest version of programs that its ledgers serve. */
export async function makeNextVersion(oldest: string): Promise<{ main: string; remove(): void }> {
  const folder = await mkdtemp(join(tmpdir(), 'wl-next-'));
  for (const part of ['runtime', 'sandbox', 'plv8', 'sql', 'package.json'])
    cpSync(join(root, part), join(folder, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const edit = (file: string, from: string, to: string): void => {
    const text = readFileSync(join(folder, file), 'utf8');
    if (text.split(from).length !== 2) throw new Error(`${file} does not have "${from}" once`);
    writeFileSync(
      join(folder, file),
      text.replace(from, () => to),
    );
  };
  edit('sql/work_ledger.control', `default_version = '${version()}'`, `default_version = '${nextVersion}'`);
  edit('package.json', `"version": "${version()}"`, `"version": "${nextVersion}"`);
  appendFileSync(join(folder, 'sql/upgrades/frozen.txt'), `${version()} ${build()} ${digest(extensionScript())}\n`);

  edit('sql/schema/030_work_items.sql', '  workspace_dir_by name,\n', '  workspace_dir_by name,\n  tenant text,\n');
  appendFileSync(join(folder, 'sql/schema/030_work_items.sql'), `comment on column work_items.tenant is 'Whose work it is.';\n`);
  edit('sql/api/00_ground/version.sql', `return '0.1.0'`, `return '${oldest}'`);
  edit(
    'sql/api/40_focus/lease.sql',
    'function iteration_release(p_work_item_id uuid, p_lease uuid)',
    'function iteration_release(p_work_item_id uuid, p_lease uuid, p_reason text default null)',
  );
  edit(
    'sql/api/40_focus/lease.sql',
    'comment on function iteration_release(uuid, uuid) is',
    'comment on function iteration_release(uuid, uuid, text) is',
  );
  edit(
    'sql/api/95_views/now.sql',
    'select m.name as model, m.cooldown_ends_at',
    'select m.context_window, m.name as model, m.cooldown_ends_at',
  );
  appendFileSync(
    join(folder, 'sql/api/95_views/now.sql'),
    `
create or replace function _tenant_of(p_description text)
  returns text
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$ select 'tenant of ' || p_description $$;
`,
  );
  writeFileSync(
    join(folder, `sql/upgrades/${version()}--${nextVersion}.sql`),
    `-- Work belongs to somebody.

alter table work_items add column tenant text;
comment on column work_items.tenant is 'Whose work it is.';
drop function if exists iteration_release(uuid, uuid);
drop view if exists v_cooldowns;

@functions@

update work_items set tenant = _tenant_of(description);
`,
  );
  return { main: join(folder, 'runtime/main.ts'), remove: () => rmSync(folder, { recursive: true, force: true }) };
}
