import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Empty, Id, IdParam, Meta, nameText, paging, QueryTeam, QueryText, Timestamp } from "../fields.ts";

/** The lists that views are of. */
export const viewPages = [
  "hosts",
  "labels",
  "software",
  "software_versions",
  "os_versions",
  "vulnerabilities",
  "policies",
  "queries",
  "profiles",
  "scripts",
  "commands",
  "certificates",
  "activity",
  "approvals",
  "tasks",
  "users",
  "teams",
  "tokens",
] as const;

export const sharings = ["me", "team", "everyone"] as const;
export type Sharing = (typeof sharings)[number];

const MAX_PARAMETERS = 50;
const MAX_COLUMNS = 50;
/** Characters of all parameters of a view. */
const MAX_QUERY = 8192;

const Parameters = z
  .record(z.string().min(1).max(64), z.string().max(4096))
  .refine((query) => Object.keys(query).length <= MAX_PARAMETERS, { error: `at most ${MAX_PARAMETERS} parameters` })
  .refine((query) => JSON.stringify(query).length <= MAX_QUERY, { error: `at most ${MAX_QUERY} characters` })
  .meta({ description: "parameters of the list, as texts" });
const Columns = z.array(z.string().min(1).max(100)).max(MAX_COLUMNS).nullable();
const Name = nameText().transform((text) => text.trim().normalize("NFC"));
const Page = z.enum(viewPages).meta({ description: "the list that it is a view of" });
const Shared = z.enum(sharings).meta({ description: "who may read it" });
const Team = Id.nullable().meta({ description: "for shared: team (premium)" });

export const View = z.object({
  id: Id,
  name: z.string(),
  page: Page,
  query: z.record(z.string(), z.string()),
  columns: z.array(z.string()).nullable().meta({ description: "null: the columns that the user has chosen" }),
  shared: Shared,
  team_id: Id.nullable(),
  created_by: z.object({ id: Id, name: z.string() }).nullable().meta({ description: "null: a user who was deleted" }),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type View = z.infer<typeof View>;

export const CreateView = z.object({
  name: Name,
  page: Page,
  query: Parameters.default({}),
  columns: Columns.default(null),
  shared: Shared.default("me"),
  team_id: Team.optional(),
});
export type CreateView = z.output<typeof CreateView>;

export const ModifyView = z.object({
  name: Name.optional(),
  query: Parameters.optional(),
  columns: Columns.optional(),
  shared: Shared.optional(),
  team_id: Team.optional(),
});
export type ModifyView = z.output<typeof ModifyView>;

const params = z.object({ id: IdParam });
const viewReply = z.object({ view: View });

/** The service checks who may read and write a view. */
export const viewsApi = {
  list: endpoint({
    method: "GET",
    path: "/views",
    summary: "List your saved views of lists, and those that are shared with you.",
    access: "user",
    query: paging("id", "name", "created_at", "updated_at").extend({
      of: z.enum(viewPages).optional().meta({ description: "only views of this list" }),
      shared: Shared.optional().meta({ description: "only views that are shared so" }),
      team_id: QueryTeam.optional().meta({ premium: true, description: "without views of other teams (premium)" }),
      query: QueryText.optional().meta({ description: "searches the name" }),
    }),
    response: z.object({ views: z.array(View), meta: Meta }),
  }),
  get: endpoint({
    method: "GET",
    path: "/views/:id",
    summary: "Get a saved view of a list.",
    access: "user",
    params,
    response: viewReply,
  }),
  create: endpoint({
    method: "POST",
    path: "/views",
    summary: "Save a view of a list, for yourself, a team or everyone.",
    access: "user",
    body: CreateView,
    response: viewReply,
  }),
  modify: endpoint({
    method: "PATCH",
    path: "/views/:id",
    summary: "Change a saved view of a list.",
    access: "user",
    params,
    body: ModifyView,
    response: viewReply,
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/views/:id",
    summary: "Delete a saved view of a list.",
    access: "user",
    params,
    response: Empty,
  }),
};
