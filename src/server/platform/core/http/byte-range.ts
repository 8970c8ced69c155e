// Evaluates the Range header of a request (RFC 9110, section 14).
import type { Range } from "../../../../api/bodies.ts";

const ONE = /^\s*bytes\s*=\s*(\d*)\s*-\s*(\d*)\s*$/i;

/**
 * Returns `whole` if there is no range, if it is invalid, if there are several (a server may then send everything),
 * or if `If-Range` names another version. Returns `none` if the range contains no existing byte (416).
 */
export function partOf(
  headers: { get(name: string): string | null },
  size: number,
  etag: string | null,
): Range | "whole" | "none" {
  const [, first = "", last = ""] = ONE.exec(headers.get("range") ?? "") ?? [];
  const condition = headers.get("if-range");
  if ((first === "" && last === "") || (condition !== null && condition.trim() !== etag)) return "whole";
  if (first === "") {
    const length = Math.min(Number(last), size);
    return length === 0 ? "none" : { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  const end = last === "" ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== "" && Number(last) < start) return "whole";
  return start >= size ? "none" : { start, end };
}
