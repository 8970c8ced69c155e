import { readFileSync } from "node:fs";

const readJson = <T>(path: string): T => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8")) as T;

const manifest = readJson<{ version: string }>("../../../../package.json");

/** Written by scripts/build.mjs. The sources themselves, as `bin/dev.js` runs them, have none. */
function build(): { branch: string; revision: string; build_date: string; build_user: string } {
  try {
    return readJson("../../../build-info.json");
  } catch {
    return { branch: "", revision: "", build_date: "", build_user: "" };
  }
}

/**
 * The reply of GET /version. `revision` is the commit, with `-modified` if files differed from it; `build_date` is in
 * UTC; what the build did not know is empty. Clients expect the field `go_version`; here it names the runtime.
 */
export const version = { version: manifest.version, ...build(), go_version: `node ${process.version}` };
