// Commands for agents that run their own loop.

import { Option } from 'commander';
import type { Command } from 'commander';

import type { HookOptions } from '../commands/hook.ts';
import type { McpHttpSettings } from '../commands/mcp.ts';
import type { PluginOptions } from '../commands/plugin.ts';
import type { SessionsOptions } from '../commands/sessions.ts';
import type { Settings } from '../config.ts';
import { anywhere, command, ends, examples, integer, port, projectOption, reads, tokenFile } from './program.ts';

export function clientsCommands(program: Command): void {
  program.commandsGroup('Other agents:');

  examples(
    reads(
      command(program, 'mcp', 'serve the ledger to an MCP client over stdio, or to clients on other machines over HTTP').summary(
        'serve the ledger to MCP clients',
      ),
    )
      .option(
        '--conversation <name>',
        "key of the session to join (default: the client's session id, else this directory); over HTTP each client has its own",
      )
      .addOption(projectOption())
      .option('--work-item <id>', 'act as this work item instead of opening a session')
      .option('--http', 'serve over HTTP, protected by a token')
      .option('--host <address>', 'the address to listen on', '127.0.0.1')
      .option('--port <n>', 'the port to listen on; 0: any free port', port, 7717)
      .option('--allow-host <name...>', 'further host names that clients use, such as that of a reverse proxy')
      .addOption(tokenFile())
      .action(
        ends(async (options: McpHttpSettings & { http?: boolean }) => {
          const commands = await import('../commands/mcp.ts');
          return options.http ? commands.mcpHttp(options) : commands.mcp(options);
        }),
      ),
    'mcp',
    'mcp --http --token-file token --allow-host ledger.example',
  );

  // Called by programs only, so the help does not list it.
  command(program, 'hook <name>', 'called by an interactive client: session-start, user-prompt, post-tool-use, pre-compact, stop', {
    hidden: true,
  })
    .option('--conversation <name>', 'what the session is found by (default: the session_id of the input, else its cwd)')
    .addOption(projectOption())
    .option('--harness <name>', 'whose client calls: claude-code, codex, gemini-cli (default: claude-code)')
    .action(ends(async (name: string, options: HookOptions) => (await import('../commands/hook.ts')).hook(name, options)));

  examples(
    program
      .command('plugin <program>')
      .description("print how to add the ledger's hooks and tools to claude-code, codex or gemini-cli, or add or remove them")
      .option('--install', 'add the hooks to your user settings; other hooks there are kept')
      .addOption(new Option('--uninstall', 'remove them from your user settings').conflicts('install'))
      .exitOverride()
      .action(ends(async (name: string, options: PluginOptions) => (await import('../commands/plugin.ts')).plugin(name, options))),
    'plugin claude-code',
    'plugin codex --install',
    'plugin codex --uninstall',
  );

  examples(
    command(
      program,
      'import <paths...>',
      'import recorded runs of other agents (Claude Code, Codex, Copilot, Cursor, pi, Gemini CLI, mini-swe-agent, SWE-agent, ATIF) from files or directories',
    )
      .summary('import recorded runs of other agents')
      .option('--keep-secrets', 'do not redact what looks like a secret')
      .action(
        ends(async (paths: string[], options: Settings & { keepSecrets?: boolean }) =>
          (await import('../commands/import.ts')).importFiles(paths, options),
        ),
      ),
    'import ~/.claude/projects ~/.codex/sessions',
  );

  examples(
    command(
      program,
      'follow [paths...]',
      'import sessions of other agents as they run, until interrupted: your sessions of Claude Code, Codex, Gemini CLI, Copilot, pi and Cursor, or those in the given files and directories',
    )
      .summary('import sessions of other agents as they run')
      .option('--keep-secrets', 'do not redact what looks like a secret')
      .action(
        ends(async (paths: string[], options: Settings & { keepSecrets?: boolean }) =>
          (await import('../commands/followSessions.ts')).followSessions(paths, options),
        ),
      ),
    'follow',
    'follow ~/.claude/projects --json',
  );

  examples(
    anywhere(
      reads(
        command(
          program,
          'sessions',
          "list the Claude Agent SDK sessions of this directory's project whose transcripts are stored in the ledger, and whether each can be resumed",
        ).summary('list the sessions of other agents that are stored here'),
      ),
    )
      .option('--limit <n>', 'maximum number to list', integer, 20)
      .action(ends(async (options: SessionsOptions) => (await import('../commands/sessions.ts')).sessions(options))),
    'sessions',
    'sessions --all --json | jq -r .[].session_id',
  );
}
