// `npm run bench -- plan [TEAMS] [lowdb|postgres]`: processes of the command line with a server over a socket: plan,
// apply and export of teams with 100 objects each, and a plan where nothing changes.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { startPostgres } from "../test/support/postgres-server.ts";
import { median } from "./support/figures.ts";
import { cleanEnv, startServe } from "./support/serve.ts";

const EACH = 50;

/** A global file, and one file per team with equal numbers of policies and queries. */
function writeFiles(dir: string, teams: number): string[] {
  const files = new Map([
    ["default.yml", "org_settings: {server_settings: {server_url: 'http://127.0.0.1'}}\ncontrols: {}\n"],
  ]);
  for (let team = 0; team < teams; team++) {
    const items = (what: string) =>
      Array.from(
        { length: EACH },
        (_, i) =>
          `  - name: ${what} ${i}\n    description: What ${what} ${i} of team ${team} is for.\n    query: |\n      SELECT 1\n      FROM os_version\n      WHERE version >= '${i}.${team}'\n    platform: linux\n`,
      ).join("");
    const text = `name: Team ${team}\nsettings: {description: Number ${team}}\npolicies:\n${items("Policy")}reports:\n${items("Report")}`;
    files.set(`teams/team-${team}.yml`, text);
  }
  for (const [path, text] of files) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  return [...files.keys()].map((path) => join(dir, path));
}

export async function run(args: readonly string[]): Promise<void> {
  const teams = Number(args[0] ?? 200);
  for (const engine of args[1] === undefined ? ["lowdb", "postgres"] : [args[1]]) {
    const dir = mkdtempSync(join(tmpdir(), "svc-bench-"));
    const database = engine === "postgres" ? await startPostgres({ fsync: true }) : null;
    const server = await startServe({
      dataDir: join(dir, "data"),
      args: ["--dev-license", ...(database ? ["--database-url", database.url()] : [])],
    });
    try {
      const files = writeFiles(dir, teams);
      const signedIn = await server.send("/api/v1/svc/login", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ email: server.email, password: server.password }),
      });
      const { token } = (await signedIn.json()) as { token: string };
      const svc = (...words: string[]) => {
        const started = performance.now();
        const { status, stdout, stderr } = spawnSync(process.execPath, ["bin/run.js", ...words], {
          encoding: "utf8",
          maxBuffer: 1024 ** 3,
          env: { ...cleanEnv(), SVC_SERVER_URL: server.url, SVC_API_TOKEN: token, HOME: dir, SVC_KEYRING: "off" },
        });
        if (status !== 0) throw new Error(`svc ${words[0]} ended with ${status}: ${stderr.slice(-2000)}`);
        return { seconds: (performance.now() - started) / 1000, stdout };
      };
      const first = svc("plan", "-f", ...files);
      const applied = svc("apply", "-f", ...files, "--yes");
      const plans = Array.from({ length: 3 }, () => svc("plan", "-f", ...files, "--exit-code"));
      const drift = svc("drift", "-f", ...files, "--exit-code");
      const exported = svc("export", "--dir", join(dir, "exported"));
      console.log(
        `${engine.padEnd(9)} ${teams} teams x ${2 * EACH}: plan of all new ${first.seconds.toFixed(1)} s, apply ${applied.seconds.toFixed(1)} s, ` +
          `plan of no change ${median(plans.map(({ seconds }) => seconds)).toFixed(2)} s, drift ${drift.seconds.toFixed(2)} s, export ${exported.seconds.toFixed(2)} s`,
      );
    } finally {
      await server.stop();
      await database?.stop();
      rmSync(dir, { recursive: true, force: true });
    }
  }
}
