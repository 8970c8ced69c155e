import { z } from "zod";
import { DRY_RUN } from "./dry-run.ts";

export const DryRunHeaders = z.object({
  [DRY_RUN]: z.enum(["true", "false"]).optional().meta({
    description:
      "true: the request is checked and gets the reply of the real request, but nothing is changed or sent. The reply has the same header. New secrets are masked, and the ids of new objects are not kept.",
  }),
});
