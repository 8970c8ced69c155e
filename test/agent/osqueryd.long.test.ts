// How the agent runs osqueryd. A script takes its place.
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { AgentOptions } from "../../src/agent/options.ts";
import { type EngineIdentity, Osqueryd } from "../../src/agent/osqueryd.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-osqueryd-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Each start of the program adds the flags that it gets to a file. */
async function start(rest: string, identity: EngineIdentity = { identifier: "UUID-1", isSeparate: false }) {
  const program = join(folder, "osqueryd");
  const starts = join(folder, "starts");
  await writeFile(program, `#!/bin/sh\ncat "\${1#--flagfile=}" >> ${starts}\necho end >> ${starts}\n${rest}\n`);
  await chmod(program, 0o755);
  const lines: string[] = [];
  const stop = new AbortController();
  const options: AgentOptions = {
    serverUrl: "https://svc.example.com",
    enrollSecret: "secret",
    stateDir: join(folder, "state"),
    version: "1",
    pins: [],
    runsScripts: true,
    secondProgram: [process.execPath],
    osqueryd: program,
    hardware: {},
    scale: 0.001,
    log: (level, message) => void lines.push(`${level}: ${message}`),
  };
  const osqueryd = new Osqueryd(program, options, identity);
  const ended = osqueryd.run(stop.signal);
  const flagsOfStarts = async () =>
    (await readFile(starts, "utf8").catch(() => ""))
      .split("end\n")
      .slice(0, -1)
      .map((one) => one.trim().split("\n"));
  return { osqueryd, stop, ended, lines, flagsOfStarts };
}

it("starts it with the recommended flags, and ends it with the agent", async () => {
  const { stop, ended, flagsOfStarts, lines } = await start("exec sleep 300");
  await expect
    .poll(flagsOfStarts)
    .toEqual([
      expect.arrayContaining([
        "--tls_hostname=svc.example.com:443",
        `--enroll_secret_path=${folder}/state/osquery/secret`,
        "--host_identifier=uuid",
        "--force=true",
      ]),
    ]);
  expect(await readFile(join(folder, "state/osquery/secret"), "utf8")).toBe("secret");
  stop.abort();
  await ended;
  expect(lines).toEqual([expect.stringContaining("osqueryd runs")]);
});

it("starts it again when it ends, and waits in between", async () => {
  const { stop, ended, flagsOfStarts, lines } = await start("exit 3");
  await expect.poll(async () => (await flagsOfStarts()).length).toBeGreaterThanOrEqual(3);
  stop.abort();
  await ended;
  expect(lines.filter((line) => line.startsWith("warn"))[0]).toMatch(/exit code 3.*started again in \d+ seconds/);
});

it("restarts it for other flags of the server, and not for the same", async () => {
  const { osqueryd, stop, ended, flagsOfStarts } = await start("exec sleep 300");
  await expect.poll(flagsOfStarts).toHaveLength(1);
  osqueryd.use({ verbose: true, "bad name": 1, host_identifier: "instance\n--other=1" });
  await expect.poll(flagsOfStarts).toHaveLength(2);
  const [, flags] = await flagsOfStarts();
  expect(flags).toEqual(expect.arrayContaining(["--verbose=true", "--host_identifier=instance --other=1"]));
  osqueryd.use({ verbose: true, "bad name": 1, host_identifier: "instance\n--other=1" });
  stop.abort();
  await ended;
  expect(await flagsOfStarts()).toHaveLength(2);
});

it("does not let a copied machine use the database of the original, which has its key", async () => {
  const database = join(folder, "state/osquery/osquery.db");
  const first = await start("exec sleep 300");
  await expect.poll(first.flagsOfStarts).toHaveLength(1);
  first.stop.abort();
  await first.ended;
  await mkdir(database);
  const again = await start("exec sleep 300");
  await expect.poll(again.flagsOfStarts).toHaveLength(2);
  again.stop.abort();
  await again.ended;
  expect(existsSync(database)).toBe(true);

  const copy = await start("exec sleep 300", { identifier: "OWN", isSeparate: true });
  await expect.poll(copy.flagsOfStarts).toHaveLength(3);
  copy.stop.abort();
  await copy.ended;
  expect(existsSync(database)).toBe(false);
  const [, , flags] = await copy.flagsOfStarts();
  expect(flags).toEqual(expect.arrayContaining(["--host_identifier=specified", "--specified_identifier=OWN"]));
  expect(flags).not.toContain("--host_identifier=uuid");
});
