-- Nobody waits for itself, by whatever way: waits of others, work below them, work above it.
begin;
select plan(13);

select agent();
create temporary table work (name text, id uuid);
create function pg_temp.id(p_name text) returns uuid language sql as $$ select id from work where name = p_name $$;
create function pg_temp.new(p_name text, p_parent text default null) returns void language sql as $$
  insert into work select p_name, (work_submit('analyze', p_name, p_parent_id => pg_temp.id(p_parent))).id
$$;
create function pg_temp.wait(p_name text, p_for text) returns text language plpgsql as $$
begin
  perform drive(pg_temp.id(p_name)), answer(jsonb_build_array(jsonb_build_array('wait_for', jsonb_build_object('work_item_ids', array[pg_temp.id(p_for)]))), pg_temp.id(p_name)),
          run('[]', pg_temp.id(p_name)), iteration_finish(pg_temp.id(p_name), lease(pg_temp.id(p_name)));
  return (select case when k.status = 'waiting' then k.status else k.result #>> '{}' end from tool_calls k where k.work_item_id = pg_temp.id(p_name) order by created_at desc, id desc limit 1);
end
$$;
create function pg_temp.way(variadic p_names text[]) returns text language sql as $$
  select string_agg(format('%s (analyze)', pg_temp.id(u.name)), ' -> ' order by u.n) from unnest(p_names) with ordinality as u(name, n)
$$;
select pg_temp.new('lead'), pg_temp.new('other lead'), pg_temp.new('free');
select pg_temp.new('a', 'lead'), pg_temp.new('b', 'lead'), pg_temp.new('c', 'other lead'), pg_temp.new('deep', 'a');

select is(pg_temp.wait('deep', 'deep'),
  format(E'this work item would wait for itself: %s (WL008)\nDo other work, or continue without the result.', pg_temp.way('deep', 'deep')), 'nobody waits for itself');
select ok(pg_temp.wait('deep', 'lead') like format('%%would wait for itself: %s (WL008)%%', pg_temp.way('deep', 'lead', 'a', 'deep')),
  'nor for what is above it, which may wait for it');
select is(pg_temp.wait('a', 'b'), 'waiting', 'siblings may wait for each other');
select ok(pg_temp.wait('b', 'a') like '%would wait for itself: ' || pg_temp.way('b', 'a', 'b') || ' (WL008)%', 'but not both');
select is(pg_temp.wait('b', 'deep'), 'waiting', 'work below one that waits may be waited for');
select ok(pg_temp.wait('deep', 'b') like '%would wait for itself: ' || pg_temp.way('deep', 'b', 'deep') || ' (WL008)%', 'unless it waits for the same');
select is(pg_temp.wait('c', 'lead'), 'waiting', 'a lead of others may be waited for');
select ok(substring(pg_temp.wait('deep', 'other lead') from '^this work item would wait for itself: (.*) .WL008.')
  in (pg_temp.way('deep', 'other lead', 'c', 'lead', 'a', 'deep'), pg_temp.way('deep', 'other lead', 'c', 'lead', 'b', 'deep')),
  'through the work below two leads a wait comes back, and the way is named');
select is(_wait_cycle(pg_temp.id('free'), array[pg_temp.id('a'), pg_temp.id('c'), pg_temp.id('other lead')]), null, 'who is no part of it may wait for all of them');
select throws_ok(format('select wait_for(%L, %L)', pg_temp.id('b'), array[pg_temp.id('a')]), 'WL008', null, 'clients are told, too');
select lives_ok(format('select work_message(%L, %L, true)', pg_temp.id('a'), 'Go on'), 'a person ends one of the waits');
select drive(pg_temp.id('a'));
select is(_wait_cycle(pg_temp.id('deep'), array[pg_temp.id('b')]) is not null, true, 'the others stay as they are');
select work_complete(pg_temp.id('free'), 'Done');
select is(jsonb_array_length(wait_for(pg_temp.id('lead'), array[pg_temp.id('free')])), 1, 'what is over is in nobody''s way');

select * from finish();
rollback;
