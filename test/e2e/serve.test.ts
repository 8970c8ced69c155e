// `svc serve` as an operator meets it: first start, settings, what is in the way.
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { ADMIN_EMAIL, freePort, signIn } from "../../bench/support/serve.ts";
import { build, newFolder, serve, svc } from "./support/svc.ts";

beforeAll(build, 180_000);

const listening = (port: number): Promise<Server> =>
  new Promise((resolve) => {
    const server = createServer().listen(port, "127.0.0.1", () => resolve(server));
  });

it("tells its version without loading the server", async () => {
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  const told = await svc(["--version"]);
  expect(told).toMatchObject({ code: 0, stderr: "" });
  expect(told.stdout).toMatch(new RegExp(`^svc/${version} \\S+ node-v\\d+`));
});

describe("--quickstart", () => {
  it("shows the sign-in once, and saves a context that works in the next terminal", async () => {
    const dataDir = newFolder();
    const env = { XDG_CONFIG_HOME: newFolder(), SVC_KEYRING: "off", SVC_CONFIG_DIR: "" };
    const options = { dataDir, admin: false, args: ["--quickstart"], env };
    const first = await serve(options);
    await expect.poll(first.output).toMatch(/^password: \S+$/m);
    await expect.poll(first.log).toContain("npx svc hosts list");
    expect(first.output().match(/^email: \S+@\S+$/gm)).toHaveLength(1);
    expect(first.output().match(/^password: \S{12,}$/gm)).toHaveLength(1);
    expect(first.output().trim().split("\n")).toHaveLength(2);

    const listed = await svc(["hosts", "list", "--json"], env);
    expect(listed).toMatchObject({ code: 0, stdout: "[]\n" });
    const secrets = await svc(["enroll-secrets", "list", "--json"], env);
    expect(JSON.parse(secrets.stdout)).toHaveLength(1);

    const password = /^password: (\S+)$/m.exec(first.output())![1]!;
    const email = /^email: (\S+)$/m.exec(first.output())![1]!;
    const login = await first.send("/api/v1/svc/login", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email, password }),
    });
    expect(login.status).toBe(200);
    expect(first.log()).not.toContain(password);
    expect(await first.stop()).toBe(0);

    const second = await serve(options);
    await expect.poll(second.log).toContain("has its admin already");
    expect(second.output()).toBe("");
    expect(await second.stop()).toBe(0);
    // Neither the password nor a token lies in the data directory.
    const journal = readdirSync(join(dataDir, "db")).map((name) => readFileSync(join(dataDir, "db", name), "utf8"));
    expect(journal.join("")).not.toContain(password);
  });

  it("is what npm start runs", async () => {
    const { scripts } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
    expect(scripts.start).toBe("node bin/run.js serve --quickstart");
    expect(scripts.prestart).toBe("node scripts/build.mjs --if-stale");
  });
});

describe("first admin from the environment", () => {
  it("is created once, and its password is printed nowhere", async () => {
    const dataDir = newFolder();
    const first = await serve({ dataDir, env: { SVC_LOG_LEVEL: "trace", SVC_ORG_NAME: "Example Org" } });
    const call = await signIn(first);
    const { user } = await call<{ user: { email: string; global_role: string } }>("GET", "/me");
    expect(user).toMatchObject({ email: ADMIN_EMAIL, global_role: "admin" });
    const config = await call<{ org_info: { org_name: string } }>("GET", "/config");
    expect(config.org_info.org_name).toBe("Example Org");
    expect(first.output() + first.log()).not.toContain(first.password);
    await first.stop();

    const second = await serve({ dataDir, env: { SVC_ADMIN_EMAIL: "other@example.com" } });
    const { users } = await (await signIn(second))<{ users: unknown[] }>("GET", "/users");
    expect(users).toHaveLength(1);
    await second.stop();
  });

  it("refuses a password that breaks the rules, with exit code 2", async () => {
    const env = { SVC_ADMIN_EMAIL: "a@example.com", SVC_ADMIN_PASSWORD: "short", SVC_DATA_DIR: newFolder() };
    const { code, stderr } = await svc(["serve", "--port", String(await freePort())], env);
    expect(code).toBe(2);
    expect(stderr).toContain("admin_password");
    expect(stderr).not.toContain('"short"');
  });
});

describe("a bad setting ends serve with exit code 2 and its name", () => {
  it.each([
    ["a flag", ["--port", "70000"], {}, "--port"],
    ["an environment variable", [], { SVC_WORKERS: "many" }, "SVC_WORKERS"],
    ["a duration", ["--detail-interval", "soon"], {}, "--detail-interval"],
    ["workers without Postgres", ["--workers", "2"], {}, "workers"],
    ["half of a TLS pair", ["--tls-cert", "x.pem"], {}, "tls_cert"],
    ["a server key of the wrong length", [], { SVC_SERVER_PRIVATE_KEY: "c2hvcnQ=" }, "SVC_SERVER_PRIVATE_KEY"],
    ["an address that is not this machine's", ["--host", "192.0.2.1"], {}, "host"],
    ["a proxy that is no network", ["--trusted-proxies", "everyone"], {}, "trusted_proxies"],
  ] as const)("%s", async (_, args, env, name) => {
    const run = await svc(["serve", ...args], { SVC_DATA_DIR: newFolder(), ...env } as Record<string, string>);
    expect(run.code).toBe(2);
    expect(run.stderr).toContain(name);
    expect(run.stderr).not.toMatch(/\n\s+at /);
    expect(run.stdout).toBe("");
  });

  it("in the configuration file, too", async () => {
    const file = join(newFolder(), "svc.yml");
    writeFileSync(file, "port: 8412\nlog:\n  colour: blue\n");
    const run = await svc(["serve", "--config", file], { SVC_DATA_DIR: newFolder() });
    expect(run).toMatchObject({ code: 2 });
    expect(run.stderr).toContain("log_colour");
  });

  it("takes a secret from no flag", async () => {
    const run = await svc(["serve", "--admin-password", "correct-horse-battery-1"], { SVC_DATA_DIR: newFolder() });
    expect(run.code).toBe(2);
    expect(run.stderr).toContain("--admin-password");
  });
});

describe("what is in the way", () => {
  it("names a port that is in use, and leaves its owner alone", async () => {
    const port = await freePort();
    const owner = await listening(port);
    try {
      const run = await svc(["serve", "--port", String(port)], { SVC_DATA_DIR: newFolder() });
      expect(run.code).not.toBe(0);
      expect(run.stderr).toContain(String(port));
      expect(run.stderr).toContain("in use");
    } finally {
      owner.close();
    }
  });

  it("refuses a data directory that another server uses, which goes on", async () => {
    const dataDir = newFolder();
    const first = await serve({ dataDir });
    const run = await svc(["serve", "--port", String(await freePort())], { SVC_DATA_DIR: dataDir });
    expect(run.code).not.toBe(0);
    expect(run.stderr).toContain(String(first.process.pid));
    expect(run.stderr).toContain(dataDir);
    expect(run.stderr).not.toMatch(/\n\s+at /);
    const call = await signIn(first);
    await call("POST", "/spec/enroll_secret", { spec: { secrets: [{ secret: "still-writing" }] } });
    await first.stop();
  });

  it("says so within its limit when the database does not answer", async () => {
    // Takes connections and never says a word.
    const mute = createServer(() => undefined);
    await new Promise<void>((resolve) => mute.listen(0, "127.0.0.1", resolve));
    const address = mute.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    try {
      const [refused, unanswered] = await Promise.all(
        [await freePort(), port].map((at) =>
          svc(["serve", "--database-url", `postgres://svc:hush-hush@127.0.0.1:${at}/svc`], {
            SVC_DATA_DIR: newFolder(),
          }),
        ),
      );
      for (const run of [refused!, unanswered!]) {
        expect(run.code).not.toBe(0);
        expect(run.stderr).toMatch(/database|Postgres/i);
        expect(run.stderr).toContain("127.0.0.1");
        expect(run.stderr).not.toContain("hush-hush");
        expect(run.stderr).not.toMatch(/\n\s+at /);
      }
      // The limit is ten seconds, and a loaded machine takes its time to start.
      expect(refused!.ms).toBeLessThan(45_000);
      expect(unanswered!.ms).toBeLessThan(60_000);
    } finally {
      mute.close();
    }
  });

  it("refuses a server key that is not the one that the data is sealed with", async () => {
    const dataDir = newFolder();
    const first = await serve({ dataDir });
    await first.stop();
    const run = await svc(["serve", "--port", String(await freePort())], {
      SVC_DATA_DIR: dataDir,
      SVC_SERVER_PRIVATE_KEY: randomBytes(32).toString("base64"),
    });
    expect(run.code).not.toBe(0);
    expect(run.stderr).toMatch(/key/i);
    expect(run.stderr).not.toMatch(/\n\s+at /);
    // With its own key it opens as before.
    const again = await serve({ dataDir });
    await signIn(again);
    await again.stop();
  });
});

describe("beside the API", () => {
  it("answers health and metrics without a token, and metrics on a port of their own where one is set", async () => {
    const metricsPort = await freePort();
    const [plain, split] = await Promise.all([serve(), serve({ args: ["--metrics-port", String(metricsPort)] })]);
    const health = await plain.send("/healthz");
    expect([health.status, await health.json()]).toEqual([200, { status: "ok" }]);
    const metrics = await plain.send("/metrics");
    expect(metrics.headers.get("content-type")).toContain("text/plain");
    expect(await metrics.text()).toMatch(/^svc_store_stat\{/m);

    expect((await split.send("/metrics")).status).toBe(404);
    const own = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
    expect(await own.text()).toMatch(/^svc_/m);
    expect((await fetch(`http://127.0.0.1:${metricsPort}/healthz`)).status).toBe(404);
    await Promise.all([plain.stop(), split.stop()]);
  });

  it("serves TLS with a certificate that verifies, and hands it out", async () => {
    const dataDir = newFolder();
    const server = await serve({ dataDir, args: ["--tls-self-signed"] });
    const call = await signIn(server);
    const served = readFileSync(join(dataDir, "tls", "cert.pem"), "utf8");
    const { certificate_chain } = await call<{ certificate_chain: string }>("GET", "/config/certificate");
    const decoded = certificate_chain.includes("BEGIN")
      ? certificate_chain
      : Buffer.from(certificate_chain, "base64").toString();
    expect(decoded.trim()).toBe(served.trim());

    // curl, as another client that knows nothing of this project, where the machine has it.
    const curl = await promisify(execFile)("curl", ["--version"]).then(
      () => true,
      () => false,
    );
    if (curl) {
      const { stdout } = await promisify(execFile)("curl", [
        "-sS",
        "--cacert",
        join(dataDir, "tls", "cert.pem"),
        `${server.url}/healthz`,
      ]);
      expect(JSON.parse(stdout)).toEqual({ status: "ok" });
    }
    await server.stop();
  });
});
