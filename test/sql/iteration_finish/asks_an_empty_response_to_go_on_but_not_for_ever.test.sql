-- An empty response is asked to go on, three times; then the work fails.
begin;
select plan(4);

select agent();
select submit();

select is((select array_agg(play('[[]]') order by n) from generate_series(1, 4) n), array['continued', 'continued', 'continued', 'failed'], 'three empty responses are asked to go on, the fourth fails the work');
select is((select json_array_length(body -> 'messages') from request where n = 2), 1, 'no empty message is sent back');
select alike((select body #>> '{messages,0,content,1,text}' from request where n = 2), '[engine] Your response was empty.%', 'the engine tells the model that its response was empty');
select alike((select state_reason from item), 'the model neither worked nor finished in 4 responses%', 'the reason is on the item');

select * from finish();
rollback;
