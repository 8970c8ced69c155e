// How users of hosts see the software that their team offers: in categories, and with icons.
import { z } from "zod";
import { Download, MiB, multipart, optionalFile } from "../bodies.ts";
import { endpoint } from "../endpoint.ts";
import { Empty, Id, IdParam, Meta, nameText, paging, QueryTeam, Timestamp, unchanged } from "../fields.ts";

export const SelfServiceCategory = z.object({
  id: Id,
  team_id: z.int().nonnegative().meta({ description: "0 = no team" }),
  name: z.string(),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type SelfServiceCategory = z.infer<typeof SelfServiceCategory>;

const read = { action: "packages:read", scope: "team" } as const;
const write = { action: "packages:write", scope: "team" } as const;
const writeCategories = { action: "categories:write", scope: "team" } as const;
const params = z.object({ id: IdParam });
const name = nameText().meta({ description: "unique in the team, whatever its case" });
const Reply = z.object({ self_service_category: SelfServiceCategory });
const path = "/software/self_service_categories";

export const CategoryPage = paging("name", "id", "created_at");
export const CategoryList = z.object({ self_service_categories: z.array(SelfServiceCategory), meta: Meta });

export const selfServiceCategoriesApi = {
  list: endpoint({
    method: "GET",
    path,
    summary: "List the categories in which users of a team's hosts find software.",
    tier: "premium",
    access: read,
    query: CategoryPage.extend({ team_id: QueryTeam }),
    response: CategoryList,
  }),
  create: endpoint({
    method: "POST",
    path,
    summary: "Create a category of self-service.",
    tier: "premium",
    access: writeCategories,
    body: z.object({
      team_id: z.int().min(0).optional().meta({ description: "0, or absent: hosts without a team" }),
      name,
    }),
    response: Reply,
  }),
  update: endpoint({
    method: "PATCH",
    path: `${path}/:id`,
    summary: "Rename a category of self-service. Software stays in it.",
    tier: "premium",
    access: writeCategories,
    params,
    body: z.object({ name, team_id: unchanged(z.int().min(0)) }),
    response: Reply,
  }),
  delete: endpoint({
    method: "DELETE",
    path: `${path}/:id`,
    summary: "Delete a category of self-service. Its software is still offered.",
    tier: "premium",
    access: writeCategories,
    params,
    status: 204,
    response: Empty,
  }),
};

/** Sides of an icon, in pixels. */
export const ICON_SIDE = { least: 120, most: 1024 };
export const ICON_MAX = MiB;

const icon = { tier: "premium", path: "/software/titles/:id/icon", params } as const;
const ofTeam = { query: z.object({ team_id: QueryTeam.optional() }) };

export const titleIconsApi = {
  get: endpoint({
    ...icon,
    ...ofTeam,
    method: "GET",
    summary: "Download the icon of a software title; a redirect if only the store has one.",
    access: read,
    produces: "image/png",
    otherStatus: [206, 302],
    response: Download,
  }),
  set: endpoint({
    ...icon,
    method: "PUT",
    summary: "Set the icon that users of a team's hosts see of a software title: a square PNG image.",
    access: write,
    query: z.object({ team_id: QueryTeam.optional().meta({ description: "required; 0 = no team" }) }),
    body: multipart(
      {
        hash_sha256: z.string().max(64).optional().meta({ description: "of an icon that is stored already" }),
        filename: nameText().optional().meta({ description: "with hash_sha256: the name of the icon" }),
      },
      { icon: optionalFile({ limit: ICON_MAX }) },
    ),
    response: z.object({ icon_url: z.string() }),
  }),
  delete: endpoint({
    ...icon,
    ...ofTeam,
    method: "DELETE",
    summary: "Remove the icon of a software title that a team has set.",
    access: write,
    status: 204,
    response: Empty,
  }),
};
