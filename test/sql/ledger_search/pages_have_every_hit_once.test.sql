-- ledger_search() gives the best hits first, page by page, each once.
begin;
select plan(4);

select submit('Look');
select from generate_series(1, 30) n, ledger_append(item(), 'note', repeat('slow ', n % 4 + 1) || 'query ' || repeat('word ', n % 3));
create function pg_temp.pages() returns table (entry_id uuid, rank real) language plpgsql as $$
declare
  v_row record;
  v_before text;
  v_last text;
begin
  loop
    v_last := v_before;
    for v_row in select * from ledger_search('slow', v_before, 7) loop
      v_before := v_row.position;
      entry_id := v_row.entry_id;
      rank := v_row.rank;
      return next;
    end loop;
    exit when v_before is not distinct from v_last;
  end loop;
end $$;

select is((select count(distinct entry_id) from pg_temp.pages()), 30::bigint, 'every hit is on a page');
select results_eq($$ select entry_id from pg_temp.pages() $$, $$ select entry_id from ledger_search('slow', null, 100) $$, 'pages are one list');
select is((select bool_and(ordered) from (select rank <= lag(rank, 1, rank) over (order by n) as ordered from pg_temp.pages() with ordinality as p(id, rank, n)) o), true, 'the best first');
select throws_ok($$ select * from ledger_search('x', p_limit => 101) $$, 'WL002', null, 'a page has at most 100 hits');

select * from finish();
rollback;
