// Labels, policies and queries as they appear in files. Fields that are left out get their defaults.
import { z } from "zod";
import { type LabelCriteria, labelVitals } from "../../api/labels.ts";
import { policyPlatforms } from "../../api/policies.ts";
import { MAX_INTERVAL, queryLoggings, queryPlatforms, SQL_MAX } from "../../api/queries.ts";
import { notBuilt } from "./not-built.ts";

const name = z
  .string()
  .transform((text) => text.normalize("NFC").trim())
  .pipe(z.string().min(1, { error: "must not be empty" }).max(255))
  .meta({ minLength: 1 });
const text = (max: number) =>
  z
    .string()
    .max(max)
    .nullish()
    .transform((given) => given ?? "");
const flag = z
  .boolean()
  .nullish()
  .transform((given) => given ?? false);
const labelNames = (most: number) =>
  z
    .array(name)
    .max(most)
    .nullish()
    .transform((given) => [...new Set(given ?? [])].sort());
const choice = <const V extends string>(values: readonly V[], otherwise: V) =>
  z
    .enum(values)
    .nullish()
    .transform((given): V => given ?? otherwise);

/** A comma-separated text or a YAML list of platforms, sorted in the order of the table. */
const platforms = (known: readonly string[]) =>
  z
    .union([z.string(), z.array(z.string())], { error: "expected string or array of strings" })
    .nullish()
    .transform((given, context) => {
      const parts = (Array.isArray(given) ? given : (given ?? "").split(","))
        .map((part) => part.trim())
        .filter(Boolean);
      const wrong = parts.find((part) => !known.includes(part));
      if (wrong === undefined) return known.filter((one) => parts.includes(one)).join(",");
      context.issues.push({ code: "custom", input: given, message: `${wrong} is not one of ${known.join(", ")}` });
      return z.NEVER;
    });

const Criteria = z
  .strictObject({
    vital: z
      .enum([...labelVitals, "custom_host_vital"])
      .refine((vital) => vital !== "custom_host_vital", {
        error: "this server does not support custom host vitals yet",
      })
      .nullish(),
    value: z.string().max(255).nullish(),
    where: z.string().max(4096).nullish().meta({ description: "a host selector, instead of vital and value" }),
    custom_host_vital_id: notBuilt("custom host vitals"),
  })
  .transform(({ vital, value, where }, context): LabelCriteria => {
    const text = (value ?? "").trim();
    const expression = (where ?? "").trim();
    if (vital && text !== "" && expression === "") return { vital, value: text };
    if (!vital && text === "" && expression !== "") return { where: expression };
    context.issues.push({ code: "custom", input: value, message: "give vital and value, or where" });
    return z.NEVER;
  });

export const LabelFile = z
  .strictObject({
    name,
    description: text(10_000),
    platform: text(64).transform((given) => given.trim()),
    label_membership_type: choice(["dynamic", "manual", "host_vitals"], "dynamic"),
    query: text(100_000),
    hosts: z
      .array(z.union([z.string().max(255), z.int().positive()], { error: "expected a host: an id, serial or uuid" }))
      .max(200_000)
      .nullable()
      .optional(),
    criteria: Criteria.nullish().transform((given) => given ?? null),
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
      .refine((sql) => sql.trim() !== "", { error: "must not be empty" })
      .meta({ minLength: 1 }),
    description: text(65_536),
    resolution: text(65_536),
    platform: platforms(policyPlatforms),
    critical: flag,
    type: choice(["dynamic", "patch"], "dynamic").refine((type) => type === "dynamic", {
      error: "this server does not support patch policies yet",
    }),
    labels_include_any: labelNames(100),
    labels_exclude_any: labelNames(100),
    labels_include_all: notBuilt("policies by all of several labels"),
    calendar_events_enabled: flag,
    conditional_access_enabled: flag,
    webhooks_and_tickets_enabled: flag.meta({
      description: "report failing hosts with the webhook or ticket for failing policies",
    }),
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
        message: "give either labels_include_any or labels_exclude_any, not both",
      });
  });
export type PolicyFile = z.output<typeof PolicyFile>;

export const QueryFile = z.strictObject({
  name,
  query: z
    .string()
    .max(SQL_MAX)
    .refine((sql) => sql.trim() !== "", { error: "must not be empty" })
    .meta({ minLength: 1 }),
  description: text(10_000),
  interval: z
    .int()
    .min(0)
    .max(MAX_INTERVAL)
    .nullish()
    .transform((given) => given ?? 0),
  platform: platforms(queryPlatforms),
  min_qengine_version: text(64).transform((given) => given.trim()),
  observer_can_run: flag,
  automations_enabled: flag,
  logging: choice(queryLoggings, "snapshot"),
  discard_data: flag,
  labels_include_any: labelNames(1000),
  labels_include_all: notBuilt("queries by all of several labels"),
});
export type QueryFile = z.output<typeof QueryFile>;
