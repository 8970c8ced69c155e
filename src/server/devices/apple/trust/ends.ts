// The ends of Apple's trust material, which somebody must renew.

import { deviceCaUntil } from "../../../certificates/device-ca/ca.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import type { Expiring } from "../../expiry/service.ts";
import { pushCertificateRow } from "./service.ts";

export async function pushCertificateEnd(store: ServerTx): Promise<readonly Expiring[]> {
  const row = await pushCertificateRow(store);
  return row ? [{ name: "push certificate", not_valid_after: row.not_valid_after }] : [];
}

export async function deviceCaEnd(store: ServerTx): Promise<readonly Expiring[]> {
  const end = await deviceCaUntil({ store });
  return end === null ? [] : [{ name: "device CA", not_valid_after: end }];
}
