// The agent itself against the built server, over TLS.
import { X509Certificate } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { type BenchServer, type Caller, tokenOf } from "../../bench/support/serve.ts";
import { moduleProgram } from "../../src/agent/isolated/module-program.ts";
import type { AgentOptions } from "../../src/agent/options.ts";
import { runAgent } from "../../src/agent/run.ts";
import { freePort } from "../support/free-port.ts";
import { SECRET, withSecret } from "./support/agents.ts";
import { build, newFolder, serve } from "./support/svc.ts";

beforeAll(build);

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

interface HostOf {
  readonly id: number;
  readonly uuid: string;
  readonly hostname: string;
  readonly os_version: string;
  readonly scripts_enabled: boolean | null;
  readonly status: string;
}

/** An agent in this process, with an identity and a folder of its own. */
async function startAgent(options: Pick<AgentOptions, "serverUrl"> & Partial<AgentOptions>) {
  const stateDir = options.stateDir ?? (await mkdtemp(join(tmpdir(), "svc-agent-")));
  const lines: string[] = [];
  const stop = new AbortController();
  const ended = runAgent(
    {
      enrollSecret: SECRET,
      stateDir,
      version: "1.0.0",
      pins: [],
      secondProgram: moduleProgram(),
      osqueryd: null,
      runsScripts: true,
      hardware: { uuid: "0A0A0A0A-0000-4000-8000-000000000001", serial: "SERIAL-1" },
      scale: 0.02,
      log: (level, message) => lines.push(`${level}: ${message}`),
      ...options,
    },
    stop.signal,
  );
  const end = async () => {
    stop.abort();
    await ended;
  };
  ends.push(async () => {
    await end();
    await rm(stateDir, { recursive: true, force: true });
  });
  return { stateDir, lines, end };
}

async function startServer(): Promise<{ server: BenchServer; ca: string; call: Caller }> {
  const dataDir = newFolder();
  const server = await serve({ dataDir, args: ["--tls-self-signed"] });
  const call = await withSecret(server);
  return { server, ca: await readFile(join(dataDir, "tls", "cert.pem"), "utf8"), call };
}

const hostsOf = async (call: Caller) => (await call<{ hosts: HostOf[] }>("GET", "/hosts")).hosts;

describe("the agent", () => {
  it("enrolls over both protocols as one host, answers queries, and runs scripts", async () => {
    const { server, ca, call } = await startServer();
    const agent = await startAgent({ serverUrl: server.url, ca });
    await expect
      .poll(() => hostsOf(call), { timeout: 30_000 })
      .toEqual([
        expect.objectContaining({
          uuid: "0A0A0A0A-0000-4000-8000-000000000001",
          hardware_serial: "SERIAL-1",
          scripts_enabled: true,
          status: "online",
          agent_version: "1.0.0",
        }),
      ]);
    const [host] = await hostsOf(call);
    expect(await call("POST", `/hosts/${host!.id}/query`, { query: "SELECT uuid FROM system_info" })).toMatchObject({
      rows: [{ uuid: "0A0A0A0A-0000-4000-8000-000000000001" }],
      error: null,
    });
    expect(await call("POST", `/hosts/${host!.id}/query`, { query: "SELECT 1 FROM nowhere" })).toMatchObject({
      error: "no such table: nowhere",
    });
    const script = { host_id: host!.id, script_contents: "#!/bin/sh\necho ran; exit 4\n" };
    expect(await call("POST", "/scripts/run/sync", script)).toMatchObject({ exit_code: 4, output: "ran\n" });
    expect(await readFile(join(agent.stateDir, "device-token"), "utf8")).toMatch(/^[0-9a-f-]{36}\n$/);
    expect(agent.lines.filter((line) => !line.startsWith("info:"))).toEqual([]);
  });

  it("signs its requests with an elliptic key, if that is wanted", async () => {
    const { server, ca, call } = await startServer();
    const agent = await startAgent({ serverUrl: server.url, ca, signsRequests: true, identityKey: "p256" });
    await expect.poll(async () => (await hostsOf(call))[0]?.scripts_enabled, { timeout: 60_000 }).toBe(true);
    // The agent for queries enrolls by itself, and may be earlier.
    const identityFile = join(agent.stateDir, "identity.json");
    await expect.poll(() => existsSync(identityFile)).toBe(true);
    const { certificate } = JSON.parse(await readFile(identityFile, "utf8"));
    const { publicKey } = new X509Certificate(Buffer.from(certificate, "base64"));
    expect(publicKey.asymmetricKeyDetails?.namedCurve).toBe("prime256v1");
    const [host] = await hostsOf(call);
    const script = { host_id: host!.id, script_contents: "#!/bin/sh\necho ran\n" };
    expect(await call("POST", "/scripts/run/sync", script)).toMatchObject({ exit_code: 0, output: "ran\n" });
    const { agent_node_key } = JSON.parse(await readFile(join(agent.stateDir, "agent.json"), "utf8"));
    await expect(call("POST", "/agent/config", { agent_node_key })).rejects.toThrow("401");
  });

  it("signs its requests with an identity, without which the host cannot be reached any more", async () => {
    const { server, ca, call } = await startServer();
    const agent = await startAgent({ serverUrl: server.url, ca, signsRequests: true });
    await expect.poll(async () => (await hostsOf(call))[0]?.scripts_enabled, { timeout: 60_000 }).toBe(true);
    const hasEnrolled = () => agent.lines.some((line) => line.includes("enrolled for scripts"));
    await expect.poll(hasEnrolled, { timeout: 60_000 }).toBe(true);
    const [host] = await hostsOf(call);
    const script = { host_id: host!.id, script_contents: "#!/bin/sh\necho ran\n" };
    expect(await call("POST", "/scripts/run/sync", script)).toMatchObject({ exit_code: 0, output: "ran\n" });
    const kept = JSON.parse(await readFile(join(agent.stateDir, "identity.json"), "utf8"));
    await agent.end();

    // Somebody else knows the enroll secret, or has read the key.
    const { uuid } = host!;
    const enroll = { enroll_secret: SECRET, hardware_uuid: uuid, qengine_identifier: uuid, platform: "ubuntu" };
    await expect(call("POST", "/agent/enroll", enroll)).rejects.toThrow("403");
    const { agent_node_key } = JSON.parse(await readFile(join(agent.stateDir, "agent.json"), "utf8"));
    await expect(call("POST", "/agent/config", { agent_node_key })).rejects.toThrow("401");

    const again = await startAgent({ serverUrl: server.url, ca, signsRequests: true, stateDir: agent.stateDir });
    expect(await call("POST", "/scripts/run/sync", script)).toMatchObject({ exit_code: 0 });
    expect(JSON.parse(await readFile(join(again.stateDir, "identity.json"), "utf8"))).toEqual(kept);
    expect(await hostsOf(call)).toHaveLength(1);
  });

  it("sets up a new machine, also after a restart", async () => {
    const dataDir = newFolder();
    const server = await serve({ dataDir, args: ["--tls-self-signed", "--dev-license"] });
    const call = await withSecret(server);
    const ca = await readFile(join(dataDir, "tls", "cert.pem"), "utf8");
    const [folder, token] = [newFolder(), await tokenOf(server)];
    const upload = async (path: string, field: string, name: string, text: string) => {
      const head = `Content-Disposition: form-data; name="${field}"; filename="${name}"`;
      const reply = await server.send(`/api/v1/svc${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "multipart/form-data; boundary=part" },
        body: `--part\r\n${head}\r\n\r\n${text}\r\n--part--\r\n`,
      });
      expect(reply.status).toBe(200);
      return (await reply.json()) as { software_package: { title_id: number } };
    };
    // The first package waits for a file, so that the agent can be stopped meanwhile.
    const slow = `#!/bin/sh\ntouch ${folder}/started\nwhile [ ! -e ${folder}/go ]; do sleep 0.1; done\n`;
    const ids: number[] = [];
    for (const [name, text] of [
      ["first.sh", slow],
      ["second.sh", `#!/bin/sh\necho second >> ${folder}/done\n`],
    ] as const)
      ids.push((await upload("/software/package", "software", name, text)).software_package.title_id);
    const platform = process.platform === "darwin" ? "macos" : "linux";
    await call("PUT", "/setup_experience/software", { platform, software_title_ids: ids });
    await upload("/setup_experience/script", "script", "setup.sh", `#!/bin/sh\necho script >> ${folder}/done\n`);
    const first = await startAgent({ serverUrl: server.url, ca });
    await expect.poll(() => existsSync(join(folder, "started")), { timeout: 30_000 }).toBe(true);
    expect(first.lines).toContain("info: setup: first: running");
    await writeFile(join(folder, "go"), "");
    await first.end();
    const second = await startAgent({ serverUrl: server.url, ca, stateDir: first.stateDir });
    await expect.poll(() => second.lines, { timeout: 30_000 }).toContain("info: setup: has ended");
    expect(await readFile(join(folder, "done"), "utf8")).toBe("second\nscript\n");
    const [host] = await hostsOf(call);
    expect(await call("GET", `/hosts/${host!.id}/setup_experience`)).toMatchObject({
      setup_experience: {
        software: [{ name: "first" }, { name: "second", status: "success" }],
        script: { status: "success" },
      },
    });
  });

  it("keeps its keys for the next start, and enrolls again if the server no longer knows them", async () => {
    const { server, ca, call } = await startServer();
    const first = await startAgent({ serverUrl: server.url, ca });
    const hasStarted = () => expect.poll(async () => (await hostsOf(call))[0]?.scripts_enabled, { timeout: 30_000 });
    await hasStarted().toBe(true);
    await first.end();
    const second = await startAgent({ serverUrl: server.url, ca, stateDir: first.stateDir });
    await expect.poll(() => second.lines.length, { timeout: 30_000 }).toBeGreaterThan(0);
    const [before] = await hostsOf(call);
    await call("DELETE", `/hosts/${before!.id}`);
    await expect
      .poll(() => second.lines.filter((line) => line.includes("enrolled")).sort(), { timeout: 30_000 })
      .toEqual(["info: enrolled for queries", "info: enrolled for scripts and configuration"]);
    await hasStarted().toBe(true);
    const [after] = await hostsOf(call);
    expect(after!.id).not.toBe(before!.id);
  });

  it("waits for a server that is not there, and reports each kind of failure once", async () => {
    const agent = await startAgent({ serverUrl: `http://127.0.0.1:${await freePort()}` });
    const failures = () => agent.lines.filter((line) => line.includes("ECONNREFUSED"));
    await expect.poll(failures).toHaveLength(5);
    expect(new Set(failures()).size).toBe(5);
  });

  it("is refused with a wrong secret", async () => {
    const { server, ca, call } = await startServer();
    const agent = await startAgent({ serverUrl: server.url, ca, enrollSecret: "wrong" });
    await expect.poll(() => agent.lines.join("\n")).toContain("enroll: status 401");
    expect(await hostsOf(call)).toEqual([]);
  });
});
