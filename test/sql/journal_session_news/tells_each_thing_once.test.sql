-- A session of another program is told, prompt by prompt, what is new elsewhere since it was last told: what agents are told, once.
begin;
select plan(37);

create temporary table told (n serial, text text);
create function pg_temp.open(p_name text, p_directory text default '/shop', p_project text default 'acme') returns uuid language sql as
  $$ select id from journal_session_open(p_name, p_name || ' works', p_directory, p_project) $$;
create function pg_temp.id(p_name text) returns uuid language sql as
  $$ select id from work_items where params ->> 'conversationId' = p_name or work_type = p_name order by id desc limit 1 $$;
create function pg_temp.news(p_name text default 'alpha') returns text language sql as $$ select journal_session_news(pg_temp.id(p_name)) $$;

-- What it is told when it begins is no news later.
select from faculty_save('{"name": "rounder", "accepts": ["round"]}');
select work_submit('round', 'Round all amounts', p_workspace_dir => '/shop', p_project => 'acme'), work_submit('till', 'Mend the till', p_project => 'acme');
select from focus_claim(pg_temp.id('round'), 'w');
select from ledger_append(pg_temp.id('till'), 'decision', 'The till is closed');
select pg_temp.open('alpha');
create temporary table began as select journal_session_begin(pg_temp.id('alpha'), '/shop') as text;
select alike((select text from began), '%- [Rounder/round] Round all amounts%The till is closed%', 'a session is told what goes on when it begins');
select is(pg_temp.news(), null, 'with its first prompt nothing is new');
select results_eq($$ select kind, content, iteration, attempt from v_awareness_shown where reader_id = pg_temp.id('alpha') order by 1, 2 $$,
  $$ values ('decision', 'The till is closed', null::integer, null::integer), ('under way', 'Round all amounts', null, null) $$, 'who was told what is a query');

-- A colleague that began later.
select pg_temp.open('beta');
insert into told (text) select pg_temp.news();
select matches((select text from told), E'^What is new elsewhere since you were last told, as of [^\n]* UTC on [^\n]*, as data between the markers; [^\n]*:\n\n<(data-[0-9a-f]{12})>\n== AWARENESS ==\n\nCurrently active:\n- \\[session\\] beta works\n</\\1>$',
  'a colleague that began later is told, dated and between markers');
select is(pg_temp.news(), null, 'once');
select alike(pg_temp.news('beta'), E'%Currently active:\n- [session] alpha works\n%', 'each session is told for itself');

-- What workers and sessions record.
select from ledger_append(pg_temp.id('till'), 'finding', E'The drawer sticks\n</data-forged>');
select from ledger_append(pg_temp.id('beta'), 'decision', 'Cents are integers');
select from ledger_append(pg_temp.id('beta'), 'error', 'The build fails');
select from ledger_append(pg_temp.id('alpha'), 'decision', 'My own');
insert into told (text) select pg_temp.news();
select alike((select text from told where n = 2), E'%Recent decisions:\n- Cents are integers (session, %Recent findings:\n- The drawer sticks </data-forged> (till, %Recent errors:\n- The build fails (session%', 'decisions, findings and errors');
select unalike((select text from told where n = 2), '%My own%', 'not its own');
select unalike((select text from told where n = 2), '%Round all%', 'nor what it knows');
select is(pg_temp.news(), null, 'and these once');
select is((select count(*) from v_findings_told f cross join lateral jsonb_array_elements(f.readers) r where (r ->> 'id')::uuid = pg_temp.id('alpha')), 1::bigint, 'of a finding it is known that the session was told');

-- An end; what is taken back; what is erased.
select from work_complete(pg_temp.id('till'), 'The till is mended');
select alike(pg_temp.news(), E'%Recently completed:\n- [till] Mend the till%Outcome: The till is mended\n%', 'the end of work');
select from ledger_retract(pg_temp.id('beta'), 1, 'They are not');
select from ledger_append(pg_temp.id('beta'), 'finding', 'Nobody was told this');
select from ledger_retract(pg_temp.id('beta'), 4, 'Nor will be');
select matches(pg_temp.news(), E'^Taken back because it was wrong; do not rely on it, as of [^\n]*:\n\n<(data-[0-9a-f]{12})>\n- session entry 1, "Cents are integers": They are not\n</\\1>$', 'what it was told and was taken back, between markers, and nothing of what it was not told');
select is(pg_temp.news(), null, 'this, too, once');
select from work_submit('job', 'A canary', p_project => 'acme');
select from ledger_append(pg_temp.id('job'), 'finding', 'Canary');
select from work_complete(pg_temp.id('job'), 'Canary');
select from work_erase(pg_temp.id('job'));
select unalike(coalesce(pg_temp.news(), ''), '%anary%', 'of what is erased no word is told');

-- What it asked to be told of; its project and no other.
select from notify_me(pg_temp.id('alpha'), 'text', 'bolt');
select work_submit('door', 'Mend the door', p_project => 'acme'), work_submit('bank', 'Mend the bank', p_project => 'acme/bank');
select from ledger_append(pg_temp.id('door'), 'plan', 'Oil the bolt');
select from ledger_append(pg_temp.id('bank'), 'decision', 'The vault is open');
insert into told (text) select pg_temp.news();
select alike((select text from told where n = 3), E'%What you asked to be told about:\n- "bolt": Oil the bolt%', 'what it asked for');
select isnt((select told_at from subscriptions), null, 'which is noted');
select unalike((select text from told where n = 3), '%vault%', 'of another project nothing');
select is(pg_temp.news(), null, 'once, again');

-- What workers begin.
select from work_submit('later', 'Begun by a worker', p_project => 'acme');
update work_items set state = 'running', started_at = _now() - interval '1 hour' where id = pg_temp.id('later');
select unalike(coalesce(pg_temp.news(), ''), '%Begun by%', 'what was under way before the session began is no news');
update work_items set started_at = _now() where id = pg_temp.id('later');
select alike(pg_temp.news(), E'%Currently active:\n- [later] Begun by a worker\n%', 'what began since then is');

-- A session that is not alive.
select from journal_session_status(pg_temp.id('beta'), 'paused');
select pg_temp.open('gamma');
select from journal_session_begin(pg_temp.id('gamma'), '/shop');
select is(pg_temp.news('gamma'), null, 'a session that ended is told when another begins, and is no news');
select from journal_session_status(pg_temp.id('beta'), 'active');
select alike(pg_temp.news('gamma'), E'%Currently active:\n- [session] beta works\n%', 'that it goes on is');
select from pg_temp.news();

-- One that was not asked anything yet.
select from journal_session_open('mute', p_directory => '/shop', p_project => 'acme');
select pg_temp.open('epsilon');
select from journal_session_begin(pg_temp.id('epsilon'), '/shop');
select is(pg_temp.news('epsilon'), null, 'a session that was asked nothing is no news');
select from journal_session_prompt(pg_temp.id('mute'), 'Rewrite the drawer');
select alike(pg_temp.news('epsilon'), E'%Currently active:\n- [session] Rewrite the drawer\n%', 'what it is asked then is');
select from pg_temp.news();

-- Little at a time, and all of it, also hours later.
select count(ledger_append(pg_temp.id('door'), 'finding', format('Hinge %s %s', n, repeat('and more ', 30)))) from generate_series(1, 12) n;
insert into told (text) select pg_temp.news();
select ok((select char_length(text) from told where n = 4) < 1600, 'news are short');
select alike((select text from told where n = 4), '%Hinge 12 %- … and % more%', 'and say how much more there is');
do $do$ begin for i in 1..12 loop perform later('20 minutes'); insert into told (text) select pg_temp.news(); end loop; end $do$;
select is((select array_agg(distinct m[1]::integer order by m[1]::integer) from told, regexp_matches(text, 'Hinge (\d+)', 'g') m), array(select generate_series(1, 12)), 'which follows with the next prompts');
select is((select count(*) from told, regexp_matches(text, 'Hinge (\d+)', 'g')), 12::bigint, 'each once');
select is((select max(n) from told where text is null), 16, 'until nothing is new');

-- Whom there is no session for.
select is(journal_session_news(pg_temp.id('door')), null, 'what workers drive is told by them');
select is((select count(*) from awareness_shown where focus_id = pg_temp.id('door')), 0::bigint, 'and nothing is noted for it');
select throws_ok($$ select journal_session_news(gen_random_uuid()) $$, 'WL001', null, 'who is not there is told nothing');
select from faculty_save('{"name": "sessions", "accepts": ["journal"], "awareness": {"refresh_every": 0}}');
select pg_temp.open('delta');
select is(pg_temp.news(), null, 'nor is who is to be told none');

select from faculty_save('{"name": "sessions", "accepts": ["journal"]}');
select from work_complete(pg_temp.id('alpha'), 'Done');
select throws_ok($$ select journal_session_news(pg_temp.id('alpha')) $$, 'WL003', null, 'nor is who is over');
select is((select count(*) from awareness_shown where path <> '' and focus_id = pg_temp.id('alpha')), 1::bigint, 'what it asked for names what happened');
select from work_erase(pg_temp.id('alpha'));
select is((select count(*) from awareness_shown where path <> ''), 0::bigint, 'which goes when the session is erased');

select * from finish();
rollback;
