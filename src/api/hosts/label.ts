import { z } from "zod";
import { Id, Timestamp } from "../fields.ts";

/** A label as shown in a host. */
export const Label = z.object({
  id: Id,
  created_at: Timestamp,
  updated_at: Timestamp,
  name: z.string(),
  description: z.string(),
  query: z.string(),
  platform: z.string(),
  label_type: z.enum(["builtin", "regular"]),
  label_membership_type: z.enum(["dynamic", "manual", "host_vitals"]),
});
export type Label = z.infer<typeof Label>;
