-- An agent is told of its own project and of work that is in none; of all others only where its faculty asks for it, and after that.
begin;
select plan(15);

set local work_ledger.now = '2026-11-20 12:00:00+00';

create function pg_temp.ran(p_description text, p_project text, p_parent uuid default null) returns uuid language plpgsql as $$
declare v_id uuid := (select id from work_submit('a', p_description, p_project => p_project, p_parent_id => p_parent));
begin
  perform ledger_append(v_id, 'finding', 'Found by ' || p_description), ledger_append(v_id, 'decision', 'Decided by ' || p_description),
          ledger_append(v_id, 'error', 'Error of ' || p_description), ledger_append(v_id, 'plan', 'Plan of ' || p_description);
  return v_id;
end $$;
create function pg_temp.told(p_id uuid, p_of text) returns text language sql as $$
  select string_agg(m[1], ' ' order by m[1]) from regexp_matches(awareness_digest(p_id), '(Found|Decided|Error|Outcome)[^\n]*' || p_of, 'g') m;
$$;

select count(*) from faculty_save('{"name": "near", "accepts": ["near"]}');
select count(*) from faculty_save('{"name": "far", "accepts": ["far"], "awareness": {"scope": "ledger"}}');
create temporary table own as select * from work_submit('near', 'Read it', p_project => 'shop');
select pg_temp.ran('shop work', 'shop'), pg_temp.ran('other work', 'other'), pg_temp.ran('common work', null), pg_temp.ran('old work', 'old shop');

select is(pg_temp.told((select id from own), 'shop work'), 'Decided Error Found', 'it is told of its project');
select is(pg_temp.told((select id from own), 'common work'), 'Decided Error Found', 'and of work that is in none');
select is(pg_temp.told((select id from own), 'other work'), null, 'and of no other');
select is(pg_temp.told((select id from own), 'old work'), null, 'nor of one of another name');
select count(*) from project_rename('old shop', 'shop');
select is(pg_temp.told((select id from own), 'old work'), 'Decided Error Found', 'until that is its own');
select is(pg_temp.told((select id from work_submit('near', 'Of none')), 'shop work'), null, 'work of no project is told of that only');
select is(pg_temp.told((select id from work_submit('near', 'Of none')), 'common work'), 'Decided Error Found', 'which is in none');

create temporary table wide as select * from work_submit('far', 'Read all', p_project => 'shop');
select is(pg_temp.told((select id from wide), 'other work'), 'Decided Error Found', 'with scope = "ledger" it is told of others');
select ok(strpos(d, 'Found by common work') between 1 and strpos(d, 'Found by other work'), 'after its own') from awareness_digest((select id from wide)) d;
select ok(awareness_digest() like '%Found by other work%', 'a digest for nobody tells of all');

-- What waits, runs and ended, too.
select count(*) from work_complete((select work_item_id from work_ledger where content = 'Found by other work'), 'Done elsewhere');
select count(*) from work_complete((select work_item_id from work_ledger where content = 'Found by shop work'), 'Done here');
select ok(awareness_digest((select id from own)) like '%Done here%', 'it is told what ended in its project');
select ok(awareness_digest((select id from own)) not like '%Done elsewhere%', 'and not elsewhere');

-- What is not told is not looked at either.
select later('5 minutes');
create temporary table alone as select * from work_submit('near', 'Alone', p_project => 'alone');
select count(*) from focus_claim((select id from alone), 'w');
select later('5 minutes');
create function pg_temp.has_news() returns boolean language sql as $$
  select (_iteration_flags(w, f, c.config)).has_news
    from alone a join work_items w on w.id = a.id join foci f on f.work_item_id = w.id join faculties c on c.content_hash = f.faculty_hash;
$$;
select pg_temp.ran('late work', 'other');
select is(pg_temp.has_news(), false, 'what others do elsewhere is no news');
select pg_temp.ran('its work', 'alone');
select is(pg_temp.has_news(), true, 'here it is');
select is((select count(*) from _projects_told()), 5::bigint, 'each project is found once');

select * from finish();
rollback;
