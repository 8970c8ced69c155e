import { z } from "zod";
import { endpoint } from "./endpoint.ts";

export const versionApi = {
  get: endpoint({
    method: "GET",
    path: "/version",
    summary: "Get the server's version.",
    access: "user",
    response: z.object({
      version: z.string(),
      branch: z.string(),
      revision: z.string(),
      go_version: z.string(),
      build_date: z.string(),
      build_user: z.string(),
    }),
  }),
};
