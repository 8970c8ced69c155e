// A caller can send the count or digest of the hosts that it has seen: the server then acts on exactly these hosts or
// refuses.
import { z } from "zod";
import { selectionHeaders } from "./selection-digest.ts";

export const SelectionHeaders = z.object({
  [selectionHeaders.count]: z
    .string()
    .regex(/^\d{1,9}$/)
    .optional()
    .meta({ description: "expected number of hosts; 409 if it differs" }),
  [selectionHeaders.digest]: z
    .string()
    .regex(/^[0-9a-fA-F]{64}$/)
    .optional()
    .meta({
      description:
        "digest of the expected hosts: SHA-256 in hex of their decimal ids in ascending order, separated by commas",
    }),
});
