-- Completed work goes on in a new item of the same session: the whole conversation, the ledger as its own past, and what is said next.
begin;
select plan(18);

select agent('{"tools": ["look"], "ledger_nudge_interval": 0, "elide_budget": 0}');
select take(work_submit('analyze', 'Find why the import is slow', '{"table": "t"}', p_budget => '{"tokens": 500000}'));
create temporary table first as select item() as id;
select play('[[["look", "saw a"], ["finding", "The index is missing"]], ["It lacks an index."]]');
select is((select state from item), 'completed', 'the work is over');
select take(work_continue(item(), 'And who dropped it?', 'once'));
create temporary table second as select item() as id;

select results_eq('select work_type, description, params, state, continues_id, ledger_count from item',
  $$ select 'analyze', 'Find why the import is slow', '{"table": "t"}'::jsonb, 'queued', id, 1 from first $$, 'the next item is the same task, queued');
select is((select state from work_items where id = (select id from first)), 'completed', 'what was completed stays so');
select is((select amount from budgets where work_item_id = item()), 500000::numeric, 'it may use as much again');
select is((select id from work_continue((select id from first), 'And who dropped it?', 'once')), item(), 'the same call repeated is the same item');
select throws_ok($$ select work_continue((select id from first), 'Or else') $$, 'WL008', format('work item %s has already been continued, as %s', (select id from first), item()), 'one item goes on from another');

select play('[[["look", "saw b"]], ["Nobody did."]]');
create temporary table asked as select body, body::text as text from request where n = 3;
create temporary table again as select body::text as text from request where n = 4;
select is((select session_label from foci where work_item_id = item()), (select id::text from first), 'its session is that of the item before');
select is((select array_agg(r.value ->> 'role' order by r.n) from asked, json_array_elements(body -> 'messages') with ordinality as r(value, n)),
  '{user,assistant,user,assistant,user}', 'the request is one conversation');
select alike((select text from asked), '%saw a%It lacks an index.%was completed here%And who dropped it?%', 'with all that was said, and what is said next');
select unalike((select text from asked), '%WHERE YOU STAND%', 'the conversation itself says where it stands');
select unalike((select text from again), '%The index is missing%The index is missing%', 'and what its own past found is no news of others');
select is(_newest_turn((select id from first)), (select turn_id from request where n = 2), 'the item before still ends where it ended');
select is(_newest_turn(item()), (select turn_id from request where n = 4), 'the newest one where that is now');
select is((select count(*) from v_sessions where label = (select id::text from first)), 1::bigint, 'the session is one');

select take(work_continue(item(), 'Thanks'));
select results_eq($$ select n, how, said, state from work_chain((select id from second)) $$,
  $$ values (1, null, null, 'completed'), (2, 'continue', 'And who dropped it?', 'completed'), (3, 'continue', 'Thanks', 'queued') $$, 'the chain is told from any of its items');
select is((select requests from cost_by('total', item())), 4::bigint, 'and its cost is one sum');
select results_eq($$ select kind, name, text from v_work_log where work_item_id = (select id from second) and kind in ('goes on', 'told', 'next') order by rank $$,
  $$ select 'goes on', 'continue', 'And who dropped it?' union all select 'next', 'continue', item()::text $$, 'the story of each names both neighbours, and what it goes on with once');

select is_empty($$ select d.id from _items_of('', true, 'completed', '{}', null, '-infinity', 10) d join work_chain(item()) c on c.work_item_id = d.id $$, 'a digest tells of a conversation once, not of each of its ends');

select * from finish();
rollback;
