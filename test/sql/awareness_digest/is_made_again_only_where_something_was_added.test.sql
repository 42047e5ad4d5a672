-- What is new stays new for a minute, for transactions that were open. Told once, it is no reason for another digest; what is added to it is,
-- and so is what was entered before the digest and committed behind it.
begin;
select plan(9);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent('{"ledger_nudge_interval": 0}');
create temporary table other as select * from work_submit('write', 'Write it', p_faculty => 'worker');
create temporary table late as select * from work_submit('write', 'Write late', p_faculty => 'worker');
select submit('Read it');
create function pg_temp.digests() returns bigint language sql as $$ select count(*) from awareness_digests where focus_id = focus() $$;
create function pg_temp.news() returns text language sql as $$
  select m.content -> 0 ->> 'text' from messages m where m.turn_id = (select turn_id from request where item = item() order by n desc limit 1) and m.metadata ->> 'kind' = 'digest'
$$;
select play('[[["note", "One"]]]');
select later('5 minutes');

select from ledger_append((select id from other), 'decision', 'Decided by somebody else');
select play('[[["note", "Two"]]]');
select alike(pg_temp.news(), '%Decided by somebody else%', 'a decision is told');
create temporary table told as select pg_temp.digests() as n;
select play('[[["note", "Three"]]]');
select is(pg_temp.digests() - n, 1::bigint, 'the digest after one that told something looks for the rest') from told;
select play('[[["note", "Four"]], [["note", "Five"]], [["note", "Six"]]]');
select is(pg_temp.digests() - n, 1::bigint, 'then none is made, though the decision is not a minute old') from told;
select ok(not (_iteration_flags(w, f, c.config)).has_news, 'and it is said that there is no news')
  from work_items w join foci f on f.id = w.focus_id join faculties c on c.content_hash = f.faculty_hash where w.id = item();

select from ledger_append((select id from other), 'finding', 'Found by somebody else');
select play('[[["note", "Seven"]]]');
select alike(pg_temp.news(), '%Found by somebody else%', 'what is added a moment later is told');
select play('[[["note", "Eight"]], [["note", "Nine"]]]');
create temporary table then_told as select pg_temp.digests() as n;

select later('10 seconds');
set local work_ledger.now = '2026-11-20 12:04:50+00';
select from ledger_append((select id from late), 'finding', 'Entered early, committed late');
set local work_ledger.now = '2026-11-20 12:05:20+00';
select play('[[["note", "Ten"]]]');
select alike(pg_temp.news(), '%Entered early, committed late%', 'what was entered before the last digest and committed behind it is told');
select is(pg_temp.digests() - n, 1::bigint, 'in a digest') from then_told;

-- More than a hundred are not compared.
select later('5 minutes');
select from generate_series(1, 101) n, work_submit('write', 'Write ' || n, p_faculty => 'worker');
select play('[[["note", "Eleven"]], [["note", "Twelve"]]]');
create temporary table many as select pg_temp.digests() as n;
select play('[[["note", "Thirteen"]]]');
select is(pg_temp.digests() - n, 1::bigint, 'of more than a hundred a digest is made each time') from many;
select is(rebuilt(), (select count(*) from request), 'every request is rebuilt to the byte');

select * from finish();
rollback;
