begin;
select plan(3);

select agent('{"tools": ["look"], "elide_budget": 1500}');
select submit('Mend it');


select play(jsonb_build_array(
  jsonb_build_array(jsonb_build_array('look', repeat('x', 2000))),
  jsonb_build_array(jsonb_build_array('step', 'One'), jsonb_build_array('look', repeat('y', 2000))),
  jsonb_build_array(jsonb_build_array('step', 'Two'), jsonb_build_array('look', 'z')),
  jsonb_build_array(jsonb_build_array('look', 'last'))));
select is((select count(*) from elisions where iteration = 3), 0::bigint, 'a closed block under the budget stays');
select is((select array[first_block, last_block] from elisions where iteration = 4), array[1, 2], 'over it all closed blocks go at once');
select is(shape(4), 'user:text,text,text,text assistant:tool_use,tool_use user:tool_result,tool_result', 'two stubs and the riding exchange are left');

select * from finish();
rollback;
