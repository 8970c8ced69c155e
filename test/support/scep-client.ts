// Two SCEP clients that others wrote: `scepclient` of Debian's package `scep`, and the newest one in Go.
import { execFile, execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { haveScepServer } from "./scep-server.ts";
import { skipWithout } from "./tools.ts";

const run = promisify(execFile);
const GO_CLIENT = "github.com/micromdm/scep/v2/cmd/scepclient@latest";

/** Kept between runs, because building it takes a while. */
const folder = join(tmpdir(), "svc-test-go");
const built = join(folder, "scepclient");

function haveGoClient(): boolean {
  if (existsSync(built)) return true;
  try {
    execFileSync("go", ["install", GO_CLIENT], {
      stdio: "ignore",
      timeout: 300_000,
      env: { ...process.env, GOBIN: folder },
    });
  } catch {}
  return !skipWithout(existsSync(built) ? [] : ["scepclient in Go"], `go install ${GO_CLIENT}`);
}

/** The paths of the clients that are available; they are installed where that is allowed. */
export const scepClients = (): readonly { readonly name: string; readonly path: string }[] => [
  ...(haveScepServer() ? [{ name: "Debian's scepclient", path: "scepclient" }] : []),
  ...(haveGoClient() ? [{ name: "scepclient in Go", path: built }] : []),
];

/** Enrolls with new files in the folder. Throws with the client's output if it gets no certificate. */
export async function scepEnroll(path: string, dir: string, url: string, args: readonly string[]): Promise<string> {
  const files = ["-private-key", join(dir, "client.key"), "-certificate", join(dir, "client.pem")];
  const { stdout, stderr } = await run(path, ["-server-url", url, ...files, "-debug", ...args], {
    cwd: dir,
    timeout: 60_000,
  });
  return stdout + stderr;
}
