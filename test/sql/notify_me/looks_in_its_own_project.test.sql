-- What happens in another project is no news, whatever an agent asked for.
begin;
select plan(10);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent('{"tools": ["write_file"]}');
select ability_register('write_file', 'Writes.', '{"type": "object"}', 'idempotent', p_touches => '[{"key": "path", "action": "modify"}]');
create temporary table other as select project, (work_submit('analyze', 'Other', p_project => project)).id from unnest('{shop,bank}'::text[]) project;
create function pg_temp.other(p_project text) returns uuid language sql as $$ select id from other where project = p_project $$;
select take((work_submit('analyze', 'Wait for news', p_project => 'shop', p_workspace_dir => '/srv/shop')).id);
select notify_me(item(), 'path', '/srv/shop/src/a.ts', true), notify_me(item(), 'text', 'flaky', true);
create function pg_temp.happens(p_project text, p_path text) returns void language sql as $$
  select drive(pg_temp.other(p_project)), answer(jsonb_build_array(jsonb_build_array('write_file', jsonb_build_object('path', p_path)), jsonb_build_array('finding', 'It is flaky')), pg_temp.other(p_project)),
         run('[]', pg_temp.other(p_project)), iteration_finish(pg_temp.other(p_project), lease(pg_temp.other(p_project)));
$$;
create function pg_temp.lines() returns bigint language sql as $$
  select count(*) from _subscribed(item(), _awareness_projects('shop', 'project'), null, _now() - interval '1 hour')
$$;
select pg_temp.happens('bank', 'src/a.ts');
select is(pg_temp.lines(), 0::bigint, 'another project has the same path and the same words');
select throws_ok(format('select notify_me(item(), %L, %L)', 'end', pg_temp.other('bank')), 'WL001', null, 'its work is not there');
select pg_temp.happens('shop', 'src/a.ts');
select is(pg_temp.lines(), 2::bigint, 'its own project is heard, a path from the directory of the work is the same as the whole one');
select is(_changes_of(item(), s, '{shop}') is not null, true, 'a change is found') from subscriptions s where kind = 'path';
select pg_temp.happens('shop', '/srv/shop/src/a.ts');
select is(pg_temp.lines(), 3::bigint, 'however it is named');

-- Sessions of other programs, which say by their hooks what they change.
create temporary table session as select p, (journal_session_open(p, 'Mend a.ts', '/srv/shop', p)).id from unnest('{bank,shop}'::text[]) p;
create function pg_temp.says(p_project text, p_path text) returns void language sql as $$
  select from session s, journal_log(s.id, 'file_written', jsonb_build_object('filePath', p_path, 'operation', 'modify')) where s.p = p_project $$;
select pg_temp.says('bank', '/srv/shop/src/a.ts'), pg_temp.says('shop', '/srv/shop/src/b.ts');
select is(pg_temp.lines(), 3::bigint, 'neither a session of another project nor another file is news');
select pg_temp.says('shop', '/srv/shop/src/a.ts');
select is(pg_temp.lines(), 4::bigint, 'a file that a session changed is');
select is((select count(*) from session s, subscriptions u, _changes_of(s.id, u, '{shop}') c where s.p = 'shop' and u.kind = 'path'), 1::bigint, 'not to that session');
update subscriptions set target = 'src/a.ts' where kind = 'path';
select is((select count(*) from session s, subscriptions u, _changes_of(s.id, u, '{shop}') c where s.p = 'bank' and u.kind = 'path'), 2::bigint,
  'a session means a path from its directory');
update work_items set external_id = 'import:claude-code:shop' where id = (select id from session where p = 'shop');
select is(pg_temp.lines(), 3::bigint, 'where its record is read, that says it');

select * from finish();
rollback;
