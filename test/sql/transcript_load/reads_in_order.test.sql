-- Entries are read in the order in which they were appended, in parts of any size.
begin;
select plan(10);

select appended from transcript_append('-home', 's', null, (select json_agg(json_build_object('n', n) order by n) from generate_series(1, 10) n), array(select 'u' || n from generate_series(1, 10) n order by n));
select appended from transcript_append('-home', 's', 'subagents/a', '[{"n": "a"}]', '{u1}');

select results_eq($$ select seq, entry::json ->> 'n' from transcript_load('-home', 's') $$, $$ select n, n::text from generate_series(1, 10) n $$, 'all, in order');
select results_eq($$ select seq from transcript_load('-home', 's', null, 3, 2) $$, '{4,5}'::integer[], 'a part');
select results_eq($$ select entry from transcript_load('-home', 's', 'subagents/a') $$, '{"{\"n\": \"a\"}"}'::text[], 'of a subagent its own');
select is_empty($$ select from transcript_load('-elsewhere', 's') union all select from transcript_load('-home', 't') $$, 'of what was never written nothing');
select results_eq($$ select seq from transcript_load('-home', 's', p_bytes => 17) $$, '{1,2}'::integer[], 'so many bytes, to the end of an entry');
select results_eq($$ select seq from transcript_load('-home', 's', null, 9, null, 1) $$, '{10}'::integer[], 'and at least one');
select results_eq($$ select seq from transcript_load('-home', 's', null, 3, 2, 1000) $$, '{4,5}'::integer[], 'or fewer');
select appended from transcript_append('-home', 'u', null, '[{"n": "äö"}, {"n": 2}]', '{u1,u2}');
select results_eq($$ select seq from transcript_load('-home', 'u', p_bytes => octet_length('{"n": "äö"}')) $$, '{1}'::integer[], 'bytes are those of UTF-8');
select throws_ok($$ select transcript_load('-home', 's', p_bytes => 0) $$, 'WL002', null, 'there is room for one');
select throws_ok($$ select transcript_load('-home', 's', null, 0, -1) $$, 'WL002', null, 'a limit is not negative');

select * from finish();
rollback;
