import { isRecord } from "../../../text/record.ts";

/** What restricts a server that is healthy otherwise: the warnings in the reply of `/healthz`. */
export function healthWarnings(text: string): string[] {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return [];
  }
  if (!isRecord(body) || !isRecord(body.warnings)) return [];
  return Object.entries(body.warnings).map(([part, reason]) => `${part}: ${String(reason)}`);
}
