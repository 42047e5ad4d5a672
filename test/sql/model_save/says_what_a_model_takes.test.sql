-- What a model takes can be saved where its name does not tell, and is taken back with {}.
begin;
select plan(6);

select is((model_save('m', p_takes => '{"binds_thinking": true, "thinking_off": "between_tools", "effort": []}')).takes, '{"binds_thinking": true, "thinking_off": "between_tools", "effort": []}', 'it is saved as it is given');
select is((model_save('m', 5000)).takes ->> 'thinking_off', 'between_tools', 'and stays when something else is');
select is((model_save('m', p_takes => '{}')).takes, null, '{} takes it back');
select throws_ok($$ select model_save('m', p_takes => '{"thinks": true}') $$, 'WL002', 'p_takes has an unknown key "thinks"', 'an unknown key is refused');
select throws_ok($$ select model_save('m', p_takes => '{"effort": ["much"]}') $$, 'WL002', null, 'an unknown word is');
select throws_ok($$ select model_save('m', p_cache_write_1h => -1) $$, 'WL002', null, 'and a multiple below 0');

select * from finish();
rollback;
