-- Of many messages the oldest come first, wherever their rows are, and the others with the next call.
begin;
select plan(2);

create temporary table session as select (journal_session_open('s1', 'Mend the build', '/work')).id;
insert into inbox (work_item_id, kind, content, created_at)
select id, 'message', format('Message %s.', n), _now() + n * interval '1 second' from session, generate_series(150, 1, -1) n;
-- As a plan does that reads many of them: in the order of the table.
set local enable_indexscan = off;
set local enable_indexonlyscan = off;
create temporary table said as select n, inbox_take(id) as text from session, generate_series(1, 2) n;
select is((select array_agg(m[1]::integer order by o) from said, regexp_matches(text, 'Message (\d+)\.', 'g') with ordinality x(m, o) where n = 1),
  array(select generate_series(1, 100)), 'the first hundred, in their order');
select is((select array_agg(m[1]::integer order by o) from said, regexp_matches(text, 'Message (\d+)\.', 'g') with ordinality x(m, o) where n = 2),
  array(select generate_series(101, 150)), 'then the rest');

select * from finish();
rollback;
