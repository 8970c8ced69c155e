// Certificates and tokens that somebody must renew: 30 days before the end of each, an activity, a warning in
// `svc doctor` and a metric.

import { recordActivity } from "../../platform/activities/record.ts";
import { days } from "../../platform/core/clock.ts";
import { type Services, serviceContext, within } from "../../platform/core/context.ts";
import { extensionPoint } from "../../platform/core/extensions.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { eq } from "../../platform/store/query.ts";

/** What somebody must renew. */
export type ExpiringSource = (store: ServerTx) => Promise<readonly Expiring[]>;

export const expiringThings = extensionPoint<ExpiringSource>("what expires");

export interface Expiring {
  /** Name of the certificate or token, such as `push certificate`. */
  readonly name: string;
  readonly not_valid_after: string;
}

const WARNING = days(30);

export async function listExpiring({ store, extensions }: Pick<Services, "extensions"> & { store: ServerTx }) {
  const lists = await Promise.all(extensions.of(expiringThings).map((source) => source(store)));
  return lists.flat();
}

export const isSoon = ({ not_valid_after }: Expiring, now: number): boolean =>
  Date.parse(not_valid_after) - now < WARNING;

/** Records an activity for each that ends soon, once. */
export async function announceExpiring(services: Services): Promise<void> {
  const { store, clock } = services;
  for (const expiring of await listExpiring(services)) {
    if (!isSoon(expiring, clock.now())) continue;
    await store.tx(async (tx) => {
      const notified = await tx.expiryNotices.first({ where: eq("name", expiring.name) });
      if (notified?.not_valid_after === expiring.not_valid_after) return;
      await tx.expiryNotices.upsert([{ name: expiring.name, not_valid_after: expiring.not_valid_after }], {
        on: ["name"],
      });
      await recordActivity(within(serviceContext(services), tx), "certificate_expires", { ...expiring });
    });
  }
}
