// The examples of the commands that serve, simulate agents or work on stored data, run by the built binary.
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { copyFile, cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { type BenchServer, cleanEnv, signIn } from "../../bench/support/serve.ts";
import { newKey } from "../../src/pki/x509.ts";
import { SECRET, withSecret } from "../e2e/support/agents.ts";
import { build, newFolder, serve } from "../e2e/support/svc.ts";
import { commandsOf, root } from "../support/cli.ts";
import { type Example, examplesOf, needsBinary } from "../support/examples.ts";
import { freePort } from "../support/free-port.ts";
import { freshDatabase } from "../support/postgres.ts";
import { programOf } from "../support/programs.ts";
import { pemOfKey, pushCertificateFor } from "../support/push-certificate.ts";
import { ACCESS_KEY, BUCKET, startS3 } from "../support/s3-server.ts";

const examples = examplesOf(await commandsOf(true)).filter(({ id }) => needsBinary(id));
const key = { SVC_SERVER_PRIVATE_KEY: Buffer.alloc(32, 7).toString("base64") };

beforeAll(build);

/** Few enough to enroll in less than the five seconds that simulations run here. */
const AGENTS = 5;

interface EndedProcess {
  readonly code: number | null;
  readonly output: string;
}

/** A command that runs in a folder; interrupted after a while if it would continue. */
function run(argv: readonly string[], cwd: string, env: Record<string, string>, interruptAfter?: Promise<unknown>) {
  return new Promise<EndedProcess>((resolve) => {
    const child = spawn(process.execPath, [join(root, "bin", "run.js"), ...argv], {
      cwd,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...cleanEnv(), ...key, SVC_KEYRING: "off", SVC_CONFIG_DIR: join(cwd, "config"), ...env },
    });
    void interruptAfter?.then(() => child.kill("SIGINT"));
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk) => {
        output += chunk;
      });
    }
    child.on("close", (code) => {
      resolve({ code, output });
    });
  });
}

/** Whether the command reads or changes the key file in the server's folder. */
const usesKeyFile = (id: string) => id === "db:rotate-key" || id === "db:restore";
const noKey = { SVC_SERVER_PRIVATE_KEY: "" };
const bucketKeys = {
  SVC_BLOBS_ACCESS_KEY_ID: ACCESS_KEY.accessKeyId,
  SVC_BLOBS_SECRET_ACCESS_KEY: ACCESS_KEY.secretAccessKey,
};

const folders = new Map<boolean, Promise<string>>();
/** The data of a server that was started once, with a key file or with the key in its environment. */
function filled(hasKeyFile: boolean): Promise<string> {
  const known = folders.get(hasKeyFile);
  if (known !== undefined) return known;
  const made = (async () => {
    const dataDir = newFolder();
    await (await serve({ dataDir, env: hasKeyFile ? {} : key })).stop();
    return dataDir;
  })();
  folders.set(hasKeyFile, made);
  return made;
}

/** A separate folder, with a filled ./data if the example reads one, and the database or bucket that it names. */
async function world({ id, argv }: Example) {
  const folder = newFolder();
  const named = argv.some((word) => word.startsWith("postgres://"));
  const database = named ? await freshDatabase() : undefined;
  const bucket = argv.some((word) => word.startsWith("s3://")) ? await startS3() : undefined;
  const words = argv
    .map((word) => (word.startsWith("postgres://") ? (database?.url ?? word) : word))
    .map((word) => (word.startsWith("s3://") ? `s3://${BUCKET}/svc?endpoint=${bucket?.url}` : word))
    // /var/lib belongs to another user here, and a test has less time and fewer cores than an administrator.
    .map((word) => (word === "/var/lib/svc" ? join(folder, "var") : word))
    .map((word, at) => (argv[at - 1] === "--duration" ? "5s" : argv[at - 1] === "--hosts" ? String(AGENTS) : word));
  if (id.startsWith("db:") && id !== "db:migrate")
    await cp(await filled(usesKeyFile(id)), join(folder, "data"), { recursive: true });
  if (bucket) {
    await mkdir(join(folder, "data", "blobs", "carves", "1"), { recursive: true });
    await writeFile(join(folder, "data", "blobs", "carves", "1", "0"), "a block");
  }
  if (id === "db:restore") {
    expect(await run(["db", "backup", "svc-backup.gz", "--data-dir", "data"], folder, noKey)).toMatchObject({
      code: 0,
    });
    await copyFile(join(folder, "data", "server.key"), join(folder, "svc-server.key"));
  }
  const end = async () => {
    await database?.drop();
    await bucket?.close();
  };
  return { folder, words, end };
}

async function turnOnAppleManagement(folder: string, url: string): Promise<void> {
  const pushKey = await newKey();
  await writeFile(join(folder, "own.pem"), await pushCertificateFor(pushKey, Date.now()));
  await writeFile(join(folder, "own-key.pem"), pemOfKey(pushKey));
  const upload = ["mdm", "apple", "certificate", "own.pem", "--private-key", "own-key.pem"];
  expect(await run(upload, folder, { SVC_SERVER_URL: url })).toMatchObject({ code: 0 });
}

/** Resolves when the server has this many hosts. */
async function enrolled(server: BenchServer, count: number): Promise<void> {
  const call = await signIn(server);
  await expect.poll(async () => (await call<{ count: number }>("GET", "/hosts/count")).count).toBe(count);
}

describe("the examples in help", () => {
  it.each(examples.filter(({ id }) => id.startsWith("db:")))(
    "$text",
    async (example) => {
      const { folder, words, end } = await world(example);
      const { code, output } = await run(words, folder, { ...bucketKeys, ...(usesKeyFile(example.id) ? noKey : {}) });
      expect(code, output).toBe(0);
      expect(output).not.toBe("");
      await end();
    },
    600_000,
  );

  it.each(examples.filter(({ id }) => id === "serve"))(
    "$text",
    async (example) => {
      const { folder, words, end } = await world(example);
      const quickstart = words.includes("--quickstart");
      mkdirSync(join(folder, "data"));
      const server = await serve({
        dataDir: join(folder, words.includes("--data-dir") ? "var" : "data"),
        args: words.slice(1),
        env: { ...key, SVC_KEYRING: "off", SVC_CONFIG_DIR: join(folder, "config") },
        ...(quickstart ? { admin: false } : {}),
      });
      expect((await server.send("/healthz")).status).toBe(200);
      if (quickstart) {
        // The port opens before the admin is created, and the context is saved after it is printed.
        await expect.poll(server.log).toContain("In a second terminal");
        expect(server.output()).toMatch(/^email: \S+\npassword: \S+\n$/);
        const next = await run(["hosts", "list"], folder, {});
        expect(next).toMatchObject({ code: 0, output: expect.stringContaining("none found") });
      }
      expect(await server.stop()).toBe(0);
      await end();
    },
    600_000,
  );

  it.each(examples.filter(({ id }) => id === "agent:run"))(
    "$text",
    async ({ argv }) => {
      const folder = newFolder();
      const server = await serve({ env: key });
      await withSecret(server);
      const secretFile = join(folder, "secret");
      await writeFile(secretFile, `${SECRET}\n`);
      const here: Record<string, string> = {
        "https://svc.example.com": server.url,
        "/etc/svc-agent/secret": secretFile,
      };
      const words = [...argv.map((word) => here[word] ?? word), "--state-dir", join(folder, "state")];
      const identity = ["--hardware-uuid", "0A0A0A0A-0000-4000-8000-000000000009", "--no-scripts"];
      const { code, output } = await run([...words, ...identity], folder, {}, enrolled(server, 1));
      expect(code, output).toBe(0);
      expect(output).toContain("runs for");
      expect(await server.stop()).toBe(0);
    },
    600_000,
  );

  it.each(examples.filter(({ id }) => /^agent:(un)?install$/.test(id)))("$text", async ({ argv }) => {
    const folder = newFolder();
    await writeFile(join(folder, "secret.txt"), "secret\n");
    // Below a folder in any case: the examples must not change this machine.
    const given = argv.indexOf("--root");
    const words = given === -1 ? argv : argv.filter((_, i) => i !== given && i !== given + 1);
    const { code, output } = await run([...words, "--root", join(folder, "root")], folder, {});
    expect(code, output).toBe(0);
    expect(output).toMatch(/^\S+secret: created|^\S+: absent/m);
  });

  it.each(examples.filter(({ id }) => id === "agent:package"))("$text", async ({ argv }) => {
    const folder = newFolder();
    await writeFile(join(folder, "secret.txt"), "secret\n");
    const program = argv.includes("--program") ? argv[argv.indexOf("--program") + 1]! : null;
    const [system, type] = program?.endsWith(".exe")
      ? (["windows", 0x8664] as const)
      : (["macos", 0x0100000c] as const);
    if (program !== null) await writeFile(join(folder, program), programOf(system, type));
    const { code, output } = await run(argv, folder, {});
    if (/is not installed/.test(output)) expect(output).toMatch(/apt-get install (dpkg|wixl|msitools)/);
    else expect([code, output]).toEqual([0, expect.stringMatching(/wrote \S*agent\S*/)]);
  });

  it.each(examples.filter(({ id }) => id === "agent:status" || id === "agent:logs"))("$text", async ({ argv }) => {
    // Nothing is installed here: the commands report that, or that there is no such service manager.
    const { code, output } = await run(
      argv.filter((word) => word !== "--follow"),
      newFolder(),
      {},
    );
    expect([0, 1], output).toContain(code);
    expect(output).not.toContain("    at ");
  });

  /** The settings of a server that uses the simulator's stand-in: its folder has to be there before the server starts. */
  async function androidSettings(words: readonly string[], folder: string): Promise<Record<string, string>> {
    const made = await run([...words], folder, { SVC_SERVER_URL: "http://127.0.0.1:1" });
    expect(made.code, made.output).toBe(0);
    const file = join(folder, words[words.indexOf("--stand-in") + 1]!, "settings.env");
    const lines = (await readFile(file, "utf8")).matchAll(/^export (\w+)='(.*)'$/gm);
    return Object.fromEntries([...lines].map(([, name, value]) => [name!, value!]));
  }

  it.each(examples.filter(({ id }) => id === "agent:simulate"))(
    "$text",
    async (example) => {
      const { folder, words } = await world(example);
      const isAndroid = words.includes("android");
      if (isAndroid) words.push("--stand-in-listen", `127.0.0.1:${await freePort()}`);
      const more = isAndroid ? await androidSettings(words, folder) : {};
      const server = await serve({ env: { ...key, ...more } });
      const env = { SVC_SERVER_URL: server.url, SVC_EMAIL: server.email, SVC_PASSWORD: server.password };
      expect(await run(["login"], folder, env)).toMatchObject({ code: 0 });
      expect(await run(["enroll-secrets", "add"], folder, { SVC_SERVER_URL: server.url })).toMatchObject({ code: 0 });
      if (words.includes("apple")) await turnOnAppleManagement(folder, server.url);
      if (words.includes("windows")) {
        const settings = ["mdm.windows_enabled_and_configured=true", `server_settings.server_url=${server.url}`];
        const set = await run(["config", "set", ...settings], folder, { SVC_SERVER_URL: server.url });
        expect(set.code, set.output).toBe(0);
      }
      const { code, output } = await run(
        words,
        folder,
        { SVC_SERVER_URL: server.url },
        words.includes("--duration") ? undefined : enrolled(server, AGENTS),
      );
      expect(code, output).toBe(0);
      expect(output).toMatch(new RegExp(`(hosts|devices) +${AGENTS}, ${AGENTS} enrolled`));
      expect(await server.stop()).toBe(0);
    },
    600_000,
  );
});
