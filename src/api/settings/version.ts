import { z } from "zod";
import { endpoint } from "../endpoint.ts";

export const versionApi = {
  get: endpoint({
    method: "GET",
    path: "/version",
    summary: "Get the server's version.",
    access: "user",
    response: z.object({
      version: z.string(),
      branch: z.string().describe("The branch that was built; empty if the build did not know it."),
      revision: z
        .string()
        .describe(
          "The hash of the commit that was built, with `-modified` if files differed from it; empty if not known.",
        ),
      go_version: z.string().describe("The runtime and its version."),
      build_date: z.string().describe("The time of the build, in UTC; empty when the server runs from its sources."),
      build_user: z.string().describe("The user who built it; empty if not known."),
    }),
  }),
};
