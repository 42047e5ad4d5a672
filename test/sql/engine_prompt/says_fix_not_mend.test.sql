-- What models and people read says "fix": "mend" is rare in what models have read.
begin;
select plan(3);

select is_empty($$ select p.proname from pg_proc p where p.pronamespace = (select relnamespace from pg_class where oid = 'work_items'::regclass) and p.prosrc ~* '\mmend(s|ed|ing)?\M' $$, 'no function says mend');
select is_empty($$ select name from abilities where description || input_schema::text ~* '\mmend(s|ed|ing)?\M' $$, 'no tool says mend');
select is_empty($$ select objoid::regprocedure from pg_description where classoid = 'pg_proc'::regclass and objoid in (select oid from pg_proc where pronamespace = (select relnamespace from pg_class where oid = 'work_items'::regclass)) and description ~* '\mmend(s|ed|ing)?\M' $$, 'no comment says mend');

select * from finish();
rollback;
