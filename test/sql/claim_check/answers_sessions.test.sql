-- A session of another program asks before it changes a file: keyed on the file, not on where the session works.
begin;
select plan(33);

select set_config('work_ledger.now', '2026-01-01 12:00:00Z', true);
create temporary table session as select n, (journal_session_open('s' || n, 'Session ' || n, d)).id from (values (1, '/shop'), (2, '/shop/src'), (3, '/tmp')) v(n, d);
create function pg_temp.id(p_n integer) returns uuid language sql as $$ select id from session where n = p_n $$;

select is(claim_check(pg_temp.id(1), array['/shop/src/money.js'])::jsonb, '{"kind": "allow", "says": null}'::jsonb, 'what nobody is at is free');
select is((select key from v_claims), 'file:src/money.js', 'and claimed: the edit follows');
select is(claim_check(pg_temp.id(1), array['src/money.js']) ->> 'kind', 'allow', 'its own claim is none against it');
select later('40 seconds');
select is(claim_check(pg_temp.id(2), array['money.js'])::jsonb, '{"kind": "warn", "says": "[claim] Another session changed money.js 40 s ago and is still working on it: \"Session 1\""}'::jsonb, 'another session is warned');
select is(claim_check(pg_temp.id(2), array['money.js']) ->> 'kind', 'allow', 'once');
select later('1 second');
select is(claim_check(pg_temp.id(3), array['/shop/src/money.js']) ->> 'says', E'[claim] Another session changed /shop/src/money.js 1 s ago and is still working on it: "Session 2"\n[claim] Another session changed /shop/src/money.js 41 s ago and is still working on it: "Session 1"', 'wherever it works');
select is(claim_check(pg_temp.id(3), array['/shop/src/other.js']) ->> 'kind', 'allow', 'of other files it hears nothing');

-- A worker in the same directory.
select tool('edit_file', 'unsafe', 'moderate');
select agent('{"workspace": "host", "workspace_dir": "/shop", "tools": ["edit_file"], "ledger_nudge_interval": 0}', '{"claims": "refuse"}');
select submit('Round at the edge');
select play('[[["edit_file", {"path": "src/money.js"}, "done"]]]');
select alike((select result #>> '{}' from tool_calls where work_item_id = item()), '[claim] Not executed: Another session holds src/money.js since 12:00 UTC: "Session 1" %', 'a worker is refused for a session');
select later('1 second');
select from journal_session_status(pg_temp.id(1), 'paused');
select play('[[["edit_file", {"path": "src/money.js"}, "done"]]]');
select alike((select result #>> '{}' from tool_calls where work_item_id = item() order by created_at desc, id desc limit 1), E'[claim] Another session changed src/money.js % "Session 3"\n[claim] Another session changed %"Session 2"\ndone', 'and free when that ends; those who only went on bind nobody');
select later('1 second');
select is(claim_check(pg_temp.id(2), array['money.js']) ->> 'says', E'[claim] Worker/analyze changed money.js 1 s ago and is still working on it: "Round at the edge"\n[claim] Another session changed money.js 2 s ago and is still working on it: "Session 3"', 'a session hears of the worker, and of who went on since');
select is((select count(*) from v_claims where is_binding), 2::bigint, 'the worker holds it now, and the third session its other file');

select later('6 minutes');
select is((select count(*) from v_claims where by = 'Another session'), 0::bigint, 'a session whose program is silent holds nothing');
select from work_sweep();
select is((select count(*) from claims), 1::bigint, 'and a sweep removes what it had');

-- One that others thought to be over is at work: what it changes is its own, and it is heard of.
select is(array_agg((select status from work_sessions s where s.id = pg_temp.id(n)) order by n), '{paused,crashed}', 'sessions at rest')
  from generate_series(1, 2) n;
select claim_check(pg_temp.id(n), array[format('/shop/%s.js', n)]) from generate_series(1, 2) n;
select is((select count(*) from v_claims where by = 'Another session' and is_binding), 2::bigint, 'hold what they change');
select is(array_agg((select status from work_sessions s where s.id = pg_temp.id(n)) order by n), '{active,active}', 'and are at work again')
  from generate_series(1, 2) n;

-- A change of several files is checked as one: it is refused for one of them, and then holds none.
select from project_set('shop', 'refuse');
create temporary table patch as select n, (journal_session_open('p' || n, 'Patch ' || n, '/patch', 'shop')).id from generate_series(1, 2) n;
create function pg_temp.patch(p_n integer, p_paths text[]) returns text language sql as $$ select claim_check(id, p_paths) ->> 'kind' from patch where n = p_n $$;
select is(pg_temp.patch(1, '{a.js,b.js}'), 'allow', 'several files at once');
select is(pg_temp.patch(2, '{c.js,b.js,d.js}'), 'refuse', 'one of which is held');
select is((select array_agg(key order by key) from v_claims where scope = 'shop'), '{file:a.js,file:b.js}', 'hold none of the others');
select from project_set('shop', 'warn');
select matches((select claim_check(id, '{b.js,c.js,a.js}') ->> 'says' from patch where n = 2), E'^\\[claim\\] [^\n]* b\\.js [^\n]*\n\\[claim\\] [^\n]* a\\.js [^\n]*$', 'a warning names all');
select is((select count(*) from v_claims where scope = 'shop'), 5::bigint, 'and all are claimed');

-- One repository with two working trees: the same file on another branch has the same path in its tree, wherever in it a session works.
create temporary table tree as select n, (journal_session_open('t' || n, 'Tree ' || n, d, 'mono')).id
  from (values (1, '/mono/a'), (2, '/mono/b'), (3, '/mono'), (4, '/other')) v(n, d);
create function pg_temp.tree(p_n integer, p_path text, p_root text) returns text language sql as $$
  select claim_check(id, array[p_path], array[p_root]) ->> 'says' from tree where n = p_n $$;
select is(pg_temp.tree(1, 'package.json', '/mono'), null, 'a file below the root');
select is(pg_temp.tree(2, 'package.json', '/mono'), null, 'is not that of the same name elsewhere in the tree');
select is(pg_temp.tree(3, '/mono/.trees/x/a/package.json', '/mono/.trees/x'), '[claim] Another session changed .trees/x/a/package.json 0 s ago on another branch and is still working on it: "Tree 1"', 'and that of a tree within the tree');
select matches(pg_temp.tree(4, 'a/package.json', '/other'), '^(\[claim\] [^\n]* 0 s ago on another branch and is still working on it: "Tree [13]"\n?){2}$', 'like that of one next to it');
select lives_ok($$ select claim_take(id, 'file:package.json') from tree where n = 2 $$, 'who claims a file by its name from its directory');
select is((select array_agg(c.name order by c.name) from claims c join tree t on t.id = c.work_item_id and t.n < 3), '{file:a/package.json,file:b/package.json}', 'claims the one that it changed');

select throws_ok($$ select claim_check(pg_temp.id(1), array['']) $$, 'WL002', null, 'a file has a path');
select throws_ok($$ select claim_check(pg_temp.id(1), null) $$, 'WL002', null, 'also where none is given');
select is(claim_check(pg_temp.id(1), '{}') ->> 'kind', 'allow', 'a change of nothing is free');
select throws_ok($$ select claim_check('00000000-0000-0000-0000-000000000000', array['a']) $$, 'WL001', null, 'a session has to be there');
select throws_ok($$ select claim_check((work_submit('analyze', 'Later')).id, array['a']) $$, 'WL008', null, 'and be under way');
select from work_complete(pg_temp.id(3), 'Done');
select throws_ok($$ select claim_check(pg_temp.id(3), array['a']) $$, 'WL003', null, 'and not over');

select * from finish();
rollback;
