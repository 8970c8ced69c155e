// The last distinct errors of a simulation, for its report.

const MAX_MESSAGES = 8;
const MESSAGE_MAX = 200;

/** The last distinct errors. The same error of many hosts counts as one. */
export class RecentErrors {
  readonly #texts = new Set<string>();

  /** `reason`: words, the body of a reply, or words before a body. */
  add(request: string, reason: string): void {
    const text = `${request}: ${readable(reason).slice(0, MESSAGE_MAX)}`;
    // The last one is at the end.
    this.#texts.delete(text);
    this.#texts.add(text);
    const [oldest] = this.#texts;
    if (this.#texts.size > MAX_MESSAGES && oldest !== undefined) this.#texts.delete(oldest);
  }

  list(): string[] {
    return [...this.#texts];
  }
}

/** The reason inside a JSON body. Bodies contain an id of their own, so that no two of them are equal. */
function readable(reason: string): string {
  const at = reason.indexOf("{");
  if (at === -1) return reason.trim() || "empty reply";
  let body: Wrong;
  try {
    body = JSON.parse(reason.slice(at));
  } catch {
    return reason;
  }
  return `${reason.slice(0, at)}${reasonIn(body) ?? reason.slice(at)}`;
}

/** A body of the server: what is wrong in general (`message`, or `error` for agents), and of which fields. */
interface Wrong {
  readonly message?: unknown;
  readonly error?: unknown;
  readonly errors?: unknown;
}

function reasonIn({ message, error, errors }: Wrong): string | undefined {
  const fieldErrors: unknown[] = Array.isArray(errors) ? errors : [];
  const reasons = fieldErrors.map((fieldError) =>
    typeof fieldError === "object" && fieldError !== null && "reason" in fieldError ? fieldError.reason : null,
  );
  const all = [...new Set([message, error, ...reasons].filter((text) => typeof text === "string" && text !== ""))];
  return all.length === 0 ? undefined : all.join(": ");
}
