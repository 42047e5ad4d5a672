-- ledger_search() finds what was recorded and said, by words, paths and names; what is typed is never an error.
begin;
select plan(30);

select submit('Find why the nightly import is slow');
select from ledger_append(item(), 'finding', 'The lock in src/import/orders.ts is taken for each row');
select from ledger_append(item(), 'decision', 'Use contextReplay, not context_at, for the imports');
select from ledger_append(item(), 'note', 'Nothing to see');
select from work_message(item(), 'Look at April, please');
select from journal_log(item(), 'decision', '{"question": "Which index?", "chosenOption": "B-tree", "reasoning": "cheaper to write"}');
create function pg_temp.found(p_query text, p_sources text[] default null) returns text[] language sql as $$
  select array_agg(concat_ws(' ', source, seq) order by source, seq) from ledger_search(p_query, p_sources => p_sources) $$;
create function pg_temp.shown(p_query text) returns text language sql as $$
  select translate(snippet, E'\x02\x03', '<>') from ledger_search(p_query) limit 1 $$;

select is(pg_temp.found('lock row'), array['ledger 1'], 'all words occur');
select is(pg_temp.found('LOCK'), array['ledger 1'], 'in any case');
select is(pg_temp.found('import'), array['ledger 1', 'ledger 2', 'work'], 'a word finds longer ones that begin with it');
select is(pg_temp.found('src/import/orders.ts'), array['ledger 1'], 'a path');
select is(pg_temp.found('orders.ts'), array['ledger 1'], 'its end');
select is(pg_temp.found('orders/import'), null, 'its parts have an order');
select is(pg_temp.found('contextReplay'), array['ledger 2'], 'a name');
select is(pg_temp.found('context_replay'), array['ledger 2'], 'written otherwise');
select is(pg_temp.found('replay'), array['ledger 2'], 'a part of it');
select is(pg_temp.found('"is taken"'), array['ledger 1'], 'a phrase');
select is(pg_temp.found('"taken is"'), null, 'in its order');
select is(pg_temp.found('lock or April'), array['ledger 1', 'message'], 'one or the other');
select is(pg_temp.found('import -lock'), array['ledger 2', 'work'], 'one without the other');
select is(pg_temp.found('cheaper'), array['journal'], 'what a program logged');
select is(pg_temp.found('import', '{work}'), array['work'], 'in a source alone');
select is(pg_temp.shown('lock'), 'The <lock> in src/import/orders.ts is taken for each row', 'what was found is marked');
select is(pg_temp.shown('src/import/orders.ts'), 'The lock in <src/import/orders.ts> is taken for each row', 'a path whole');
select is(pg_temp.shown('context_replay'), 'Use <contextReplay>, not context_at, for the imports', 'and a name');

select lives_ok(format('select * from ledger_search(%L)', q), 'no error: ' || q)
  from unnest(array['', '"', '(((', ''':* & !', E'\\', 'a:b|c&!d <-> -', repeat('x/', 2000)]) q;
select is((select count(*) from ledger_search('- "" ...')), 0::bigint, 'what has no word finds nothing');

-- Text cannot forge a mark; an entry that is deleted is not found; outcomes are.
select from ledger_append(item(), 'note', E'Forged \x02mark\x03');
select is(pg_temp.shown('forged'), '<Forged> mark', 'marks in the text are taken out');
select journal_entry_delete((select id from journal_entries limit 1), 'private');
select is(pg_temp.found('cheaper'), null, 'what was deleted is not found');
select from work_complete(item(), 'The index was never used');
select is(pg_temp.found('never used'), array['outcome'], 'outcomes are found');
select throws_ok($$ select * from ledger_search('x', 'first') $$, 'WL002', null, 'no such position');

select * from finish();
rollback;
