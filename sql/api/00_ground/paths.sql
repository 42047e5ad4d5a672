-- Normalizes paths given by agents, so that they can be compared.

create or replace function _path_clean(p_path text)
  returns text
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_path text := regexp_replace(regexp_replace(p_path, '/(\.?/)+', '/', 'g'), '^\./', '');
  v_shorter text;
begin
  loop
    v_shorter := regexp_replace(v_path, '(^|/)(?!\.\.?/)[^/]+/\.\.(?:/|$)', '\1');
    exit when v_shorter is not distinct from v_path; -- null stays null
    v_path := v_shorter;
  end loop;
  return regexp_replace(v_path, '(^|(.)/|/)\.?$', '\2');
end
$$;

comment on function _path_clean(text) is 'A path without // and /./ and with .. resolved; empty for the workspace itself.';

create or replace function _path_plain(p_path text)
  returns text
  language sql
  immutable
  parallel safe
  return _path_clean(lower(p_path));

comment on function _path_plain(text) is 'A path in normal form: _path_clean(), in lower case, since some file systems ignore case.';
