-- What a request offers is kept from one request to the next, and made anew when a tool, how long a response may be, or how the model is told
-- not to think has changed.
begin;
select plan(9);

select agent('{"tools": ["look"], "max_output_tokens": 1000, "thinking": "off", "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Look');
create function pg_temp.look() returns text language sql as $$
  select request.body #> '{tools}' ->> -1 from request where n = (select max(n) from request)
$$;
select play('[[["look"]]]');
select drive();
select is((select offered ->> 'config' from foci where id = focus()), (select config_hash from turns where id = turn()), 'what is offered is kept');
select is((select count(distinct config_hash) from turns), 1::bigint, 'and offered again');
select is((stage() -> 'early')::jsonb, '{"look": "look", "ledger_append": null}', 'with the tools that may run early');
select answer('[["look"]]'), run(), iteration_finish(item(), lease());

update abilities set description = 'Sees more.' where name = 'look';
select drive();
select ok(pg_temp.look() like '%Sees more.%', 'a tool with another description is described so');
select answer('[["look"]]'), run(), iteration_finish(item(), lease());

update abilities set description = 'Sees all.', effect = 'idempotent' where name = 'look';
select drive();
select ok(pg_temp.look() like '%Sees all.%', 'also where it changes twice in one transaction');
select is((stage() -> 'early')::jsonb, '{"ledger_append": null}', 'and one that leaves something behind does not run early');
select answer('["A long"]', p_more => '{"stop_reason": "max_tokens"}'), run(), iteration_finish(item(), lease());

select drive();
select is((select body ->> 'max_tokens' from request where n = (select max(n) from request)), '2000', 'after a response that was cut off the next one may be longer');
select is((select config_hash from turns where id = turn()), (select offered ->> 'config' from foci where id = focus()), 'and that is kept, too');
select answer('[["look"]]'), run(), iteration_finish(item(), lease());

select from model_save((select body ->> 'model' from request where n = 1), p_takes => '{"thinking_off": "disabled"}');
select drive();
select is(
  (select array_agg(body #>> '{thinking,type}' order by n) from request where n in (1, (select max(n) from request))), array['between_tools', 'disabled'],
  'a model is told not to think in the word that is known for it now');

select * from finish();
rollback;
