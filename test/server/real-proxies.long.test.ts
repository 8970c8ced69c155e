// The examples for nginx and Caddy (examples/proxies) with the real programs in front of the server.
import { type ChildProcess, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { toNodeHandler } from "h3/node";
import { generate } from "selfsigned";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { z } from "zod";
import { file, multipart, type UploadSource } from "../../src/api/bodies.ts";
import { endpoint } from "../../src/api/endpoint.ts";
import { ApiClient } from "../../src/client/client.ts";
import { createApp } from "../../src/server/app.ts";
import { agentHandler } from "../../src/server/edge/agent/http/node-handler.ts";
import { Sockets } from "../../src/server/inventory/live-queries/websocket/sockets.ts";
import { hasUntrustedProxy } from "../../src/server/platform/core/http/proxies.ts";
import { route } from "../../src/server/platform/core/http/route.ts";
import { chooseAddress, listen } from "../../src/server/platform/process/listen.ts";
import { enrollment, makeSecret } from "../edge/agent/agents.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { root } from "../support/cli.ts";
import { freePort } from "../support/free-port.ts";
import { haveProgram } from "../support/tools.ts";

const MiB = 1024 * 1024;
const take = endpoint({
  method: "POST",
  path: "/test/take",
  summary: "A test.",
  access: "user",
  body: multipart({}, { package: file({ limit: 64 * MiB }) }),
  response: z.object({ sha256: z.string() }),
});
const routes = [route(take, async ({ body }) => ({ sha256: body.package.sha256 }))];

let folder: string;
let ca: string;
let t: TestApp;
let serverPort: number;
const requestSizes: number[] = [];
const ends: (() => unknown)[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-proxies-"));
  const made = await generate([{ name: "commonName", value: "localhost" }], {
    extensions: [
      { name: "basicConstraints", cA: true },
      { name: "subjectAltName", altNames: [{ type: 2, value: "localhost" }] },
    ],
  });
  ca = made.cert;
  await writeFile(join(folder, "cert.pem"), made.cert);
  await writeFile(join(folder, "key.pem"), made.private);
  t = await startApp({ shared: true, settings: { trusted_proxies: "127.0.0.1" } });
  ends.push(() => t.close());
  await makeSecret(t);
  const sockets = new Sockets(t.services);
  const agents = agentHandler(t.agent, t.services);
  const app = toNodeHandler(
    createApp(t.services, { agent: t.agent, stop: async () => {} }, { routes, protocols: [] }),
  ) as RequestListener;
  const address = await chooseAddress({ host: "127.0.0.1", port: 0, tls: null });
  serverPort = address.port;
  const listening = await listen(
    (req, res) => {
      requestSizes.push(Number(req.headers["content-length"] ?? 0));
      if (!agents(req, res)) app(req, res);
    },
    address,
    { upgrade: (req, socket, head) => sockets.upgrade(req, socket, head) },
  );
  ends.push(async () => {
    sockets.close();
    await listening.close({ graceMs: 0, limitMs: 0 });
  });
});
afterAll(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => {
  requestSizes.length = 0;
});

async function startProgram(program: string, args: readonly string[], port: number): Promise<void> {
  const child: ChildProcess = spawn(program, args, {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
  });
  let errors = "";
  child.stderr?.setEncoding("utf8").on("data", (part: string) => {
    errors += part;
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  ends.push(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  await expect
    .poll(() => ask(port, "/healthz").catch(() => errors || "no reply"), { timeout: 60_000 })
    .toMatchObject({ status: 200 });
}

/** What the distribution's own nginx.conf has around the files of sites. */
const nginxMain = (site: string) => `user root;
pid ${folder}/nginx.pid;
error_log stderr;
events {}
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  ${site}
}
`;

async function startNginx(site: string): Promise<void> {
  const config = join(folder, `nginx-${randomBytes(4).toString("hex")}.conf`);
  await writeFile(config, nginxMain(site));
  await startProgram("nginx", ["-p", folder, "-c", config, "-g", "daemon off;"], Number(/:(\d+) ssl/.exec(site)![1]));
}

/** Replaces what users replace too, and the port; each text has to be in the example. */
function adapted(example: string, replacements: Readonly<Record<string, string>>): string {
  let text = example;
  for (const [from, to] of Object.entries(replacements)) {
    expect(text).toContain(from);
    text = text.replaceAll(from, to);
  }
  return text;
}

const proxies = {
  async nginx() {
    const port = await freePort();
    const example = await readFile(join(root, "examples/proxies/nginx.conf"), "utf8");
    const site = adapted(example, {
      "listen 443 ssl http2": `listen 127.0.0.1:${port} ssl http2`,
      "127.0.0.1:8412;": `127.0.0.1:${serverPort};`,
      "server_name svc.example.com": "server_name localhost",
      "/etc/ssl/svc.example.com.pem": `${folder}/cert.pem`,
      "/etc/ssl/private/svc.example.com.key": `${folder}/key.pem`,
    });
    await startNginx(site);
    return port;
  },
  async Caddy() {
    const port = await freePort();
    const example = await readFile(join(root, "examples/proxies/Caddyfile"), "utf8");
    const config = adapted(example, {
      "{\n\tservers {": "{\n\tadmin off\n\tauto_https disable_redirects\n\tservers {",
      "svc.example.com {": `https://localhost:${port} {\n\tbind 127.0.0.1\n\ttls ${folder}/cert.pem ${folder}/key.pem`,
      "reverse_proxy 127.0.0.1:8412": `reverse_proxy 127.0.0.1:${serverPort}`,
    });
    await writeFile(join(folder, "Caddyfile"), config);
    await startProgram("caddy", ["run", "--config", join(folder, "Caddyfile"), "--adapter", "caddyfile"], port);
    return port;
  },
};

interface Reply {
  readonly status: number;
  readonly text: string;
}

/** `from`: the address that the proxy sees. */
function ask(
  port: number,
  path: string,
  { body, headers = {}, from }: { body?: string; headers?: Record<string, string>; from?: string } = {},
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const options = {
      ...{ host: "127.0.0.1", servername: "localhost", port, path, ca, agent: false as const },
      method: body === undefined ? "GET" : "POST",
      headers: { host: `localhost:${port}`, "content-type": "application/json", ...headers },
      ...(from === undefined ? {} : { localAddress: from }),
    };
    const sent = request(options, (reply) => {
      let text = "";
      reply.setEncoding("utf8").on("data", (part: string) => {
        text += part;
      });
      reply.on("end", () => resolve({ status: reply.statusCode!, text }));
    });
    sent.on("error", reject).end(body);
  });
}

const client = (port: number, onRetry: (why: string) => void = () => {}) =>
  new ApiClient({ serverUrl: `https://localhost:${port}`, token: t.token, tls: { ca }, onRetry });

function source(size: number): { readonly file: UploadSource; readonly sha256: string } {
  const content = randomBytes(size);
  const open = (start = 0) => Readable.from([content.subarray(start)]);
  const sha256 = createHash("sha256").update(content).digest("hex");
  return { file: { name: "package.deb", size, canRepeat: true, open }, sha256 };
}

describe.each([
  { name: "nginx", program: "nginx", debianPackage: "nginx-light" },
  { name: "Caddy", program: "caddy", debianPackage: "caddy" },
] as const)("the example for $name", ({ name, program, debianPackage }) => {
  const isThere = haveProgram(program, debianPackage);
  let started: Promise<number> | undefined;
  const start = () => {
    started ??= proxies[name]();
    return started;
  };

  it.skipIf(!isThere)("passes on large files in large pieces", async () => {
    const port = await start();
    const { file: large, sha256 } = source(24 * MiB);
    const notes: string[] = [];
    const reply = await client(port, (why) => notes.push(why)).call(take, { body: { package: large } });
    expect([reply.sha256, notes]).toEqual([sha256, []]);
    expect(Math.max(...requestSizes)).toBeGreaterThan(20 * MiB);
  });

  it.skipIf(!isThere)("passes on the address of the caller, and not what the caller pretends", async () => {
    const port = await start();
    const headers = { "x-forwarded-for": "203.0.113.66", forwarded: "for=203.0.113.66" };
    const body = JSON.stringify(enrollment({ host_identifier: name }));
    const reply = await ask(port, "/api/v1/qengine/enroll", { body, headers, from: "127.0.0.7" });
    expect(reply).toMatchObject({ status: 200 });
    const hosts = await t.store.hosts.list();
    expect(hosts.at(-1)).toMatchObject({ identifier: name.toLowerCase(), public_ip: "127.0.0.7" });
    // Callers on the machine itself are no sign of a proxy.
    await ask(port, "/api/v1/svc/version");
    expect(hasUntrustedProxy(t.services)).toBe(false);
  });

  it.skipIf(!isThere)("passes on websockets", async () => {
    const port = await start();
    const socket = new WebSocket(`wss://localhost:${port}/api/v1/svc/results/websocket`, { ca });
    const messages: string[] = [];
    socket.on("message", (raw) => messages.push(String(raw)));
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
    socket.send(JSON.stringify({ type: "auth", data: { token: t.token } }));
    socket.send(JSON.stringify({ type: "select_campaign", data: { campaign_id: 4_711 } }));
    await expect.poll(() => messages.join()).toMatch(/"type":"\w+"/);
    socket.terminate();
  });

  it.skipIf(!isThere)("passes on events when they happen", async () => {
    const port = await start();
    let text = "";
    const stream = request(
      {
        ...{ host: "127.0.0.1", servername: "localhost", port, ca, agent: false },
        path: "/api/v1/svc/activities/stream",
        headers: { host: `localhost:${port}`, authorization: `Bearer ${t.token}` },
      },
      (reply) => {
        reply.setEncoding("utf8").on("data", (part: string) => {
          text += part;
        });
      },
    );
    stream.on("error", () => {}).end();
    try {
      let label = 0;
      const happen = async () => {
        await t.post("/labels", { name: `${name} ${++label}`, query: "SELECT 1" });
        return text;
      };
      // The stream may not have begun when the first one happens.
      await expect.poll(happen).toMatch(/^data: /m);
    } finally {
      stream.destroy();
    }
  });
});

describe("nginx as it is installed", () => {
  const isThere = haveProgram("nginx", "nginx-light");

  it.skipIf(!isThere)("lets the client send files of any size, in smaller pieces", async () => {
    const port = await freePort();
    await startNginx(`server {
    listen 127.0.0.1:${port} ssl;
    ssl_certificate ${folder}/cert.pem;
    ssl_certificate_key ${folder}/key.pem;
    location / { proxy_pass http://127.0.0.1:${serverPort}; proxy_set_header Host $http_host; }
  }`);
    const notes: string[] = [];
    const careful = client(port, (why) => notes.push(why));
    for (const size of [MiB - 1, MiB, 3 * MiB, 16 * MiB, 17 * MiB]) {
      const { file: large, sha256 } = source(size);
      expect(await careful.call(take, { body: { package: large } })).toEqual({ sha256 });
    }
    expect(notes.length).toBeLessThanOrEqual(2);
    expect(Math.max(...requestSizes)).toBeLessThanOrEqual(MiB);
  });
});
