// Settings that `svc serve` refuses before it starts anything; test/e2e/serve.test.ts runs the built binary.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { newHome, runCli } from "../support/cli.ts";

describe("an invalid setting ends serve with exit code 2, and the error names it", () => {
  it.each([
    ["an environment variable", [], { SVC_WORKERS: "many" }, "SVC_WORKERS"],
    ["a duration", ["--detail-interval", "soon"], {}, "--detail-interval"],
    ["workers without Postgres", ["--workers", "2"], {}, "workers"],
    ["half of a TLS pair", ["--tls-cert", "x.pem"], {}, "tls_cert"],
    ["a server key of the wrong length", [], { SVC_SERVER_PRIVATE_KEY: "c2hvcnQ=" }, "SVC_SERVER_PRIVATE_KEY"],
    ["a proxy that is no network", ["--trusted-proxies", "everyone"], {}, "trusted_proxies"],
  ] as const)("%s", async (_, args, env, name) => {
    const run = await runCli(["serve", ...args], { env: { SVC_DATA_DIR: await newHome(), ...env } });
    expect([run.exitCode, run.stdout]).toEqual([2, ""]);
    expect(run.stderr).toContain(name);
    expect(run.stderr).not.toMatch(/\n\s+at /);
  });

  it("also in the configuration file", async () => {
    const file = join(await newHome(), "svc.yml");
    await writeFile(file, "port: 8412\nlog:\n  colour: blue\n");
    const run = await runCli(["serve", "--config", file], { env: { SVC_DATA_DIR: await newHome() } });
    expect(run.exitCode).toBe(2);
    expect(run.stderr).toContain("log_colour");
  });

  it("no flag accepts a secret", async () => {
    const run = await runCli(["serve", "--admin-password", "correct-horse-battery-1"]);
    expect(run.exitCode).toBe(2);
    expect(run.stderr).toContain("--admin-password");
  });
});
