// What depends on a label, and which hosts a label would have.
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Id, IdParam } from "../fields.ts";
import { LabelBody } from "./labels.ts";

export const labelUseKinds = ["policy", "query", "pack", "package", "store_app", "profile", "label", "view"] as const;
export type LabelUseKind = (typeof labelUseKinds)[number];

/** What becomes of the object if the label is deleted. */
export const labelDeletionEffects = ["refused", "stopped", "untargeted", "unmatched"] as const;
export type LabelDeletionEffect = (typeof labelDeletionEffects)[number];

export const LabelUse = z.object({
  kind: z.enum(labelUseKinds),
  id: z
    .union([Id, z.string()])
    .meta({ description: "of a profile its UUID; of a package and a store app the id of the software title" }),
  name: z.string(),
  team_id: z
    .int()
    .min(0)
    .nullable()
    .meta({ description: "the team of the object; 0 = hosts without a team, null = all teams" }),
  team_name: z.string().nullable(),
  as: z
    .enum(["include_any", "include_all", "exclude_any", "target", "filter", "selector"])
    .meta({ description: "how it names the label: in a list of labels, as a target, or in a selector (where)" }),
  on_delete: z.enum(labelDeletionEffects).meta({
    description:
      "refused: the label cannot be deleted; stopped: goes to no further host; untargeted: loses these hosts; unmatched: no host matches the label any more",
  }),
});
export type LabelUse = z.infer<typeof LabelUse>;

export const LabelUses = z.object({
  uses: z.array(LabelUse).meta({ description: "those that the caller may see, by kind and name" }),
  count: z.int().meta({ description: "number of all uses" }),
  hidden_count: z.int().meta({ description: "number of uses that the caller may not see" }),
});
export type LabelUses = z.infer<typeof LabelUses>;

const HostSample = z.object({
  count: z.int(),
  hosts: z.array(z.object({ id: Id, display_name: z.string() })).meta({ description: "the first ten, by name" }),
});

export const LabelPreview = z.object({
  hosts_count: z.int().nullable().meta({
    description: "hosts that would have the label now, among those that the caller may see; null: only agents know",
  }),
  gained: HostSample.nullable().meta({ description: "hosts that would get the label; null: only agents know" }),
  lost: HostSample.nullable().meta({ description: "hosts that would lose the label; null: only agents know" }),
  asked_hosts_count: z.int().nullable().meta({
    description: "hosts whose agents would run the query; null: the label has no query",
  }),
  unknown_hosts: z
    .object({ count: z.int(), names: z.array(z.string()).meta({ description: "the first ten" }) })
    .meta({ description: "names in hosts and host_ids that match no host" }),
});
export type LabelPreview = z.infer<typeof LabelPreview>;

export const LabelPreviewBody = LabelBody.omit({ name: true, description: true }).extend({
  name: LabelBody.shape.name.nullish().meta({ description: "has no effect" }),
  description: LabelBody.shape.description.meta({ description: "has no effect" }),
  label_id: Id.nullish().meta({
    description: "an existing label, whose hosts are compared; without query, criteria and hosts it keeps them",
  }),
});
export type LabelPreviewBody = z.output<typeof LabelPreviewBody>;

export const labelEffectsApi = {
  uses: endpoint({
    method: "GET",
    path: "/labels/:id/uses",
    summary: "List what names a label: policies, queries, packs, software, profiles, selectors of labels and views.",
    access: { action: "labels:list", scope: "team" },
    params: z.object({ id: IdParam }),
    response: LabelUses,
  }),
  preview: endpoint({
    method: "POST",
    path: "/labels/preview",
    summary: "Count the hosts that a label would have, and those that an existing one would gain and lose.",
    access: { action: "labels:write", scope: "team" },
    body: LabelPreviewBody,
    response: LabelPreview,
  }),
};
