export type ReplyVerdict =
  | { ok: true; json: Record<string, unknown> | null }
  | { ok: false; nodeInvalid: boolean; reason: string; undefinedAnswer?: true };

/**
 * How a stock agent interprets a reply. The status is ignored. An empty body is a success, and so is any JSON object
 * without the key `error` and without a true `node_invalid`. `json` is null for an empty body.
 */
export function judge(body: string): ReplyVerdict {
  if (body === "") return { ok: true, json: null };
  const json = parse(body);
  if (json === undefined) return { ok: false, nodeInvalid: false, reason: "not JSON" };
  if (json === null || typeof json !== "object" || Array.isArray(json)) {
    return { ok: false, nodeInvalid: false, reason: "not an object", undefinedAnswer: true };
  }
  const answer = json as Record<string, unknown>;
  if (answer.node_invalid === true) return { ok: false, nodeInvalid: true, reason: "node key refused" };
  if (Object.hasOwn(answer, "error"))
    return { ok: false, nodeInvalid: false, reason: `error: ${String(answer.error)}` };
  if (Object.hasOwn(answer, "node_invalid") && typeof answer.node_invalid !== "boolean") {
    return { ok: false, nodeInvalid: false, reason: "node_invalid is not a boolean", undefinedAnswer: true };
  }
  return { ok: true, json: answer };
}

/** The node key in the reply to an enrollment. Everything else is ignored, even `error`. */
export function nodeKeyOf(body: string): string | null {
  const json = parse(body);
  if (json === null || typeof json !== "object") return null;
  const key = (json as Record<string, unknown>).node_key;
  return typeof key === "string" && key !== "" ? key : null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
