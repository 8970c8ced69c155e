import { z } from "zod";
import { Id, Timestamp } from "../fields.ts";
import { plainText, schemasOf } from "../plain-fields.ts";

export const labelFields = {
  description: plainText(10_000, { summary: "Purpose of the label." }),
};

/** A label as shown in a host. */
export const Label = z.object({
  id: Id,
  created_at: Timestamp,
  updated_at: Timestamp,
  name: z.string(),
  ...schemasOf(labelFields),
  query: z.string(),
  platform: z.string(),
  label_type: z.enum(["builtin", "regular"]),
  label_membership_type: z.enum(["dynamic", "manual", "host_vitals"]),
});
export type Label = z.infer<typeof Label>;
