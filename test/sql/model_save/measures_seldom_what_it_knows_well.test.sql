-- The row of a model is everybody's: once a hundred responses have told how many tokens its text has, every fourth will do.
begin;
select plan(1);

select agent('{"tools": ["look"], "model": "some-model"}');
select submit('Fix it');
select model_save('some-model');
update models set sample_count = 100 where name = 'some-model';
-- Each request has the response before it, and 9,998 characters of a result.
create function pg_temp.say(p_n integer) returns void language sql as $$
  select play(jsonb_build_array(jsonb_build_array(jsonb_build_array('look', repeat('x', 9998)))),
    p_more => jsonb_build_object('model', 'some-model', 'usage', jsonb_build_object('input_tokens', p_n * 5100, 'output_tokens', 100))) $$;
select pg_temp.say(n) from generate_series(1, 5) n;
select is((select sample_count from models where name = 'some-model'), 101, 'of four requests with one before them one is measured');

select * from finish();
rollback;
