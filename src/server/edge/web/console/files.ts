// The scripts and style sheets of the console. Their names contain digests, so that browsers keep them for ever.
import { part } from "../../../platform/core/running.ts";
import { consoleVersion, readConsoleFile } from "./folder.ts";

/** The path below which they are served. */
export const CONSOLE_ASSETS = "/assets/console";
const ENTRY = "main.tsx";

interface ConsoleFiles {
  /** Paths of the first script, of the scripts that it imports, and of the style sheets. */
  readonly script: string;
  readonly preloads: readonly string[];
  readonly styles: readonly string[];
  /** The files that may be requested. */
  readonly names: ReadonlySet<string>;
}

/** Vite's manifest. */
type Manifest = Readonly<
  Record<string, { readonly file: string; readonly imports?: readonly string[]; readonly css?: readonly string[] }>
>;

class BuiltConsole {
  #files: { readonly version: string; readonly value: ConsoleFiles } | null = null;

  /** Null if the console was not built. A new build is noticed while the server runs. */
  async files(): Promise<ConsoleFiles | null> {
    const version = await consoleVersion();
    if (version === null) return null;
    if (this.#files?.version !== version) {
      const text = await readConsoleFile("manifest.json");
      if (text === null) return null;
      this.#files = { version, value: filesIn(JSON.parse(text.toString("utf8"))) };
    }
    return this.#files.value;
  }
}

export const builtConsole = part("the built console", () => new BuiltConsole());

function filesIn(manifest: Manifest): ConsoleFiles {
  const entry = manifest[ENTRY]!;
  const path = (file: string) => `${CONSOLE_ASSETS}/${file}`;
  const chunks = Object.values(manifest);
  return {
    script: path(entry.file),
    preloads: (entry.imports ?? []).map((name) => path(manifest[name]!.file)),
    styles: (entry.css ?? []).map(path),
    names: new Set(chunks.flatMap(({ file, css = [] }) => [file, ...css])),
  };
}

const types: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};

/** The file in the best encoding that the browser accepts. Null: there is no such file. */
export async function consoleFile(
  { names }: ConsoleFiles,
  name: string,
  accepts: string | null,
): Promise<Response | null> {
  if (!names.has(name)) return null;
  const encodings = (accepts ?? "").split(",").map((encoding) => encoding.trim().split(";")[0]!.toLowerCase());
  for (const { encoding, end } of [
    ...(encodings.includes("br") ? [{ encoding: "br", end: ".br" }] : []),
    ...(encodings.includes("gzip") ? [{ encoding: "gzip", end: ".gz" }] : []),
    { encoding: null, end: "" },
  ]) {
    const bytes = await readConsoleFile(name + end);
    if (bytes !== null) return new Response(bytes, { headers: headersOf(name, encoding) });
  }
  return null;
}

const headersOf = (name: string, encoding: string | null): Record<string, string> => ({
  "content-type": types[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream",
  "cache-control": "public, max-age=31536000, immutable",
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
  vary: "accept-encoding",
  ...(encoding === null ? {} : { "content-encoding": encoding }),
});
