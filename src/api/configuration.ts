// Configuration as code on the wire: all that files can say, as a flat list of things; and changes of it, all or nothing.
import { z } from "zod";
import { endpoint } from "./endpoint.ts";

export const thingKinds = [
  "config",
  "certificate_authority",
  "label",
  "team",
  "agent_options",
  "team_settings",
  "enroll_secrets",
  "policy",
  "query",
] as const;
export type ThingKind = (typeof thingKinds)[number];

/** What hosts without a team are owned by. */
export const NO_TEAM_NAME = "No team";

const Owner = z
  .string()
  .max(255)
  .nullable()
  .meta({ description: "name of the team, 'No team' for hosts without one; null: global" });
const key = {
  kind: z.enum(thingKinds),
  owner: Owner,
  name: z.string().max(1024).meta({ description: "the kind where there is one in its scope" }),
};

/** The order of `hosts` in labels: by text, a number before a text that looks like it. */
export const compareHosts = (a: string | number, b: string | number): number =>
  String(a) < String(b)
    ? -1
    : String(a) > String(b)
      ? 1
      : Number(typeof a === "string") - Number(typeof b === "string");

export const ThingKey = z.object(key);
export type ThingKey = z.infer<typeof ThingKey>;

const Revision = z.string().max(64).nullable().meta({ description: "null: it is not there" });

export const StateThing = z.object({
  ...key,
  /** Secrets are `{"$secret": ref}`: ref of the given secret that equals, or "" for one that is none of them. */
  value: z.json(),
  revision: z.string(),
});
export type StateThing = z.infer<typeof StateThing>;

/** What came as JSON is JSON: no need to walk through megabytes of it for that. */
const Json = z.unknown() as z.ZodType<z.core.util.JSONType>;

export const ThingChange = z.object({
  ...key,
  action: z.enum(["create", "update", "delete"]),
  /** What kind of value it is to be says its kind: it is checked there. A ref of "" stands for the secret that is there. */
  value: Json.optional().meta({ description: "the whole, as it is to be; secrets are {$secret: ref}" }),
});
export type ThingChange = z.infer<typeof ThingChange>;

export const Pin = z.object({ ...key, revision: Revision });
export type Pin = z.infer<typeof Pin>;

export const CHANGES_MAX = 100_000;
export const SECRETS_MAX = 50_000;
const Secrets = z
  .record(z.string().min(1).max(64), z.string().max(1024 * 1024))
  .refine((texts) => Object.keys(texts).length <= SECRETS_MAX, { error: "must not be more than 50,000" })
  .meta({ description: "texts by the refs that stand for them; at most 50,000" });

export const ConfigurationState = z.object({
  things: z.array(StateThing),
  /** What the settings are when nobody says anything: config by section, team_settings of teams and of "No team". */
  defaults: z.object({
    config: z.record(z.string(), z.json()),
    team_settings: z.json(),
    no_team_settings: z.json(),
    agent_options: z.json(),
  }),
  builtin_labels: z.array(z.string()),
  /** Names of all other labels, which policies and queries may name: also for callers who get no things of kind `label`. */
  labels: z.array(z.string()),
  /** Each given host name as labels in this reply name the host; null where there is none. A host name that several hosts have comes once for each. */
  hosts: z.array(z.object({ given: z.union([z.string(), z.int()]), host: z.union([z.string(), z.int()]).nullable() })),
  tier: z.enum(["free", "premium"]),
});
export type ConfigurationState = z.infer<typeof ConfigurationState>;

const access = { action: "configuration:apply", scope: "team" } as const;

export const configurationApi = {
  state: endpoint({
    method: "POST",
    path: "/spec/state",
    summary: "Read all that configuration files can say, as the caller may write it, in one consistent view.",
    stability: "experimental",
    access,
    bodyLimit: 64 * 1024 * 1024,
    body: z.object({
      secrets: Secrets.optional(),
      hosts: z
        .array(z.union([z.string().max(255), z.int().positive()]))
        .max(1_000_000)
        .optional()
        .meta({ description: "hosts as files name them, to be told as labels name them" }),
    }),
    response: ConfigurationState,
  }),
  apply: endpoint({
    method: "POST",
    path: "/spec/apply",
    summary: "Make all of the changes, or none; refused (409) when anything that is pinned has changed.",
    stability: "experimental",
    access,
    bodyLimit: 64 * 1024 * 1024,
    body: z.object({
      changes: z.array(ThingChange).max(CHANGES_MAX),
      secrets: Secrets.optional(),
      pins: z.array(Pin).max(CHANGES_MAX).optional(),
      dry_run: z.boolean().optional(),
      skip_checks: z
        .boolean()
        .optional()
        .meta({ description: "do not ask certificate authorities and trackers whether what is given works" }),
    }),
    response: z.object({
      /** Changes that made a difference. */
      applied: z.object({ create: z.int(), update: z.int(), delete: z.int() }),
      dry_run: z.boolean(),
    }),
  }),
};
