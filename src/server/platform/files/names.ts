// How downloaded files are called.
import { fileNameOf } from "../../../api/bodies.ts";

/** The name that the server gives the file, or else the last part of the URL's path. Never a path. */
export function downloadName(url: string, disposition: string | null = null): string {
  const named = disposition === null ? "" : nameIn(disposition);
  return named === "" ? lastPart(new URL(url).pathname) : named;
}

/** The parameter `filename*` (RFC 6266) comes before `filename`. Empty: there is none that can be used. */
function nameIn(disposition: string): string {
  const [, encoded = ""] = /;\s*filename\*\s*=\s*utf-8'[^']*'([^\s;]+)/i.exec(disposition) ?? [];
  const [, quoted, bare = ""] = /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;]+))/i.exec(disposition) ?? [];
  const plain = quoted === undefined ? bare : quoted.replaceAll(/\\(.)/g, "$1");
  return fileNameOf(decoded(encoded) || plain);
}

const lastPart = (path: string): string => fileNameOf(decoded(path));

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
