-- context_at() gives back each request byte for byte, whatever came after it.
begin;
select plan(3);

select agent();
select submit();
select play('[["ü \"quoted\"\n", {"type": "tool_use", "id": "same", "name": "ledger_append", "input": {"entry_type": "note", "content": "x"}}]]') from generate_series(1, 4);
select is(rebuilt(), 4::bigint, 'each of four requests is rebuilt to the byte, after all that came later');
select is((select count(*) from request a join request b on b.n = a.n + 1
  where left(b.body::text, length(a.body::text) - 2) = left(a.body::text, -2)), 3::bigint, 'each request begins with the one before');
select throws_ok($$ select context_at('00000000-0000-7000-8000-000000000000') $$, 'WL001', null, 'a turn that is not there is an error');

select * from finish();
rollback;
