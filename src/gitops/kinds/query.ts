// Queries, which newer files call reports.
import type { Placed } from "../files/collect.ts";
import { anyOf, isOfTeam, namesItem } from "../plan/activities.ts";
import type { Thing } from "../plan/diff.ts";
import { QueryFile } from "../schema/items.ts";
import type { Items, Kind } from "./kind.ts";

const desired = (queries: readonly Placed<QueryFile>[]): Thing[] =>
  queries.map(({ value, owner }) => ({
    kind: "query",
    owner,
    name: value.name,
    value: {
      query: value.query,
      description: value.description,
      interval: value.interval,
      platform: value.platform,
      min_qengine_version: value.min_qengine_version,
      observer_can_run: value.observer_can_run,
      automations_enabled: value.automations_enabled,
      logging: value.logging,
      discard_data: value.discard_data,
      labels_include_any: value.labels_include_any,
    },
  }));

export const query: Kind & { readonly items: Items<QueryFile> } = {
  noun: "query",
  items: {
    list: "queries",
    schema: QueryFile,
    labelFields: ["labels_include_any"],
    defaults: {
      description: "",
      interval: 0,
      platform: "",
      min_qengine_version: "",
      observer_can_run: false,
      automations_enabled: false,
      logging: "snapshot",
      discard_data: false,
      labels_include_any: [],
    },
    desired,
  },
  typesOf: () => [...anyOf("saved_query"), "applied_spec_saved_query"],
  isAbout: (details, type, { name, owner }) =>
    type === "applied_spec_saved_query"
      ? namesItem(details.specs, name, owner)
      : details.query_name === name && isOfTeam(details, owner),
};
