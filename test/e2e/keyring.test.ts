// The keyring of the operating system: a real Secret Service (gnome-keyring on its own bus), and machines without one.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type BenchServer, cleanEnv } from "../../bench/support/serve.ts";
import { skipWithout } from "../support/tools.ts";
import { build, newFolder, serve, svc } from "./support/svc.ts";

let server: BenchServer;
beforeAll(async () => {
  await build();
  server = await serve();
}, 600_000);

const isInstalled = (tool: string) => spawnSync("sh", ["-c", `command -v ${tool}`]).status === 0;
const missing = ["dbus-run-session", "gnome-keyring-daemon", "secret-tool"].filter((tool) => !isInstalled(tool));
const hasNoKeyring = skipWithout(missing, "apt-get install gnome-keyring dbus libsecret-tools");

/** A new home directory and session of a user. */
function newSession(): Record<string, string> {
  const home = newFolder();
  const runtime = join(home, "run");
  mkdirSync(runtime, { mode: 0o700 });
  const off = { DISPLAY: "", WAYLAND_DISPLAY: "", DBUS_SESSION_BUS_ADDRESS: "" };
  return { ...off, HOME: home, XDG_RUNTIME_DIR: runtime, SVC_CONFIG_DIR: join(home, "config"), SVC_KEYRING: "" };
}

/** A session with a message bus; returns its environment. The shell runs `start` in it first. */
async function busSession(start: string): Promise<Record<string, string>> {
  const session = newSession();
  // The bus and the processes that use it end with the shell, which ends with its stdin.
  const child = spawn("dbus-run-session", ["--", "sh", "-c", `${start}; echo "$DBUS_SESSION_BUS_ADDRESS"; cat`], {
    env: { ...cleanEnv(), ...session },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  onTestFinished(async () => {
    child.stdin.end();
    await ended;
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  await expect.poll(() => stdout + (child.exitCode === null ? "" : stderr)).toMatch(/^unix:.*\n$/m);
  return { ...session, DBUS_SESSION_BUS_ADDRESS: /^unix:.*$/m.exec(stdout)![0] };
}

const signIn = (env: Record<string, string>) =>
  svc(["login"], { ...env, SVC_SERVER_URL: server.url, SVC_EMAIL: server.email, SVC_PASSWORD: server.password });

const tokensFile = (env: Record<string, string>) => join(env.SVC_CONFIG_DIR!, "tokens.json");
const contexts = (env: Record<string, string>) =>
  Object.values(
    (
      JSON.parse(readFileSync(join(env.SVC_CONFIG_DIR!, "contexts.json"), "utf8")) as {
        contexts: Record<string, { token_in: string | null }>;
      }
    ).contexts,
  );

/** The commands after a sign-in, each in its own process: signed in, signed out, unknown. */
async function expectSession(env: Record<string, string>): Promise<void> {
  const known = await svc(["whoami", "-o", "json"], env);
  expect(known.code, known.stderr).toBe(0);
  expect(JSON.parse(known.stdout)).toMatchObject({ email: server.email });
}

async function expectSignedOut(env: Record<string, string>): Promise<void> {
  const out = await svc(["logout"], env);
  expect(out.code, out.stderr).toBe(0);
  expect(contexts(env)).toMatchObject([{ token_in: null }]);
  expect((await svc(["whoami"], env)).code).toBe(4);
}

describe.skipIf(hasNoKeyring)("with a Secret Service", () => {
  const unlocked = "printf password | gnome-keyring-daemon --unlock --components=secrets >&2";
  /** The entries that another program finds in the keyring under our name. */
  const found = (env: Record<string, string>) =>
    spawnSync("secret-tool", ["lookup", "service", "svc"], { env: { ...cleanEnv(), ...env }, encoding: "utf8" }).stdout;

  it("stores the token only there; the next command reads it, and a sign-out deletes it", async () => {
    const env = await busSession(unlocked);
    const login = await signIn(env);
    expect(login.code, login.stderr).toBe(0);
    expect(login.stderr).not.toContain("no keyring can be used");
    expect(contexts(env)).toMatchObject([{ token_in: "keyring" }]);
    const token = found(env);
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(existsSync(tokensFile(env))).toBe(false);
    for (const name of readdirSync(env.SVC_CONFIG_DIR!))
      expect(readFileSync(join(env.SVC_CONFIG_DIR!, name), "utf8"), name).not.toContain(token);
    await expectSession(env);
    // On a session without this keyring, the token does not exist either.
    expect((await svc(["whoami"], { ...env, DBUS_SESSION_BUS_ADDRESS: "" })).code).not.toBe(0);
    await expectSignedOut(env);
    expect(found(env)).toBe("");
  });

  it("stores the token in the file if nobody can unlock the keyring", async () => {
    // The bus starts the keyring locked, as on a desktop where the user did not sign in with a password.
    const env = await busSession(":");
    await expectFile(env);
  });
});

async function expectFile(env: Record<string, string>): Promise<void> {
  const login = await signIn(env);
  expect(login.code, login.stderr).toBe(0);
  expect(login.stderr).toMatch(/no keyring can be used here \(.+\); the token was saved in .*tokens\.json/);
  expect(contexts(env)).toMatchObject([{ token_in: "file" }]);
  expect((statSync(tokensFile(env)).mode & 0o777).toString(8)).toBe("600");
  const kept = Object.values(JSON.parse(readFileSync(tokensFile(env), "utf8")) as Record<string, string>);
  expect(kept).toEqual([expect.stringMatching(/^[\w-]{43}$/)]);
  await expectSession(env);
  await expectSignedOut(env);
  expect(readFileSync(tokensFile(env), "utf8")).not.toContain(kept[0]);
}

describe("without a Secret Service", () => {
  it("stores the token in a file that only its owner can read, and reports the reason", async () => {
    await expectFile(newSession());
  });

  it("reports nothing if the keyring is turned off", async () => {
    const env = { ...newSession(), SVC_KEYRING: "off" };
    const login = await signIn(env);
    expect(login.code, login.stderr).toBe(0);
    expect(login.stderr).not.toContain("no keyring");
    expect(contexts(env)).toMatchObject([{ token_in: "file" }]);
    await expectSession(env);
    await expectSignedOut(env);
  });
});
