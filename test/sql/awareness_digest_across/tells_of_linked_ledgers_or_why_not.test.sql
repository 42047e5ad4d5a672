-- With real servers and their rights: test/long/links.test.ts.
begin;
select plan(14);
create extension postgres_fdw schema public;
create server nowhere foreign data wrapper postgres_fdw options (host '/nowhere', connect_timeout '2');
create user mapping for current_user server nowhere;
create server slow foreign data wrapper postgres_fdw options (host '/nowhere');

select is(awareness_digest_across(), awareness_digest(), 'without links it is the digest');
select throws_ok($$ select awareness_digest_across(gen_random_uuid()) $$, 'WL001', null, 'an item that is not there');

select throws_ok($$ select ledger_link('Shop', 'nowhere') $$, 'WL002', null, 'a name is lower case');
select throws_ok($$ select ledger_link('shop', 'nobody') $$, 'WL002', '"nobody" is not a server of postgres_fdw', 'a server is there');
select throws_ok($$ select ledger_link('shop', 'nowhere', '') $$, 'WL002', null, 'a ledger has a schema');
select throws_ok($$ select ledger_link('shop', 'slow') $$, 'WL002', 'server "slow" has no connect_timeout', 'a server that is cut off holds nobody up for minutes');
select throws_like($$ select ledger_link('shop', 'nowhere') $$, 'Ledger "shop" is left out: could not connect to server "nowhere" (%/nowhere%).', 'one that does not answer is not linked');
select is_empty('select * from v_ledger_links', 'and there is no link then');
select throws_ok($$ select ledger_unlink('shop') $$, 'WL002', null, 'what is not linked is not unlinked');

create foreign table linked_shop (version text, digest text) server nowhere options (schema_name 'shop_ledger', table_name 'v_awareness');
select results_eq('select name, server, ledger_schema from v_ledger_links', $$ values ('shop', 'nowhere', 'shop_ledger') $$, 'links are listed');
select ok(awareness_digest_across() like awareness_digest() || E'\n\nLedger "shop" is left out: could not connect to server "nowhere" (%).', 'one that does not answer is a sentence behind the digest');
select throws_ok($$ select ledger_link('shop', 'nowhere') $$, 'WL002', 'a ledger is already linked as "shop"', 'a name is taken once');
select lives_ok($$ select ledger_unlink('shop') $$, 'a link can be dropped');
select is_empty(
  $$ select p.proname from pg_proc p
      where p.pronamespace = (select relnamespace from pg_class where oid = 'work_items'::regclass) and p.prosrc ~ 'awareness_digest_(across|linked)\(|_linked_(digest|told)\(|v_awareness\M'
        and p.proname <> all ('{awareness_digest_across,awareness_digest_linked,_linked_told,ledger_link}')
     union all
     select name from abilities where name ~ 'across' $$,
  'nothing that agents are told or may call reads another ledger');

select * from finish();
rollback;
