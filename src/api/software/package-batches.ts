// Replaces all packages of a team in the background: the server downloads what it does not have.

import { z } from "zod";
import { MiB } from "../bodies.ts";
import { endpoint } from "../endpoint.ts";
import { Id, nameText, QueryFlag } from "../fields.ts";
import { LabelNames } from "../hosts/label-scope.ts";
import { schemasOf } from "../plain-fields.ts";
import { packageFields, packageTextFields } from "./packages.ts";

export const batchStates = ["processing", "completed", "failed"] as const;

export const BatchPackage = z.strictObject({
  slug: nameText().min(1).optional().meta({ description: "of a maintained app, such as firefox/darwin" }),
  version: nameText().optional().meta({
    description:
      "of a maintained app: one that the catalogue has, or ^147 for the newest 147; absent: always the newest",
  }),
  url: z.string().min(1).max(8192).optional().meta({ description: "where the server downloads the file" }),
  hash_sha256: z
    .string()
    .regex(/^[0-9a-fA-F]{64}$/, { error: "must be a SHA-256 digest of 64 hexadecimal digits" })
    .transform((text) => text.toLowerCase())
    .optional()
    .meta({ description: "of the file; without a url, of a package that is stored already" }),
  always_download: z.boolean().optional().meta({ description: "do not ask the server of url whether the file is new" }),
  ...z.object({ ...packageTextFields, ...schemasOf(packageFields) }).partial().shape,
  display_name: nameText().optional(),
  categories: z.array(nameText().min(1)).max(100).optional(),
  install_during_setup: z.boolean().optional(),
  labels_include_all: LabelNames.optional(),
  labels_include_any: LabelNames.optional(),
  labels_exclude_any: LabelNames.optional(),
});
export type BatchPackage = z.output<typeof BatchPackage>;

const list = z.array(BatchPackage).max(500);

export const PackageBatch = z.object({
  status: z.enum(batchStates),
  message: z.string().meta({ description: "why it has failed; otherwise empty" }),
  progress: z.int().meta({ description: "how many of the packages are ready" }),
  total: z.int(),
  packages: z
    .array(
      z.object({
        team_id: Id.nullable(),
        title_id: Id,
        url: z.string(),
        hash_sha256: z.string(),
        svc_maintained_app_id: Id.nullable(),
        svc_maintained_app_slug: z.string(),
        icon_hash_sha256: z.string(),
        icon_filename: z.string(),
      }),
    )
    .nullable()
    .meta({ description: "null unless it is completed" }),
  files: z
    .array(z.object({ name: z.string(), hash_sha256: z.string(), size: z.int() }))
    .nullable()
    .meta({ description: "what was downloaded, in the order of the list; null unless the request was download_only" }),
});
export type PackageBatch = z.infer<typeof PackageBatch>;

const write = { action: "packages:write", scope: "team" } as const;
const query = z.object({
  team_name: z.string().max(255).optional().meta({ description: "absent: hosts without a team" }),
  dry_run: QueryFlag.optional().meta({ description: "download and check everything, but change no package" }),
});
const started = query.extend({
  download_only: QueryFlag.optional().meta({
    description: "only download and read the files: for a day, an apply of configuration files can use them",
  }),
});

export const packageBatchesApi = {
  start: endpoint({
    method: "POST",
    path: "/software/batch",
    summary: "Replace all packages of a team: the server downloads them, and then changes them in one step.",
    tier: "premium",
    access: write,
    query: started,
    bodyLimit: 25 * MiB,
    body: z.strictObject({
      software: z
        .union([z.strictObject({ packages: list }), list])
        .meta({ description: "the packages, or an object with the list `packages`; an empty list removes all" }),
    }),
    status: 202,
    response: z.object({ request_uuid: z.string() }),
    dryRun: "the server would download the packages. Send dry_run=true in the query instead",
  }),
  get: endpoint({
    method: "GET",
    path: "/software/batch/:request_uuid",
    summary: "Get the state of a replacement of packages.",
    tier: "premium",
    access: write,
    params: z.object({ request_uuid: z.string().min(1).max(255) }),
    query,
    response: PackageBatch,
  }),
};
