-- The calls of a recorded exchange, and how each ended.

create or replace function _recorded_calls(p_calls json, p_n integer)
  returns table(ordinal bigint, id text, name text, input json, result text, is_error boolean, spawns text, file text, images json)
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select c.ordinality, coalesce(c.id, format('import_%s_%s', p_n, c.ordinality)), c.name, c.input, c.result, coalesce(c."isError", false),
         c.spawns, c.file, c.images
    from rows from (json_to_recordset(p_calls) as (
      id text, name text, input json, result text, "isError" boolean, spawns text, file text, images json)) with ordinality as c;
$$;

comment on function _recorded_calls(json, integer) is 'The calls of a recorded exchange, numbered from 1; a call without an id gets one made from its position.';

create or replace function _recorded_images(p_work_item_id uuid, p_images json)
  returns text
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  if exists (select from json_array_elements(p_images) i
              where coalesce(i ->> 'media_type', '') !~ '^image/(png|jpeg|gif|webp)$'
                or coalesce(i ->> 'data', '') !~ '^[A-Za-z0-9+/]+=*$' or octet_length(i ->> 'data') > 5242880) then
    perform _raise_invalid('recorded images must be a list of {media_type, data}: image/png, jpeg, gif or webp, in base64 of at most 5 MiB');
  end if;
  return (select string_agg(_image_store(p_work_item_id, i.value ->> 'media_type', i.value ->> 'data'), ',' order by i.n)
            from json_array_elements(p_images) with ordinality as i(value, n));
end
$$;

comment on function _recorded_images(uuid, json) is 'Stores the images of a recorded message or result and returns the blocks that name them; null: none. Raises WL002.';

create or replace function _recorded_end(
    p_work_item_id uuid, p_result text, p_images json, p_is_error boolean, p_is_past boolean, p_at timestamptz,
    out status text, out result json, out is_error boolean, out attempts integer, out at timestamptz, out artifact_hash text, out is_truncated boolean)
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_whole text;
begin
  p_result := _redact_text(p_result, 'tool_calls', '{}');
  v_whole := case when octet_length(p_result) > 33554000 then _cap_text(p_result, 33554000) end;
  is_truncated := v_whole is not null;
  if p_result is null and not p_is_past then
    status := 'pending';
    attempts := 0;
    return;
  end if;
  if v_whole is not null then
    artifact_hash := _artifact_store(p_work_item_id, v_whole);
    p_result := _excerpt(v_whole, 8000);
  end if;
  is_error := p_result is null or p_is_error;
  status := case when is_error then 'failed' else 'completed' end;
  result := to_json(coalesce(p_result, '[engine] The record has no result for this call.'));
  if p_images is not null then
    result := ('[' || concat_ws(',', case when not _is_blank(p_result) then _text_block(p_result) end,
                                _recorded_images(p_work_item_id, p_images)) || ']')::json;
  end if;
  attempts := 1;
  at := p_at;
end
$$;

comment on function _recorded_end(uuid, text, json, boolean, boolean, timestamptz) is 'How a recorded call ended. Without a result: open in the newest exchange (p_is_past false), else failed. Of a result over 32 MiB, head and tail become an artifact.';

create or replace function _cap_said(p_text text, p_max_bytes integer)
  returns text
  language sql
  immutable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select case when octet_length(p_text) * 6 <= p_max_bytes then p_text
              else _cap_text(p_text, (p_max_bytes * least(1, octet_length(p_text)::numeric / octet_length(to_json(p_text)::text)))::integer) end;
$$;

comment on function _cap_said(text, integer) is 'The text shortened so that as JSON, where a line break takes two bytes and a control character six, it has at most about p_max_bytes.';
