-- A digest has so many lines of a kind, and none of them is long.
begin;
select plan(4);

select from faculty_save('{"name": "worker", "accepts": ["a"], "awareness": {"max_recent_completed": 2, "max_recent_findings": 3}}');
create temporary table me as select id from work_submit('a', 'me');
create temporary table parent as select id from work_submit('a', 'parent');
do $$ declare v_id uuid; begin
  for n in 1..5 loop
    v_id := (work_submit('a', 'item ' || n, p_parent_id => case n when 5 then (select id from parent) end)).id;
    perform ledger_append(v_id, 'finding', 'finding ' || n);
    perform work_complete(v_id, repeat('long ', 100));
  end loop;
end $$;
select is((select count(*) from regexp_matches(awareness_digest((select id from me)), '^- \[', 'gn')), 2::bigint, 'as many completed items are shown as the faculty wants');
select is((select count(*) from regexp_matches(awareness_digest((select id from me)), '^- finding', 'gn')), 3::bigint, 'as many findings are shown as the faculty wants');
select unalike(awareness_digest((select id from me)), '%item 5%', 'child work is left out unless asked for');
select is((select max(length(line)) from regexp_split_to_table(awareness_digest((select id from me)), E'\n') as line) <= 260, true, 'no line is long');

select * from finish();
rollback;
