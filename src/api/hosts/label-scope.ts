// The labels of hosts to which a profile, a package or an app goes: as they are shown, and as they are given.
import { z } from "zod";
import { Id, nameText } from "../fields.ts";

export const ScopeLabel = z.object({
  id: Id.optional(),
  name: z.string(),
  broken: z
    .literal(true)
    .optional()
    .meta({ description: "the label was deleted: the profile goes to no further host" }),
});
export type ScopeLabel = z.infer<typeof ScopeLabel>;

export const LabelNames = z.array(nameText()).max(1000);

/** `labels` is an older name of `labels_include_all`. */
export type LabelsInput = {
  [K in "labels" | "labels_include_all" | "labels_include_any" | "labels_exclude_any"]?: string[] | undefined;
};
