// Agents that have a loop of their own.

import type { Command } from 'commander';

import type { HookOptions } from '../commands/hook.ts';
import type { McpHttpSettings } from '../commands/mcp.ts';
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
        "what the session is found by (default: the client's id of it, else this directory); over HTTP each client has its own",
      )
      .addOption(projectOption())
      .option('--work-item <id>', 'be that work item instead')
      .option('--http', 'over HTTP, with a token')
      .option('--host <address>', 'the address to listen on', '127.0.0.1')
      .option('--port <n>', 'its port; 0: any', port, 7717)
      .option('--allow-host <name...>', 'other names under which clients reach it, such as that of a reverse proxy')
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

  // Which nobody types: it is not in the help.
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
      .description('print how claude-code, codex or gemini-cli get the hooks and tools of the ledger')
      .option('--install', 'add the hooks to the settings of this user, where others stay as they are')
      .exitOverride()
      .action(ends(async (name: string, options: { install?: boolean }) => (await import('../commands/plugin.ts')).plugin(name, options))),
    'plugin claude-code',
    'plugin codex --install',
  );

  examples(
    command(
      program,
      'import <paths...>',
      'store recorded runs of other agents (Claude Code, Codex, Copilot, Cursor, pi, Gemini CLI, mini-swe-agent, SWE-agent, ATIF): files or directories',
    )
      .summary('store recorded runs of other agents')
      .option('--keep-secrets', 'store what looks like a secret as it is')
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
      'have the sessions of other agents in the ledger while they run, until a signal ends it: those of Claude Code, Codex, Gemini CLI, Copilot, pi and Cursor of this user, or in these files and directories',
    )
      .summary('have the sessions of other agents here while they run')
      .option('--keep-secrets', 'store what looks like a secret as it is')
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
          "list the sessions of this directory's project whose transcripts are kept here (Claude Agent SDK): whether each can be resumed",
        ).summary('list the sessions of other agents that are kept here'),
      ),
    )
      .option('--limit <n>', 'at most this many', integer, 20)
      .action(ends(async (options: SessionsOptions) => (await import('../commands/sessions.ts')).sessions(options))),
    'sessions',
    'sessions --all --json | jq -r .[].session_id',
  );
}
