import { readFileSync } from "node:fs";

const manifest = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")) as {
  version: string;
};

/** What GET /version tells of this build. `go_version` is a field of the spec; here it names the runtime. */
export const version = {
  version: manifest.version,
  branch: "main",
  revision: "",
  go_version: `node ${process.version}`,
  build_date: "",
  build_user: "",
};
