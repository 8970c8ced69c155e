import type { ReactElement } from "react";
import type { ScriptBatch } from "../../../../api/delivery/script-batches.ts";
import { Badge } from "../../../parts/badge.tsx";

export const BatchState = ({ status, canceled }: Pick<ScriptBatch, "status" | "canceled">): ReactElement => (
  <Badge tone={canceled ? "quiet" : status === "finished" ? "good" : "note"}>{canceled ? "cancelled" : status}</Badge>
);
