-- A cut that costs more to write again than it saves soon is put off, by the prices of the model.
begin;
select plan(9);

select agent('{"tools": ["look"], "elide_budget": 0, "model": "some-model", "truncate_closed_blocks": true}');
select submit('Fix it');

-- A block of 2,000 tokens is closed by a step that rides with 8,000: they would be written again for it.
select play(format('[
  [["look", "%s"]],
  [["step", "One"], ["look", "%s"]],
  [["step", "Two"], ["look", "small"]],
  [["look", "last"]]]', repeat('a', 8000), repeat('b', 32000))::jsonb);
select is((select count(*) from elisions where iteration = 3), 0::bigint, 'a cut that pays after fifty requests is not made');
select results_eq($$ select iteration, first_block, last_block from elisions $$, $$ values (4, 1, 2) $$, 'the next boundary takes both blocks');
select is((select breaks_even_after from context_cost(item())), 1, 'a cut that is made pays at once');
select alike((select why from explain_turn((select turn_id from request where n = 3)) where block = 1), '%would not pay off yet%', 'explain_turn says which cut did not pay yet');

-- The same with another price: 2,000 tokens for 2,300 that are written again pay after 14 requests at 1.25, and after 23 at 2.0.
select play(format('[
  [["step", "Three"], ["look", "small"]],
  [["look", "%s"]],
  [["step", "Four"], ["look", "%s"]]]', repeat('c', 8000), repeat('d', 9200))::jsonb);
create temporary table head as select t from turns t join sessions s on s.head_turn_id = t.id;
create function pg_temp.due(p_write numeric) returns elisions language sql as $$
  select from model_save('some-model', p_cache_write => p_write);
  select (_elision_due(w, f, c.config -> 'engage', h.t, _boundary((h.t).id), _elision_chain((h.t).elision_id), null))[2]
    from head h, foci f, faculties c, work_items w
   where c.content_hash = f.faculty_hash and w.id = f.work_item_id;
$$;
select is(_breaks_even_after(pg_temp.due(1.25), 'some-model'), 14, 'at the usual price of writing the cut pays');
select is((pg_temp.due(2.0)).id, null, 'where writing is dear the cut waits');
select is((select cache_write from model_price_save('some-model', 3, 15)), 2.0, 'prices without one for writing leave it as it is');
select is((select cache_write from model_price_save('some-model', 3, 15, p_cache_write => 6)), 2.0, 'prices in money say how dear writing is');
select is((select cache_write_price from model_save('some-model', p_cache_write => 1.25)), 3.75, 'a price in money follows the ratio');

select * from finish();
rollback;
