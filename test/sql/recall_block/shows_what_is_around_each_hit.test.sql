-- The lines that hold a text come with two lines around them; hits that are close stand in one place.
begin;
select plan(3);

select agent('{"tools": ["look"], "elide_budget": 0}');
select submit('Fix it');
select play(format('[[["look", "%s"]], [["step", "Looked"]], [["look"]]]', (select string_agg('line ' || n || case when n in (5, 7, 20) then ' HIT' else '' end, '\n' order by n) from generate_series(1, 30) n))::jsonb);

select is(recall_block(item(), 1, 'hit'), E'5- line 3\n6- line 4\n7: line 5 HIT\n8- line 6\n9: line 7 HIT\n10- line 8\n11- line 9\n--\n20- line 18\n21- line 19\n22: line 20 HIT\n23- line 21\n24- line 22',
  'hits two lines apart stand together, another place by itself');
select is(recall_block(item(), 1, '> look'), E'1: > look\n2- result:\n3- line 1', 'at the beginning there are only lines behind');
select is(recall_block(item(), 1, 'line 1' || E'\n'), 'no line of block 1 contains "line 1"', 'no line holds two');

select * from finish();
rollback;
