// The organization at the vendor. Without one, device management of Android is turned off.

import type { Context } from "../../../platform/core/context.ts";
import { notThere } from "../../../platform/core/errors.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { everything } from "../../../platform/store/query.ts";
import type { RowOf } from "../../../platform/store/table.ts";
import type { androidEnterprises } from "./tables.ts";

/** The policy of devices that have just enrolled. */
export const DEFAULT_POLICY = "default";

type EnterpriseRow = RowOf<typeof androidEnterprises>;

export const enterpriseRow = (store: ServerTx): Promise<EnterpriseRow | null> => store.androidEnterprises.first({});

/** 404 while device management of Android is turned off. */
export async function requireEnterprise({ store }: Pick<Context, "store">): Promise<EnterpriseRow> {
  const row = await enterpriseRow(store);
  if (!row) throw notThere("device management of Android is not turned on");
  return row;
}

export const enterpriseId = ({ name }: Pick<EnterpriseRow, "name">): string => name.replace(/^enterprises\//, "");

/** Deletes the enterprise in the caller's transaction. False: it was deleted already. */
export async function removeEnterprise(tx: ServerTx): Promise<boolean> {
  if ((await tx.androidEnterprises.delete(everything)) === 0) return false;
  await tx.androidSignUps.delete(everything);
  return true;
}
