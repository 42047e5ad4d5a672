-- The keys of a faculty, in the order in which people read them. This is the only list: defaults, checks, the view, the table in docs/faculty.md and what
-- the runtime knows about commands come from it.

create or replace function _faculty_keys()
  returns table (path text, type text, "least" numeric, most numeric, choices text[], default_value jsonb, says text)
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select k.path, k.type, k.least::numeric, k.most::numeric, k.choices::text[], k.default_value::jsonb, k.says
    from (values
      ('name', 'string', 1, 63, null, null, 'Its name. Saving another configuration under the same name replaces this one; running attempts keep theirs'),
      ('accepts', 'list of strings', null, null, null, '[]', 'The work types that it accepts'),
      ('project', 'string', 0, 500, null, null, 'The project whose work it accepts; faculties with the same name in different projects do not replace each other. Empty: work of all projects. Default in a file: "project" in the nearest work-ledger.toml, else empty'),
      ('role', 'string', null, null, '{manager,worker,unified}', '"unified"', 'Its role among other agents; stored with its turns'),
      ('persona', 'string', 1, null, null, null, 'The persona that it speaks as; stored with its sessions. Default: its name'),
      ('max_concurrent', 'whole number', 1, null, null, null, 'Slots: how many of its items may run at once, across all workers. Default: no limit'),
      ('hosts', 'list of strings', null, null, null, '[]', 'The hosts whose workers may drive its items, by the names that v_workers shows; empty: any. The current list applies, even to running attempts'),
      ('redact', 'boolean', null, null, null, 'true', 'Whether text that looks like a secret is removed before its rows are written; values that the worker knows to be secret are always removed'),
      ('claims', 'string', null, null, '{off,warn,refuse}', '"warn"', 'What happens to a call that changes what others are working on (v_claims): nothing, its result begins with a line that says so, or it is not run. A setting of its project takes precedence'),
      ('memory', 'boolean', null, null, null, 'false', 'Offers memory: notes of the project in files that outlast the work (v_memory_files)'),

      ('result_schema', 'schema', null, null, null, null, 'What the results of its work must look like: a JSON Schema with type, properties, required, additionalProperties, items, enum, const, minimum, maximum, minLength, maxLength, pattern, minItems, maxItems, anyOf and oneOf; other keywords are rejected. An item may have its own'),

      ('orient', 'table', null, null, null, null, 'A command that runs before the first request of an attempt'),
      ('orient.command', 'command', 1, null, null, null, 'Prints text for the agent, or {"context"} or {"refuse"}'),
      ('orient.timeout', 'whole number', 1, null, null, '60', 'Its time limit in seconds'),
      ('orient.on_failure', 'string', null, null, '{fail,continue}', '"fail"', 'Whether the attempt fails if the command fails'),

      ('engage', 'table', null, null, null, null, 'The loop: model, tools, context, files'),
      ('engage.mode', 'string', null, null, '{builtin,external}', '"builtin"', 'external: the program in command does the work instead of the loop'),
      ('engage.command', 'command', 1, null, null, null, 'The program for mode = "external"'),
      ('engage.command_timeout', 'whole number', 1, null, null, '3600', 'Its time limit in seconds'),
      ('engage.check_command', 'command', 1, null, null, null, 'Checks the work when the agent says that it is done: the model is told of the first failure, the second fails the item. Runs where the agent''s files are'),
      ('engage.check_timeout', 'whole number', 1, null, null, '600', 'Its time limit in seconds'),
      ('engage.model', 'string', 1, null, null, '"claude-sonnet-5-5"', 'The model'),
      ('engage.fallback_model', 'string', 1, null, null, null, 'The model to ask while the first one is rate-limited or overloaded'),
      ('engage.base_url', 'address', null, null, null, null, 'The server for its models, which speaks the Messages API. Default: the worker''s'),
      ('engage.api_key_env', 'variable', null, null, null, null, 'The worker''s environment variable with the key for base_url; without it no key is sent there'),
      ('engage.system_prompt', 'string', 0, null, null, null, 'Added after the engine''s own prompt'),
      ('engage.system_prompt_file', 'string', 1, null, null, null, 'A file with the system prompt, relative to the faculty''s file'),
      ('engage.tools', 'list of strings', null, null, null, '[]', 'The tools that it is offered in addition to the engine''s own'),
      ('engage.toolset', 'string', 1, null, null, null, 'A name for its set of tools; stored with its turns. Default: the faculty''s name'),
      ('engage.max_turns', 'whole number', 1, null, null, '50', 'Maximum iterations of an attempt; an item that needs more fails'),
      ('engage.max_output_tokens', 'whole number', 1, null, null, '32000', 'Maximum tokens of a response'),
      ('engage.thinking', 'word or whole number', 1024, null, '{off,adaptive}', null, 'How the model thinks: off, adaptive (it decides when and how much), or at most this many tokens, fewer than max_output_tokens. Default: the model''s'),
      ('engage.effort', 'string', null, null, '{low,medium,high,xhigh,max}', null, 'How much effort it puts into a response. Default: the model''s'),
      ('engage.temperature', 'number', 0, 1, null, null, 'How freely it chooses words. Default: the model''s'),
      ('engage.top_p', 'number', 0, 1, null, null, 'The share of the most likely words that it chooses from. Default: the model''s'),
      ('engage.tool_choice', 'string', 1, 128, null, null, 'auto, any (some tool), none, or the tool that each response must call. Default: auto'),
      ('engage.cache_ttl', 'string', null, null, '{5m,1h}', '"5m"', 'How long the provider keeps what a request leaves in its cache; writing for an hour costs more (models.cache_write_1h)'),
      ('engage.service_tier', 'string', null, null, '{auto,standard_only}', null, 'Whether a request may use priority capacity (auto). Default: the provider''s'),
      ('engage.betas', 'list of strings', null, null, null, '[]', 'Names of the beta features of the API that requests use'),
      ('engage.parallel_tool_execution', 'boolean', null, null, null, 'true', 'Whether the calls of one response run in parallel'),
      ('engage.max_parallel_tools', 'whole number', 1, null, null, '8', 'Maximum calls that run in parallel'),
      ('engage.compact_threshold', 'number', 0, 1, null, '0.7', 'The fraction of the model''s window that a request may fill before it is compacted; 0: never'),
      ('engage.compact_keep_recent', 'whole number', 0, null, null, '10', 'How many of the newest messages a compaction keeps, rounded up to whole exchanges'),
      ('engage.compact_strategy', 'string', null, null, '{ledger,sliding_window,selective}', '"ledger"', 'What is tried first. ledger: the ledger replaces old turns; sliding_window: nothing does; selective: results of pure calls are shortened'),
      ('engage.compact_every', 'whole number', 0, null, null, '0', 'Compacts after this many iterations, whatever the size; 0: never'),
      ('engage.compact_model', 'string', 1, null, null, null, 'The model that writes summaries. Default: model'),
      ('engage.context_window', 'whole number', 1000, null, null, null, 'The model''s context window in tokens. Default: that in the table models'),
      ('engage.ledger_nudge_interval', 'whole number', 0, null, null, '5', 'Iterations without a ledger entry after which the agent is reminded; 0: never'),
      ('engage.stall_limit', 'whole number', 0, null, null, '8', 'Iterations with the same calls and results, and no ledger entry, after which the item pauses; 0: never'),
      ('engage.truncate_closed_blocks', 'boolean', null, null, null, 'true', 'Whether closed blocks are replaced by stubs'),
      ('engage.truncate_processed_results', 'boolean', null, null, null, 'true', 'Accepted, but has no effect: truncate_closed_blocks covers whole blocks, including their results'),
      ('engage.elide_budget', 'whole number', 0, null, null, '8000', 'Tokens that closed blocks may hold before they leave the context; 0: they leave at every step'),
      ('engage.keep_budget', 'whole number', 0, null, null, '16000', 'Tokens of content listed in a step''s keep that stay verbatim; at most a tenth of the window'),
      ('engage.keep_auto', 'whole number', 0, null, null, '4000', 'Tokens of recently read files that stay if a step lists nothing; 0: none'),
      ('engage.max_result_chars', 'whole number', 1000, null, null, '50000', 'Longer results are shown as head and tail, with a handle for the whole'),
      ('engage.require_approval', 'string', null, null, '{never,dangerous,moderate}', '"never"', 'Which calls wait for approval: dangerous ones, or moderate and dangerous ones'),
      ('engage.approval_timeout', 'whole number', 1, null, null, '86400', 'Seconds that a call waits for approval; after that it is not run'),
      ('engage.max_children', 'whole number', 0, null, null, '20', 'Maximum children of an attempt; 0: none, and no tools for them'),
      ('engage.max_descendants', 'whole number', 0, null, null, '100', 'Maximum items of a tree below its root'),
      ('engage.workspace', 'string', null, null, '{host,container,none}', '"container"', 'Where its files are and its commands run: on the worker''s machine, in a container for each item, or nowhere'),
      ('engage.workspace_dir', 'string', 1, null, null, null, 'The directory: copied into the container at the start, or used directly on the host; the worker must serve it (workspace_roots)'),
      ('engage.workspace_image', 'string', 1, null, null, '"work-ledger-sandbox"', 'The container''s image; your own may add compilers and packages, and must have bash and python3'),
      ('engage.workspace_memory', 'size', null, null, null, '"1g"', 'The container''s memory'),
      ('engage.workspace_cpus', 'number', 0.01, null, null, '2.0', 'The container''s CPUs'),
      ('engage.workspace_size', 'size', null, null, null, '"1g"', 'Maximum space for its files'),
      ('engage.workspace_keep_hours', 'whole number', 0, null, null, '24', 'Hours for which the files are kept after the work is over'),
      ('engage.web_fetch_allow', 'list of strings', null, null, null, '[]', 'Private hosts that web_fetch may reach, as host or host:port'),
      ('engage.code_execution', 'boolean', null, null, null, 'false', 'Offers execute_code: Python in a container, with the tools as functions'),
      ('engage.code_execution_timeout', 'whole number', 1, null, null, '300', 'Maximum time limit in seconds that the agent may set for its code; without one, code has 120'),
      ('engage.code_execution_image', 'string', 1, null, null, '"work-ledger-sandbox"', 'The image in which code runs'),
      ('engage.code_execution_memory', 'size', null, null, null, '"512m"', 'Its memory'),
      ('engage.code_execution_cpus', 'number', 0.01, null, null, '2.0', 'Its CPUs'),
      ('engage.code_execution_pool', 'whole number', 0, null, null, '1', 'Containers kept started in advance; each is used once'),
      ('engage.code_execution_session', 'boolean', null, null, null, 'false', 'One container for all code of an attempt; files in /tmp stay until the work pauses or waits, or the container fails'),

      ('awareness', 'table', null, null, null, null, 'The digest of what other agents are doing'),
      ('awareness.enabled', 'boolean', null, null, null, 'true', 'Whether the agent gets the digest'),
      ('awareness.lookback_hours', 'whole number', 0, null, null, '24', 'Maximum age, in hours, of completed items, decisions, findings and errors in it'),
      ('awareness.max_running', 'whole number', 0, null, null, '10', 'Maximum items that have not ended'),
      ('awareness.max_recent_completed', 'whole number', 0, null, null, '20', 'Maximum completed items'),
      ('awareness.max_recent_decisions', 'whole number', 0, null, null, '10', 'Maximum decisions, only the newest of each item'),
      ('awareness.max_recent_findings', 'whole number', 0, null, null, '20', 'Maximum findings'),
      ('awareness.max_recent_errors', 'whole number', 0, null, null, '10', 'Maximum errors'),
      ('awareness.max_tokens', 'whole number', 0, null, null, '1500', 'Maximum size in tokens; 0: no limit'),
      ('awareness.include_child_work', 'boolean', null, null, null, 'false', 'Includes child items and their entries, also those of its own children'),
      ('awareness.include_queued', 'boolean', null, null, null, 'false', 'Includes queued items'),
      ('awareness.refresh_every', 'whole number', 0, null, null, '1', 'Iterations after which the agent is told what is new, if anything is; 0: never'),
      ('awareness.news_tokens', 'whole number', 0, null, null, '300', 'Maximum tokens of that news; the rest is only counted; 0: no limit'),
      ('awareness.scope', 'string', null, null, '{project,ledger}', '"project"', 'project: work of its own project, and work without one; ledger: after that, work of all other projects'),
      ('awareness.rank_by', 'string', null, null, '{recency,relevance}', '"recency"', 'relevance: of the newest 200 findings (and errors), those that share the most words with the item''s description'),

      ('budget', 'table', null, null, null, null, 'What each of its items may use, together with everything below it'),
      ('budget.tokens', 'whole number', 0, 1000000000000000, null, null, 'Input and output tokens, cached input included'),
      ('budget.money', 'number', 0, 1000000000000000, null, null, 'At the prices of model_price_save()'),
      ('budget.seconds', 'number', 0, 1000000000000000, null, null, 'Seconds during which workers drive the items'),
      ('budget.calls', 'whole number', 0, 1000000000000000, null, null, 'Model calls'),
      ('budget.children', 'whole number', 0, 1000000000000000, null, null, 'Items submitted below it'),

      ('hooks', 'table', null, null, null, null, 'Commands, or functions of the worker''s program (function:NAME), that run before requests, and before and after tool calls'),
      ('hooks.before_model_call', 'command', 1, null, null, null, 'Before each request: prints nothing, or {"say"}, or {"refuse"}, which pauses the item'),
      ('hooks.before_tool', 'command', 1, null, null, null, 'Before each call: prints nothing, or {"input"} or {"refuse"}'),
      ('hooks.after_tool', 'command', 1, null, null, null, 'After each call: prints nothing, or {"content", "is_error"} or {"refuse"}'),
      ('hooks.timeout', 'whole number', 1, null, null, '30', 'Its time limit in seconds'),
      ('hooks.on_failure', 'string', null, null, '{refuse,allow}', '"refuse"', 'Whether the request or call is refused or allowed if its hook fails'),

      ('consolidate', 'table', null, null, null, null, 'A command that runs when the work is done'),
      ('consolidate.command', 'command', 1, null, null, null, 'Its output becomes outcome_data.consolidated'),
      ('consolidate.timeout', 'whole number', 1, null, null, '60', 'Its time limit in seconds'),
      ('consolidate.on_failure', 'string', null, null, '{fail,continue}', '"continue"', 'Whether the attempt fails if the command fails'),

      ('recover', 'table', null, null, null, null, 'Further attempts'),
      ('recover.command', 'command', 1, null, null, null, 'Runs before each attempt but the first, before orient: prints text for the agent, or {"context", "mode"} or {"give_up"}'),
      ('recover.timeout', 'whole number', 1, null, null, '60', 'Its time limit in seconds'),
      ('recover.on_failure', 'string', null, null, '{fail,continue}', '"continue"', 'Whether the attempt fails if the command fails'),
      ('recover.max_attempts', 'whole number', 1, null, null, '3', 'Attempts in total'),
      ('recover.backoff', 'string', null, null, '{exponential,constant}', '"exponential"', 'The wait before them: 5, 10, 20 … seconds, or always 5 seconds'),
      ('recover.mode', 'string', null, null, '{resume,fresh}', '"resume"', 'Whether they continue with the ledger of earlier attempts, or without it')
    ) as k(path, type, least, most, choices, default_value, says);
$$;

comment on function _faculty_keys() is
  'Every key of a faculty. path: such as engage.model. type: string, word or whole number (one of choices, or a number), command (a string), size, address (a URL), variable (an environment variable''s name, never what it holds), list of strings, boolean, whole number, number or table. least and most: limits of a number, or of the length of a string (least 1: not blank); most null: 2147483647 for a number. choices: the only strings allowed, of a word or whole number besides numbers. default_value null: no default. says: documentation.';

create or replace function _faculty_takes(p_type text, p_least numeric, p_most numeric, p_choices text[])
  returns text
  language sql
  immutable
  parallel safe
  return case
    when p_type = 'word or whole number' then format('%s or a whole number from %s', array_to_string(p_choices, ', '), p_least)
    when p_choices is not null then regexp_replace(array_to_string(p_choices, ', '), ', ([^,]*)$', ' or \1')
    when p_type in ('whole number', 'number') then format('a %s from %s', p_type, p_least) || coalesce(' to ' || p_most, '')
    when p_type = 'boolean' then 'true or false'
    when p_type = 'size' then 'a size like "512m"'
    when p_type = 'address' then 'an http or https address without a password'
    when p_type = 'variable' then 'the name of an environment variable like "GATEWAY_KEY"'
    when p_type = 'table' then 'a table of keys'
    when p_type = 'schema' then 'a JSON Schema'
    else 'a ' || p_type
  end;

comment on function _faculty_takes(text, numeric, numeric, text[]) is 'What a key of a faculty accepts, as text, from its row of _faculty_keys(): "a whole number from 1".';

create or replace function _faculty_complete(p_given jsonb)
  returns jsonb
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select jsonb_object_agg(section.key, section.value)
    from (
      select v.path[1], coalesce(jsonb_object_agg(v.path[2], v.value) filter (where v.path[2] is not null), jsonb_agg(v.value) -> 0)
        from (
          select p.path, case jsonb_typeof(f.value) when 'number' then to_jsonb(trim_scale(f.value::numeric)) else f.value end
            from _faculty_keys() k
            cross join lateral (select string_to_array(k.path, '.')) as p(path)
            cross join lateral (select coalesce(nullif(p_given #> p.path, 'null'), k.default_value, 'null')) as f(value)
           where k.type <> 'table') as v(path, value)
       group by v.path[1]) as section(key, value);
$$;

comment on function _faculty_complete(jsonb) is 'A valid configuration completed to all keys: a key not given, or null, gets its default; null: no default.';

-- In plpgsql, because its plan keeps the constant for the session: building it takes 2 ms.
create or replace function _faculty_defaults()
  returns jsonb
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
begin
  return _faculty_complete('{}');
end
$$;

comment on function _faculty_defaults() is 'A faculty configuration with every key and its default; null: no default.';
