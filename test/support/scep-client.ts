// Two SCEP clients that others wrote: `scepclient` of Debian's package `scep`, and the newest one in Go.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { goProgram } from "./go.ts";
import { haveScepServer } from "./scep-server.ts";

const run = promisify(execFile);
const GO_CLIENT = "github.com/micromdm/scep/v2/cmd/scepclient";

/** The paths of the clients that are available; they are installed where that is allowed. */
export function scepClients(): readonly { readonly name: string; readonly path: string }[] {
  const go = goProgram(GO_CLIENT);
  return [
    ...(haveScepServer() ? [{ name: "Debian's scepclient", path: "scepclient" }] : []),
    ...(go === null ? [] : [{ name: "scepclient in Go", path: go }]),
  ];
}

/** Enrolls with new files in the folder. Throws with the client's output if it gets no certificate. */
export async function scepEnroll(path: string, dir: string, url: string, args: readonly string[]): Promise<string> {
  const files = ["-private-key", join(dir, "client.key"), "-certificate", join(dir, "client.pem")];
  const { stdout, stderr } = await run(path, ["-server-url", url, ...files, "-debug", ...args], {
    cwd: dir,
    timeout: 60_000,
  });
  return stdout + stderr;
}
