// Licenses that this server has assigned to devices, and gives back.
import { channels } from "../../platform/core/channels.ts";
import { isoAt, minutes, seconds } from "../../platform/core/clock.ts";
import type { Context, Services } from "../../platform/core/context.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, isNull, lte, type Predicate } from "../../platform/store/query.ts";
import { isDoneAlready, LicenseServiceError } from "./license-client.ts";
import type { LicenseRow } from "./tables.ts";
import { clientOf } from "./tokens.ts";

/** After a server that has begun with a step died, another one takes it over. */
export const CLAIM = minutes(2);
const RETRY = minutes(1);

/** When to try again after this error. */
export const laterThan = ({ clock }: Pick<Context, "clock">, { retryAfter }: LicenseServiceError): string =>
  isoAt(clock.now() + Math.max(retryAfter === null ? RETRY : seconds(retryAfter), seconds(1)));

/** In the caller's transaction. */
export async function releaseLicenses(
  { store, clock }: Pick<Context, "store" | "clock">,
  where: Predicate,
): Promise<void> {
  const set = { is_released: true, retry_at: clock.iso() };
  const count = await store.storeAppLicenses.update({ where: and(eq("is_released", false), where), set });
  if (count > 0) await store.notify(channels.storeApps, "");
}

export const licenseOf = (host: number, adamId: string): Predicate => and(eq("host_id", host), eq("adam_id", adamId));

/** Gives back what devices need no more. */
export async function giveBack(services: Services, signal: AbortSignal): Promise<void> {
  const { store, clock } = services;
  // Licenses of hosts that were deleted go back.
  await releaseLicenses(services, isNull("host_id"));
  const due = await store.storeAppLicenses.list({
    where: and(eq("is_released", true), lte("retry_at", clock.iso())),
    limit: 1000,
  });
  for (const row of due) {
    if (signal.aborted) return;
    const isMine = and(eq("id", row.id), eq("is_released", true), eq("retry_at", row.retry_at));
    const set = { retry_at: isoAt(clock.now() + CLAIM) };
    if ((await store.storeAppLicenses.update({ where: isMine, set })) > 0) await giveOneBack(services, row);
  }
}

async function giveOneBack(services: Services, row: LicenseRow): Promise<void> {
  const { store, log } = services;
  const stillReleased = and(eq("id", row.id), eq("is_released", true));
  try {
    const token = await store.vppTokens.get(row.token_id);
    if (token)
      await clientOf(services, token).disassociate({
        adamId: row.adam_id,
        pricingParam: row.pricing_param,
        serial: row.serial,
      });
    await store.storeAppLicenses.delete(stillReleased);
  } catch (error) {
    if (!(error instanceof LicenseServiceError)) throw error;
    if (isDoneAlready(error)) return void (await store.storeAppLicenses.delete(stillReleased));
    log.warn({ license: row.id, problem: error.message }, "a license could not be given back; trying again");
    await store.storeAppLicenses.update({ where: stillReleased, set: { retry_at: laterThan(services, error) } });
  }
}

/** A device is to get the license: it is kept, also if it was about to be given back. In the caller's transaction. */
export async function keepLicense(
  store: ServerTx,
  row: Pick<LicenseRow, "token_id" | "adam_id" | "pricing_param" | "serial" | "host_id" | "retry_at">,
): Promise<void> {
  await store.storeAppLicenses.upsert([{ ...row, is_released: false }], {
    on: ["token_id", "adam_id", "serial"],
    returning: [],
  });
}
