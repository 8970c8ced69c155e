// The built binary, started as users start it.
import { type SpawnOptions, spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Writable } from "node:stream";
import { generate } from "selfsigned";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { build } from "../e2e/support/svc.ts";
import { newHome, root } from "../support/cli.ts";

const bin = join(root, "bin", "run.js");
let server: Server;
let env: Record<string, string>;

/** A request was received that gets no reply. */
let onSlow = () => {};
beforeAll(async () => {
  await build();
  server = createServer((request, response) => {
    if (request.url?.startsWith("/api/v1/svc/hosts?query=slow")) return onSlow();
    response.setHeader("content-type", "application/json");
    if (request.url?.includes("/hosts/count")) return response.end('{"count":7}');
    const hosts = Array.from({ length: 500 }, (_, index) => ({
      id: index + 1,
      hostname: `host-${index}`.padEnd(200, "x"),
    }));
    response.end(JSON.stringify({ hosts, meta: { has_next_results: false, has_previous_results: false } }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const home = await newHome();
  env = {
    PATH: process.env.PATH ?? "",
    HOME: home,
    XDG_CONFIG_HOME: join(home, ".config"),
    SVC_KEYRING: "off",
    SVC_API_TOKEN: "t",
    SVC_SERVER_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  };
}, 600_000);
afterAll(() => void server?.close());

interface EndedProcess {
  code: number | null;
  signal: string | null;
  stdout: string;
  stderr: string;
}
function run(
  argv: string[],
  options: SpawnOptions & { onStart?: (kill: (signal: NodeJS.Signals) => void, stdin: Writable | null) => void } = {},
): Promise<EndedProcess> {
  return new Promise((resolve) => {
    const { onStart, ...more } = options;
    const child = spawn(process.execPath, [bin, ...argv], { env, ...more });
    let [stdout, stderr] = ["", ""];
    child.stdout?.on("data", (chunk) => {
      stdout += chunk;
    });
    child.stderr?.on("data", (chunk) => {
      stderr += chunk;
    });
    child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
    onStart?.((signal) => child.kill(signal), child.stdin);
  });
}

describe("the binary", () => {
  it("prints its version in each way", async () => {
    for (const argv of [["--version"], ["version"], ["-v"]]) {
      expect(await run(argv)).toMatchObject({
        code: 0,
        stderr: "",
        stdout: expect.stringMatching(/^svc\/\d+\.\d+\.\d+ \w+-\w+ node-v\d+/),
      });
    }
  });

  it("sends requests over the network", async () => {
    expect(await run(["hosts", "count"])).toMatchObject({ code: 0, stdout: "7\n", stderr: "" });
    const all = await run(["hosts", "list", "--all", "-o", "json"]);
    expect(JSON.parse(all.stdout)).toHaveLength(500);
  });

  it("trusts a private certificate only with --ca-file, and any with --insecure", async () => {
    const pems = await generate([{ name: "commonName", value: "127.0.0.1" }], {
      keySize: 2048,
      extensions: [{ name: "subjectAltName", altNames: [{ type: 7, ip: "127.0.0.1" }] }],
    });
    const secure = createSecureServer({ key: pems.private, cert: pems.cert }, (_, response) =>
      response.end('{"count":7}'),
    );
    await new Promise<void>((resolve) => secure.listen(0, "127.0.0.1", resolve));
    const file = join(env.HOME ?? "", "ca.pem");
    await writeFile(file, pems.cert);
    const count = ["hosts", "count", "--server-url", `https://127.0.0.1:${(secure.address() as AddressInfo).port}`];
    const untrusted = await run(count);
    expect(untrusted).toMatchObject({ code: 8, stdout: "", stderr: expect.stringContaining("--ca-file") });
    expect(await run([...count, "--ca-file", file])).toMatchObject({ code: 0, stdout: "7\n" });
    expect(await run([...count, "--insecure"])).toMatchObject({ code: 0, stdout: "7\n" });
    secure.close();
  });

  it("exits with 2 for wrong usage and with 8 if no server is listening", async () => {
    expect(await run(["hosts", "list", "--nope"])).toMatchObject({ code: 2, stdout: "" });
    expect(await run(["hosts", "count", "--server-url", "http://127.0.0.1:1"])).toMatchObject({ code: 8, stdout: "" });
  });

  it("prints the same with NODE_ENV set to test or development", async () => {
    for (const NODE_ENV of ["test", "development", "production"]) {
      expect(await run(["hosts", "count"], { env: { ...env, NODE_ENV } })).toMatchObject({
        code: 0,
        stdout: "7\n",
        stderr: "",
      });
    }
  });

  it.each([
    ["hosts list --all -o ndjson", '{"id":1,'],
    ["help serve", "Run the server."],
  ])("ends without an error when the reader of %s closes the pipe", async (argv, first) => {
    const pipe = spawn("sh", ["-c", `"${process.execPath}" "${bin}" ${argv} | head -1`], { env });
    let [stdout, stderr] = ["", ""];
    pipe.stdout.on("data", (chunk) => {
      stdout += chunk;
    });
    pipe.stderr.on("data", (chunk) => {
      stderr += chunk;
    });
    await new Promise((resolve) => pipe.on("close", resolve));
    expect(stdout.startsWith(first)).toBe(true);
    expect(stderr).toBe("");
  });

  it("shows the help of a command whose arguments were already given", async () => {
    const ended = await run(["hosts", "get", "host 1", "--server-url", "http://127.0.0.1:1", "--help"]);
    expect(ended).toMatchObject({ code: 0, stderr: "", stdout: expect.stringContaining("$ svc hosts get HOST") });
    expect((await run(["hosts", "nope", "--help"])).code).toBe(2);
  });

  it("never reads an argument from stdin by itself", async () => {
    const ended = await run(["hosts", "get"], { onStart: (_, stdin) => stdin?.end("1\n") });
    expect(ended).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("HOST is required.") });
  });

  it("exits with 130 after an interrupt", async () => {
    const ended = await run(["api", "GET", "/hosts", "-F", "query=slow"], {
      onStart: (kill) => {
        onSlow = () => kill("SIGINT");
      },
    });
    expect(ended).toMatchObject({ code: 130, stdout: "" });
  });

  it("reads a password from stdin without a terminal, and never waits for one", async () => {
    const ended = await run(["login", "--email", "a@b.c"], { stdio: ["ignore", "pipe", "pipe"] });
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain("--password-stdin");
  });

  it("loads no server code, and large modules only when they are needed", async () => {
    const probe = join(root, "test", "fixtures", "loaded-modules.mjs");
    const loaded = async (argv: string[]) => {
      const { stderr, code } = await run(argv, { env: { ...env, NODE_OPTIONS: `--import ${probe}` } });
      expect(code).toBe(0);
      return stderr.split("\n").filter((line) => line.startsWith("loaded "));
    };
    const list = await loaded(["hosts", "list"]);
    expect(list.some((line) => line.includes("/dist/bundle/cli.js"))).toBe(true);
    // A command that only calls endpoints builds no schema, and one without streams needs no second client.
    expect(list.filter((line) => /\/dist\/(api\/|bundle\/(schemas|zod|undici|yaml))/.test(line))).toEqual([]);
    expect(
      list.filter((line) => /\/dist\/(server|simulator)\/|node_modules\/(h3|listhen|pino|pg|@node-rs)\//.test(line)),
    ).toEqual([]);
    expect(list.filter((line) => /node_modules\/(@inquirer|yaml|csv-stringify)\/|@napi-rs/.test(line))).toEqual([]);
    const help = await loaded(["hosts", "list", "--help"]);
    expect(
      help.filter((line) =>
        /\/dist\/(api|commands|bundle\/(schemas|zod|undici))|node_modules\/(zod|undici|lowdb)\//.test(line),
      ),
    ).toEqual([]);
    expect((await loaded(["--version"])).filter((line) => line.includes("node_modules"))).toEqual([]);
    const tab = await loaded(["completion", "--complete", "--", "hosts", "l"]);
    expect(tab.filter((line) => /dist\/bundle\/|node_modules\/(@oclif|zod|undici)\//.test(line))).toEqual([]);
    // In a few files, instead of hundreds.
    expect(list.filter((line) => /node_modules\/(@oclif|zod|undici)\//.test(line))).toEqual([]);
    expect(list.filter((line) => line.includes("/dist/")).length).toBeLessThan(6);
    expect(list.filter((line) => /node_modules\/jq-wasm\//.test(line))).toEqual([]);
  });

  it("contains every command", () => {
    const names = (folder: string, end: string) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(end))
        .map((name) => name.slice(0, -end.length))
        .sort();
    expect(names("dist/commands", ".js")).toEqual(names("src/commands", ".ts"));
  });
});
