// Why a host is left out, in words that are the same for every host that is left out for it.
import type { ApiError } from "../../platform/core/errors.ts";

const MAX_LENGTH = 500;

export function reasonFor(error: ApiError, displayName: string): string {
  if (error.status === 404) return "the host was deleted, or is in a team that you do not see";
  const text = error.errors[0]?.reason ?? error.message;
  if (error.status === 403 && text === "forbidden") return "you may not do this to the host";
  return withoutName(text, displayName).slice(0, MAX_LENGTH);
}

function withoutName(text: string, name: string): string {
  if (name === "") return text;
  return text.replaceAll(name, "the host").replaceAll(/\bthe (?:host )?the host\b/g, "the host");
}
