import { z } from "zod";
import { User } from "../accounts/users.ts";
import { endpoint } from "../endpoint.ts";
import { nameText } from "../fields.ts";

const OrgInfo = z.object({ org_name: nameText().optional(), org_logo_url: z.string().max(2048).optional() });

export const setupApi = {
  run: endpoint({
    method: "POST",
    path: "/setup",
    root: true,
    summary: "Create the first admin; only while no user exists.",
    access: "none",
    body: z.object({
      admin: z.object({
        name: nameText(),
        email: z.string().max(255),
        password: z.string().max(1024),
        password_confirmation: z.string().max(1024).optional(),
        admin: z.boolean().optional(),
      }),
      org_info: OrgInfo.optional(),
      server_url: z.string().max(2048).optional(),
      setup_token: z.string().max(255).optional().meta({
        description: "printed by serve at start; needed from another machine (or header X-Svc-Setup-Token)",
      }),
    }),
    response: z.object({
      admin: User,
      org_info: OrgInfo,
      server_url: z.string(),
      qengine_enroll_secret: z.null(),
      token: z.string(),
    }),
  }),
};
