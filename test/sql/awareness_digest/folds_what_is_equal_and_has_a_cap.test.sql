-- Lines of the digest that differ in their age only are one line, and the whole has at most max_tokens.
begin;
select plan(11);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select faculty_save('{"name": "a", "accepts": ["a"]}'), faculty_save('{"name": "queue", "accepts": ["queue"], "awareness": {"include_queued": true, "max_recent_errors": 0}}'),
       faculty_save('{"name": "small", "accepts": ["small"], "awareness": {"max_tokens": 200}}'), faculty_save('{"name": "tiny", "accepts": ["tiny"], "awareness": {"max_tokens": 1}}'),
       faculty_save('{"name": "large", "accepts": ["large"], "awareness": {"max_tokens": 0, "max_recent_findings": 500}}');
create temporary table me as select name, (work_submit(name, 'Me, ' || name)).id from unnest(array['a', 'queue', 'small', 'tiny', 'large']) name;
create temporary table other as select n, (work_submit('a', 'A task')).id from generate_series(1, 9) n;
select work_complete(id, case when n <= 3 then 'Nothing found' else 'Found ' || n end) from other where n <= 5;
do $$ begin
  for v_n in 1 .. 9 loop
    perform set_config('work_ledger.now', ('2026-11-20 12:00:00+00'::timestamptz + v_n * interval '1 minute')::text, true);
    perform ledger_append((select id from other where n = 6 + v_n % 2), 'error', 'No such table');
  end loop;
end $$;
select from ledger_append((select id from other where n = 6), 'finding', 'The cache is stale');
select from ledger_append((select id from me where name = 'a'), 'error', 'My own error');

select is(awareness_digest((select id from me where name = 'a')), $$== AWARENESS ==

Recently completed:
- [a] A task (9m ago)
  Outcome: Found 5
- [a] A task (9m ago)
  Outcome: Found 4
- [a] A task (9m ago) (×3)
  Outcome: Nothing found

Recent findings:
- The cache is stale (a, just now)

Recent errors:
- No such table (a, just now) (×9)$$, 'what differs in its age only is one line; errors of others are in it, one''s own are not');

select alike(awareness_digest((select id from me where name = 'queue')), E'== AWARENESS ==\n\nQueued:\n- [a] A task (×4)\n- [large] Me, large\n%- [a] Me, a\n\nRecently completed:\n%', 'work that is queued is told of where that is wanted');
select unalike(awareness_digest((select id from me where name = 'queue')), '%Recent errors%', 'errors are left out where none are wanted');

-- Every entry of a line is noted.
select take(id) from me where name = 'a';
select drive(), answer('["Well"]');
select results_eq($$ select kind, count(*) from v_awareness_shown group by kind order by kind $$, $$ values ('completed', 5::bigint), ('error', 9::bigint), ('finding', 1::bigint) $$, 'each entry of a line was told');

-- A cap over all.
do $$ begin
  for v_n in 1 .. 300 loop
    perform set_config('work_ledger.now', ('2026-11-20 13:00:00+00'::timestamptz + v_n * interval '1 second')::text, true);
    perform ledger_append((select id from other where n = 7), 'finding', format('Finding %s of many, and what it says at some length', v_n));
  end loop;
end $$;
create temporary table small as select awareness_digest(id) as text from me where name = 'small';
select ok(_tokens(char_length(text), 'claude-sonnet-5-5') between 150 and 200, 'a digest has at most max_tokens') from small;
select matches(text, E'Currently active:\n- \\[A/a\\] Me, a\n\nRecently completed:\n- [^…]*\n- … and 3 more\n\nRecent findings:\n- Finding 300 of many[^…]*\n- Finding 299 of many[^…]*\n- … and 18 more\n\nRecent errors:\n', 'each section has its first lines, and what is missing is counted') from small;
select is(awareness_digest(id), E'== AWARENESS ==\n\nCurrently active:\n- … and 1 more\n\nRecently completed:\n- … and 5 more\n\nRecent findings:\n- … and 20 more\n\nRecent errors:\n- … and 10 more', 'where nothing has room the numbers do') from me where name = 'tiny';
select is((select count(*) from me, regexp_matches(awareness_digest(id), '^- Finding', 'gn') where name = 'large'), 300::bigint, 'max_tokens = 0 is no cap');
select ok(_tokens(char_length(awareness_digest(null)), 'claude-sonnet-5-5') <= 1500, 'by default a digest has at most 1,500 tokens');
select model_save('claude-sonnet-5-5');
update models set sample_tokens = sample_chars * 2;
select ok(char_length(awareness_digest(null)) between 500 and 750, 'tokens are those of the reader''s model');
select throws_ok($$ select faculty_save('{"name": "b", "awareness": {"max_tokens": 1.5}}') $$, 'WL002', null, 'max_tokens is a whole number');

select * from finish();
rollback;
