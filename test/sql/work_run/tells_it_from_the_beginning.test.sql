-- work_run() tells a work item from its beginning to its end, page by page, and each block once.
begin;
select plan(20);

select agent('{"tools": ["look"], "ledger_nudge_interval": 0, "elide_budget": 0, "keep_auto": 0}', '{"awareness": {"enabled": false}}');
select submit('Find why the import is slow');
select play('[["I begin", ["look", {"path": "src/a.ts"}, "saw it"], ["finding", "It is a cast"]], [["look", {"path": "src/b.ts"}, "saw \"that\""], ["step", "Looked"]]]');
select from work_message(item(), 'Only the tests, please');
select later('1 minute');
select play('[[["look", {"path": "src/c.ts"}, "saw no more"], ["decision", "Compare ranges"]]]');
select later('1 minute');
select play('[["Done"]]');

create temporary table told as select row_number() over (order by happened_at, place, rank, ordinal, block_id) as n, * from v_work_run where work_item_id = item();
create function pg_temp.pages(p_limit integer, p_is_back boolean default false, p_marks text[] default null) returns table (n bigint, block_id text) language plpgsql as $$
declare
  v_at text := case when p_is_back then 'end' end;
  v_row record;
  v_rows integer;
begin
  n := 0;
  loop
    v_rows := 0;
    for v_row in select * from work_run(item(), case when not p_is_back then v_at end, case when p_is_back then v_at end, p_limit, p_marks) loop
      v_at := v_row.position;
      v_rows := v_rows + 1;
      continue when v_row.block_id is null;
      n := n + 1;
      block_id := v_row.block_id;
      return next;
    end loop;
    exit when v_rows = 0;
  end loop;
end $$;

select ok((select count(*) > 10 from told), 'there is something to tell');
select is((select content from told where n = 1), 'Find why the import is slow', 'it begins with the task');
select is((select kind || status from told order by n desc limit 1), 'endcompleted', 'and ends with how it ended');
select is((select array_agg(content order by n) from told where kind = 'entry'), '{It is a cast,Looked,Compare ranges}', 'what was recorded, in order');
select is((select array_agg(content order by n) from told where kind = 'call'), '{saw it,"saw \"that\"",saw no more}', 'each call with its result');
select is((select input ->> 'path' from told where kind = 'call' order by n limit 1), 'src/a.ts', 'and with its input');
select is((select array_agg(content order by n) from told where kind = 'words'), '{I begin,Done}', 'what was said, whole');
select is((select status || mark || content from told where kind = 'person'), 'toldpersonOnly the tests, please', 'what a person said');
select is((select count(*) from told where content like '%Only the tests%'), 1::bigint, 'once');
select is((select count(*) from told where kind = 'cut' and mark = 'cut'), 1::bigint, 'a cut stands where a request left something out first');
select ok((select c.n < r.n from told c, told r where c.kind = 'cut' and r.kind = 'request' and r.turn_id = c.turn_id), 'before that request');
select is((select count(distinct block_id) from told), (select count(*) from told), 'each block has an id of its own');
select results_eq($$ select n, block_id from pg_temp.pages(3) order by n $$, $$ select n, block_id from told order by n $$, 'pages of three are all of it');
select results_eq($$ select n, block_id from pg_temp.pages(1) order by n $$, $$ select n, block_id from told order by n $$, 'pages of one, too');
select results_eq($$ select n, block_id from pg_temp.pages(4, true) order by n $$, $$ select row_number() over (order by n desc), block_id from told order by 1 $$, 'from the end, too');
select results_eq($$ select block_id from pg_temp.pages(1, false, '{decision,finding}') $$, $$ select block_id from told where mark in ('decision', 'finding') order by n $$, 'marks are chosen');
select is((select array_agg(kind) from work_run(item(), p_query => 'SAW "THAT"')), '{call}', 'blocks with a text are found');
select throws_ok($$ select * from work_run(gen_random_uuid()) $$, 'WL001', null, 'no such item');
select throws_ok($$ select * from work_run(item(), 'yesterday') $$, 'WL002', null, 'no such position');
select throws_ok($$ select * from work_run(item(), p_marks => '{gossip}') $$, 'WL002', null, 'no such mark');

select * from finish();
rollback;
