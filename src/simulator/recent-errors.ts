// The last distinct errors of a simulation, for its report.
import { isRecord } from "../text/record.ts";

const MOST = 8;
const LONGEST = 200;

/** The last distinct errors. The same error of many hosts counts as one. */
export class RecentErrors {
  readonly #texts = new Set<string>();

  /** `reason`: words, the body of a reply, or words before a body. */
  add(request: string, reason: string): void {
    const text = `${request}: ${readable(reason).slice(0, LONGEST)}`;
    // The last one is at the end.
    this.#texts.delete(text);
    this.#texts.add(text);
    const [oldest] = this.#texts;
    if (this.#texts.size > MOST && oldest !== undefined) this.#texts.delete(oldest);
  }

  list(): string[] {
    return [...this.#texts];
  }
}

/** The reason inside a JSON body. Bodies contain an id of their own, so that no two of them are equal. */
function readable(reason: string): string {
  const at = reason.indexOf("{");
  if (at === -1) return reason.trim() || "empty reply";
  let body: unknown;
  try {
    body = JSON.parse(reason.slice(at));
  } catch {
    return reason;
  }
  return `${reason.slice(0, at)}${reasonIn(body) ?? reason.slice(at)}`;
}

function reasonIn(body: unknown): string | undefined {
  if (!isRecord(body)) return undefined;
  const errors: unknown[] = Array.isArray(body.errors) ? body.errors : [];
  const reasons = errors.filter(isRecord).flatMap(({ reason }) => (typeof reason === "string" ? reason : []));
  const words = [body.message, body.error].filter((text) => typeof text === "string" && text !== "");
  const all = [...new Set([...words, ...reasons])];
  return all.length === 0 ? undefined : all.join(": ");
}
