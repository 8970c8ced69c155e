import { execFileSync, spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { type Commands, complete } from "../../src/cli/complete.ts";
import { shells } from "../../src/cli/completion-scripts.ts";
import type { Send } from "../../src/client/transport.ts";
import { commandsOf, root, runCli } from "../support/cli.ts";
import { startFleet } from "../support/fleet.ts";

const commands = Object.fromEntries(
  (await commandsOf(true)).commands.map((one) => [one.id, one]),
) as unknown as Commands;

/** What may follow the words, without descriptions. */
async function tab(line: string, send?: Send, home = "/nonexistent"): Promise<string[]> {
  let out = "";
  const io = {
    env: { HOME: home, XDG_CONFIG_HOME: `${home}/.config`, SVC_KEYRING: "off" },
    tty: { stdin: false, stdout: false, stderr: false },
    columns: 80,
    ask: { text: async () => "", secret: async () => "", yes: async () => false },
    now: () => new Date(),
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
  it("knows commands, topics, flags and values", async () => {
    expect(await tab("ho")).toEqual(["hosts"]);
    expect(await tab("hosts li")).toEqual(["list"]);
    expect(await tab("teams u")).toEqual(["update", "users"]);
    expect(await tab("hosts list --sta")).toEqual(["--status"]);
    expect(await tab("hosts list --status ")).toEqual(["new", "online", "offline", "mia", "missing"]);
    expect(await tab("hosts list --status=on")).toEqual(["--status=online"]);
    expect(await tab("hosts list --order-key host")).toEqual(["hostname"]);
    expect(await tab("hosts list -o n")).toEqual(["ndjson"]);
    expect(await tab("hosts list --limit 3 --lim")).toEqual([]);
    expect(await tab("completion ")).toEqual([...shells]);
    expect(await tab("hosts list --query ")).toEqual([]);
    expect(await tab("nonsense ")).toEqual([]);
  });

  it("knows the names of hosts, teams, labels, users and contexts", async () => {
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
  });

  it("is silent when the server is down or nobody is signed in", async () => {
    const down: Send = () => Promise.reject(new Error("down"));
    expect(await tab("hosts get mac", down)).toEqual([]);
  });

  it("offers no name that a shell could take for something else", async () => {
    const { home } = await startFleet();
    const hosts = ["-rf", "two\nlines", "\u001b[2J", "good"].map((hostname) => ({ hostname, platform: "x" }));
    const send: Send = async () => new Response(JSON.stringify({ hosts }));
    expect(await tab("hosts get ", send, home)).toEqual(["good"]);
  });

  it("prints a script for each shell, which bash takes", async () => {
    for (const shell of shells) {
      const { exitCode, stdout } = await runCli(["completion", shell]);
      expect(exitCode).toBe(0);
      expect(stdout).toContain("svc completion --complete");
      if (shell === "bash") expect(spawnSync("bash", ["-n"], { input: stdout }).status).toBe(0);
    }
    expect((await runCli(["completion"], { env: { SHELL: "/bin/zsh" } })).stdout).toContain("#compdef svc");
    expect((await runCli(["completion"], { env: { SHELL: "/bin/csh" } })).exitCode).toBe(2);
  });

  it("quotes in bash what a host is called", async () => {
    const { stdout } = await runCli(["completion", "bash"]);
    const script = `svc() { printf '%s\\n' '$(touch /tmp/x) name'; }
${stdout}
COMP_WORDS=(svc hosts get ''); COMP_CWORD=3; _svc; printf '%s\\n' "\${COMPREPLY[@]}"`;
    expect(execFileSync("bash", ["-c", script], { encoding: "utf8" })).toBe("\\$\\(touch\\ /tmp/x\\)\\ name\n");
  });
});
