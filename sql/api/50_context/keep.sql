-- Keep lists: names of files or parts of them (keep_part.sql), URLs and artifacts that an agent's steps ask to keep.

create or replace function _keep_at(p_work_item_id uuid, p_seq integer default 2147483647)
  returns text[]
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  with step as (
    select l.keep, row_number() over (order by l.seq desc) as n
      from (select * from work_ledger where work_item_id = p_work_item_id and entry_type = 'step' and seq <= p_seq order by seq desc limit 2) l
  )
  select coalesce((select s.keep from step s where s.n = 1), (select s.keep from step s where s.n = 2));
$$;

comment on function _keep_at(uuid, integer) is 'The keep of the newest step up to an entry or, if it names nothing, of the one before: a list holds for one more step. Null: neither names anything.';

create or replace function _is_same_file(p_name text, p_target text)
  returns boolean
  language sql
  immutable
  parallel safe
  return p_target = p_name or right(p_target, char_length(p_name) + 1) = '/' || p_name or right(p_name, char_length(p_target) + 1) = '/' || p_target;

comment on function _is_same_file(text, text) is 'Whether two paths or URLs are the same, or one is the end of the other.';

create or replace function _keep_path(p_name text)
  returns text
  language sql
  immutable
  parallel safe
  return regexp_replace(p_name, '(.)(:\d{1,7}(-\d{1,7})?|#[^#]+)$', '\1');

comment on function _keep_path(text) is 'The file of a name of a keep list: src/a.ts of src/a.ts:80-140 and of src/a.ts#parse.';

create or replace function _is_named(p_name text, p_target text)
  returns boolean
  language sql
  immutable
  parallel safe
  return _is_same_file(p_name, p_target) or _is_same_file(_keep_path(p_name), p_target);

comment on function _is_named(text, text) is 'Whether a name of a keep list means what a call touched, or a part of it.';

create or replace function _keep_names(p_keep text[])
  returns text[]
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select array(
    select c.name
      from unnest(p_keep) with ordinality as u(name, i), regexp_replace(btrim(u.name), '^(\./+)+', '') as c(name)
     group by c.name
     order by min(u.i));
$$;

comment on function _keep_names(text[]) is 'The names of a keep list, each once, without ./ before them.';
