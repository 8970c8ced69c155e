import type { ScriptResult } from "../../../api/delivery/scripts.ts";

/** Whether the host may still report a result. A script that was cancelled has ended without an exit code. */
export const isScriptPending = ({ exit_code, message }: Pick<ScriptResult, "exit_code" | "message">): boolean =>
  exit_code === null && !message.includes("cancelled");
