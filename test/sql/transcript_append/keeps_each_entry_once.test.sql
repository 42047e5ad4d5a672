-- Entries are kept as they came, once for each uuid; a summary is stored only where it was folded of all entries before.
begin;
select plan(19);

create function pg_temp.put(p_entries json, p_uuids text[], p_more text default '') returns text language plpgsql as $$
declare
  v_said text;
begin
  execute format('select concat_ws('' '', appended, last_seq, is_stale, summary) from transcript_append(''-home'', ''s'', null, %L, %L%s)', p_entries, p_uuids, p_more) into v_said;
  return v_said;
end $$;

select is(pg_temp.put('[{"a": "\u0000", "a": 1.0}, {"b": "\ud800"}]', '{u1,u2}'), '2 2 f', 'two are new');
select results_eq($$ select entry from transcript_load('-home', 's') $$, array['{"a": "\u0000", "a": 1.0}', '{"b": "\ud800"}'], 'each is kept to the letter');
select is(pg_temp.put('[{"a": 2}, {"c": 3}, {"c": 4}]', '{u1,u3,u3}'), '1 3 f', 'a uuid that is there already is not appended again, also within one list');
select results_eq($$ select seq, entry from transcript_load('-home', 's', null, 2) $$, $$ values (3, '{"c": 3}') $$, 'the first of a uuid counts');
select is(pg_temp.put('[]', '{}'), '0 3 f', 'nothing is nothing');
select is(pg_temp.put('[{}]', '{u4}', ', p_summary => ''one'', p_summary_of => 2'), '0 3 t', 'a summary of fewer entries is stale, and nothing is appended');
select is(pg_temp.put('[{}]', '{u4}', ', p_summary => ''one'', p_summary_of => 3'), '1 4 f', 'one of all is stored with its entries');
select is(pg_temp.put('[{}]', '{u5}', ', p_summary => ''two'', p_summary_of => 3'), '0 4 t one', 'whoever comes too late is told what to fold upon');
select is(pg_temp.put('[{}]', '{u5}'), '1 5 f', 'an append without one leaves the summary behind');
select is(pg_temp.put('[{}]', '{u6}', ', p_summary => ''two'', p_summary_of => 4'), '0 5 t', 'then there is none to fold upon');
select is((select count(*)::int from transcript_list('-home') where summary is not null), 0, 'and none is listed');

select throws_ok($$ select transcript_append('-home', 's', null, '{}', '{}') $$, 'WL002', null, 'entries are a list');
select throws_ok($$ select transcript_append('-home', 's', null, '[1]', '{u}') $$, 'WL002', null, 'of objects');
select throws_ok($$ select transcript_append('-home', 's', null, '[{}]', '{}') $$, 'WL002', null, 'with a uuid for each');
select throws_ok($$ select transcript_append('-home', 's', null, '[{}]', '{null}') $$, 'WL002', null, 'none of them null');
select throws_ok($$ select transcript_append('-home', 's', null, '[{}, {}]', '{{u6,u7}}') $$, 'WL002', null, 'in one list');
select throws_ok($$ select transcript_append('', 's', null, '[{}]', '{u}') $$, 'WL002', null, 'a transcript has a project key');
select throws_ok($$ select transcript_append(repeat('x', 1001), 's', null, '[{}]', '{u}') $$, 'WL002', null, 'which an index takes');

select throws_ok($$ select transcript_append('-home', 's', null, '[{}]', array[repeat('x', 1001)]) $$, 'WL002', null, 'so has each entry');

select * from finish();
rollback;
