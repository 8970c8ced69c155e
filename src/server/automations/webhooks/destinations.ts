// Webhook destinations: the signing secret and custom headers for each URL.
import type { z } from "zod";
import type { Destination, webhooksApi } from "../../../api/automations/webhooks.ts";
import { isMask, MASK } from "../../../api/fields.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { type Context, type Services, within } from "../../platform/core/context.ts";
import { invalid, invalidFields } from "../../platform/core/errors.ts";
import { type PageQuery, page } from "../../platform/core/http/paging.ts";
import { checkDestination } from "../../platform/core/outbound/fetch.ts";
import { blockedUrl } from "../../platform/core/outbound/fields.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, oneOf } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { newSigningSecret } from "./signing.ts";
import type { webhookDestinations } from "./tables.ts";

type DestinationRow = RowOf<typeof webhookDestinations>;
type Changes = z.output<typeof webhooksApi.modifyDestination.body>;

/** Maximum number of destinations that can be created through the API. */
const MAX_DESTINATIONS = 1_000;

/** The destination's row. On first use it is created with a new secret; concurrent calls create it once. */
export async function destinationOf(
  { store, clock, random }: Pick<Services, "clock" | "random"> & { readonly store: ServerTx },
  url: string,
): Promise<DestinationRow> {
  const existing = await store.webhookDestinations.first({ where: eq("url", url) });
  if (existing) return existing;
  const now = clock.iso();
  const [row] = await store.webhookDestinations.upsert(
    [{ url, created_at: now, updated_at: now, signing_secret: newSigningSecret(random) }],
    { on: ["url"], set: [] },
  );
  return row!;
}

export const headersOf = ({ headers }: Pick<DestinationRow, "headers">): Record<string, string> =>
  headers === null ? {} : (JSON.parse(headers) as Record<string, string>);

export async function listDestinations({ store }: Context, query: PageQuery) {
  const { rows, meta } = await page(store.webhookDestinations, query, { op: "all" });
  return { destinations: await viewed(store, rows), meta };
}

export const modifyDestination = (ctx: Context, change: Changes): Promise<{ destination: Destination }> =>
  ctx.store.tx(
    async (store) => {
      const inside = within(ctx, store);
      const problem = checkDestination(change.url) ?? (await blockedUrl(ctx.settings, change.url));
      if (problem) throw invalid("url", problem);
      const existing = await store.webhookDestinations.first({ where: eq("url", change.url) });
      const headers = change.headers && checkedHeaders(change.headers, existing ? headersOf(existing) : {});
      if (!existing && (await store.webhookDestinations.count()) >= MAX_DESTINATIONS)
        throw invalid("url", `the limit of ${MAX_DESTINATIONS} destinations is reached`);
      const before = existing ?? (await destinationOf(inside, change.url));
      const isNewSecret = !existing || change.rotate_secret === true;
      if (headers || change.rotate_secret) {
        const set = {
          updated_at: ctx.clock.iso(),
          ...(headers ? { headers: JSON.stringify(headers) } : {}),
          ...(change.rotate_secret ? { signing_secret: newSigningSecret(ctx.random) } : {}),
        };
        await store.webhookDestinations.update({ where: eq("id", before.id), set });
        await recordActivity(inside, "edited_webhook_destination", {
          webhook_url: change.url,
          secret_rotated: change.rotate_secret === true,
        });
      }
      const after = (await store.webhookDestinations.get(before.id))!;
      const [view] = await viewed(store, [after]);
      return { destination: isNewSecret ? { ...view!, signing_secret: after.signing_secret } : view! };
    },
    { lock: "webhook destinations" },
  );

const reserved = new Set([
  ...["content-type", "content-length", "content-encoding", "host", "connection", "transfer-encoding", "te"],
  ...["trailer", "upgrade", "expect", "keep-alive", "proxy-connection", "proxy-authorization", "date"],
]);

/** Lowercases header names. A masked value stands for the stored one. */
function checkedHeaders(change: Record<string, string>, storedHeaders: Record<string, string>): Record<string, string> {
  const headers: Record<string, string> = {};
  const errors: { name: string; reason: string }[] = [];
  for (const [key, value] of Object.entries(change)) {
    const name = key.toLowerCase();
    const at = `headers.${key}`;
    if (reserved.has(name) || name.startsWith("webhook-")) errors.push({ name: at, reason: "cannot be set" });
    else if (Object.hasOwn(headers, name)) errors.push({ name: at, reason: "is given twice" });
    else if (isMask(value) && storedHeaders[name] === undefined)
      errors.push({ name: at, reason: "is a mask, but no value is stored: send the value" });
    headers[name] = isMask(value) ? (storedHeaders[name] ?? "") : value;
  }
  if (errors.length > 0) throw invalidFields(errors);
  return headers;
}

async function viewed(store: ServerTx, rows: readonly DestinationRow[]): Promise<Destination[]> {
  const urls = rows.map(({ url }) => url);
  const waiting = await store.outbox.groupCount("destination", and(oneOf("destination", urls), eq("state", "pending")));
  const pending = new Map(waiting.map(({ value, count }) => [value, count]));
  return rows.map((row) => ({
    url: row.url,
    created_at: row.created_at,
    updated_at: row.updated_at,
    signing_secret: MASK,
    headers: Object.fromEntries(Object.keys(headersOf(row)).map((name) => [name, MASK])),
    pending: pending.get(row.url) ?? 0,
  }));
}
