-- Checks a faculty's configuration against _faculty_keys(), and reports all problems at once, in sentences for people.

create or replace function _edit_distance(p_a text, p_b text)
  returns integer
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_before integer[];
  v_last integer[] := array(select generate_series(0, char_length(p_b)));
  v_row integer[];
begin
  for i in 1 .. char_length(p_a) loop
    v_row := array[i];
    for j in 1 .. char_length(p_b) loop
      v_row[j + 1] := least(
        v_row[j] + 1,
        v_last[j + 1] + 1,
        v_last[j] + (substr(p_a, i, 1) <> substr(p_b, j, 1))::integer,
        case when i > 1 and j > 1 and substr(p_a, i - 1, 2) = reverse(substr(p_b, j - 1, 2)) then v_before[j - 1] + 1 end);
    end loop;
    v_before := v_last;
    v_last := v_row;
  end loop;
  return v_last[char_length(p_b) + 1];
end
$$;

comment on function _edit_distance(text, text) is 'How many characters must be inserted, deleted, replaced or swapped with their neighbour to turn one text into the other.';

create or replace function _nearest(p_word text, p_words text[])
  returns text
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  -- At most a third of the characters may differ; words that are too short or too long for that are not compared.
  select w.word
    from unnest(p_words) as w(word)
    cross join lateral (select greatest(char_length(p_word) / 3, 1)) as l(most)
    cross join lateral (select case when abs(char_length(p_word) - char_length(w.word)) <= l.most and char_length(p_word) <= 60
                                    then _edit_distance(lower(p_word), w.word) end) as d(distance)
   where d.distance <= l.most
   order by d.distance, w.word
   limit 1;
$$;

comment on function _nearest(text, text[]) is 'The word that was probably meant; null: none is similar.';

create or replace function _key_text(p_path text[])
  returns text
  language sql
  immutable
  parallel safe
  return (
    select string_agg(case when k.key ~ '^[A-Za-z0-9_-]{1,60}$' then k.key else to_json(_one_line(k.key, 60))::text end, '.' order by k.n)
      from unnest(p_path) with ordinality as k(key, n));

comment on function _key_text(text[]) is 'A key as people write it: engage.max_turns; parts that are not plain words are quoted.';

create or replace function _value_text(p_value jsonb)
  returns text
  language sql
  immutable
  parallel safe
  return case jsonb_typeof(p_value)
    when 'array' then 'a list'
    when 'object' then 'a table'
    when 'string' then to_json(case when char_length(p_value #>> '{}') > 60 then left(p_value #>> '{}', 60) || '…' else p_value #>> '{}' end)::text
    else left(p_value::text, 60)
  end;

comment on function _value_text(jsonb) is 'A value as shown in a message, on one line.';

create or replace function _faculty_value_says(p_type text, p_least numeric, p_most numeric, p_choices text[], p_value jsonb)
  returns text
  language plpgsql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_takes text := _faculty_takes(p_type, p_least, p_most, p_choices);
  v_text text := p_value #>> '{}';
  v_kind text := case p_type when 'boolean' then 'boolean' when 'whole number' then 'number' when 'number' then 'number'
                             when 'list of strings' then 'array' when 'table' then 'object' when 'schema' then 'object'
                             when 'word or whole number' then case jsonb_typeof(p_value) when 'number' then 'number' else 'string' end else 'string' end;
  v_must text := case
    when jsonb_typeof(p_value) <> v_kind then v_takes
    when v_kind = 'number' then
      case when v_text::numeric > coalesce(p_most, 2147483647) then _faculty_takes(p_type, p_least, coalesce(p_most, 2147483647), p_choices)
           when v_text::numeric < p_least or p_type in ('whole number', 'word or whole number') and v_text::numeric % 1 <> 0 then v_takes end
    when v_kind <> 'string' then null
    when p_choices is not null then case when v_text <> all (p_choices) then v_takes end
    when p_type = 'address' then case when v_text !~* '^https?://[^\s/@?#]+(/[^\s@?#]*)?$' then v_takes end
    when p_type = 'variable' then case when v_text !~ '^[A-Z][A-Z0-9_]{0,99}$' then v_takes end
    when p_type = 'size' then case when v_text !~* '^[1-9]\d*[bkmg]?$' then v_takes end
    when p_least = 1 and v_text !~ '\S' then v_takes || ' that is not blank'
    when char_length(v_text) > p_most then format('%s of at most %s characters', v_takes, p_most)
  end;
begin
  if v_must is null then
    return null;
  end if;
  -- Where a name or an address is expected, people sometimes paste the secret itself, so it is not repeated.
  return format('must be %s', v_must) || case when p_type not in ('address', 'variable') then ', not ' || _value_text(p_value) else '' end
    || coalesce('; did you mean "' || _nearest(case jsonb_typeof(p_value) when 'string' then v_text end, p_choices) || '"?', '');
end
$$;

comment on function _faculty_value_says(text, numeric, numeric, text[], jsonb) is 'What is wrong with a value, by its key''s row of _faculty_keys(): "must be a whole number from 1, not 0". Null: nothing.';

create or replace function faculty_problems(p_config jsonb)
  returns table (path text[], says text)
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with config as (
    select case jsonb_typeof(p_config) when 'object' then p_config else '{}' end as value
  ), key as materialized (
    select p.path, p.path[:cardinality(p.path) - 1] as section, p.path[cardinality(p.path)] as word, k.path as name, k.type, k.least, k.most, k.choices
      from _faculty_keys() k cross join lateral (select string_to_array(k.path, '.')) as p(path)
  ), given as (
    select array[t.key] as path, t.value from config c cross join jsonb_each(c.value) t
    union all
    select k.path || e.key, e.value
      from config c
      join key k on k.type = 'table' and jsonb_typeof(c.value #> k.path) = 'object'
      cross join jsonb_each(case jsonb_typeof(c.value #> k.path) when 'object' then c.value #> k.path end) e
  )
  select p.path, p.says
    from (
      select '{}'::text[], 'a faculty must be a table of keys, not ' || coalesce(_value_text(p_config), 'null')
       where jsonb_typeof(p_config) is distinct from 'object'
      union all
      select '{name}', 'a faculty needs a name'
        from config c where jsonb_typeof(p_config) = 'object' and coalesce(c.value -> 'name', 'null') = 'null'
      union all
      select '{name}', 'name must not contain @, which separates a faculty from its project where both are given'
        from config c where strpos(c.value ->> 'name', '@') > 0
      union all
      select '{project}', 'project: ' || _project_problem(nullif(c.value ->> 'project', '')) || ', such as github.com/acme/shop'
        from config c where jsonb_typeof(c.value -> 'project') = 'string'
      union all
      select g.path, 'unknown key ' || _key_text(g.path) || coalesce('; did you mean ' || coalesce(beside.name, elsewhere.name) || '?', '')
        from given g
        cross join lateral (select g.path[cardinality(g.path)], g.path[:cardinality(g.path) - 1]) as u(word, section)
        left join key beside on beside.section = u.section and beside.word = (select _nearest(u.word, array_agg(k.word)) from key k where k.section = u.section)
        left join lateral (select k.name from key k where k.word = u.word order by k.name limit 1) as elsewhere on true
       where not exists (select from key k where k.path = g.path)
      union all
      select g.path, _key_text(g.path) || ' ' || f.says
        from given g
        join key k on k.path = g.path
        cross join lateral (select _faculty_value_says(k.type, k.least, k.most, k.choices, g.value)) as f(says)
       where g.value <> 'null'
      union all
      select g.path || (e.n - 1)::text, _key_text(g.path) || '[' || e.n - 1 || '] ' || f.says
        from given g
        join key k on k.path = g.path and k.type = 'list of strings'
        cross join jsonb_array_elements(case jsonb_typeof(g.value) when 'array' then g.value else '[]' end) with ordinality as e(value, n)
        cross join lateral (select _faculty_value_says('string', 1, null, null, e.value)) as f(says)
      union all
      select g.path || (e.n - 1)::text, format('engage.tools[%s] repeats %s', e.n - 1, _value_text(e.value))
        from given g
        cross join jsonb_array_elements(case jsonb_typeof(g.value) when 'array' then g.value else '[]' end) with ordinality as e(value, n)
       where g.path = '{engage,tools}' and exists (
         select from jsonb_array_elements(case jsonb_typeof(g.value) when 'array' then g.value else '[]' end) with ordinality as f(value, n)
          where f.value = e.value and f.n < e.n)
      union all
      select '{result_schema}', r from config c cross join lateral _result_schema_problems(c.value -> 'result_schema') r
       where jsonb_typeof(c.value -> 'result_schema') = 'object'
      union all
      select '{engage,mode}', 'engage.mode = "external" needs engage.command, the program that does the work'
        from config c where c.value #>> '{engage,mode}' = 'external' and coalesce(c.value #> '{engage,command}', 'null') = 'null'
      union all
      select m.path, m.says from config c cross join lateral _model_problems(c.value -> 'engage') m
       where jsonb_typeof(c.value -> 'engage') = 'object') as p(path, says)
   where p.says is not null
   order by p.path;
$$;

comment on function faculty_problems(jsonb) is
  'All problems of a faculty configuration, whose keys are those of v_faculty_keys; no row: faculty_save() accepts it. What is asked of its models is held against what is known of them (models), see model_save(). path: the key, such that p_config #> path is its value; for an element of a list its index is added; {} is the configuration itself. says: what is wrong and what is allowed, as a sentence. Null counts as a key left out.';

create or replace function _model_problems(p_engage jsonb)
  returns table (path text[], says text)
  language sql
  stable
  rows 1
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with given as (
    select e.value ->> 'thinking' as thinking, e.value ->> 'effort' as effort, e.value ->> 'tool_choice' as tool_choice, e.value ->> 'cache_ttl' as cache_ttl,
           e.value ->> 'service_tier' as service_tier, e.value ->> 'model' as model, e.value ->> 'fallback_model' as fallback_model,
           case when jsonb_typeof(e.value -> 'thinking') = 'number' then 'budget'
                when e.value ->> 'thinking' in ('off', 'adaptive') then e.value ->> 'thinking' end as kind,
           case when jsonb_typeof(e.value -> 'thinking') = 'number' then (e.value ->> 'thinking')::numeric end as budget,
           case when jsonb_typeof(e.value -> 'temperature') = 'number' then (e.value ->> 'temperature')::numeric end as temperature,
           case when jsonb_typeof(e.value -> 'top_p') = 'number' then (e.value ->> 'top_p')::numeric end as top_p,
           case when jsonb_typeof(e.value -> 'max_output_tokens') = 'number' then (e.value ->> 'max_output_tokens')::numeric end as max_tokens,
           e.value -> 'betas' as betas, e.value -> 'tools' as tools
      from (select _faculty_defaults() -> 'engage' || jsonb_strip_nulls(p_engage)) e(value)
  ), model as (
    select m.name, m.takes from given g cross join lateral (
      select n as name, _model_takes(n) as takes from unnest(array[g.model, g.fallback_model]) n where n is not null) m
  )
  select array['engage', p.key], format(p.says, m.name)
    from given g
    cross join model m
    cross join lateral (values
      ('thinking', case when not m.takes -> 'thinking' ? g.kind
        then format('engage.thinking = %s: %%s accepts %s', to_json(g.thinking), coalesce(_words_of(m.takes -> 'thinking'), 'none')) end),
      ('effort', case
        when m.takes -> 'effort' = '[]' then 'engage.effort: %s does not accept it'
        when not m.takes -> 'effort' ? g.effort then format('engage.effort = "%s": %%s accepts %s', g.effort, _words_of(m.takes -> 'effort'))
        when g.thinking = 'off' and not m.takes -> 'effort_off' ? g.effort
          then format('engage.effort = "%s": with thinking off %%s accepts %s', g.effort, _words_of(m.takes -> 'effort_off')) end
        || left(g.effort, 0)),
      ('temperature', case
        when m.takes ->> 'sampling' = 'none' then 'engage.temperature: %s does not accept it'
        when g.temperature <> 1 and g.kind in ('adaptive', 'budget') and m.takes ? 'thinking' then 'engage.temperature: with thinking on %s accepts only 1' end
        || left(g.temperature::text, 0)),
      ('top_p', case
        when m.takes ->> 'sampling' = 'none' then 'engage.top_p: %s does not accept it'
        when m.takes ->> 'sampling' = 'one' and g.temperature is not null then 'engage.top_p: %s accepts temperature or top_p, not both'
        when g.top_p < 0.95 and g.kind in ('adaptive', 'budget') and m.takes ? 'thinking' then 'engage.top_p: with thinking on %s accepts 0.95 to 1' end
        || left(g.top_p::text, 0)),
      ('tool_choice', case
        when not m.takes -> 'tool_choice' ? case when g.tool_choice in ('auto', 'any', 'none') then g.tool_choice else 'tool' end
          then format('engage.tool_choice = %s: %%s accepts %s', to_json(g.tool_choice), _words_of(m.takes -> 'tool_choice'))
        when g.kind = 'budget' and g.tool_choice not in ('auto', 'none') and m.takes ? 'thinking'
          then format('engage.tool_choice = %s: with a thinking budget %%s accepts auto or none', to_json(g.tool_choice)) end || left(g.tool_choice, 0)),
      ('cache_ttl', case when not m.takes -> 'cache_ttl' ? g.cache_ttl
        then format('engage.cache_ttl = "%s": %%s accepts %s', g.cache_ttl, _words_of(m.takes -> 'cache_ttl')) end),
      ('service_tier', case when not m.takes -> 'service_tier' ? g.service_tier
        then format('engage.service_tier = "%s": %%s accepts %s', g.service_tier, _words_of(m.takes -> 'service_tier')) end)) as p(key, says)
   where p.says is not null
  union all
  select '{engage,thinking}', format('engage.thinking must be less than engage.max_output_tokens (%s), not %s', g.max_tokens, g.thinking)
    from given g where g.budget >= g.max_tokens
  union all
  select '{engage,tool_choice}',
         format('engage.tool_choice = %s is not one of its tools; auto, any and none are also accepted', to_json(_one_line(g.tool_choice, 130)))
    from given g
   where g.tool_choice not in ('auto', 'any', 'none', 'execute_code') and not g.tools ? g.tool_choice
     and not exists (select from abilities a where a.name = g.tool_choice and a.implementation = 'engine')
  union all
  select array['engage', 'betas', (b.n - 1)::text], format('engage.betas[%s] must be the name of a beta feature like "context-1m-2025-08-07"', b.n - 1)
    from given g
    cross join jsonb_array_elements_text(case jsonb_typeof(g.betas) when 'array' then g.betas else '[]' end) with ordinality as b(value, n)
   where b.value !~ '^[a-z0-9][a-z0-9-]{0,99}$';
$$;

comment on function _model_problems(jsonb) is 'What a faculty''s [engage] asks of its models that they do not take, as far as it is known (_model_takes()), as rows of faculty_problems(). A value of a wrong type is told elsewhere.';

create or replace function _words_of(p_list jsonb)
  returns text
  language sql
  immutable
  parallel safe
  return (select regexp_replace(string_agg(w, ', ' order by n), ', ([^,]*)$', ' or \1') from jsonb_array_elements_text(p_list) with ordinality as l(w, n));

comment on function _words_of(jsonb) is 'A list of words as text: low, medium or high; null: it is empty.';
