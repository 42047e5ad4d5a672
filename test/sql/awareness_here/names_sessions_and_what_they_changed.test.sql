-- A session of another program is called one, wherever it is told of, and the files that its program reported are told as an agent's are.
begin;
select plan(10);

create temporary table session as select (journal_session_open('s', 'Mend the shop', '/shop', 'acme')).id;
create temporary table colleague as select (journal_session_open('t', 'Mend the till', '/shop', 'acme')).id;
create function pg_temp.here() returns text language sql as $$ select awareness_here(id, '/shop') from session $$;
create function pg_temp.changes(p_path text, p_type text, p_operation text default 'modify') returns uuid language sql as $$
  select id from journal_log((select id from colleague), p_type, jsonb_build_object('filePath', p_path, 'operation', p_operation)) $$;

select alike(pg_temp.here(), E'%- [session] Mend the till (active)\n</data%', 'a session in words that a reader knows; none of its files where it changed none');
select from pg_temp.changes('/shop/src/money.js', 'file_written');
select from pg_temp.changes('/shop/src/read.js', 'file_read', 'read');
select alike(pg_temp.here(), E'%- [session] Mend the till (active)\n  changed: src/money.js\n</data%', 'a file that it changed, from its directory; none that it read');
select from pg_temp.changes('/shopping/list.md', 'file_written');
select alike(pg_temp.here(), E'%\n  changed: %/shopping/list.md%', 'a file elsewhere with its whole path');
select alike(pg_temp.here(), E'%\n  changed: %src/money.js%', 'beside the others');
select from journal_entry_delete((select id from journal_entries where content ->> 'filePath' ~ 'shopping'), 'Not meant');
select unalike(pg_temp.here(), '%shopping%', 'what was deleted is not told');
select is(_files_changed((select id from session)), null, 'of one that changed nothing there is nothing');

select from work_submit('analyze', 'A part of it', p_parent_id => (select id from colleague));
select alike(awareness_digest((select id from work_items where description = 'A part of it')),
  E'%Your team:\n- [session] Mend the till (your parent, active)\n  Changed: src/money.js%', 'the team of a session is told the same');
select from tell_agent((select id from session), 'session', 'The till is mine');
select alike(inbox_take((select id from colleague)), '%from another agent, session %', 'it is found by that name, and named so where it says something');

select from generate_series(1, 8) n, journal_session_open(format('left %s', n), null, '/shop', 'acme') s, journal_session_status(s.id, 'paused');
select alike(pg_temp.here(), '%Mend the till (active)%', 'one that is named');
select from journal_session_status((select id from colleague), 'paused');
select alike(pg_temp.here(), E'%repository:\n- [session] Mend the till (paused)\n  changed: src/money.js\n</data%', 'those that ended before anything was asked do not hide it');

select * from finish();
rollback;
