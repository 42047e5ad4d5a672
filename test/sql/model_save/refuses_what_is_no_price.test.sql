-- A price is a finite amount: with any other the cost of everything would be no number.
begin;
select plan(5);

select throws_ok($$ select model_price_save('m', 'Infinity', 15) $$, 'WL002', 'a model needs a price per million input tokens and one per million output tokens, none of them negative or infinite', 'an infinite one is refused');
select throws_ok($$ select model_price_save('m', 3, 15, p_cache_write => 'Infinity') $$, 'WL002', null, 'of the cache, too');
select throws_ok($$ select model_price_save('m', 'NaN', 15) $$, 'WL002', null, 'and what is no number');
select throws_ok($$ select model_price_save('m', 3, -1) $$, 'WL002', null, 'and a negative one');
select is((model_price_save('m', 0, 0)).cache_write_price, 0::numeric, 'a model may cost nothing');

select * from finish();
rollback;
