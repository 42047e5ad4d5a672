-- Pages of context_parts() are the whole, cut into pieces: by calls, with the same words, sizes and marks of the cache.
begin;
select plan(7);

select agent('{"tools": ["look"], "elide_budget": 0, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
select play('[[["look", "one"]], [["look", "two"], ["look", "three"]], [["look", "four"]], [["look", "five"]]]', p_more => '{"usage": {"input_tokens": 50, "cached_input_tokens": 810, "cache_write_tokens": 40}}');
select from work_message(item(), 'And that, please');
select play('[[["look", "six"]]]', p_more => '{"usage": {"input_tokens": 50, "cached_input_tokens": 810, "cache_write_tokens": 40}}');

create function pg_temp.whole(p_turn uuid) returns setof jsonb language sql as $$ select to_jsonb(p) - 'n' from context_parts(p_turn) p order by p.n $$;
create function pg_temp.pages(p_turn uuid, p_limit integer) returns setof jsonb language plpgsql as $$
declare v_after integer; v_part record; v_last integer;
begin
  for v_page in 1 .. 20 loop
    v_last := null;
    for v_part in select * from context_parts(p_turn, v_after, p_limit) p order by p.n loop
      return next to_jsonb(v_part) - 'n';
      v_last := coalesce(v_part.call, v_last);
    end loop;
    exit when v_last is null;
    v_after := v_last;
  end loop;
end $$;

select is((select array_agg(call order by n) from context_parts((select turn_id from request where n = 5))), array[null, null, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5], 'parts have the number of their call');
select results_eq($$ select pg_temp.pages((select turn_id from request where n = 5), 2) $$, $$ select pg_temp.whole((select turn_id from request where n = 5)) $$, 'pages of two calls are the whole request');
select results_eq($$ select pg_temp.pages((select turn_id from request where n = 5), 1) $$, $$ select pg_temp.whole((select turn_id from request where n = 5)) $$, 'so are those of one');
select is((select count(distinct cache)::integer from context_parts((select turn_id from request where n = 5))), 3, 'though some of it was read from the cache, some written, some neither');

select play('[[["ledger_append", {"entry_type": "step", "content": "Looked"}]], [["look", "seven"]], [["look", "eight"]]]', p_more => '{"usage": {"input_tokens": 50, "cached_input_tokens": 810, "cache_write_tokens": 40}}');
select isnt((select elision_id from turns where id = (select turn_id from request where n = 8)), null, 'a cut leaves the closed block out');
select results_eq($$ select pg_temp.pages((select turn_id from request where n = 8), 1) $$, $$ select pg_temp.whole((select turn_id from request where n = 8)) $$, 'behind it, too, pages are the whole');
select throws_ok($$ select context_parts((select turn_id from request where n = 5), 1, 0) $$, 'WL002', null, 'a page has at least one call');

select * from finish();
rollback;
