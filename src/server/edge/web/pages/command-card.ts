// The part of the host page that shows its commands of device management.
import type { z } from "zod";
import type { CommandStatus, commandsApi } from "../../../../api/devices/commands.ts";
import type { Context } from "../../../platform/core/context.ts";
import { type Html, html } from "../html.ts";
import { pager, when } from "../parts.ts";

export const COMMANDS_PER_PAGE = 10;
export const COMMAND_PAGE = "command_page";

const looks: Record<CommandStatus, string> = { ran: "good", pending: "note", failed: "bad" };

type ListedCommands = z.output<typeof commandsApi.list.response>;

/** The last changed come first. */
export function commandCard(
  ctx: Context,
  path: string,
  params: URLSearchParams,
  { results, meta }: ListedCommands,
): Html {
  return html`<section class="card" aria-labelledby="commands"><h2 id="commands">Commands</h2>
${
  results.length === 0
    ? html`<p class="quiet">No commands.</p>`
    : html`<table class="loose"><caption class="hidden">Commands of device management for this host</caption><thead><tr><th scope="col">Command</th><th scope="col">Status</th><th scope="col">Changed</th></tr></thead><tbody>
${results.map(
  ({ request_type, name, status, command_status, updated_at }) =>
    html`<tr><th scope="row">${request_type}${name !== null && html` <span class="quiet">${name}</span>`}</th>
<td><span class="badge ${looks[command_status]}">${status}</span></td><td>${when(ctx, updated_at)}</td></tr>`,
)}</tbody></table>`
}
${pager(path, params, meta, "commands", COMMAND_PAGE)}</section>`;
}
