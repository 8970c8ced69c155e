// Labels.
import { compareHosts } from "../../api/configuration.ts";
import { isRecord } from "../../text/record.ts";
import type { Current } from "../desired/current.ts";
import type { Placed } from "../files/collect.ts";
import type { Problems } from "../files/problems.ts";
import { anyOf } from "../plan/activities.ts";
import type { Json, Thing } from "../plan/diff.ts";
import { LabelFile } from "../schema/items.ts";
import type { Items, Kind } from "./kind.ts";

function desired(labels: readonly Placed<LabelFile>[], current: Current, problems: Problems): Thing[] {
  // A name that several hosts share means all of them.
  const found = new Map<string | number, (string | number)[]>();
  for (const { given, host } of current.state.hosts)
    if (host !== null) found.set(given, [...(found.get(given) ?? []), host]);
  return labels.map(({ value: { name, hosts, ...value }, place }) => {
    const named = (given: readonly (string | number)[]) =>
      given.flatMap((one, i) => {
        const those = found.get(one);
        if (!those) problems.warn(place("hosts", String(i)), `label ${JSON.stringify(name)}: there is no host ${one}`);
        return those ?? [];
      });
    const before = current.value("label", null, name);
    const kept = isRecord(before) ? before.hosts : null;
    const members = hosts === undefined ? (kept ?? []) : [...new Set(named(hosts ?? []))].sort(compareHosts);
    const isManual = value.label_membership_type === "manual";
    const { criteria, ...rest } = value;
    return {
      kind: "label",
      owner: null,
      name,
      value: { ...rest, criteria: criteria as Json, hosts: isManual ? members : null },
    };
  });
}

export const label: Kind & { readonly items: Items<LabelFile> } = {
  noun: "label",
  items: {
    list: "labels",
    schema: LabelFile,
    labelFields: [],
    defaults: {
      description: "",
      platform: "",
      label_membership_type: "dynamic",
      query: "",
      criteria: null,
      hosts: null,
    },
    desired,
  },
  typesOf: () => [...anyOf("label"), "edited_host_labels"],
  isAbout: (details, type, { name, fields }) =>
    type === "edited_host_labels"
      ? fields.some(({ path }) => path === "hosts") &&
        [details.added, details.removed].some((names) => Array.isArray(names) && names.includes(name))
      : details.label_name === name,
};
