-- What is said of one key of a faculty holds for every key: type, least, most, choices, default.
begin;
select plan(7);

-- A configuration with one key, and what is said of that key.
create function pg_temp.with_key(p_path text, p_value jsonb) returns jsonb language sql as $$
  select case when p_path = 'name' then '{}' else '{"name": "a"}'::jsonb end
         || case when p_path ~ '\.' then jsonb_build_object(split_part(p_path, '.', 1), jsonb_build_object(split_part(p_path, '.', 2), p_value)) else jsonb_build_object(p_path, p_value) end
$$;
create function pg_temp.is_problem(p_path text, p_value jsonb) returns boolean language sql as
  $$ select exists (select from faculty_problems(pg_temp.with_key(p_path, p_value)) p where p.path = string_to_array(p_path, '.') and p.says ~ ('^' || p_path || ' must be ')) $$;

select is_empty(
  $$ select path, says from faculty_problems(_faculty_defaults() || '{"name": "a"}') $$,
  'the defaults of all keys are no problem');
select is_empty(
  $$ select k.path, v from _faculty_keys() k, unnest(array['3', '"3"', 'true', '[]', '{}']::jsonb[]) v
      where pg_temp.is_problem(k.path, v) = (jsonb_typeof(v) = case
        when k.type in ('whole number', 'number') then 'number' when k.type = 'boolean' then 'boolean' when k.type in ('table', 'schema') then 'object' when k.type ~ '^list' then 'array' else 'string' end
        and k.choices is null and k.type not in ('address', 'variable') and coalesce(k.most, 3) >= 3 and (k.type not in ('whole number', 'number') or k.least <= 3)) $$,
  'a value of another type is a problem at its key, whatever the key');
select is_empty(
  $$ select path, least from _faculty_keys() where type in ('whole number', 'number') and (pg_temp.is_problem(path, to_jsonb(least)) or not pg_temp.is_problem(path, to_jsonb(least - 0.01))) $$,
  'the least of every number is taken, less is not');
select is_empty(
  $$ select k.path, m.most from _faculty_keys() k, lateral (select coalesce(k.most, 2147483647)) m(most)
      where k.type in ('whole number', 'number') and (pg_temp.is_problem(k.path, to_jsonb(m.most)) or not pg_temp.is_problem(k.path, to_jsonb(m.most + 1))) $$,
  'the most of every number is taken, more is not');
select is_empty(
  $$ select path from _faculty_keys() where type in ('whole number', 'word or whole number') and not pg_temp.is_problem(path, to_jsonb(least + 1.5)) $$,
  'a whole number has no fraction');
select is_empty(
  $$ select k.path, c from _faculty_keys() k, unnest(k.choices || '{none of them,""}') c where pg_temp.is_problem(k.path, to_jsonb(c)) = (c = any (k.choices)) $$,
  'a choice is taken, another word is not');
select is_empty(
  $$ select k.path from _faculty_keys() k where k.type not in ('table', 'schema', 'boolean', 'whole number', 'word or whole number', 'number', 'size', 'address', 'variable', 'string', 'command', 'list of strings')
        or (k.type in ('whole number', 'number') and k.least is null) or k.says !~ '\S' or pg_temp.is_problem(k.path, k.default_value)
        or (k.path ~ '\.' and not exists (select from _faculty_keys() s where s.path = split_part(k.path, '.', 1) and s.type = 'table')) $$,
  'every key is of a type that is checked, in a section, says what it is for and takes its default');

select * from finish();
rollback;
