// `svc db rotate-key`, killed with kill -9 repeatedly: when it is run again it completes, and nothing is lost.
import { spawn } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { cleanEnv, signIn } from "../../bench/support/serve.ts";
import { root } from "../support/cli.ts";
import { amount, killedEngines } from "../support/engines.ts";
import { freshDatabase } from "../support/postgres.ts";
import { build, newFolder, serve, svc } from "./support/svc.ts";

beforeAll(build);

const SECRETS = Array.from({ length: 50 }, (_, i) => `enroll-secret-${i}-${"x".repeat(24)}`);

/** Returns the exit code, or null if the process was killed before its end. */
function killedAfter(ms: number, args: readonly string[]): Promise<number | null> {
  const child = spawn(process.execPath, [join(root, "bin", "run.js"), ...args], {
    stdio: "ignore",
    env: { ...cleanEnv(), SVC_KEYRING: "off" },
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), ms);
  return new Promise((resolve) => {
    child.once("close", (code) => {
      clearTimeout(timer);
      resolve(code);
    });
  });
}

it.each(killedEngines)(
  "on %s",
  async (engine) => {
    const dataDir = newFolder();
    const database = engine === "postgres" ? await freshDatabase() : null;
    const place = database ? ["--database-url", database.url, "--data-dir", dataDir] : ["--data-dir", dataDir];
    const env: Record<string, string> = database ? { SVC_DATABASE_URL: database.url } : {};
    const server = await serve({ dataDir, env });
    const call = await signIn(server);
    await call("POST", "/spec/enroll_secret", { spec: { secrets: SECRETS.map((secret) => ({ secret })) } });
    const inUse = await svc(["db", "rotate-key", "--generate", "--yes", ...place]);
    expect(inUse.code).toBe(1);
    expect(inUse.stderr).toMatch(/in use|stop all servers/);
    await server.stop();

    const rotate = ["db", "rotate-key", "--generate", "--yes", ...place];
    const began = performance.now();
    expect((await svc(rotate)).code).toBe(0);
    let whole = performance.now() - began;
    let killed = 0;
    // Spread over the duration of a run on this machine, from its start to after its end.
    for (let part = 0.1; part <= 1.1; part += amount(0.2, 0.07)) {
      const from = performance.now();
      if ((await killedAfter(part * whole, rotate)) === null) killed++;
      else whole = Math.min(whole, performance.now() - from);
    }
    expect(killed).toBeGreaterThan(amount(0, 2));
    // The state after a kill while the new key is being written.
    writeFileSync(join(dataDir, "server.key.new.0123456789ab.tmp"), "half a k");
    const last = await svc(rotate);
    expect(last.code, last.stderr).toBe(0);
    expect(readdirSync(dataDir).filter((name) => name.startsWith("server.key"))).toEqual(["server.key"]);

    const again = await serve({ dataDir, env });
    const { spec } = await (await signIn(again))<{ spec: { secrets: { secret: string }[] } }>(
      "GET",
      "/spec/enroll_secret",
    );
    expect(spec.secrets.map(({ secret }) => secret).sort()).toEqual([...SECRETS].sort());
    await again.stop();
    await database?.drop();
  },
  600_000,
);
