-- journal_page() reads a journal from its end, page by page, and each entry once.
begin;
select plan(13);

select agent('{"tools": ["look"], "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Find why the import is slow');
select play(jsonb_agg(jsonb_build_array('Next', jsonb_build_array('look', jsonb_build_object('path', format('src/a%s.ts', n)), 'saw "it"'), jsonb_build_array('finding', format('Found %s', n)))))
  from generate_series(1, 8) n;
select from work_message(item(), 'Only the tests, please');
select play('[[["error", "No such table"], ["step", "Looked"]]]');

create temporary table newest as select id, entry_type, row_number() over (order by created_at desc, sequence_num desc, id desc) as n from journal_read(item());
create function pg_temp.pages(p_limit integer, p_types text[] default null, p_query text default null) returns table (n bigint, id text, page integer) language plpgsql as $$
declare
  v_before text;
  v_row record;
  v_last text;
begin
  n := 0;
  page := 0;
  loop
    page := page + 1;
    v_last := v_before;
    for v_row in select * from journal_page(item(), v_before, p_limit, p_types, null, p_query) loop
      v_before := v_row.position;
      n := n + 1;
      id := v_row.id;
      return next;
    end loop;
    exit when v_before is not distinct from v_last;
  end loop;
end $$;

select is((select count(*) from newest), 38::bigint, 'there is a journal');
select results_eq($$ select n, id from pg_temp.pages(7) order by n $$, $$ select n, id from newest order by n $$, 'pages of seven are the whole journal, newest first');
select results_eq($$ select n, id from pg_temp.pages(1) order by n $$, $$ select n, id from newest order by n $$, 'pages of one, too');
select is((select array_agg(j.entry_type) from (select entry_type from journal_page(item(), null, 3)) j), (select array_agg(entry_type order by n) from newest where n <= 3), 'the first page is the newest');
select is((select array_agg(entry_type) from pg_temp.pages(2, '{error,user_feedback}') p join newest using (id)), array['error', 'user_feedback'], 'types are chosen');
select is((select count(*) from journal_page(item(), p_importance => '{critical}')), (select count(*) from journal_read(item(), p_importance => '{critical}')), 'importances are chosen');
select ok((select count(*) = 1 and bool_and(content::text like '%src/a3.ts%') from journal_page(item(), p_query => 'SRC/A3.ts')), 'entries with a text are found, whatever its case');
select ok((select count(*) > 0 from journal_page(item(), p_query => 'saw "it"')), 'quotes in it, too');
select is((select count(*) from journal_page(item(), p_query => 'nowhere')), 0::bigint, 'nothing is found');
select throws_ok($$ select * from journal_page(gen_random_uuid()) $$, 'WL001', null, 'no such item');
select throws_ok($$ select * from journal_page(item(), 'yesterday') $$, 'WL002', null, 'no such position');
select throws_ok($$ select * from journal_page(item(), null, 501) $$, 'WL002', null, 'a page has at most 500 entries');
select throws_ok($$ select * from journal_page(item(), p_types => '{gossip}') $$, 'WL002', null, 'no such type');

select * from finish();
rollback;
