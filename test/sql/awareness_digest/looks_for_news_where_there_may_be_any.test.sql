-- Before each request a focus looks whether anything is new, and makes a digest only where something may be, or where the last one told
-- of something: it may have left something out.
begin;
select plan(10);

select tool('edit_file', 'unsafe', 'moderate');
set local work_ledger.now = '2026-11-20 12:00:00+00';
select from faculty_save('{"name": "reader", "accepts": ["read"], "engage": {"ledger_nudge_interval": 0}}');
select from faculty_save('{"name": "quiet", "accepts": ["quiet"], "engage": {"ledger_nudge_interval": 0}, "awareness": {"refresh_every": 0}}');
select from faculty_save('{"name": "short", "accepts": ["short"], "engage": {"ledger_nudge_interval": 0}, "awareness": {"news_tokens": 60}}');
create temporary table other as select * from work_submit('write', 'Write it', p_faculty => 'reader');
create temporary table quiet as select * from work_submit('quiet', 'Hear nothing');
create temporary table short as select * from work_submit('short', 'Hear little');
select submit('Read it', 'read');
create function pg_temp.digests() returns bigint language sql as $$ select count(*) from awareness_digests where focus_id = focus() $$;
-- What a request of a work item told as news; null: nothing.
create function pg_temp.news(p_item uuid default item()) returns text language sql as $$
  select m.content -> 0 ->> 'text' from messages m where m.turn_id = (select turn_id from request where item = p_item order by n desc limit 1) and m.metadata ->> 'kind' = 'digest'
$$;
select play('[[["note", "One"]]]'), play('[[["note", "One"]]]', (select id from quiet)), play('[[["note", "One"]]]', (select id from short));

select later('5 minutes');
select play('[[["finding", "My own"]], [["note", "Two"]]]');
select later('5 minutes');
select play('[[["note", "Three"]]]');
select is(pg_temp.digests(), 1::bigint, 'where nothing is new no digest is made, whatever the agent itself records');
select later('5 minutes');
select from ledger_append((select id from other), 'note', 'A note');
select play('[[["note", "Four"]]]');
select is(pg_temp.digests(), 1::bigint, 'a note of somebody else is not news');
select later('5 minutes');
select from ledger_append((select id from other), 'decision', 'Decided by somebody else');
select play('[[["note", "Five"]]]');
select alike(pg_temp.news(), '%Recent decisions:%- Decided by somebody else (%', 'what somebody else decided is told in the next request');
select later('5 minutes');
select from work_complete((select id from other), 'It is written');
select play('[[["note", "Six"]]]');
select alike(pg_temp.news(), '%Recently completed:%] Write it (just now)%', 'and so is that somebody is done');
select is(pg_temp.digests(), 3::bigint, 'each in a digest of its own');
select play('[[["note", "Two"]]]', (select id from quiet));
select is(pg_temp.news((select id from quiet)), null, 'with refresh_every 0 an agent is told nothing after its first request');

select play('[[["note", "Two"]]]', (select id from short));
select matches(pg_temp.news((select id from short)), E'\n- .*\n- … and 1 more', 'what is beyond news_tokens is counted, but for one line');

-- On a host a file that two name is news by itself.
select from faculty_save('{"name": "here", "accepts": ["here"], "engage": {"ledger_nudge_interval": 0, "workspace": "host", "workspace_dir": "/project", "tools": ["edit_file"]}}');
create temporary table two as select w.id, n from generate_series(1, 2) n, work_submit('here', 'Edit ' || n) w;
select play('[[["edit_file", {"path": "a.js"}]]]', id) from two order by n;
select later('5 minutes');
select play('[[["note", "On"]]]', id) from two order by n;
select later('5 minutes');
select play('[[["edit_file", {"path": "b.js"}]], [["note", "On"]]]', (select id from two where n = 1));
select later('5 minutes');
select play('[[["edit_file", {"path": "b.js"}]]]', (select id from two where n = 2));
select is(pg_temp.news((select id from two where n = 2)), null, 'before two name a file there is no news of it');
select play('[[["note", "On"]]]', (select id from two where n = 2));
select alike(pg_temp.news((select id from two where n = 2)), '%Also working on your files:%- b.js: [Here/here] Edit 1%', 'a file that both name is news in the next request, though nobody recorded anything');
select is(rebuilt(), (select count(*) from request), 'every request is rebuilt to the byte');

select * from finish();
rollback;
