import type { LabelCriteria } from "../../../api/hosts/labels.ts";
import { invalid } from "../../platform/core/errors.ts";
import type { ServerTx } from "../../platform/core/tables.ts";

/** The id of the custom host vital that the criteria name; null: none. */
export const customVitalOf = (criteria: LabelCriteria | null): number | null =>
  criteria !== null && "custom_host_vital_id" in criteria ? criteria.custom_host_vital_id : null;

/** 422 if the criteria name a custom host vital that does not exist. In the transaction that stores them. */
export async function checkCustomVital(
  { customHostVitals }: Pick<ServerTx, "customHostVitals">,
  criteria: LabelCriteria | null,
): Promise<void> {
  const id = customVitalOf(criteria);
  if (id !== null && (await customHostVitals.get(id)) === null)
    throw invalid("criteria", `there is no custom host vital with the id ${id}`);
}
