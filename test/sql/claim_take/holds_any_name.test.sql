-- Agents and sessions claim what they name: exclusively or together, for a time, and for those below them.
begin;
select plan(27);

select set_config('work_ledger.now', '2026-01-01 12:00:00Z', true);
select agent('{"workspace": "host", "workspace_dir": "/shop", "tools": ["claim", "claim_release"]}');
create temporary table work as select n, (work_submit('analyze', 'Work ' || n)).id from generate_series(1, 3) n;
create function pg_temp.id(p_n integer) returns uuid language sql as $$ select id from work where n = p_n $$;
select drive(id) from work;
create function pg_temp.take(p_n integer, p_key text, p_mode text default 'exclusive', p_ttl interval default '1 hour', p_why text default null) returns json language sql as $$
  select claim_take(pg_temp.id(p_n), p_key, p_mode, p_ttl, p_why, lease(pg_temp.id(p_n))) $$;

select is(pg_temp.take(1, ' record:orders ', p_why => 'Cleaning up')::jsonb, '{"kind": "claimed", "key": "record:orders", "mode": "exclusive", "ends_at": "2026-01-01T13:00:00+00:00", "says": null}'::jsonb, 'what is free is claimed');
select is(pg_temp.take(2, 'record:Orders')::jsonb - 'says', format('{"kind": "taken", "key": "record:Orders", "work_item_id": "%s", "ends_at": "2026-01-01T13:00:00+00:00"}', pg_temp.id(1))::jsonb, 'what somebody has is not');
select alike(pg_temp.take(2, 'record:orders') ->> 'says', '[claim] Not executed: Worker/analyze holds record:orders since 12:00 UTC: "Cleaning up" (work item %', 'and says who, and what for');
select is(pg_temp.take(1, 'record:orders', p_ttl => '2 hours') ->> 'ends_at', '2026-01-01T14:00:00+00:00', 'its holder may renew it');
select is((select why from v_claims where work_item_id = pg_temp.id(1)), 'Cleaning up', 'and need not say again what for');
select is(pg_temp.take(1, 'the staging server', 'shared') ->> 'kind', 'claimed', 'any name will do');
select is(pg_temp.take(2, 'the staging server', 'shared') ->> 'kind', 'claimed', 'several may share');
select is(pg_temp.take(3, 'the staging server') ->> 'kind', 'taken', 'not with one that wants it alone');
select is(pg_temp.take(2, 'the staging server') ->> 'kind', 'taken', 'nor may one of them have it alone');
select is(claim_release(pg_temp.id(1), 'the staging server', lease(pg_temp.id(1))), true, 'it can be given up');
select is(claim_release(pg_temp.id(1), 'the staging server', lease(pg_temp.id(1))), false, 'once');
select is(pg_temp.take(2, 'the staging server') ->> 'kind', 'claimed', 'then it is free');
select is(pg_temp.take(1, 'file:src/../a.js') ->> 'key', 'file:a.js', 'a file is named from the directory of the work');
select is(claim_release(pg_temp.id(1), 'file:/shop/a.js', lease(pg_temp.id(1))), true, 'by any of its names');

select is((select (w.spawn).id from (select spawn_child_work(pg_temp.id(1), 'analyze', 'A part', p_lease => lease(pg_temp.id(1))) as spawn) w) is not null, true, 'a child');
insert into work select 4, id from work_items where parent_id = pg_temp.id(1);
select drive(pg_temp.id(4));
select is(pg_temp.take(4, 'record:orders') ->> 'kind', 'claimed', 'what an item above has does not bind those that work for it');
select is(pg_temp.take(1, 'record:orders') ->> 'kind', 'taken', 'which have it then, until they are done');

-- As tools of an agent.
select answer('[["claim", {"key": "url:https://example.org/", "why": "Crawling"}], ["claim", {"key": "record:orders", "ttl_minutes": 5}], ["claim_release", {"key": "url:https://example.org/"}], ["claim_release", {"key": "nothing"}], ["claim", {"key": "x", "mode": "half"}]]', pg_temp.id(2));
select run(p_item => pg_temp.id(2));
select results_eq($$ select k.is_error, left(k.result #>> '{}', 60) from tool_calls k where k.work_item_id = pg_temp.id(2) order by k.ordinal $$,
  $$ values (false, 'Yours until 13:00 UTC, or until this attempt ends: url:https'), (false, '[claim] Not executed: Worker/analyze holds record:orders sin'), (false, 'Released: url:https://example.org/'), (false, 'You have no claim on nothing.'),
            (true, '"half" is not a mode (WL002)' || E'\n' || 'One of: exclusive, shared.') $$, 'agents do the same by calls');

select throws_ok($$ select claim_take(pg_temp.id(1), 'x') $$, 'WL005', null, 'a worker drives it');
select throws_ok($$ select pg_temp.take(1, ' ') $$, 'WL002', null, 'a claim needs a key');
select throws_ok($$ select pg_temp.take(1, 'file:') $$, 'WL002', null, 'a file has a path');
select throws_ok($$ select pg_temp.take(1, 'x', p_ttl => '8 days') $$, 'WL002', null, 'not for ever');
select throws_ok($$ select pg_temp.take(1, 'x', p_ttl => null) $$, 'WL002', null, 'nor for no time');
select throws_ok($$ select pg_temp.take(1, repeat('x', 1001)) $$, 'WL002', null, 'a key fits an index');
select throws_ok($$ select claim_take((work_submit('analyze', 'Later')).id, 'x') $$, 'WL008', null, 'nobody works on it');
select later('61 minutes'), lease_renew('w', '{}', '{}');
select is((select count(*) from v_claims where key = 'the staging server'), 0::bigint, 'it lapses');
select is((select count(*) from v_claims where key = 'record:orders'), 0::bigint, 'and with the lease');

select * from finish();
rollback;
