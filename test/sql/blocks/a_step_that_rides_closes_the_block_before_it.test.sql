-- A step beside other calls closes the block before it; its exchange opens the next one.
begin;
select plan(5);

select agent('{"tools": ["look"], "elide_budget": 0}');
select submit('Fix it');

select play('[
  [["look", "config is TOML"], ["finding", "Config uses TOML.\nTimezone is on line 47."]],
  [["step", "Found the config"], ["look", "line 47"]],
  [["look", "more"]]]');
select is(shape(3), 'user:text,text,text,text assistant:tool_use,tool_use user:tool_result,tool_result', 'the riding exchange opens the next block and is shown whole');
select is(text_of(3, 0, 2), E'[completed step 1: see below]\n- finding: Config uses TOML.\n  Timezone is on line 47.', 'the block before it is a stub: what it learned, and where its step is');
select is((select body #> '{messages,0,content,2,cache_control}' from request where n = 3)::text, '{"type":"ephemeral"}', 'a cache breakpoint stands behind the last stub');
select is((select array_agg(block order by depth) from turns), array[1, 1, 2], 'turns know the block that was open when they were asked');
select is(rebuilt(), 3::bigint, 'every request is rebuilt to the byte');

select * from finish();
rollback;
