-- A context approaches its limit at four fifths of where it is compacted, or at a share of the window that the caller names.
begin;
select plan(8);

select agent('{"tools": ["look"], "model": "m", "context_window": 10000}');
select submit('Fix it');
select throws_ok($$ select work_approaching_limit(gen_random_uuid()) $$, 'WL001', null, 'work that is not there is an error');
select is(work_approaching_limit(item()), false, 'work that has said nothing approaches no limit');

create function pg_temp.say(p_input integer) returns void language sql as $$
  select play(format('[[["look", "%s"]]]', repeat('x', 398))::jsonb, p_more => jsonb_build_object('model', 'm', 'usage', jsonb_build_object('input_tokens', p_input, 'output_tokens', 100))) $$;
select pg_temp.say(5000);
select results_eq($$ select tokens, context_window, compacts_at from v_context $$, $$ values (5200, 10000, 7000) $$, 'v_context has what the provider counted, the response and an estimate of the results');
select is(work_approaching_limit(item()), false, 'under four fifths of the threshold the limit is not near');
select pg_temp.say(5500);
select is(work_approaching_limit(item()), true, 'over four fifths of the threshold the limit is near');
select is(work_approaching_limit(item(), 0.6), false, 'under a share of the window of one''s own the limit is not near');
select is(work_approaching_limit(item(), 0.5), true, 'over a share of the window of one''s own the limit is near');
select is((select count(*) from v_compactions), 0::bigint, 'nearing the limit compacts nothing yet');

select * from finish();
rollback;
