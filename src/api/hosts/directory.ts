// The cloud directory of the organization, from which people, groups and departments are read.
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Timestamp } from "../fields.ts";

export const DirectoryCredentials = z.object({
  tenant_id: z.string(),
  client_id: z.string(),
  client_secret: z.string().meta({ description: "masked" }),
  credential_invalid: z.boolean().meta({ description: "whether the directory has refused them" }),
  last_synced_at: Timestamp.nullable().meta({ description: "null: never" }),
  last_sync_error: z.string().meta({ description: "why the last synchronization failed; empty if it succeeded" }),
});
export type DirectoryCredentials = z.infer<typeof DirectoryCredentials>;

const id = z.string().max(64);
export const DirectoryCredentialsInput = z.object({
  tenant_id: id.meta({ description: "GUID of the directory" }),
  client_id: id.meta({ description: "GUID of the app that is registered there" }),
  client_secret: z
    .string()
    .max(1024)
    .nullish()
    .meta({ description: "may be omitted while tenant_id and client_id stay the same" }),
});
export type DirectoryCredentialsInput = z.output<typeof DirectoryCredentialsInput>;

const Credentials = z.object({ directory_graph_credentials: z.array(DirectoryCredentials) });

export const directoryApi = {
  credentials: endpoint({
    method: "GET",
    path: "/directory_graph_credentials",
    summary: "Get the credentials for the directory, and the result of the last synchronization.",
    tier: "premium",
    access: { action: "directory:read", scope: "global" },
    response: Credentials,
  }),
  setCredentials: endpoint({
    method: "PUT",
    path: "/directory_graph_credentials",
    summary: "Set the credentials for the directory. An empty list deletes them.",
    tier: "premium",
    access: { action: "directory:write", scope: "global" },
    body: z.object({
      directory_graph_credentials: z
        .array(DirectoryCredentialsInput)
        .max(100)
        .meta({ description: "the whole list, of which the server keeps at most one" }),
      dry_run: z.boolean().nullish().meta({ description: "check the credentials, but do not save them" }),
    }),
    response: Credentials,
  }),
};
