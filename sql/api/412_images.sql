-- Images: stored once, as artifacts, and named by a reference wherever they were shown; a request has them as the
-- provider wants them. So they leave the context with their block, and come back by their handle.

create or replace function _image_store(p_media_type text, p_data text)
  returns text
  language plpgsql
  volatile
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_hash text := _content_hash(p_data);
begin
  insert into artifacts (content_hash, content, media_type) values (v_hash, p_data, p_media_type) on conflict do nothing;
  return _image_block(p_media_type, v_hash);
end
$$;

comment on function _image_store(text, text) is 'Stores an image (base64) once and returns the block that names it.';

create or replace function _image_block(p_media_type text, p_hash text)
  returns text
  language sql
  immutable
  parallel safe
  return '{"type":"image","source":{"type":"artifact","media_type":"' || p_media_type || '","artifact":"' || p_hash || '"}}';

comment on function _image_block(text, text) is 'The block that names an image which is an artifact, as it is stored in results and messages; null of null.';

create or replace function _with_images(p_blocks text)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_reference text[];
begin
  if strpos(p_blocks, '{"type":"image","source":{"type":"artifact"') = 0 then
    return p_blocks;
  end if;
  -- Inside a text its quotes would be escaped: what matches is a block.
  for v_reference in
    select distinct regexp_matches(p_blocks, '\{"type":"image","source":\{"type":"artifact","media_type":"(image/[a-z]+)","artifact":"([0-9a-f]{64})"\}\}', 'g')
  loop
    p_blocks := replace(p_blocks, _image_block(v_reference[1], v_reference[2]), (
      select '{"type":"image","source":{"type":"base64","media_type":"' || v_reference[1] || '","data":' || to_json(content)::text || '}}'
        from artifacts where content_hash = v_reference[2]));
  end loop;
  return p_blocks;
end
$$;

comment on function _with_images(text) is 'Blocks of a user message as text, with its images in the form that a request has.';

create or replace function _images_of(p_turn_ids uuid[])
  returns jsonb
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
  select jsonb_agg(i.source order by i.place)
    from (
      select b.value #> '{source}' as source, max(array[u.n, c.n, c.m, b.n]) as place
        from unnest(p_turn_ids) with ordinality as u(turn_id, n)
        cross join lateral (
          select 0 as n, m.sequence as m, m.content from messages m where m.turn_id = u.turn_id and m.role = 'user'
          union all
          select 1, k.ordinal, k.result from tool_calls k where k.turn_id = u.turn_id and k.parent_call_id is null and json_typeof(k.result) = 'array') c
        cross join lateral jsonb_array_elements(c.content::jsonb) with ordinality as b(value, n)
       where b.value ->> 'type' = 'image' and b.value #>> '{source,type}' = 'artifact'
       group by 1
       order by 2 desc
       limit 10) i;
$$;

comment on function _images_of(uuid[]) is 'The newest ten images that some turns were shown: [{media_type, artifact}].';
