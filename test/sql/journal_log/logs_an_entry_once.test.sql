-- An entry with an id is logged once, for the item for which it was logged.
begin;
select plan(4);

create temporary table session as select n, (journal_session_create('chat-' || n, 'Build the thing')).id from generate_series(1, 2) n;
create function pg_temp.log(p_n integer, p_words text) returns jsonb language sql as $$
  select (journal_log(s.id, 'thinking', jsonb_build_object('reasoning', p_words), p_id => '00000000-0000-4000-8000-000000000001')).content from session s where s.n = p_n $$;

select is(pg_temp.log(1, 'a'), '{"reasoning": "a"}', 'the first call logs it');
select is(pg_temp.log(1, 'a'), '{"reasoning": "a"}', 'the second returns it');
select throws_ok($$ select pg_temp.log(2, 'b') $$, 'WL006', null, 'the id does not stand for an entry of another item, which would be lost without a word');
select is((select count(*) from journal_entries), 1::bigint, 'there is one');

select * from finish();
rollback;
