// Flags generated from an endpoint's query schema, so that a new filter in the API becomes a flag automatically.
import type { Interfaces } from "@oclif/core";
import * as Flags from "@oclif/core/flags";
import type { z } from "zod";
import type { AnyEndpoint, InputOf } from "../api/endpoint.ts";

type QueryFlagSet = Interfaces.FlagInput;
type Meta = { type?: string; description?: string; enum?: string[]; deprecated?: boolean };

const kebab = (field: string) => field.replaceAll("_", "-");

/** Texts for parameters that have no description in the API. */
const texts: Record<string, string> = {
  order_key: "Order rows by this field.",
  order_direction: "Direction of the order; needs --order-key.",
  after: "Only rows after this value of --order-key.",
  populate_software: "Include the software of each host.",
  populate_users: "Include the local users of each host.",
  populate_labels: "Include the labels of each host.",
  populate_policies: "Include the policies of each host, with their results.",
  device_mapping: "Include the users that each host is assigned to.",
  disable_failing_policies: "Do not count failing policies.",
  disable_issues: "Do not count issues.",
  additional_info_filters: "Include these additional queries, separated by commas.",
  start_created_at: "Only activities after this time: 2026-01-31, 2026-01-31T22:00:00Z, or how long ago: 24h, 7d.",
  end_created_at: "Only activities before this time, in the same formats.",
  exploit: "Only software with a known exploit (premium).",
};

/** Left out: paging has flags of its own, and a team is given by name. */
const apart = new Set(["page", "per_page", "cursor", "with_count", "team_id", "dry_run"]);
/** Boolean filters for which false is a filter too, as opposed to no filter. */
const threeWay = new Set(["connected_to_svc"]);

/** The metadata of the schema and of the schemas inside it; the outermost takes precedence. */
function describe(schema: z.ZodType): Meta & { options?: string[] } {
  const def = schema.def as unknown as { type: string; innerType?: z.ZodType; in?: z.ZodType; entries?: object };
  const inner = def.innerType ?? (def.type === "pipe" ? def.in : undefined);
  const below = inner ? describe(inner) : {};
  const own = (schema.meta() ?? {}) as Meta;
  const options = own.enum ?? (def.type === "enum" ? Object.keys(def.entries ?? {}) : undefined);
  return { ...below, ...own, ...(options === undefined ? {} : { options }) };
}

export function queryFlags(endpoint: AnyEndpoint, skip: readonly string[] = []): QueryFlagSet {
  const flags: QueryFlagSet = {};
  for (const [field, schema] of Object.entries(endpoint.query.shape as Record<string, z.ZodType>)) {
    if (apart.has(field) || skip.includes(field)) continue;
    const { type, description, options, deprecated } = describe(schema);
    if (deprecated) continue;
    const summary =
      texts[field] ?? (description ? sentence(asFlags(description, endpoint)) : sentence(field.replaceAll("_", " ")));
    const group = field.startsWith("order_") || field === "after" ? { helpGroup: "PAGING" } : {};
    flags[kebab(field)] =
      type === "boolean"
        ? Flags.boolean({ summary, ...group, allowNo: threeWay.has(field) })
        : Flags.string({ summary, ...group, ...(options === undefined ? {} : { options }) });
  }
  return flags;
}

const sentence = (text: string) => `${text[0]?.toUpperCase()}${text.slice(1)}.`;

/** Replaces the names of parameters in a description by those of their flags. */
const asFlags = (text: string, { query }: AnyEndpoint) =>
  text.replace(/[a-z]+(?:_[a-z]+)+/g, (word) => (Object.hasOwn(query.shape, word) ? `--${kebab(word)}` : word));

/** The query parameters from the flags. */
export function queryOf<E extends AnyEndpoint>(
  endpoint: E,
  flags: Readonly<Record<string, unknown>>,
  more: Record<string, unknown> = {},
): NonNullable<InputOf<E>["query"]> {
  const query: Record<string, unknown> = { ...more };
  for (const field of Object.keys(endpoint.query.shape)) {
    const value = flags[kebab(field)];
    if (apart.has(field) || value === undefined || (value === false && !threeWay.has(field))) continue;
    query[field] = value;
  }
  return query as NonNullable<InputOf<E>["query"]>;
}
