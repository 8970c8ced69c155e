// Flags made from the query that an endpoint takes: one more filter in the API is one more flag here.
import type { Interfaces } from "@oclif/core";
import * as Flags from "@oclif/core/flags";
import type { z } from "zod";
import type { AnyEndpoint, InputOf } from "../api/endpoint.ts";

type QueryFlagSet = Interfaces.FlagInput;
type Meta = { type?: string; description?: string; enum?: string[]; deprecated?: boolean };

const kebab = (field: string) => field.replaceAll("_", "-");

/** Parameters that the API's own description leaves bare. */
const texts: Record<string, string> = {
  order_key: "Order by this field.",
  order_direction: "Direction of the order; needs --order-key.",
  after: "Only what comes after this value of --order-key.",
  populate_software: "Include the software of each host.",
  populate_users: "Include the local users of each host.",
  populate_labels: "Include the labels of each host.",
  populate_policies: "Include the policies of each host, with its answers.",
  device_mapping: "Include the people that each host is mapped to.",
  disable_failing_policies: "Do not count failing policies.",
  disable_issues: "Do not count issues.",
  additional_info_filters: "Include these additional queries, joined by commas.",
  exploit: "Only software with a known exploit (premium).",
};

/** Paging has flags of its own, and a team is given by name. */
const apart = new Set(["page", "per_page", "cursor", "with_count", "team_id", "dry_run"]);
/** Where false is an answer of its own, not the lack of one. */
const threeWay = new Set(["connected_to_svc"]);

/** What the schema and those inside it say of themselves, the outermost first. */
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

/** Where a description names another parameter, here that is another flag. */
const asFlags = (text: string, { query }: AnyEndpoint) =>
  text.replace(/[a-z]+(?:_[a-z]+)+/g, (word) => (Object.hasOwn(query.shape, word) ? `--${kebab(word)}` : word));

/** The query that the flags ask for. */
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
