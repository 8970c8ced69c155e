// Checks selectors of hosts (`where=`) while they are typed.
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Where } from "./host-filters.ts";

const Offset = z.int().min(0).max(4096);

export const completionKinds = ["field", "group", "operator", "value", "keyword", "sign"] as const;

/** What can stand at the cursor: `text` replaces the characters from `from` up to `to`. */
export const SelectorCompletion = z.object({
  text: z.string(),
  from: z.int(),
  to: z.int(),
  kind: z.enum(completionKinds),
  description: z.string(),
});
export type SelectorCompletion = z.infer<typeof SelectorCompletion>;

export const SelectorCheck = z.object({
  valid: z.boolean(),
  error: z.object({ message: z.string(), position: z.int(), length: z.int() }).nullable().meta({
    description: "what is wrong, and where: offsets count UTF-16 units from 0, as in JavaScript",
  }),
  count: z.int().nullable().meta({
    description: "hosts that match and that the caller may list; null: the selector is invalid, or counting takes long",
  }),
  completions: z.array(SelectorCompletion).meta({ description: "the likeliest first" }),
});
export type SelectorCheck = z.infer<typeof SelectorCheck>;

export const selectorsApi = {
  check: endpoint({
    method: "POST",
    path: "/selectors/check",
    summary: "Check a selector: count its hosts, or show the error, and complete it at the cursor.",
    access: { action: "hosts:list", scope: "team" },
    body: z.object({
      where: Where.meta({ description: "the selector; empty: all hosts" }),
      cursor: Offset.optional().meta({ description: "offset in UTF-16 units; default: the end of the text" }),
      team_id: z
        .int()
        .min(0)
        .optional()
        .meta({ description: "count in this team; 0 = no team (premium)", premium: true }),
    }),
    response: SelectorCheck,
  }),
};
