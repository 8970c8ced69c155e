// The license agreement that users see before their device enrolls. There is one for the organization.
import { z } from "zod";
import { Download, file, MiB, multipart } from "../bodies.ts";
import { endpoint } from "../endpoint.ts";
import { Empty, QueryFlag, Timestamp } from "../fields.ts";

export const EULA_MAX = 25 * MiB;

export const Eula = z.object({ name: z.string(), token: z.string(), created_at: Timestamp, sha256: z.string() });
export type Eula = z.infer<typeof Eula>;

const write = { action: "eula:write", scope: "global" } as const;
const params = z.object({ token: z.string().min(1).max(255) });
const query = z.object({ dry_run: QueryFlag.optional() });
const atAll = (rest = "") => [`/mdm/vendora/setup/eula${rest}`, `/mdm/setup/eula${rest}`];

export const eulaApi = {
  upload: endpoint({
    method: "POST",
    path: "/setup_experience/eula",
    aliases: atAll(),
    summary: "Upload the license agreement, a PDF file.",
    tier: "premium",
    access: write,
    query,
    body: multipart({}, { eula: file({ limit: EULA_MAX }) }),
    response: Empty,
  }),
  metadata: endpoint({
    method: "GET",
    path: "/setup_experience/eula/metadata",
    aliases: atAll("/metadata"),
    summary: "Describe the license agreement.",
    tier: "premium",
    access: write,
    response: Eula,
  }),
  download: endpoint({
    method: "GET",
    path: "/setup_experience/eula/:token",
    aliases: atAll("/:token"),
    summary: "Download the license agreement by its token.",
    tier: "premium",
    access: "none",
    params,
    produces: "application/pdf",
    response: Download,
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/setup_experience/eula/:token",
    aliases: atAll("/:token"),
    summary: "Delete the license agreement.",
    tier: "premium",
    access: write,
    params,
    query,
    response: Empty,
  }),
};
