import { Upload } from "../../api/platform/uploads.ts";
import type { View } from "../output/output.ts";
import { bar, sizeText } from "../output/size.ts";
import { timeColumn } from "../output/time-column.ts";

export const uploadView = (relative: boolean, now: Date, hasUsers = false) =>
  ({
    schema: () => Upload,
    columns: [
      { key: "id" },
      { key: "name" },
      ...(hasUsers ? [{ key: "user_name" as const, header: "user" }] : []),
      { key: "size", text: (size) => sizeText(Number(size)) },
      { key: "received", text: (received, row) => bar(Number(received), (row as Upload).size, 10) },
      timeColumn("expires_at", "expires", relative, now),
    ],
  }) satisfies View;
