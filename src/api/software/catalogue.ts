// The catalogue of maintained apps: apps whose newest installers and scripts somebody keeps up to date.

import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Id, IdParam, Meta, paging, QueryFlag, QueryTeam, QueryText } from "../fields.ts";
import { LabelNames } from "../hosts/label-scope.ts";
import { schemasOf } from "../plain-fields.ts";
import { newPackageFields, packageTextFields } from "./packages.ts";

export const CatalogueApp = z.object({
  id: Id,
  name: z.string(),
  slug: z.string().meta({ description: "its name and platform, such as firefox/darwin" }),
  platform: z.enum(["darwin", "windows"]),
  version: z.string().meta({ description: "the newest one" }),
  software_title_id: Id.nullable().meta({ description: "of the app that the team of team_id offers already" }),
});
export type CatalogueApp = z.infer<typeof CatalogueApp>;

export const CatalogueAppDetails = CatalogueApp.extend({
  filename: z.string(),
  url: z.string(),
  install_script: z.string(),
  uninstall_script: z.string(),
  automatic_install_query: z.string().meta({ description: "passes on hosts that have the app" }),
  categories: z.array(z.string()),
});
export type CatalogueAppDetails = z.infer<typeof CatalogueAppDetails>;

const params = z.object({ id: IdParam });
const { install_script, uninstall_script } = packageTextFields;
const addedFields = {
  ...packageTextFields,
  install_script: install_script.meta({ description: "instead of the catalogue's" }),
  uninstall_script: uninstall_script.meta({ description: "instead of the catalogue's" }),
  ...schemasOf(newPackageFields),
};
const read = { action: "catalogue:read", scope: "team" } as const;

export const catalogueApi = {
  list: endpoint({
    method: "GET",
    path: "/software/svc_maintained_apps",
    summary: "List the catalogue of maintained apps.",
    access: read,
    query: paging("name").extend({
      team_id: QueryTeam.optional(),
      query: QueryText.optional().meta({ description: "searches names" }),
      platform: z.enum(["darwin", "windows"]).optional().meta({ description: "of the apps" }),
      available: QueryFlag.optional().meta({
        description: "only apps that the team does not offer yet; needs team_id",
      }),
    }),
    response: z.object({
      svc_maintained_apps: z.array(CatalogueApp).meta({
        description: "a page counts an app once, whatever the number of its platforms",
      }),
      count: z.int().meta({ description: "counts each platform of an app" }),
      meta: Meta,
    }),
  }),
  get: endpoint({
    method: "GET",
    path: "/software/svc_maintained_apps/:id",
    summary: "Show an app of the catalogue, with the installer and the scripts of its newest version.",
    access: read,
    params,
    query: z.object({ team_id: QueryTeam.optional() }),
    response: z.object({ svc_maintained_app: CatalogueAppDetails }),
  }),
  add: endpoint({
    method: "POST",
    path: "/software/svc_maintained_apps",
    summary: "Offer a maintained app to the hosts of a team. The server downloads its installer first.",
    tier: "premium",
    access: { action: "packages:write", scope: "team" },
    dryRun: "the server would download the installer",
    isSlow: true,
    body: z.object({
      svc_maintained_app_id: Id,
      team_id: z.int().min(0).meta({ description: "0: hosts without a team" }),
      ...z.object(addedFields).partial().shape,
      automatic_install: z
        .boolean()
        .optional()
        .meta({ description: "create a policy that installs the app on hosts without it" }),
      labels_include_all: LabelNames.optional(),
      labels_include_any: LabelNames.optional(),
      labels_exclude_any: LabelNames.optional(),
    }),
    response: z.object({ software_title_id: Id }),
  }),
};
