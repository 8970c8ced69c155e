// `svc serve` as an operator uses it: first start, settings, and obstacles.
import { execFile, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { userInfo } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { ADMIN_EMAIL, type BenchServer, signIn } from "../../bench/support/serve.ts";
import { root } from "../support/cli.ts";
import { isWholeRun } from "../support/engines.ts";
import { freePort } from "../support/free-port.ts";
import { build, newFolder, serve, svc } from "./support/svc.ts";

beforeAll(build);

const listening = (port: number): Promise<Server> =>
  new Promise((resolve) => {
    const server = createServer().listen(port, "127.0.0.1", () => resolve(server));
  });

it("prints its version without loading the server", async () => {
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  const printed = await svc(["--version"]);
  expect(printed).toMatchObject({ code: 0, stderr: "" });
  expect(printed.stdout).toMatch(new RegExp(`^svc/${version} \\S+ node-v\\d+`));
});

it("loads itself and its packages from a few files", async () => {
  const probe = join(root, "test", "fixtures", "loaded-modules.mjs");
  const server = await serve({ env: { NODE_ARGS: `--import ${probe}` } });
  expect(await server.stop()).toBe(0);
  const loaded = () =>
    server
      .log()
      .split("\n")
      .filter((line) => line.startsWith("loaded "));
  await expect.poll(() => loaded().length).toBeGreaterThan(10);
  expect(loaded().filter((line) => line.includes("/dist/")).length).toBeLessThan(80);
  // Others than those with native code, and SQLite, which finds its binary beside itself: `started` in scripts/bundle-server.mjs lacks them, or they can be loaded later.
  expect(loaded().filter((line) => /\/node_modules\/(?!@node-rs\/|sql\.js\/)/.test(line))).toEqual([]);
});

it("reports the commit that was built, and when", async () => {
  const server = await serve({ dataDir: newFolder() });
  const call = await signIn(server);
  const version = await call<Record<string, string>>("GET", "/version");
  const git = (...args: string[]) => spawnSync("git", args, { cwd: root, encoding: "utf8" });
  const head = git("rev-parse", "HEAD");
  // Without a checkout, as in a package's sources, there is no commit to report.
  const known = head.status === 0 ? head.stdout.trim() : "";
  expect([known, `${known}-modified`]).toContain(version.revision);
  expect(version.branch).toBe(git("symbolic-ref", "--short", "HEAD").stdout.trim());
  expect(Date.parse(version.build_date!)).toBeGreaterThan(Date.parse("2026-01-01T00:00:00Z"));
  expect(version.build_user).toBe(userInfo().username);
  expect(await server.stop()).toBe(0);
});

describe("--quickstart", () => {
  it("shows the sign-in once, and saves a context that works in another terminal", async () => {
    const dataDir = newFolder();
    const env = { XDG_CONFIG_HOME: newFolder(), SVC_KEYRING: "off", SVC_CONFIG_DIR: "" };
    const options = { dataDir, admin: false, args: ["--quickstart"], env };
    const first = await serve(options);
    await expect.poll(first.output).toMatch(/^password: \S+$/m);
    await expect.poll(first.log).toContain("npx svc hosts list");
    await expect.poll(() => first.output().trim().split("\n").length).toBe(2);
    expect(first.output().match(/^email: \S+@\S+$/gm)).toHaveLength(1);
    expect(first.output().match(/^password: \S{12,}$/gm)).toHaveLength(1);

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
    await expect.poll(second.log).toContain("already has an admin");
    expect(second.output()).toBe("");
    expect(await second.stop()).toBe(0);
    // The data directory contains neither the password nor a token.
    const journal = readdirSync(join(dataDir, "db")).map((name) => readFileSync(join(dataDir, "db", name), "utf8"));
    expect(journal.join("")).not.toContain(password);
  });

  it("keeps the context of a server at another address", async () => {
    const env = { XDG_CONFIG_HOME: newFolder(), SVC_KEYRING: "off", SVC_CONFIG_DIR: "" };
    const start = () => serve({ dataDir: newFolder(), admin: false, args: ["--quickstart"], env });
    const first = await start();
    await expect.poll(first.log).toContain("hosts list");
    const second = await start();
    await expect.poll(second.log).toContain("saved as the context quickstart-2");
    for (const context of ["quickstart", "quickstart-2"])
      expect(await svc(["hosts", "list", "--json", "--context", context], env)).toMatchObject({
        code: 0,
        stdout: "[]\n",
      });
    expect([await first.stop(), await second.stop()]).toEqual([0, 0]);
  });

  it("is what npm start runs", async () => {
    const { scripts } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
    expect(scripts.start).toBe("node bin/run.js serve --quickstart");
    expect(scripts.prestart).toBe("node scripts/build.mjs --if-stale");
  });
});

describe("the tier", () => {
  const teams = async (server: BenchServer) => (await server.send("/api/v1/svc/teams", await signedIn(server))).status;
  const signedIn = async (server: BenchServer) => {
    const password = /^password: (\S+)$/m.exec(server.output())?.[1] ?? server.password;
    const reply = await server.send("/api/v1/svc/login", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email: ADMIN_EMAIL, password }),
    });
    return { headers: { authorization: `Bearer ${((await reply.json()) as { token: string }).token}` } };
  };
  const env = () => ({ XDG_CONFIG_HOME: newFolder(), SVC_KEYRING: "off", SVC_CONFIG_DIR: "" });

  it("is premium with the development license of --quickstart, which one line reports, unless it is turned off", async () => {
    const on = await serve({ admin: false, args: ["--quickstart"], env: env() });
    await expect
      .poll(() => on.log().match(/^.*development.*\n/gim))
      .toEqual([
        "License: development. The premium features are on, only for trials (--no-dev-license turns them off).\n",
      ]);
    expect(await teams(on)).toBe(200);
    await on.stop();
    for (const [args, more] of [
      [["--no-dev-license"], {}],
      ...(isWholeRun ? [[[], { SVC_DEV_LICENSE: "false" }] as const] : []),
    ] as const) {
      const off = await serve({ admin: false, args: ["--quickstart", ...args], env: { ...env(), ...more } });
      await expect.poll(off.log).toContain("In a second terminal");
      expect(await teams(off)).toBe(402);
      await off.stop();
      expect(off.log()).not.toMatch(/development/i);
    }
    const plain = await serve();
    expect(await teams(plain)).toBe(402);
    await plain.stop();
  });

  it("is premium with a key that was issued with one's own key pair, until the key expires", async () => {
    const folder = newFolder();
    const [secret, open] = [join(folder, "private.pem"), join(folder, "public.pem")];
    const made = await svc(["license", "keygen", "--private-key-file", secret, "--public-key", open]);
    expect(made.code, made.stderr).toBe(0);
    const SVC_LICENSE_PUBLIC_KEY = made.stdout.trim().replace("SVC_LICENSE_PUBLIC_KEY=", "");
    const terms = ["--organization", "Example Ltd", "--devices", "500"];
    const issue = async (...argv: string[]) => {
      const issued = await svc(["license", "issue", "--private-key-file", secret, ...terms, ...argv]);
      expect(issued.code, issued.stderr).toBe(0);
      return issued.stdout.trim();
    };
    const SVC_LICENSE_KEY = await issue("--expires-in", "30d");
    const server = await serve({ env: { SVC_LICENSE_PUBLIC_KEY, SVC_LICENSE_KEY } });
    expect(await teams(server)).toBe(200);
    const { license } = (await (await server.send("/api/v1/svc/config", await signedIn(server))).json()) as {
      license: { organization: string };
    };
    expect(license).toMatchObject({ tier: "premium", organization: "Example Ltd", device_count: 500 });
    await server.stop();

    const ended = await serve({ env: { SVC_LICENSE_PUBLIC_KEY, SVC_LICENSE_KEY: await issue("--expires-in", "1s") } });
    await expect
      .poll(async () => (await ended.send("/api/v1/svc/version")).headers.get("x-svc-license"))
      .toBe("Expired");
    await ended.stop();

    // The key of another pair, and the built-in public key instead of this one.
    const other = await svc(["serve", "--data-dir", newFolder(), "--port", "0"], { SVC_LICENSE_KEY });
    expect([other.code, other.stderr]).toEqual([
      2,
      expect.stringContaining("license_key was not signed with the expected key"),
    ]);
  });
});

describe("a setting of the server process", () => {
  it.each([
    { argv: ["get", "outbound_allow"], ways: "--outbound-allow, SVC_OUTBOUND_ALLOW in its environment" },
    { argv: ["get", "outbound-allow"], ways: "--outbound-allow, SVC_OUTBOUND_ALLOW in its environment" },
    { argv: ["set", "require_approval=true"], ways: "--require-approval, SVC_REQUIRE_APPROVAL in its environment" },
    { argv: ["get", "license_key"], ways: "`svc serve`: SVC_LICENSE_KEY in its environment" },
  ])(
    "is not part of the configuration, and svc config $argv.0 $argv.1 reports where it is set",
    async ({ argv, ways }) => {
      const { code, stdout, stderr } = await svc(["config", ...argv]);
      expect([code, stdout]).toEqual([3, ""]);
      expect(stderr).toContain("is a setting of the server process");
      expect(stderr).toContain(ways);
    },
  );

  it("is not invented: flags of `svc serve` that are not settings are unknown", async () => {
    expect((await svc(["config", "get", "quickstart"])).stderr).toContain("there is no setting");
  });
});

describe("a self-signed certificate", () => {
  it("is reported at start, with the command that trusts it, and that command works", async () => {
    const [dataDir, env] = [newFolder(), { XDG_CONFIG_HOME: newFolder(), SVC_KEYRING: "off", SVC_CONFIG_DIR: "" }];
    const server = await serve({ dataDir, args: ["--tls-self-signed"], env: { SVC_LOG_LEVEL: "info" } });
    const printed = () => /self-signed certificate: svc (login [^"]+)"/.exec(server.log())?.[1];
    await expect.poll(printed).toBeDefined();
    const line = printed();
    const words = line!.split(" ");
    expect(words.at(-1)).toBe(join(dataDir, "tls", "cert.pem"));
    const signedIn = await svc(words, { ...env, SVC_EMAIL: ADMIN_EMAIL, SVC_PASSWORD: server.password });
    expect(signedIn.code, signedIn.stderr).toBe(0);
    expect(await svc(["status"], env)).toMatchObject({ code: 0, stdout: expect.stringContaining("https://") });
    await server.stop();
  });

  it("is reported with the address of the server that --server-url gives", async () => {
    const args = ["--tls-self-signed", "--server-url", "https://localhost:21012"];
    const server = await serve({ dataDir: newFolder(), args, env: { SVC_LOG_LEVEL: "info" } });
    await expect.poll(server.log).toContain("svc login --server-url https://localhost:21012 --ca-file");
    await server.stop();
  });
});

describe("first admin from the environment", () => {
  it("is created once, and its password is not printed", async () => {
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

  it("is refused with exit code 2 if the password breaks the rules", async () => {
    const env = { SVC_ADMIN_EMAIL: "a@example.com", SVC_ADMIN_PASSWORD: "short", SVC_DATA_DIR: newFolder() };
    const { code, stderr } = await svc(["serve", "--port", String(await freePort())], env);
    expect(code).toBe(2);
    expect(stderr).toContain("admin_password");
    expect(stderr).not.toContain('"short"');
  });
});

// More of them in test/commands/serve.test.ts.
describe("an invalid setting ends serve with exit code 2, and the error names it", () => {
  it.each([
    ["a flag", ["--port", "70000"], {}, "--port"],
    ["an address that is not this machine's", ["--host", "192.0.2.1"], {}, "host"],
  ] as const)("%s", async (_, args, env, name) => {
    const run = await svc(["serve", ...args], { SVC_DATA_DIR: newFolder(), ...env } as Record<string, string>);
    expect(run.code).toBe(2);
    expect(run.stderr).toContain(name);
    expect(run.stderr).not.toMatch(/\n\s+at /);
    expect(run.stdout).toBe("");
  });
});

describe("obstacles at start", () => {
  it("names a port that is in use, without affecting its owner", async () => {
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

  it("refuses a data directory that another server uses, and that server continues", async () => {
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

  it("fails within its time limit if the database does not respond", async () => {
    // Accepts connections but never sends anything.
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
      // The limit is ten seconds, and a busy machine needs time to start.
      expect(refused!.ms).toBeLessThan(45_000);
      expect(unanswered!.ms).toBeLessThan(60_000);
    } finally {
      mute.close();
    }
  });
});

describe("a data directory", () => {
  it("is refused without its store's files or folder, or with another key, and no new admin can be created", async () => {
    const dataDir = newFolder();
    await (await serve({ dataDir })).stop();
    const refused = async (env: Record<string, string> = {}) => {
      const run = await svc(["serve", "--port", String(await freePort())], { SVC_DATA_DIR: dataDir, ...env });
      expect(run.code).not.toBe(0);
      expect(run.stderr).not.toMatch(/\n\s+at /);
      return run.stderr;
    };
    expect(await refused({ SVC_SERVER_PRIVATE_KEY: randomBytes(32).toString("base64") })).toMatch(/key/i);
    const db = join(dataDir, "db");
    const kept = join(newFolder(), "db");
    renameSync(db, kept);
    const withoutFolder = await refused();
    rmSync(db, { recursive: true, force: true });
    mkdirSync(db);
    for (const stderr of [withoutFolder, await refused()]) {
      expect(stderr).toContain(db);
      expect(stderr).toContain(join(dataDir, "server.key"));
    }
    rmSync(db, { recursive: true, force: true });
    renameSync(kept, db);
    // With its own key and files it opens as before.
    const again = await serve({ dataDir });
    await signIn(again);
    await again.stop();
  });

  it("starts empty once its key is removed, or if a first start was interrupted", async () => {
    const dataDir = newFolder();
    await (await serve({ dataDir })).stop();
    rmSync(join(dataDir, "db"), { recursive: true });
    rmSync(join(dataDir, "server.key"));
    // A start that is killed before it has a store leaves these files.
    writeFileSync(join(dataDir, "server.key.unused"), "");
    writeFileSync(join(dataDir, "server.key"), `${randomBytes(32).toString("base64")}\n`);
    const again = await serve({ dataDir });
    await signIn(again);
    await again.stop();
    expect(readdirSync(dataDir)).not.toContain("server.key.unused");
  });
});

describe("besides the API", () => {
  it("serves health and metrics without a token, and metrics on a separate port if one is set", async () => {
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

  it("serves TLS with a certificate that verifies and can be downloaded", async () => {
    const dataDir = newFolder();
    const server = await serve({ dataDir, args: ["--tls-self-signed"] });
    const call = await signIn(server);
    const served = readFileSync(join(dataDir, "tls", "cert.pem"), "utf8");
    const { certificate_chain } = await call<{ certificate_chain: string }>("GET", "/config/certificate");
    const decoded = certificate_chain.includes("BEGIN")
      ? certificate_chain
      : Buffer.from(certificate_chain, "base64").toString();
    expect(decoded.trim()).toBe(served.trim());

    // curl, as a client that is independent of this project, if it is installed.
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
