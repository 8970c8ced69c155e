// Facts about hosts that users define. Their values on hosts are not in files.
import { z } from "zod";
import type { Current } from "../desired/current.ts";
import type { PlacedItem } from "../files/collect.ts";
import type { Thing } from "../plan/diff.ts";
import { name } from "../schema/fields.ts";
import type { Kind } from "./kind.ts";

const KIND = "custom_host_vital";

const VitalFile = z.strictObject({ name });
type VitalFile = z.output<typeof VitalFile>;

/** To the server, names that differ only in case are the same: a vital keeps its id and the values of hosts. */
function desired(vitals: readonly PlacedItem<VitalFile>[], current: Current): Thing[] {
  const existing = new Map(current.namesOf(KIND).map((name) => [name.toLowerCase(), name]));
  return vitals.map(({ value }) => ({
    kind: KIND,
    owner: null,
    name: existing.get(value.name.toLowerCase()) ?? value.name,
    value: {},
  }));
}

const elsewhere = {
  as: "error",
  message: "custom host vitals are for all hosts: define them in the global file",
} as const;

export const customHostVital: Kind<VitalFile> = {
  noun: "custom host vital",
  items: {
    list: "custom_host_vitals",
    notIn: { team: elsewhere, no_team: elsewhere },
    schema: VitalFile,
    labelFields: [],
    defaults: {},
    desired,
  },
  typesOf: () => [],
  isAbout: () => false,
};
