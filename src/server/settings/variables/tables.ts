import { type VariableUse, variableDefaultUses } from "../../../api/settings/variables.ts";
import { id, json, ref, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly customVariables: typeof customVariables;
    readonly customHostVitals: typeof customHostVitals;
    readonly hostVitalValues: typeof hostVitalValues;
  }
}

/** Secrets that users store once and name in texts. */
export const customVariables = table("custom_variables", {
  id: id(),
  /** Without the prefix `SVC_SECRET_`. */
  name: text().unique(),
  value: text().secret(),
  /** The value before the last change: outputs of what was sent then are still to be masked. */
  previous: text().nullable().secret(),
  /** The teams whose objects and hosts may use it; 0: those without a team. Null: all. */
  team_ids: json<readonly number[]>().nullable(),
  uses: json<readonly VariableUse[]>().default(variableDefaultUses),
  created_at: time(),
  updated_at: time(),
});

/** Facts about hosts that users define. */
export const customHostVitals = table("custom_host_vitals", {
  id: id(),
  name: text().search(),
  /** Names with the same key are equal. */
  name_key: text().unique(),
  created_at: time(),
  updated_at: time(),
});

export const hostVitalValues = table(
  "host_vital_values",
  { id: id(), host_id: ref("hosts"), vital_id: ref("custom_host_vitals"), value: text() },
  { unique: [["host_id", "vital_id"]] },
);
