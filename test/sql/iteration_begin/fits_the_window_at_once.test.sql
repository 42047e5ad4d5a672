-- The first request of an attempt is not cut by a compaction, so it holds no more of what can be thousands than fits: entries of earlier
-- attempts, those attempts themselves, children. The newest stand there, and how many come before.
begin;
select plan(8);

select agent('{"context_window": 20000}', '{"recover": {"max_attempts": 1000}, "awareness": {"enabled": false}}');
create function pg_temp.first() returns text language sql as $$ select stage() #>> '{request,messages,0,content,0,text}' $$;

select submit('Long work'), drive();
select count(*) from ledger_append_batch(item(), (select jsonb_agg(jsonb_build_object('entry_type', 'finding', 'content', format('Found %s %s', n, repeat('word ', 40)))) from generate_series(1, 400) n), lease());
select give_up(), later('1 hour'), drive();
select cmp_ok(length(pg_temp.first()), '<', 60000, 'what earlier attempts recorded takes a part of the window');
select matches(pg_temp.first(), '\(\d+ older, in ledger_read\)', 'what is left out is counted');
select matches(pg_temp.first(), '- Found 400 ', 'the newest stands there');

update foci set error = jsonb_build_object('message', repeat('why ', 50)) where work_item_id = item() and attempt = 1;
insert into foci (work_item_id, attempt, faculty, faculty_hash, session_label, max_tokens, outcome, error, ended_at)
select f.work_item_id, n, f.faculty, f.faculty_hash, f.session_label || n, f.max_tokens, f.outcome, f.error, f.ended_at from foci f, generate_series(3, 400) n where f.work_item_id = item() and f.attempt = 1;
update work_items set attempts = 400 where id = item();
select give_up();
update work_items set attempts = 400 where id = item();
select later('1 hour'), drive();
select cmp_ok(length(pg_temp.first()), '<', 80000, 'the attempts before take little, however many');
select matches(pg_temp.first(), E'\\(\\d+ before\\)\n.*- attempt 400: ', 'the newest are listed, the others counted');

select submit('A parent of many');
select count((work_submit('analyze', format('Child %s%s', n, repeat(' word', 40)), p_parent_id => item())).id) from generate_series(1, 300) n;
select drive();
select cmp_ok(length(pg_temp.first()), '<', 30000, 'children that were delegated before take little');
select matches(pg_temp.first(), E'Child work delegated earlier:\n\\(\\d+ before\\)\n', 'those that are left out are counted');
select matches(pg_temp.first(), 'Child 300 word', 'the newest stands there');

select * from finish();
rollback;
