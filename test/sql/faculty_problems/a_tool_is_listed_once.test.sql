begin;
select plan(3);

select is(says, 'engage.tools[2] repeats "bash"', 'a tool that is listed twice is a problem: a request with it would be refused')
  from faculty_problems('{"name": "a", "engage": {"tools": ["bash", "grep", "bash"]}}');
select is((select array_agg(path::text) from faculty_problems('{"name": "a", "engage": {"tools": ["bash", "bash", "bash"]}}')),
          '{"{engage,tools,1}","{engage,tools,2}"}', 'each time but the first');
select is_empty($$ select from faculty_problems('{"name": "a", "engage": {"tools": ["bash", "grep"]}}') $$, 'tools that are listed once are none');

select * from finish();
rollback;
