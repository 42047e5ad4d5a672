-- What several agents were told of is proposed for a note, until one quotes it; nothing is written.
begin;
select plan(14);

create temporary table source as select id from work_submit('untaken', 'Looks around', p_project => 'shop');
create function pg_temp.says(p_project text default 'shop') returns text language sql as $$
  select string_agg(format('%s %s ×%s', entry_type, content, told), ', ' order by n) from memory_suggest(p_project) with ordinality s(content, entry_type, work_item_id, seq, told, since, n)
$$;
create function pg_temp.reader(p_project text default 'shop') returns void language sql as $$
  select take((work_submit('analyze', 'Reads', p_project => p_project)).id), play('[[["look"]]]');
$$;
select ledger_append(id, 'finding', E'The tests need\nRedis') from source;
select agent('{"tools": ["look"]}');
select pg_temp.reader();
select is(pg_temp.says(), null, 'what one was told is not proposed');
select ledger_append(id, 'decision', 'Tabs, no blanks') from source;
select pg_temp.reader();
select is(pg_temp.says(), E'finding The tests need\nRedis ×2', 'what two were told is');
select results_eq($$ select work_item_id, seq, since from memory_suggest('shop') $$,
  $$ select s.id, 1, min(a.shown_at) from source s join awareness_shown a on a.work_item_id = s.id and a.seq = 1 group by s.id $$, 'with whose it is, and since when');
select pg_temp.reader();
select is(pg_temp.says(), E'finding The tests need\nRedis ×3, decision Tabs, no blanks ×2', 'the most told first');
select is((select count(*) from memory_suggest('shop', 1)), 1::bigint, 'so many as are asked for');
select is(pg_temp.says(null), null, 'of no other project');
select is(pg_temp.says('bank'), null, 'of none that is not there');
select throws_ok($$ select memory_suggest('shop', 0) $$, 'WL002', null, 'at least one');
select memory_write('/memories/a.md', E'- the tests need  redis, always\n', 'bank');
select is(pg_temp.says(), E'finding The tests need\nRedis ×3, decision Tabs, no blanks ×2', 'a note of another project is no note of this');
select memory_write('/memories/a.md', E'- the tests need  redis, always\n', 'shop');
select is(pg_temp.says(), 'decision Tabs, no blanks ×2', 'a note that has its words quotes it');
select memory_write('/memories/b.md', 'Indent by tabs', 'shop', p_why => format('decision %s/2', (select id from source)));
select is(pg_temp.says(), null, 'so does one in other words, whose reason names it');
select memory_command('{"command": "delete", "path": "/memories/b.md"}', 'shop'), memory_command('{"command": "delete", "path": "/memories/a.md"}', 'shop');
select is(pg_temp.says(), E'finding The tests need\nRedis ×3', 'what was taken out by hand is not proposed again, but for who only had its words');
select ledger_retract(id, 1, 'It does not') from source;
select is(pg_temp.says(), null, 'what was taken back is not');
select is((select count(*) from memory_versions), 5::bigint, 'and nothing was written by it');

select * from finish();
rollback;
