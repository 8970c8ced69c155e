import type { z } from "zod";
import type { HostCertificate, hostDetailsApi } from "../../../api/inventory/host-details.ts";
import { hostFor } from "../../hosts/hosts/access.ts";
import type { CertificateInventory } from "../../hosts/hosts/details.ts";
import type { Context } from "../../platform/core/context.ts";
import { pageOfArray } from "../../platform/core/http/paging.ts";
import { compareText } from "../../platform/store/rows.ts";

type Query = z.output<typeof hostDetailsApi.certificates.query>;
type Order = (a: HostCertificate, b: HostCertificate) => number;

const orders: Record<NonNullable<Query["order_key"]>, Order> = {
  common_name: (a, b) => compareText(a.common_name, b.common_name),
  // Certificates without an expiry date sort after all others.
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

const onWire = (certificate: CertificateInventory, i: number): HostCertificate => ({
  id: i + 1,
  not_valid_after: certificate.not_valid_after,
  not_valid_before: certificate.not_valid_before,
  certificate_authority: certificate.certificate_authority,
  common_name: certificate.common_name,
  key_algorithm: certificate.key_algorithm,
  key_strength: certificate.key_strength,
  key_usage: certificate.key_usage,
  serial: serialOf(certificate.serial),
  signing_algorithm: certificate.signing_algorithm,
  subject: certificate.subject,
  issuer: certificate.issuer,
  source: certificate.scope,
  username: certificate.username,
});

/**
 * A serial number has up to 20 bytes, but a JSON number is exact in every client only below 7 bytes. Longer serial
 * numbers are sent as hex.
 */
function serialOf(hex: string): number | string {
  const number = /^[\da-f]{1,14}$/i.test(hex) ? Number.parseInt(hex, 16) : Number.NaN;
  return Number.isSafeInteger(number) ? number : hex;
}
