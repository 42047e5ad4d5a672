// Failpoints in the SQL functions, for a test's database only: a trigger before each kind of statement on each table of the ledger. A
// point is "insert turns"; a connection that comes there for the n-th time since it was set is terminated in the middle of its function.

import type { TestDatabase } from '../database.ts';

export type SqlFailpoints = {
  /** Those that somebody came to. */
  hit(): Promise<string[]>;
};

/** Sets every point, so that whoever is the first to come there loses its connection and what its transaction has done. */
export async function setSqlFailpoints(database: TestDatabase, schema = 'ledger'): Promise<SqlFailpoints> {
  await database.query(`
    create schema failpoints;
    create table failpoints.points (name text primary key, counter regclass not null);
    -- As the owner of the ledger, whoever writes; a sequence counts what is rolled back, too.
    create function failpoints.come() returns trigger language plpgsql security definer as $f$
    declare
      v_counter regclass := (select p.counter from failpoints.points p where p.name = lower(tg_op) || ' ' || tg_table_name);
    begin
      if nextval(v_counter) = 1 then
        perform pg_terminate_backend(pg_backend_pid());
      end if;
      return null;
    end $f$;
    do $do$
    declare
      v_table text;
      v_act text;
      v_n integer := 0;
    begin
      for v_table in select c.relname from pg_class c where c.relnamespace = '${schema}'::regnamespace and c.relkind = 'r' loop
        foreach v_act in array '{insert,update,delete}'::text[] loop
          v_n := v_n + 1;
          execute format('create sequence failpoints.counter_%s', v_n);
          execute format('insert into failpoints.points values (%L, %L)', v_act || ' ' || v_table, format('failpoints.counter_%s', v_n));
          execute format('create trigger a_failpoint_%s before %s on ${schema}.%I for each statement execute function failpoints.come()', v_act, v_act, v_table);
        end loop;
      end loop;
    end $do$`);
  return {
    hit: async () =>
      (
        await database.query<{ name: string }>(
          `select p.name from failpoints.points p join pg_sequences s on format('%I.%I', s.schemaname, s.sequencename)::regclass = p.counter where s.last_value is not null order by 1`,
        )
      ).map(({ name }) => name),
  };
}
