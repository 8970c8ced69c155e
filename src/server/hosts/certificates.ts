import type { z } from "zod";
import type { HostCertificate, hostDetailsApi } from "../../api/host-details.ts";
import type { CertificateInventory } from "../agent/inventory/certificates.ts";
import type { Context } from "../core/context.ts";
import { pageOfArray } from "../core/paging.ts";
import { compareText } from "../store/rows.ts";
import { hostFor } from "./access.ts";

type Query = z.output<typeof hostDetailsApi.certificates.query>;
type Order = (a: HostCertificate, b: HostCertificate) => number;

const orders: Record<NonNullable<Query["order_key"]>, Order> = {
  common_name: (a, b) => compareText(a.common_name, b.common_name),
  // One that never ends comes after all that do.
  not_valid_after: (a, b) => compareText(a.not_valid_after ?? "~", b.not_valid_after ?? "~"),
};

export async function certificatesOfHost(ctx: Context, id: number, query: Query) {
  const host = await hostFor(ctx, "hosts:read", id);
  const details = await ctx.store.hostDetails.get(host.id);
  const kept = (details?.certificates ?? []) as readonly CertificateInventory[];
  const order = orders[query.order_key ?? "common_name"];
  const sign = query.order_direction === "desc" ? -1 : 1;
  const sorted = kept.map(onWire).sort((a, b) => sign * (order(a, b) || a.id - b.id));
  const { items: certificates, meta } = pageOfArray(sorted, query);
  return { certificates, meta };
}

const onWire = (told: CertificateInventory, i: number): HostCertificate => ({
  id: i + 1,
  not_valid_after: told.not_valid_after,
  not_valid_before: told.not_valid_before,
  certificate_authority: told.certificate_authority,
  common_name: told.common_name,
  key_algorithm: told.key_algorithm,
  key_strength: told.key_strength,
  key_usage: told.key_usage,
  serial: serialOf(told.serial),
  signing_algorithm: told.signing_algorithm,
  subject: told.subject,
  issuer: told.issuer,
  source: told.scope,
  username: told.username,
});

/** A serial has up to 20 bytes, a JSON number that everybody reads exactly has less than 7. */
function serialOf(hex: string): number | string {
  const number = /^[\da-f]{1,14}$/i.test(hex) ? Number.parseInt(hex, 16) : Number.NaN;
  return Number.isSafeInteger(number) ? number : hex;
}
