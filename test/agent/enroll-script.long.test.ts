// The agent as one file, and the script that installs it: into the file system of an image here, so nothing is started.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generate } from "selfsigned";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleAgent } from "../../scripts/bundle-agent.mjs";
import { root as project } from "../support/cli.ts";
import { InstallStandIn } from "./support/install-server.ts";

let folder: string;
let agent: string;
let template: string;
let url: string;
const served = new Map<string, Buffer>();
const server = createServer((request, reply) => {
  const found = served.get(request.url!);
  reply.writeHead(found === undefined ? 404 : 200).end(found);
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-enroll-"));
  agent = join(folder, "agent.mjs");
  await bundleAgent(project, agent);
  served.set("/enroll/agent.mjs", await readFile(agent));
  template = await readFile(join(project, "src/server/delivery/new-hosts/enroll.sh"), "utf8");
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true, force: true });
});

interface EndedProcess {
  readonly code: number;
  readonly output: string;
}

const start = (file: string, args: readonly string[]): Promise<EndedProcess> =>
  new Promise((resolve) => {
    execFile(file, args, { cwd: folder }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr });
    });
  });

let scripts = 0;
async function enroll(args: readonly string[], sha256?: string, authority = ""): Promise<EndedProcess> {
  const own = createHash("sha256").update(served.get("/enroll/agent.mjs")!).digest("hex");
  const script = join(folder, `enroll-${++scripts}.sh`);
  await writeFile(script, template.replace("@AGENT_SHA256@", sha256 ?? own).replace("@AUTHORITY@", authority));
  return start("sh", [script, ...args]);
}

const newRoot = () => mkdtemp(join(folder, "root-"));
const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );

describe.skipIf(process.platform !== "linux")("the script for new hosts", () => {
  it("installs the agent, with a secret that only root can read and whatever text that is", async () => {
    const root = await newRoot();
    const token = "$(touch pwned) `touch pwned` '\"; touch pwned; -x";
    const pin = "AB".repeat(32);
    const away = await enroll(["--server-url", "http://127.0.0.1:1", "--token", token, "--root", root]);
    expect(away).toMatchObject({ code: 1, output: expect.stringContaining("could not be downloaded") });
    const done = await enroll(["--server-url", url, "--token", token, "--no-scripts", "--root", root]);
    expect(done).toMatchObject({ code: 0 });
    const secret = join(root, "etc/svc-agent/secret");
    expect(await readFile(secret, "utf8")).toBe(`${token}\n`);
    expect((await stat(secret)).mode & 0o777).toBe(0o600);
    const unit = await readFile(join(root, "etc/systemd/system/svc-agent.service"), "utf8");
    expect(unit).toContain(`"/opt/svc-agent/agent.mjs" "run" "--server-url" "${url}"`);
    expect(unit).toContain('"--no-scripts"');
    expect(await readFile(join(root, "opt/svc-agent/agent.mjs"))).toEqual(served.get("/enroll/agent.mjs"));
    expect(await readdir(join(root, "opt/svc-agent"))).toEqual(["agent.mjs"]);
    expect(await exists(join(folder, "pwned"))).toBe(false);
    const refused = await enroll(["--server-url", url, "--token", "t", "--pin", pin, "--root", root]);
    expect(refused).toMatchObject({ code: 2, output: expect.stringContaining("--pin needs a server with https") });
  });

  it("can be run again", async () => {
    const root = await newRoot();
    const args = ["--server-url", url, "--token", "t", "--root", root];
    expect((await enroll(args)).output).toContain("svc-agent.service: created");
    expect((await enroll(args)).output).toContain("svc-agent.service: unchanged");
  });

  it("installs no agent that is not the server's", async () => {
    const root = await newRoot();
    const { code, output } = await enroll(["--server-url", url, "--token", "t", "--root", root], "ab".repeat(32));
    expect([code, output]).toEqual([1, expect.stringContaining(`instead of ${"ab".repeat(32)}`)]);
    expect(await readdir(join(root, "opt/svc-agent"))).toEqual([]);
    expect(await exists(join(root, "etc"))).toBe(false);
  });

  it("asks for signed requests", async () => {
    const root = await newRoot();
    const args = ["--sign-requests", "--server-url", url, "--token", "t", "--root", root];
    expect(await enroll(args)).toMatchObject({ code: 0 });
    const unit = await readFile(join(root, "etc/systemd/system/svc-agent.service"), "utf8");
    expect(unit).toMatch(/^ExecStart=.* "--sign-requests"$/m);
    expect(unit).not.toContain("--ca-file");
  });

  it("trusts a server with a private certificate, which the server has put into the script", async () => {
    const make = () =>
      generate([{ name: "commonName", value: "svc" }], {
        extensions: [
          { name: "basicConstraints", cA: true },
          { name: "subjectAltName", altNames: [{ type: 7, ip: "127.0.0.1" }] },
        ],
      });
    const [made, other] = await Promise.all([make(), make()]);
    const tls = createTlsServer({ key: made.private, cert: made.cert }, (request, reply) =>
      reply.end(served.get(request.url!)),
    );
    await new Promise<void>((resolve) => tls.listen(0, "127.0.0.1", resolve));
    const at = `https://127.0.0.1:${(tls.address() as AddressInfo).port}`;
    try {
      const root = await newRoot();
      const args = ["--server-url", at, "--token", "t", "--root", root];
      for (const authority of ["", other.cert])
        expect(await enroll(args, undefined, authority)).toMatchObject({
          code: 1,
          output: expect.stringContaining("could not be downloaded"),
        });
      expect(await exists(join(root, "etc"))).toBe(false);
      expect(await enroll(args, undefined, made.cert.trim())).toMatchObject({ code: 0 });
      expect((await readFile(join(root, "etc/svc-agent/ca.pem"), "utf8")).trim()).toBe(made.cert.trim());
      const unit = await readFile(join(root, "etc/systemd/system/svc-agent.service"), "utf8");
      expect(unit).toContain('"--ca-file" "/etc/svc-agent/ca.pem"');
      // The file that is named counts.
      const file = join(folder, "given.pem");
      await writeFile(file, made.cert);
      expect(await enroll([...args, "--ca-file", file], undefined, other.cert)).toMatchObject({ code: 0 });
    } finally {
      tls.close();
    }
  });

  it("does nothing if the download of the script was cut", async () => {
    const root = await newRoot();
    const cut = join(folder, "cut.sh");
    await writeFile(cut, template.slice(0, template.lastIndexOf("main ")));
    expect(await start("sh", [cut, "--server-url", url, "--token", "t", "--root", root])).toMatchObject({ code: 0 });
    expect(await readdir(root)).toEqual([]);
  });

  it("names what is missing", async () => {
    const fails = async (...args: string[]) => (await enroll(args)).output;
    expect(await fails()).toContain("--server-url URL is required");
    expect(await fails("--server-url", url)).toContain("--token TOKEN is required");
    expect(await fails("--server-url")).toContain("--server-url needs a value");
    expect(await fails("--server-url", "ftp://x", "--token", "t")).toContain("is not a URL");
    expect(await fails("--other")).toContain("unknown argument: --other");
  });
});

describe("the agent as one file", () => {
  const run = (...args: string[]) => start(process.execPath, [agent, ...args]);

  it("explains itself, and refuses what it does not know", async () => {
    expect(await run("--help")).toMatchObject({ code: 0, output: expect.stringContaining("agent.mjs install") });
    expect(await run("fly")).toMatchObject({ code: 2, output: expect.stringContaining("unknown command: fly") });
    expect(await run("run", "--bad")).toMatchObject({ code: 2, output: expect.stringContaining("--bad") });
    expect(await run("run")).toMatchObject({
      code: 2,
      output: expect.stringContaining("--server-url URL is required"),
    });
    const statusOf = async (state: string) => JSON.parse((await run("status", "--state-dir", state)).output);
    const nothing = { running: false, server_url: null, enrolled_for_scripts: false, own_page: null };
    expect(await statusOf(join(folder, "nothing"))).toMatchObject(nothing);
    const state = await mkdtemp(join(folder, "state-"));
    await writeFile(
      join(state, "agent.json"),
      JSON.stringify({ server_url: "https://svc.example.com", node_key: "k" }),
    );
    await writeFile(join(state, "device-token"), "the-token\n");
    expect(await statusOf(state)).toMatchObject({
      enrolled_for_queries: true,
      enrolled_for_scripts: false,
      own_page: "https://svc.example.com/device/the-token",
    });
  });

  it("needs nothing beside it: it enrolls, answers a query and installs", async () => {
    const standIn = new InstallStandIn();
    const serverUrl = await standIn.start();
    const stateDir = await mkdtemp(join(folder, "state-"));
    const secret = join(folder, "secret");
    await writeFile(secret, "secret\n");
    standIn.offers.set("one", {
      pre_install_condition: "SELECT hostname FROM system_info",
      install_script: 'cat "$INSTALLER_PATH"',
    });
    const flags = ["--server-url", serverUrl, "--enroll-secret-file", secret, "--state-dir", stateDir];
    const child = execFile(process.execPath, [agent, "run", ...flags], { cwd: folder });
    try {
      await expect
        .poll(() => standIn.results)
        .toEqual([
          expect.objectContaining({
            pre_install_condition_output: expect.stringContaining('[{"hostname":"'),
            install_script_exit_code: 0,
            install_script_output: "the package",
          }),
        ]);
    } finally {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      expect(await ended).toBe(0);
      standIn.stop();
    }
  });
});
