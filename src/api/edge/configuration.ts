// The API of configuration as code: everything that configuration files can contain as a flat list of objects, and
// changes that are applied in one transaction.
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { GitopsExceptions } from "../settings/app-config.ts";
import { VariableValue } from "../settings/variables.ts";

const Owner = z
  .string()
  .max(255)
  .nullable()
  .meta({ description: "name of the team, 'No team' for hosts without one; null: global" });
const key = {
  /** Not listed here: an older client leaves objects of kinds that it does not know as they are. */
  kind: z.string().min(1).max(64).meta({ description: "such as label, policy or team_settings" }),
  owner: Owner,
  name: z.string().max(1024).meta({ description: "equals the kind if there is only one per scope" }),
};

/** Sort order of `hosts` in labels: by text; a number sorts before equal text. */
export const compareHosts = (a: string | number, b: string | number): number =>
  String(a) < String(b)
    ? -1
    : String(a) > String(b)
      ? 1
      : Number(typeof a === "string") - Number(typeof b === "string");

export const ThingKey = z.object(key);
export type ThingKey = z.infer<typeof ThingKey>;

const Revision = z.string().max(64).nullable().meta({ description: "null: it does not exist" });

export const Title = z.string().optional().meta({ description: "what people call an object whose name is a digest" });

export const StateThing = z.object({
  ...key,
  title: Title,
  /** Secrets are `{"$secret": ref}`: the ref of the given secret with the same value, or "" if none has it. */
  value: z.json(),
  revision: z.string(),
});
export type StateThing = z.infer<typeof StateThing>;

/** The value was parsed from JSON, so validating megabytes of it again is unnecessary. */
const Json = z.unknown() as z.ZodType<z.core.util.JSONType>;

export const ThingChange = z.object({
  ...key,
  action: z.enum(["create", "update", "delete"]),
  /** Validated by the kind's own code. A secret with ref "" keeps the stored secret. */
  value: Json.optional().meta({ description: "the complete new value; secrets are {$secret: ref}" }),
});
export type ThingChange = z.infer<typeof ThingChange>;

export const Pin = z.object({ ...key, revision: Revision });
export type Pin = z.infer<typeof Pin>;

export const CHANGES_MAX = 100_000;
export const SECRETS_MAX = 50_000;
const Secrets = z
  .record(z.string().min(1).max(64), z.string().max(1024 * 1024))
  .refine((texts) => Object.keys(texts).length <= SECRETS_MAX, { error: "must not be more than 50,000" })
  .meta({ description: "secret texts by ref; at most 50,000" });

/** The maximum length in base64 of one file. */
const FILE_MAX = 3 * 1024 * 1024;
const Files = z
  .record(z.string().regex(/^[0-9a-f]{64}$/), z.string().max(FILE_MAX))
  .meta({ description: "small files that values refer to, such as profiles: base64 by SHA-256 digest in hex" });

const DELETED = " (deleted)";
const LABEL_MAX = 255;

/**
 * How the state names a label that was deleted while an object named it. An object that names it in the state can keep
 * it; no other object can get it.
 */
export const deletedLabel = (name: string): string =>
  `${name.slice(0, LABEL_MAX - DELETED.length).replace(/[\ud800-\udbff]$/, "")}${DELETED}`;

/** Whether this may be the name of a deleted label; a label may have such a name too. */
export const maybeDeletedLabel = (name: string): boolean => name.endsWith(DELETED);

export const ConfigurationState = z.object({
  things: z.array(StateThing),
  /** The default settings: config by section, and team_settings for teams and for "No team". */
  defaults: z.object({
    config: z.record(z.string(), z.json()),
    team_settings: z.json(),
    no_team_settings: z.json(),
    agent_options: z.json(),
  }),
  builtin_labels: z.array(z.string()),
  /**
   * Names of all other labels, which policies and queries may refer to. Also returned to callers who may not see
   * objects of kind `label`.
   */
  labels: z.array(z.string()),
  /**
   * For each given host name, the name that labels in this reply use, or null if no host has it. A name shared by
   * several hosts is listed once for each; an apply refuses such a name.
   */
  hosts: z.array(z.object({ given: z.union([z.string(), z.int()]), host: z.union([z.string(), z.int()]).nullable() })),
  custom_host_vitals: z.array(z.int()).optional().meta({ description: "their ids, which criteria of labels may name" }),
  files: Files.optional().meta({ description: "only if they were requested" }),
  downloads: z.record(z.string(), z.string()).optional().meta({
    description: "only with files: by SHA-256 digest, the tokens with which larger files of values can be downloaded",
  }),
  team_hosts: z
    .array(
      z.object({
        team: z.string(),
        count: z.int(),
        hosts: z.array(z.string()).meta({ description: "some of them by name, if the caller may list them" }),
      }),
    )
    .optional()
    .meta({ description: "only if it was requested: the hosts of teams that have some" }),
  gitops_exceptions: GitopsExceptions.optional().meta({
    description: "what people change by hand: objects of these that files do not name stay as they are",
  }),
  tier: z.enum(["free", "premium"]),
});
export type ConfigurationState = z.infer<typeof ConfigurationState>;

export const configurationApi = {
  state: endpoint({
    method: "POST",
    path: "/spec/state",
    summary:
      "Read everything that configuration files can contain and the caller may write, from one consistent snapshot.",
    stability: "experimental",
    access: { action: "configuration:plan", scope: "team" },
    bodyLimit: 64 * 1024 * 1024,
    body: z.object({
      secrets: Secrets.optional(),
      hosts: z
        .array(z.union([z.string().max(255), z.int().positive()]))
        .max(1_000_000)
        .optional()
        .meta({ description: "host names as in files, to be resolved to the names that labels use" }),
      hosts_of_teams_except: z
        .array(z.string().max(255))
        .max(CHANGES_MAX)
        .optional()
        .meta({ description: "names of teams: the reply counts the hosts of all others" }),
      files: z
        .boolean()
        .optional()
        .meta({ description: "true: with the files that values refer to; not for the role plan" }),
    }),
    response: ConfigurationState,
  }),
  apply: endpoint({
    method: "POST",
    path: "/spec/apply",
    summary: "Apply all changes in one transaction; refused (409) if anything that the request pins has changed.",
    stability: "experimental",
    access: { action: "configuration:apply", scope: "team", dryRunAction: "configuration:plan" },
    bodyLimit: 64 * 1024 * 1024,
    body: z.object({
      changes: z.array(ThingChange).max(CHANGES_MAX),
      secrets: Secrets.optional(),
      /** A value whose file is not here keeps the stored content. */
      files: Files.optional(),
      variables: z
        .record(z.string(), VariableValue)
        .optional()
        .meta({ description: "values of the custom variables that files name, by name: created or changed first" }),
      pins: z.array(Pin).max(CHANGES_MAX).optional(),
      dry_run: z.boolean().optional(),
      skip_checks: z
        .boolean()
        .optional()
        .meta({ description: "do not test settings with certificate authorities and trackers" }),
    }),
    response: z.object({
      /** Changes that had an effect. */
      applied: z.object({ create: z.int(), update: z.int(), delete: z.int() }),
      dry_run: z.boolean(),
    }),
  }),
};
