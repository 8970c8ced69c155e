import { chmod, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { findContext, listContexts, nameForServer, saveContext } from "../../src/cli/auth/contexts.ts";
import type { Keyring } from "../../src/cli/io.ts";
import type { Send } from "../../src/client/transport.ts";
import { newHome, type RunOptions, runCli } from "../support/cli.ts";

/** Records where each request went, and with which token. */
function recorder() {
  const seen: string[] = [];
  const send: Send = async (url, init) => {
    seen.push(`${new URL(url).origin} ${init.headers.authorization ?? "-"}`);
    return new Response(JSON.stringify({ count: 1 }));
  };
  return { seen, send };
}

function memoryKeyring(): Keyring & { kept: Map<string, string> } {
  const kept = new Map<string, string>();
  return {
    kept,
    get: async (account) => kept.get(account) ?? null,
    set: async (account, secret) => void kept.set(account, secret),
    delete: async (account) => void kept.delete(account),
  };
}

let home: string;
let env: Record<string, string>;
beforeEach(async () => {
  home = await newHome();
  env = { HOME: home, XDG_CONFIG_HOME: join(home, ".config"), SVC_KEYRING: "off" };
});

const save = (name: string, serverUrl: string, makeCurrent = false) =>
  saveContext({ name, serverUrl, token: `token-of-${name}`, email: `${name}@example.com`, makeCurrent }, { env });

describe("server and credentials", () => {
  const ask = async (argv: string[], more: Record<string, string> = {}) => {
    const { seen, send } = recorder();
    const result = await runCli(["hosts", "count", ...argv], { home, send, env: more });
    return { ...result, to: seen[0] };
  };

  it("come from the current context, or from the defaults without one", async () => {
    expect((await ask([], { SVC_API_TOKEN: "x" })).to).toBe("http://127.0.0.1:8412 Bearer x");
    await save("one", "https://one.test");
    expect((await ask([])).to).toBe("https://one.test Bearer token-of-one");
  });

  it("prefer a flag to the environment, and the environment to the context", async () => {
    await save("one", "https://one.test", true);
    await save("two", "https://two.test");
    const inEnv = { SVC_SERVER_URL: "https://env.test", SVC_API_TOKEN: "env" };
    expect((await ask([], inEnv)).to).toBe("https://env.test Bearer env");
    expect((await ask(["--server-url", "https://flag.test"], inEnv)).to).toBe("https://flag.test Bearer env");
    expect((await ask([], { SVC_CONTEXT: "two" })).to).toBe("https://two.test Bearer token-of-two");
    expect((await ask(["--context", "one"], { SVC_CONTEXT: "two" })).to).toBe("https://one.test Bearer token-of-one");
    // A context on the command line is used completely.
    expect((await ask(["--context", "two"], inEnv)).to).toBe("https://two.test Bearer token-of-two");
  });

  it("never send a context's token to another server", async () => {
    await save("one", "https://one.test", true);
    const { exitCode, to } = await ask(["--server-url", "https://other.test"]);
    expect(exitCode).toBe(4);
    expect(to).toBeUndefined();
    expect((await ask(["--server-url", "https://one.test/"])).to).toBe("https://one.test Bearer token-of-one");
  });

  it("read a token from a file named in the environment", async () => {
    const file = join(home, "token");
    await writeFile(file, "from-file\n");
    expect((await ask([], { SVC_API_TOKEN_FILE: file })).to).toBe("http://127.0.0.1:8412 Bearer from-file");
  });

  it.each(["ftp://x", "nonsense", "http://user@x", "http://x/?a=1"])("refuse the address %s", async (url) => {
    const { exitCode, stderr } = await ask(["--server-url", url]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain("is not the URL of a server");
  });

  it("list the contexts if the given one is unknown", async () => {
    await save("staging", "https://one.test", true);
    const { exitCode, stderr } = await ask(["--context", "stagin"]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain("did you mean staging?");
  });
});

describe("tokens", () => {
  const contextsJson = () => readFile(join(home, ".config", "svc", "contexts.json"), "utf8");

  it("are stored in a private file if the keyring is turned off", async () => {
    const { tokenIn, remark } = await save("one", "https://one.test");
    expect(tokenIn).toBe("file");
    expect(remark).toBeNull();
    const folder = join(home, ".config", "svc");
    for (const name of await readdir(folder)) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect(await contextsJson()).not.toContain("token-of-one");
  });

  it("are stored only in the keyring if there is one", async () => {
    const keyring = memoryKeyring();
    const io = { env: { ...env, SVC_KEYRING: "" }, keyring };
    const given = { name: "one", serverUrl: "https://one.test", token: "secret-token", makeCurrent: true };
    expect((await saveContext(given, io)).tokenIn).toBe("keyring");
    expect([...keyring.kept.values()]).toEqual(["secret-token"]);
    expect(await readdir(join(home, ".config", "svc"))).toEqual(["contexts.json"]);
    const { seen, send } = recorder();
    await runCli(["hosts", "count"], { home, send, env: { SVC_KEYRING: "" }, keyring });
    expect(seen).toEqual(["https://one.test Bearer secret-token"]);
  });

  it("are stored in the file if the keyring fails or loses them, with one message", async () => {
    const broken: Keyring = { ...memoryKeyring(), set: () => Promise.reject(new Error("locked")) };
    const forgetful: Keyring = { ...memoryKeyring(), get: async () => null };
    for (const [name, keyring] of Object.entries({ broken, forgetful })) {
      const options: RunOptions = {
        home,
        keyring,
        stdin: "a-token\n",
        env: { SVC_KEYRING: "" },
        send: async () => new Response(JSON.stringify({ user: { email: "a@b.c" } })),
      };
      const { stderr, exitCode } = await runCli(
        ["login", "--token-stdin", "--server-url", `https://${name}.test`, "--context", name],
        options,
      );
      expect(exitCode).toBe(0);
      expect(stderr.match(/no keyring can be used here/g)).toHaveLength(1);
      const { stderr: later } = await runCli(["hosts", "count"], options);
      expect(later).not.toContain("keyring");
    }
  });

  it("do not wait for a keyring that does not respond", async () => {
    const silent: Keyring = { ...memoryKeyring(), set: () => new Promise(() => {}) };
    const given = { name: "one", serverUrl: "https://one.test", token: "t", makeCurrent: true };
    const { tokenIn, remark } = await saveContext(given, { env: { ...env, SVC_KEYRING: "" }, keyring: silent });
    expect(tokenIn).toBe("file");
    expect(remark).toContain("does not respond");
  });

  it("are deleted with their context", async () => {
    await save("one", "https://one.test");
    await runCli(["context", "remove", "one", "--yes"], { home });
    expect(await readFile(join(home, ".config", "svc", "tokens.json"), "utf8")).not.toContain("token-of-one");
    expect((await listContexts({ env })).contexts.size).toBe(0);
  });

  it("are deleted if the name is used for another server", async () => {
    await save("one", "https://one.test", true);
    await saveContext({ name: "one", serverUrl: "https://evil.test", makeCurrent: true }, { env });
    const found = await findContext({ env }, "one");
    expect(found?.context.token_in).toBeNull();
    expect(await readFile(join(home, ".config", "svc", "tokens.json"), "utf8")).not.toContain("token-of-one");
  });
});

it("a name that the context of another server has gets a number", async () => {
  const nameFor = (url: string) => nameForServer({ env }, "quickstart", url);
  expect(await nameFor("https://one.test")).toBe("quickstart");
  await save("quickstart", "https://one.test");
  expect(await nameFor("https://one.test")).toBe("quickstart");
  expect(await nameFor("https://two.test")).toBe("quickstart-2");
  await save("quickstart-2", "https://two.test");
  expect(await nameFor("https://two.test")).toBe("quickstart-2");
  expect(await nameFor("https://three.test")).toBe("quickstart-3");
});

describe("the context commands", () => {
  const run = (argv: string[], options: RunOptions = {}) => runCli(argv, { home, ...options });

  it("add, list, use, show and remove", async () => {
    await run(["context", "add", "prod", "--server-url", "https://prod.test"]);
    const added = await run(["context", "add", "lab", "--server-url", "https://lab.test", "--token-stdin"], {
      stdin: "tok\n",
    });
    expect(added.exitCode).toBe(0);
    const rows = JSON.parse((await run(["context", "list", "-o", "json"])).stdout);
    expect(rows).toMatchObject([
      { name: "prod", current: true, token_in: null },
      { name: "lab", current: false, token_in: "file" },
    ]);
    await run(["context", "use", "lab"]);
    expect(JSON.parse((await run(["context", "show", "--json"])).stdout)).toMatchObject({ name: "lab", current: true });
    expect((await run(["context", "use", "nope"])).exitCode).toBe(2);
    expect((await run(["context", "remove", "lab"])).exitCode).toBe(2);
    expect((await run(["context", "remove", "lab"], { tty: true, answers: [false] })).exitCode).toBe(2);
    expect((await run(["context", "remove", "lab"], { tty: true, answers: [true] })).exitCode).toBe(0);
    expect((await run(["context", "show"])).exitCode).toBe(3);
  });

  it("refuse invalid names and files", async () => {
    expect((await run(["context", "add", "../x", "--server-url", "https://x.test"])).exitCode).toBe(2);
    await run(["context", "add", "ok", "--server-url", "https://x.test"]);
    const file = join(home, ".config", "svc", "contexts.json");
    await writeFile(file, "{ not json");
    const { exitCode, stderr } = await run(["context", "list"]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("is damaged");
  });

  it("doctor reports a token file that other users can read", async () => {
    await save("one", "https://one.test");
    const file = join(home, ".config", "svc", "tokens.json");
    await chmod(file, 0o644);
    const { stdout, exitCode } = await run(["doctor"], { send: async () => new Response("{}") });
    expect(exitCode).toBe(1);
    expect(stdout).toContain("other users can read");
  });
});
