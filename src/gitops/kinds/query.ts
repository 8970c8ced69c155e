// Queries, which newer files call reports.
import { z } from "zod";
import { queryFields, queryLoggings, queryPlatforms, SQL_MAX } from "../../api/checks/queries.ts";
import { fallbacksOf, fieldNames, pick } from "../../api/plain-fields.ts";
import type { PlacedItem } from "../files/collect.ts";
import { anyOf, isOfTeam, namesItem } from "../plan/activities.ts";
import type { Thing } from "../plan/diff.ts";
import { choice, labelNames, name, plainFields, platforms, sql, text } from "../schema/fields.ts";
import type { Kind } from "./kind.ts";

const plainNames = fieldNames(queryFields);

export const QueryFile = z
  .strictObject({
    name,
    query: sql(SQL_MAX),
    ...plainFields(queryFields),
    platform: platforms(queryPlatforms),
    min_qengine_version: text(64).transform((input) => input.trim()),
    logging: choice(queryLoggings, "snapshot"),
    labels_include_any: labelNames(1000),
    labels_include_all: labelNames(1000),
  })
  .superRefine((query, context) => {
    if (query.labels_include_any.length > 0 && query.labels_include_all.length > 0)
      context.addIssue({
        code: "custom",
        path: ["labels_include_all"],
        message: "give either labels_include_any or labels_include_all, not both",
      });
  });
export type QueryFile = z.output<typeof QueryFile>;

const desired = (queries: readonly PlacedItem<QueryFile>[]): Thing[] =>
  queries.map(({ value, owner }) => ({
    kind: "query",
    owner,
    name: value.name,
    value: {
      query: value.query,
      ...pick(value, plainNames),
      platform: value.platform,
      min_qengine_version: value.min_qengine_version,
      logging: value.logging,
      labels_include_any: value.labels_include_any,
      labels_include_all: value.labels_include_all,
    },
  }));

export const query: Kind<QueryFile> = {
  noun: "query",
  items: {
    list: "queries",
    newer: "reports",
    inPacks: "content",
    notIn: {
      no_team: {
        as: "error",
        message: "hosts without a team cannot have queries: define them globally or for a team",
      },
    },
    schema: QueryFile,
    sql: ({ query }) => ({ query }),
    labelFields: ["labels_include_any", "labels_include_all"],
    defaults: {
      ...fallbacksOf(queryFields),
      platform: "",
      min_qengine_version: "",
      logging: "snapshot",
      labels_include_any: [],
      labels_include_all: [],
    },
    desired,
  },
  renamed: {
    by: ({ query, platform }) => [query, platform],
    lost: "its report is lost",
    command: "svc queries update",
  },
  typesOf: () => [...anyOf("saved_query"), "applied_spec_saved_query"],
  isAbout: (details, type, { name, owner }) =>
    type === "applied_spec_saved_query"
      ? namesItem(details.specs, name, owner)
      : details.query_name === name && isOfTeam(details, owner),
};
