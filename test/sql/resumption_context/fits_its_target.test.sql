-- A packet to go on from is never larger than was asked for; where what is open has no room it fails.
begin;
select plan(11);

select submit('Find why the import is slow. ' || repeat('It was fast once. ', 500));
select from generate_series(1, 60) n, lateral ledger_append(item(), 'step', format('Step %s: looked at part %s and %s', n, n, repeat('wrote it down, ', 10)));
select from generate_series(1, 30) n, lateral ledger_append(item(), 'decision', format('Decision %s: %s', n, repeat('because of this, ', 10)));
select from generate_series(1, 3) n, lateral ledger_append(item(), 'error', 'No such table as ' || n);
select from generate_series(1, 3) n, lateral ledger_append(item(), 'error', 'No such table as 1');
select from ledger_append(item(), 'plan', E'- [x] look\n- [ ] add the index\n- [ ] measure again');
create temporary table packet as select t, resumption_context(item(), t) as p from unnest('{500, 501, 777, 2000, 8000, 100000}'::integer[]) t;

select ok((p ->> 'tokenCount')::integer <= t and _tokens(char_length(p::text), 'claude-sonnet-5-5') <= t and char_length(p::text) <= t * 4, format('a packet of %s tokens is never larger', t)) from packet;
select is(resumption_context(item(), 777), (select p from packet where t = 777), 'the same rows give the same packet');
select is((select array_agg((p ->> 'tokenCount')::integer order by t) = array_agg((p ->> 'tokenCount')::integer order by (p ->> 'tokenCount')::integer) from packet), true, 'more room is used');
select throws_ok($$ select resumption_context(item(), 499) $$, 'WL002', null, 'a packet under 500 tokens is refused');
select ok(char_length(export_for_resumption(item(), 8000)) < 8000 * 4, 'a packet as text fits its target, too');
select from ledger_append(item(), 'plan', (select string_agg('- part ' || i || repeat(' x', 40), E'\n') from generate_series(1, 60) i));
select throws_ok($$ select resumption_context(item(), 500) $$, 'WL002', null, 'a packet fails rather than drop what is open');

select * from finish();
rollback;
