-- With an idempotency key each entry of a batch is appended once, also when a longer batch comes with the same key.
begin;
select plan(7);

select submit();
create function pg_temp.batch(p_contents text[]) returns integer[] language sql as $$
  select array_agg(b.seq order by b.ordinality)
    from ledger_append_batch(item(), (select jsonb_agg(jsonb_build_object('entry_type', 'note', 'content', c)) from unnest(p_contents) c), p_idempotency_key => 'k')
         with ordinality as b $$;

select is(pg_temp.batch('{a,b}'), '{1,2}', 'the first call appends');
select is(pg_temp.batch('{a,b}'), '{1,2}', 'the second call returns the same entries');
select from ledger_append(item(), 'note', 'between');
select is(pg_temp.batch('{a,b,c,d}'), '{1,2,4,5}', 'of a longer batch only the rest is appended, behind what came meanwhile');
select is((select ledger_count from item), 5, 'a repeated entry takes no number');
select throws_ok($$ select pg_temp.batch('{a,x}') $$, 'WL006', null, 'a key does not stand for another entry');
select results_eq($$ select content, idempotency_key from work_ledger order by seq $$,
  $$ values ('a', 'k/1'), ('b', 'k/2'), ('between', null), ('c', 'k/3'), ('d', 'k/4') $$, 'each entry has the key of its place');

select throws_ok($$ select ledger_append_batch(item(), '[{"entry_type": "note", "content": "x"}]', p_idempotency_key => '') $$, 'WL002', null,
  'an empty string is no key: whoever passes it for none would write only once');

select * from finish();
rollback;
