// Labels, policies and queries as they stand in files. What is left out has its default: files say all there is.
import { z } from "zod";
import { LabelCriteria } from "../api/labels.ts";
import { policyPlatforms } from "../api/policies.ts";
import { MAX_INTERVAL, queryLoggings, queryPlatforms, SQL_MAX } from "../api/queries.ts";

/** A key of something that this server does not have yet: it may stand there empty. */
export const notBuilt = (what: string) =>
  z
    .json()
    .optional()
    .refine(isEmpty, { error: `this server has no ${what} yet` })
    .meta({ description: `no ${what} yet: must be empty` });

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value === "object" && value !== null) return Object.keys(value).length === 0;
  return [undefined, null, false, "", 0].includes(value as undefined);
}

const name = z
  .string()
  .transform((text) => text.normalize("NFC").trim())
  .pipe(z.string().min(1, { error: "must not be empty" }).max(255))
  .meta({ type: "string" });
const text = (max: number) =>
  z
    .string()
    .max(max)
    .nullish()
    .transform((given) => given ?? "")
    .meta({ type: "string" });
const flag = z
  .boolean()
  .nullish()
  .transform((given) => given ?? false)
  .meta({ type: "boolean" });
const labelNames = z
  .array(name)
  .max(1000)
  .nullish()
  .transform((given) => [...new Set(given ?? [])].sort());

/** A comma list (or YAML list) of platforms, in the order of the table. */
const platforms = (known: readonly string[]) =>
  z
    .union([z.string(), z.array(z.string())])
    .nullish()
    .transform((given, context) => {
      const parts = (Array.isArray(given) ? given : (given ?? "").split(","))
        .map((part) => part.trim())
        .filter(Boolean);
      const wrong = parts.find((part) => !known.includes(part));
      if (wrong === undefined) return known.filter((one) => parts.includes(one)).join(",");
      context.issues.push({ code: "custom", input: given, message: `${wrong} is none of ${known.join(", ")}` });
      return z.NEVER;
    })
    .meta({ type: "string" });

export const LabelFile = z
  .strictObject({
    name,
    description: text(10_000),
    platform: text(64),
    label_membership_type: z.enum(["dynamic", "manual", "host_vitals"]).default("dynamic"),
    query: text(100_000),
    hosts: z
      .array(z.union([z.string().max(255), z.int().positive()]))
      .max(200_000)
      .nullable()
      .optional(),
    criteria: LabelCriteria.nullish().transform((given) => given ?? null),
  })
  .superRefine((label, context) => {
    const wrong = (key: string, message: string) => context.addIssue({ code: "custom", path: [key], message });
    const type = label.label_membership_type;
    if (type === "dynamic" && label.query.trim() === "") wrong("query", "a dynamic label needs a query");
    if (type !== "dynamic" && label.query !== "") wrong("query", "only a dynamic label has a query");
    if (type !== "dynamic" && label.platform !== "") wrong("platform", "only a dynamic label has a platform");
    if (type !== "manual" && label.hosts && label.hosts.length > 0) wrong("hosts", "only a manual label has hosts");
    if (type === "host_vitals" && !label.criteria) wrong("criteria", "a host_vitals label needs criteria");
    if (type !== "host_vitals" && label.criteria) wrong("criteria", "only a host_vitals label has criteria");
  });
export type LabelFile = z.output<typeof LabelFile>;

export const PolicyFile = z
  .strictObject({
    name,
    query: z
      .string()
      .max(65_536)
      .refine((sql) => sql.trim() !== "", { error: "must not be empty" }),
    description: text(65_536),
    resolution: text(65_536),
    platform: platforms(policyPlatforms),
    critical: flag,
    type: z
      .enum(["dynamic", "patch"])
      .default("dynamic")
      .refine((type) => type === "dynamic", { error: "this server has no patch policies yet" }),
    labels_include_any: labelNames,
    labels_exclude_any: labelNames,
    labels_include_all: notBuilt("policies by all of several labels"),
    calendar_events_enabled: flag,
    conditional_access_enabled: flag,
    webhooks_and_tickets_enabled: flag.meta({ description: "the failing-policies webhook or ticket tells of it" }),
    continuous_automations_enabled: notBuilt("continuous automations"),
    run_script: notBuilt("saved scripts"),
    install_software: notBuilt("software to install"),
    resend_configuration_profile: notBuilt("configuration profiles"),
    svc_maintained_app_slug: notBuilt("patch policies"),
    patch_when_closed: notBuilt("patch policies"),
    notify_before_patching: notBuilt("patch policies"),
  })
  .superRefine((policy, context) => {
    if (policy.labels_include_any.length > 0 && policy.labels_exclude_any.length > 0)
      context.addIssue({
        code: "custom",
        path: ["labels_exclude_any"],
        message: "either labels_include_any or labels_exclude_any, not both",
      });
  });
export type PolicyFile = z.output<typeof PolicyFile>;

export const QueryFile = z.strictObject({
  name,
  query: z
    .string()
    .max(SQL_MAX)
    .refine((sql) => sql.trim() !== "", { error: "must not be empty" }),
  description: text(10_000),
  interval: z
    .int()
    .min(0)
    .max(MAX_INTERVAL)
    .nullish()
    .transform((given) => given ?? 0),
  platform: platforms(queryPlatforms),
  min_qengine_version: text(64),
  observer_can_run: flag,
  automations_enabled: flag,
  logging: z.enum(queryLoggings).default("snapshot"),
  discard_data: flag,
  labels_include_any: labelNames,
  labels_include_all: notBuilt("queries by all of several labels"),
});
export type QueryFile = z.output<typeof QueryFile>;
