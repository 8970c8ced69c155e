// Commands of device management: what is asked of devices in the format of their platform, and what they answer.
import { z } from "zod";
import { MiB } from "../bodies.ts";
import { endpoint } from "../endpoint.ts";
import { Empty, IdParam, Meta, paging, pagingAfter, Timestamp } from "../fields.ts";
import { SelectionHeaders } from "../hosts/selection.ts";

/** Maximum size of one command. */
export const COMMAND_MAX = 2 * MiB;
/** Hosts of one request. */
const HOSTS_MAX = 50_000;
const HOST_NAME_MAX = 255;
/** In base64, beside the uuids of all hosts. */
const RUN_MAX = 8 * MiB;

export const commandStatuses = ["ran", "pending", "failed"] as const;
export type CommandStatus = (typeof commandStatuses)[number];

export const Command = z.object({
  host_uuid: z.string(),
  command_uuid: z.string(),
  status: z.string().meta({ description: "what the device has answered; Pending before it answers" }),
  command_status: z.enum(commandStatuses),
  updated_at: Timestamp,
  request_type: z.string(),
  name: z.string().nullable().meta({ description: "of the profile, for commands that concern one" }),
  hostname: z.string(),
});
export type Command = z.infer<typeof Command>;

export const CommandResult = Command.extend({
  payload: z.string().meta({ description: "the command as base64" }),
  result: z.string().meta({ description: "the device's answer as base64" }),
  results_metadata: z.record(z.string(), z.json()),
});
export type CommandResult = z.infer<typeof CommandResult>;

const commandUuid = z.string().min(1).max(255);
const hostIdentifier = z.string().min(1).max(HOST_NAME_MAX).optional();

const LISTED_MAX = { page: 100, per_page: 1000 } as const;
const listed = pagingAfter("updated_at", "command_uuid", "host_uuid", "hostname", "request_type", "status").shape;
const per_page = listed.per_page
  .refine((rows) => rows === undefined || rows <= LISTED_MAX.per_page, { error: "per_page is larger than 1000" })
  .meta({ type: "integer", minimum: 1, maximum: LISTED_MAX.per_page, description: "rows per page (10)" });
const page = listed.page
  .refine((number) => number === undefined || number <= LISTED_MAX.page, { error: "page is larger than 100" })
  .meta({ type: "integer", minimum: 0, maximum: LISTED_MAX.page, description: "zero-based page" });

const read = { action: "commands:read", scope: "team" } as const;

export const commandsApi = {
  run: endpoint({
    method: "POST",
    path: "/mdm/commands/run",
    aliases: ["/commands/run"],
    summary: "Send a command of device management to hosts of one platform.",
    access: { action: "commands:run", scope: "team" },
    headers: SelectionHeaders,
    bodyLimit: RUN_MAX,
    body: z.object({
      command: z.string().min(1).meta({
        description:
          "base64, padded or not. For Apple devices a property list with Command.RequestType, for Windows devices SyncML, for Android devices JSON with a type",
      }),
      host_uuids: z.array(z.string().max(HOST_NAME_MAX)).min(1).max(HOSTS_MAX),
    }),
    response: z.object({ command_uuid: z.string(), request_type: z.string() }),
  }),
  results: endpoint({
    method: "GET",
    path: "/mdm/commandresults",
    aliases: ["/commands/results", "/mdm/vendora/commandresults"],
    summary: "Show a command and the answers of the hosts that have answered.",
    access: read,
    query: z.object({
      command_uuid: commandUuid,
      host_identifier: hostIdentifier.meta({ description: "hostname, uuid or serial number" }),
      page: paging("id").shape.page,
      per_page: per_page.meta({
        type: "integer",
        minimum: 1,
        maximum: LISTED_MAX.per_page,
        description: "rows per page (1000)",
      }),
    }),
    response: z.object({
      results: z.array(CommandResult).optional().meta({ description: "absent before any host has answered" }),
      meta: Meta.optional(),
    }),
  }),
  list: endpoint({
    method: "GET",
    path: "/mdm/commands",
    aliases: ["/commands", "/mdm/vendora/commands"],
    summary: "List commands of device management and their status, the last changed first.",
    access: read,
    query: z.object({
      ...listed,
      page,
      per_page,
      host_identifier: hostIdentifier.meta({ description: "hostname, uuid or serial number" }),
      command_uuid: commandUuid.optional(),
      request_type: z.string().max(255).optional(),
      command_status: z.string().max(255).optional().meta({
        description: "ran, pending or failed, or several joined by commas; needs host_identifier or command_uuid",
      }),
    }),
    response: z.object({
      meta: Meta,
      count: z.int().nullable().meta({ description: "of all pages; only with command_status=pending" }),
      results: z.array(Command),
    }),
  }),
  cancel: endpoint({
    method: "DELETE",
    path: "/hosts/:id/commands/:command_uuid",
    summary: "Cancel a lock, a wipe, a passcode removal or lost mode that the device has not received yet.",
    tier: "premium",
    access: { action: "hosts:cancel_activity", scope: "team" },
    params: z.object({ id: IdParam, command_uuid: commandUuid }),
    status: 204,
    response: Empty,
  }),
};
