import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Commands, complete } from "../../src/cli/completion/complete.ts";
import { shells } from "../../src/cli/completion/scripts.ts";
import type { Send } from "../../src/client/transport.ts";
import { build } from "../e2e/support/svc.ts";
import { commandsOf, newHome, root, runCli } from "../support/cli.ts";
import { startFleet } from "../support/fleet.ts";

const commands = Object.fromEntries(
  (await commandsOf(true)).commands.map((one) => [one.id, one]),
) as unknown as Commands;

/** Completions for the words, without descriptions. */
async function tab(line: string, send?: Send, home = "/nonexistent", now = new Date()): Promise<string[]> {
  let out = "";
  const io = {
    env: { HOME: home, XDG_CONFIG_HOME: `${home}/.config`, SVC_KEYRING: "off" },
    tty: { stdin: false, stdout: false, stderr: false },
    lines: 30,
    columns: 80,
    ask: { text: async () => "", secret: async () => "", yes: async () => false },
    now: () => now,
    out: (text: string) => {
      out += text;
    },
    err: () => {},
    readStdin: async () => "",
    sleep: async () => {},
    ...(send ? { send } : {}),
  };
  await complete(line.split(" "), root, io, commands);
  return out
    .split("\n")
    .filter((text) => text !== "")
    .map((text) => text.split("\t")[0] ?? "");
}

describe("completion", () => {
  it("completes commands, topics, flags and values", async () => {
    expect(await tab("ho")).toEqual(["hosts"]);
    expect(await tab("hosts li")).toEqual(["list"]);
    expect(await tab("teams u")).toEqual(["update", "users"]);
    expect(await tab("hosts list --sta")).toEqual(["--status"]);
    for (const word of ["constructor", "toString"])
      for (const line of [`${word} x`, `hosts list --${word}=x`, `hosts list --where ${word}=x`, `help ${word} x`])
        expect(await tab(line), line).toEqual([]);
    expect(await tab("hosts list --fields id,hostn")).toEqual(["id,hostname"]);
    expect(await tab("policies list --fields unans")).toEqual(["unanswered_host_count"]);
    expect(await tab("explain polic")).toEqual(expect.arrayContaining(["policy", "policies"]));
    expect(await tab("explain policy.plat")).toEqual(["policy.platform"]);
    expect(await tab("can-i hosts:wi")).toEqual(["hosts:wipe"]);
    expect(await tab("config get org_info.org_n")).toEqual(["org_info.org_name"]);
    expect(await tab("config set org_info.org_n")).toEqual(["org_info.org_name="]);
    expect(await tab("hosts list --where plat")).toEqual(["platform", "platform_like"]);
    expect(await tab("hosts list --status ")).toEqual(["new", "online", "offline", "mia", "missing"]);
    expect(await tab("hosts list --status=on")).toEqual(["--status=online"]);
    expect(await tab("hosts list --order-key hostn")).toEqual(["hostname"]);
    expect(await tab("hosts list -o n")).toEqual(["ndjson"]);
    expect(await tab("hosts list --limit 3 --lim")).toEqual([]);
    expect(await tab("completion ")).toEqual([...shells]);
    expect(await tab("hosts list --query ")).toEqual([]);
    expect(await tab("nonsense ")).toEqual([]);
    expect(await tab("help env")).toEqual(["environment"]);
    expect(await tab("help hosts transf")).toEqual(["transfer"]);
  });

  it("completes the names of hosts, teams, labels, users and contexts", async () => {
    const { app, home } = await startFleet();
    const send: Send = (url, init) => app.raw(new URL(url).pathname + new URL(url).search, init);
    expect(await tab("hosts get mac", send, home)).toEqual(["mac-1.example.com"]);
    expect(await tab("hosts delete mac-1.example.com linux", send, home)).toEqual(["linux-1.example.com"]);
    expect(await tab("hosts list --team W", send, home)).toEqual(["Workstations"]);
    expect(await tab("labels get Lo", send, home)).toEqual(["Loaners"]);
    expect(await tab("policies get Di", send, home)).toEqual(["Disk encrypted"]);
    expect(await tab("hosts labels add mac-1.example.com Loa", send, home)).toEqual(["Loaners"]);
    expect(await tab("users get obs", send, home)).toEqual(["observer@example.com"]);
    expect(await tab("context use s", send, home)).toEqual(["staging"]);
    expect(await tab("hosts list --context l", send, home)).toEqual(["local"]);
    expect(await tab("query --labels macOS,Loa", send, home)).toEqual(["macOS,Loaners"]);
    expect(await tab("policies delete --team=Work", send, home)).toEqual(["--team=Workstations"]);
    expect(await tab("hosts list --query mac", send, home)).toEqual([]);
    expect((await tab("jobs run ", send, home)).length).toBeGreaterThan(3);
    const numbers = await tab("hosts list --label-id ", send, home);
    expect(numbers.length).toBeGreaterThan(3);
    expect(numbers.every((one) => /^\d+$/.test(one))).toBe(true);
  });

  it("prints nothing if the server is down or nobody is signed in", async () => {
    const down: Send = () => Promise.reject(new Error("down"));
    expect(await tab("hosts get mac", down)).toEqual([]);
  });

  it("offers no name that a shell could misinterpret", async () => {
    const { home } = await startFleet();
    const hosts = ["-rf", "two\nlines", "\u001b[2J", "good"].map((hostname) => ({ hostname, platform: "x" }));
    const send: Send = async () => new Response(JSON.stringify({ hosts }));
    expect(await tab("hosts get ", send, home)).toEqual(["good"]);
  });

  it("prints a script for each shell, which bash accepts", async () => {
    for (const shell of shells) {
      const { exitCode, stdout } = await runCli(["completion", shell]);
      expect(exitCode).toBe(0);
      expect(stdout).toContain("svc completion --complete");
      if (shell === "bash") expect(spawnSync("bash", ["-n"], { input: stdout }).status).toBe(0);
    }
    expect((await runCli(["completion"], { env: { SHELL: "/bin/zsh" } })).stdout).toContain("#compdef svc");
    expect((await runCli(["completion"], { env: { SHELL: "/bin/csh" } })).exitCode).toBe(2);
  });

  it("quotes names of hosts in bash", async () => {
    const { stdout } = await runCli(["completion", "bash"]);
    const script = `svc() { printf '%s\\n' '$(touch /tmp/x) name'; }
${stdout}
COMP_WORDS=(svc hosts get ''); COMP_CWORD=3; _svc; printf '%s\\n' "\${COMPREPLY[@]}"`;
    expect(execFileSync("bash", ["-c", script], { encoding: "utf8" })).toBe("\\$\\(touch\\ /tmp/x\\)\\ name\n");
  });

  it("does not quote commas between fields in bash, but what else is in the word", async () => {
    const { stdout } = await runCli(["completion", "bash"]);
    const script = `svc() { printf '%s\\n' 'id,hostname' 'a\\,{b,c} d'; }
${stdout}
COMP_WORDS=(svc hosts list --fields id,host); COMP_CWORD=4; _svc
printf '%s\\n' "\${COMPREPLY[@]}"; eval "printf '<%s>' \${COMPREPLY[*]}"`;
    expect(execFileSync("bash", ["-c", script], { encoding: "utf8" })).toBe(
      "id,hostname\na\\\\,\\{b,c\\}\\ d\n<id,hostname><a\\,{b,c} d>",
    );
  });
});

describe("names that were requested recently", () => {
  const answering = (names: () => string[]) => {
    const paths: string[] = [];
    const send: Send = async (url) => {
      const { pathname, search, searchParams } = new URL(url);
      paths.push(`${pathname}${search}`);
      const found = names().filter((name) => name.includes(searchParams.get("query") ?? ""));
      return new Response(JSON.stringify({ hosts: found.map((hostname, id) => ({ hostname, platform: "x", id })) }));
    };
    return { send, paths };
  };
  const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000);
  const cached = (home: string) => join(home, ".cache", "svc", "completion");

  it("are not requested again until they are outdated, and only the owner can read them", async () => {
    const { home } = await startFleet();
    let names = ["mac-1", "mac-2"];
    const { send, paths } = answering(() => names);
    expect(await tab("hosts get mac", send, home, at(0))).toEqual(["mac-1", "mac-2"]);
    names = ["mac-3"];
    expect(await tab("hosts get mac", send, home, at(40))).toEqual(["mac-1", "mac-2"]);
    // All names with a shorter prefix were known.
    expect(await tab("hosts get mac-2", send, home, at(41))).toEqual(["mac-2"]);
    expect(paths).toHaveLength(1);
    expect(await tab("hosts get mac", send, home, at(60))).toEqual(["mac-3"]);
    expect(await tab("hosts get mac", send, home, at(-5))).toEqual(["mac-3"]);
    const [file = ""] = await readdir(cached(home));
    expect((await stat(cached(home))).mode & 0o777).toBe(0o700);
    expect((await stat(join(cached(home), file))).mode & 0o777).toBe(0o600);
  });

  it("are separate for each user and each server", async () => {
    const { home } = await startFleet();
    const one = answering(() => ["one"]);
    const two = answering(() => ["two"]);
    expect(await tab("hosts get ", one.send, home, at(0))).toEqual(["one"]);
    expect(await tab("hosts get --context staging ", two.send, home, at(1))).toEqual([]);
    expect(await tab("hosts get --server-url http://other.example.com ", two.send, home, at(1))).toEqual([]);
    expect(await tab("hosts get ", two.send, home, at(2))).toEqual(["one"]);
  });

  it("send no further request to a server that did not reply", async () => {
    const { home } = await startFleet();
    let asked = 0;
    const down: Send = () => {
      asked++;
      return Promise.reject(new Error("down"));
    };
    expect(await tab("hosts get ", down, home, at(0))).toEqual([]);
    expect(await tab("hosts get ", down, home, at(5))).toEqual([]);
    expect(asked).toBe(1);
    expect(await tab("hosts get ", answering(() => ["up"]).send, home, at(20))).toEqual(["up"]);
  });

  it("stay few, whatever the user types", async () => {
    const { home } = await startFleet();
    const long = Array.from({ length: 50 }, (_, n) => `${"x".repeat(900)}-${n}`);
    const { send } = answering(() => long);
    for (let n = 0; n < 40; n++) await tab(`hosts get ${"x".repeat(n + 1)}`, send, home, at(0));
    const [file = ""] = await readdir(cached(home));
    expect((await stat(join(cached(home), file))).size).toBeLessThan(256 * 1024);
  });

  it("are ignored if others can write the file, and requested again if it is damaged", async () => {
    const { home } = await startFleet();
    const { send } = answering(() => ["true"]);
    expect(await tab("hosts get ", send, home, at(0))).toEqual(["true"]);
    const [file = ""] = await readdir(cached(home));
    const path = join(cached(home), file);
    await writeFile(path, (await readFile(path, "utf8")).replace("true", "fake"), { mode: 0o600 });
    expect(await tab("hosts get ", send, home, at(1))).toEqual(["fake"]);
    execFileSync("chmod", ["666", path]);
    expect(await tab("hosts get ", send, home, at(1))).toEqual(["true"]);
    await writeFile(path, "{half");
    execFileSync("chmod", ["600", path]);
    expect(await tab("hosts get ", send, home, at(1))).toEqual(["true"]);
  });

  it("are deleted at a sign-out, and with a context", async () => {
    for (const argv of [["logout"], ["context", "remove", "staging", "--yes"]]) {
      const { home, run } = await startFleet();
      await tab("hosts get ", answering(() => ["one"]).send, home, at(0));
      expect(await readdir(cached(home))).toHaveLength(1);
      expect((await run(argv)).exitCode).toBe(0);
      expect(spawnSync("ls", [cached(home)]).status).not.toBe(0);
    }
  });
});

describe("in a real shell", () => {
  const installed = (shell: string) => spawnSync(shell, ["-c", "true"]).status === 0;
  const names = ["mac-1", "mac two", "$(touch /tmp/svc-was-run)", "it's", "a:b"];
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://x");
    const query = searchParams.get("query") ?? "";
    const hosts = names.filter((name) => name.includes(query)).map((hostname, id) => ({ hostname, platform: "x", id }));
    response.end(JSON.stringify(pathname.endsWith("/hosts") ? { hosts } : {}));
  });
  let env: Record<string, string>;
  beforeAll(async () => {
    await build();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const home = await newHome();
    const bin = join(home, "bin");
    await mkdir(bin);
    await writeFile(join(bin, "svc"), `#!/bin/sh\nexec "${process.execPath}" "${join(root, "bin", "run.js")}" "$@"\n`, {
      mode: 0o755,
    });
    env = {
      PATH: `${bin}:${process.env.PATH}`,
      HOME: home,
      SVC_KEYRING: "off",
      SVC_API_TOKEN: "t",
      SVC_SERVER_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    };
  }, 600_000);
  afterAll(() => void server.close());

  /** The output of the shell's own completion. */
  const inShell = (shell: string, script: string): Promise<string[]> =>
    new Promise((resolve, reject) => {
      const child = spawn(shell, ["-c", script], { env, stdio: ["ignore", "pipe", "pipe"] });
      let [stdout, stderr] = ["", ""];
      child.stdout.on("data", (chunk) => {
        stdout += chunk;
      });
      child.stderr.on("data", (chunk) => {
        stderr += chunk;
      });
      child.on("error", reject);
      child.on("close", () =>
        stderr === "" ? resolve(stdout.split("\n").filter(Boolean)) : reject(new Error(stderr)),
      );
    });

  /** `words` as in bash's COMP_WORDS; the last one is being completed. */
  const bash = (...words: string[]) =>
    inShell(
      "bash",
      `source <(svc completion bash)
COMP_WORDS=(svc ${words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ")}); COMP_CWORD=${words.length}
_svc; printf '%s\\n' "\${COMPREPLY[@]}"`,
    );

  /** Names come within a second, or not at all: on a busy machine the user presses the key again. */
  const pressing = (complete: () => Promise<(string | undefined)[]>) => expect.poll(complete);

  it.runIf(installed("bash"))("bash gets words quoted as it would insert them", async () => {
    expect(await bash("hosts", "li")).toEqual(["list"]);
    await pressing(() => bash("hosts", "get", "mac")).toEqual(["mac-1", "mac\\ two"]);
    await pressing(() => bash("hosts", "get", "$")).toEqual(["\\$\\(touch\\ /tmp/svc-was-run\\)"]);
    await pressing(() => bash("hosts", "get", "mac\\ t")).toEqual(["mac\\ two"]);
    await pressing(() => bash("hosts", "get", "'mac t")).toEqual(["mac two"]);
    expect(await bash("hosts", "get", '"it')).toEqual([]);
    expect(spawnSync("ls", ["/tmp/svc-was-run"]).status).not.toBe(0);
  });

  it.runIf(installed("bash"))("bash gets the rest of words that it has split", async () => {
    expect(await bash("hosts", "list", "--status", "=", "onl")).toEqual(["online"]);
    expect(await bash("hosts", "list", "--status", "=")).toContain("missing");
    await pressing(() => bash("hosts", "get", "a", ":", "")).toEqual(["b"]);
  });

  it.runIf(installed("fish"))("fish lists commands, flags and names", async () => {
    const fish = (line: string) =>
      inShell("fish", `svc completion fish | source; complete -C ${JSON.stringify(line)}`).then((lines) =>
        lines.map((one) => one.split("\t")[0]),
      );
    expect(await fish("svc hosts li")).toEqual(["list"]);
    await pressing(() => fish("svc hosts get mac")).toEqual(expect.arrayContaining(["mac-1"]));
    expect(await fish("svc hosts list --sta")).toEqual(["--status"]);
  });

  it.runIf(installed("zsh"))("zsh accepts the script, which inserts names unchanged", async () => {
    const zsh = (...words: string[]) =>
      inShell(
        "zsh",
        `compdef() {}; compadd() { while [[ $1 != -a ]]; do shift; done; print -rl -- "\${(@P)2}" }; _files() { print files }
source <(svc completion zsh)
words=(svc ${words.map((word) => `'${word}'`).join(" ")}); CURRENT=${words.length + 1}; _svc`,
      );
    expect(await zsh("hosts", "li")).toEqual(["list"]);
    await pressing(() => zsh("hosts", "get", "mac")).toEqual(["mac-1", "mac two"]);
    expect(await zsh("carves", "download", "")).toEqual(["files"]);
  });

  it("completion does not wait for a server that does not reply", async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const none = await inShell("sh", `svc completion --complete -- hosts get --server-url ${url} ma`);
    expect(none).toEqual([]);
    silent.closeAllConnections();
    silent.close();
  });
});

describe("selectors", () => {
  const where = async (text: string) => {
    const { wordsFor } = await import("../../src/cli/completion/words.ts");
    const names = async () => ["Loaners", "On call"];
    const words = (await wordsFor("hosts:list", { name: "where" }, text, names)) ?? [];
    return words.map(([word]) => word).filter((word) => word.startsWith(text));
  };

  it("are continued with fields, operators, values and connectives", async () => {
    expect(await where("online and stat")).toEqual(["online and status"]);
    expect(await where("status ")).toContain("status = ");
    expect(await where("status = off")).toEqual(["status = offline"]);
    expect(await where("platform in (darwin, win")).toEqual(["platform in (darwin, windows"]);
    expect(await where("label = Lo")).toEqual(["label = Loaners"]);
    expect(await where("status = online an")).toEqual(["status = online and"]);
    expect(await where("online and soft")).toContain("online and software(");
    expect(await where("software(ver")).toEqual(["software(version"]);
    expect(await where("software(name = a and (ver")).toEqual(["software(name = a and (version"]);
    expect(await where("software(version ")).toContain("software(version < ");
    expect(await where("software(name = a) and plat")).toContain("software(name = a) and platform");
    expect(await where("not (seen")).toEqual(expect.arrayContaining(["not (seen", "not (seen_time"]));
  });

  it("have the same fields as on the server", async () => {
    const [{ selectorFields }, { fields }] = await Promise.all([
      import("../../src/api/inventory/selector-fields.ts"),
      import("../../src/server/inventory/host-list/selector/fields.ts"),
    ]);
    expect([...new Set(selectorFields)].sort()).toEqual([...fields.keys()].sort());
  });
});
