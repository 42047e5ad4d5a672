-- Children make a tree of at most five levels, whose items know their root.
begin;
select plan(5);

create temporary table level as select 0 as n, id from work_submit('a', 'root', p_priority => 7);
do $$ begin
  for n in 1..5 loop
    insert into level select n, w.id from work_submit('a', 'child', p_parent_id => (select id from level order by level.n desc limit 1)) w;
  end loop;
end $$;
select is((select depth from work_items where id = (select id from level where n = 5)), 5, 'the fifth level is allowed');
select is((select root_id from work_items where id = (select id from level where n = 5)), (select id from level where n = 0), 'every item knows its root');
select is((select priority from work_items where id = (select id from level where n = 5)), 7, 'priority is inherited');
select throws_ok($$ select work_submit('a', 'too deep', p_parent_id => (select id from level where n = 5)) $$, 'WL002', null, 'the sixth level is refused');
select from work_complete((select id from level where n = 3), 'done');
select throws_ok($$ select work_submit('a', 'late', p_parent_id => (select id from level where n = 3)) $$, 'WL003', null, 'a finished parent gets no children');

select * from finish();
rollback;
