-- The folder that is said once is that of all files, also where the database sorts as a language does, for which a and A are nearly the same.
begin;
select plan(2);

select is((select array_agg(p order by p collate "en-x-icu") from unnest(array['A/b', 'a/c', 'A/d']) p), '{A/b,a/c,A/d}', 'between two files of a folder stands one that is not in it');
select is(_common_folder(array['A/d', 'a/c', 'A/b'] collate "en-x-icu"), '', 'which has no folder in common with them');

select * from finish();
rollback;
