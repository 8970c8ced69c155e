import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Id } from "../fields.ts";

export const translatable = ["user", "label", "team", "host"] as const;

const Entry = z.object({
  type: z.enum(translatable),
  payload: z.object({ identifier: z.string(), id: z.union([Id, z.literal(0)]) }),
});

export const translatorApi = {
  translate: endpoint({
    method: "POST",
    path: "/translate",
    summary: "Translate names of users, labels, teams and hosts to ids; an unknown label gets id 0.",
    access: { action: "labels:list", scope: "team" },
    body: z.object({
      list: z
        .array(
          z.object({
            type: z
              .string()
              .max(64)
              .meta({ enum: [...translatable] }),
            payload: z.object({ identifier: z.string().max(1024) }),
          }),
        )
        .max(1000),
    }),
    response: z.object({ list: z.array(Entry) }),
  }),
};
