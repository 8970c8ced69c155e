// Lists commands and their results, as far as the caller may see the hosts.

import type { z } from "zod";
import {
  type Command,
  type CommandResult,
  type CommandStatus,
  commandStatuses,
  type commandsApi,
} from "../../../api/devices/commands.ts";
import type { HostRow } from "../../hosts/hosts/access.ts";
import { hostNamed } from "../../hosts/hosts/named.ts";
import { teamsOfHosts } from "../../hosts/hosts/reads.ts";
import { hosts } from "../../hosts/hosts/tables.ts";
import type { Context } from "../../platform/core/context.ts";
import { invalid, notFound } from "../../platform/core/errors.ts";
import { metaOf, page, windowOf } from "../../platform/core/http/paging.ts";
import { byId } from "../../platform/core/maps.ts";
import { may, visible } from "../../platform/core/security/access.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, everything, exists, isNull, not, oneOf, type Predicate } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { requireAnyMdm } from "../gate.ts";
import { platformOfLane } from "./platform.ts";
import type { mdmCommands } from "./tables.ts";

type CommandRow = RowOf<typeof mdmCommands>;

const PER_PAGE = 10;
const RESULTS_PER_PAGE = 1_000;
/** Payloads and answers in one reply. */
const RESULTS_MAX_MIB = 32;
/** Results that are read at once. */
const BATCH_SIZE = 50;

export async function listCommands(ctx: Context, query: z.output<typeof commandsApi.list.query>) {
  const statuses = statusesIn(query);
  const where = and(
    await ofHosts(ctx, query.host_identifier),
    query.command_uuid === undefined ? everything : eq("command_uuid", query.command_uuid),
    query.request_type === undefined ? everything : eq("request_type", query.request_type),
    statuses.length === 0 ? everything : oneOf("command_status", statuses),
  );
  await requireAnyMdm(ctx);
  const window = { ...query, page: query.page ?? 0, per_page: query.per_page ?? PER_PAGE };
  const { rows, meta } = await page(ctx.store.mdmCommands, window, where, {
    defaultOrder: [{ column: "updated_at", direction: "desc" }],
    orderBy: (key, direction) =>
      key === "host_uuid"
        ? { column: "uuid", direction, of: hosts, on: "host_id" }
        : key === "hostname"
          ? { column: "hostname", direction, of: hosts, on: "host_id" }
          : undefined,
  });
  const isWaiting = statuses.length === 1 && statuses[0] === "pending";
  const count = isWaiting ? await ctx.store.mdmCommands.count(where) : null;
  return { meta, count, results: await onWire(ctx.store, rows) };
}

type Filters = Pick<z.output<typeof commandsApi.list.query>, "command_status" | "host_identifier" | "command_uuid">;

function statusesIn({ command_status, host_identifier, command_uuid }: Filters): CommandStatus[] {
  if (command_status === undefined) return [];
  if (host_identifier === undefined && command_uuid === undefined)
    throw invalid("command_status", "command_status needs host_identifier or command_uuid");
  return [...new Set(command_status.split(",").map((text) => text.trim()))].map((text) => {
    const match = commandStatuses.find((status) => status === text);
    if (match === undefined)
      throw invalid("command_status", `must be ${commandStatuses.join(", ")}, or several of them`);
    return match;
  });
}

/** Commands of the host with this name, or of all hosts that the caller may see. */
async function ofHosts(ctx: Context, name: string | undefined): Promise<Predicate> {
  const seen = visible(ctx, "commands:read");
  if (name === undefined) return seen.op === "all" ? everything : exists(hosts, "id", seen, "host_id");
  const host = await hostNamed(ctx, name, seen);
  if (!host) throw notFound("host", name);
  return eq("host_id", host.id);
}

/** The answers to one command. It is unknown to those who see none of its hosts. */
export async function resultsOf(ctx: Context, query: z.output<typeof commandsApi.results.query>) {
  const { store } = ctx;
  const { command_uuid } = query;
  const ofCommand = and(eq("command_uuid", command_uuid), await ofHosts(ctx, query.host_identifier));
  await requireAnyMdm(ctx);
  if ((await store.mdmCommands.first({ where: ofCommand })) === null) throw notFound("command", command_uuid);
  const { offset, limit } = windowOf({ page: query.page ?? 0, per_page: query.per_page ?? RESULTS_PER_PAGE });
  const page = await store.mdmCommands.pick(["id"], {
    where: and(ofCommand, not(isNull("result"))),
    offset,
    limit: limit + 1,
  });
  if (page.length === 0 && offset === 0) return {};
  const ids = page.slice(0, limit).map(({ id }) => id);
  const results: CommandResult[] = [];
  let size = 0;
  for (let at = 0; at < ids.length; at += BATCH_SIZE) {
    for (const result of await read(ctx, ids.slice(at, at + BATCH_SIZE))) {
      size += result.payload.length + result.result.length;
      if (results.length > 0 && size > RESULTS_MAX_MIB * 1024 * 1024)
        throw invalid(
          "per_page",
          `these results are larger than ${RESULTS_MAX_MIB} MiB: ask for fewer with per_page, or for those of one host`,
        );
      results.push(result);
    }
  }
  return { results, meta: metaOf(offset, limit, page.length) };
}

async function read(ctx: Context, ids: readonly number[]): Promise<CommandResult[]> {
  const { store } = ctx;
  const rows = (await store.mdmCommands.getMany(ids)).sort((a, b) => a.id - b.id);
  const operations = byId(
    await store.operations.pick(["id", "lane", "kind", "content_id"], { where: oneOf("id", ids) }),
  );
  const contentIds = new Set([...operations.values()].flatMap(({ content_id }) => content_id ?? []));
  const contents = byId(await store.operationContents.getMany([...contentIds]));
  const commands = await onWire(store, rows);
  const teams = await teamsOfHosts(store, [...new Set(rows.map(({ host_id }) => host_id))]);
  const metadata = await Promise.all(rows.map(({ command_uuid }) => metadataOf(ctx, command_uuid)));
  return rows.flatMap((row, i) => {
    const operation = operations.get(row.id);
    // Deleted at this moment.
    if (!operation) return [];
    const content = operation.content_id === null ? "" : (contents.get(operation.content_id)?.content ?? "");
    const platform = platformOfLane(ctx, operation.lane);
    const isHidden =
      platform.installsProfile({ kind: operation.kind, request_type: row.request_type }) &&
      !may(ctx.user, "profiles:read", teams.get(row.host_id) ?? null);
    const payload = isHidden ? "" : platform.payload({ command_uuid: row.command_uuid, content });
    return {
      ...commands[i]!,
      payload: Buffer.from(payload).toString("base64"),
      result: row.result ?? "",
      results_metadata: metadata[i]!,
    };
  });
}

/** Commands that install apps show whether the app is installed. */
async function metadataOf({ store, settings }: Context, uuid: string): Promise<CommandResult["results_metadata"]> {
  const row = await store.storeAppInstalls.first({ where: eq("command_uuid", uuid) });
  if (!row) return {};
  return {
    software_installed: row.status === "installed",
    vpp_verify_timeout_seconds: Math.round(settings.vpp_verify_timeout / 1000),
  };
}

async function onWire(store: ServerTx, rows: readonly CommandRow[]): Promise<Command[]> {
  const ids = [...new Set(rows.map(({ host_id }) => host_id))];
  const hostsById: ReadonlyMap<number, Pick<HostRow, "uuid" | "hostname">> = byId(
    await store.hosts.pick(["id", "uuid", "hostname"], { where: oneOf("id", ids) }),
  );
  return rows.map(({ host_id, command_uuid, status, command_status, updated_at, request_type, name }) => ({
    host_uuid: hostsById.get(host_id)?.uuid ?? "",
    command_uuid,
    status,
    command_status,
    updated_at,
    request_type,
    name,
    hostname: hostsById.get(host_id)?.hostname ?? "",
  }));
}
