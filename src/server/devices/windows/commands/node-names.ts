// Names of nodes (LocURI), as rules compare them.
import { invalid } from "../../../platform/core/errors.ts";

/**
 * The name as devices read it: in lower case, without escapes, doubled slashes and spaces around it. 422 for an escape that
 * is broken: devices may read it in another way than this server, so no rule could rely on it.
 */
export function plainNode(node: string, field: string): string {
  try {
    return decodeURIComponent(node)
      .trim()
      .replace(/\/{2,}/g, "/")
      .toLowerCase();
  } catch {
    throw invalid(
      field,
      `the node ${node.slice(0, 300)} has a broken escape: % is followed by two hexadecimal digits of UTF-8`,
    );
  }
}
