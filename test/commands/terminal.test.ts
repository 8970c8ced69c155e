// Output on a terminal: whatever names hosts and other users choose, only the command line's own styles control it.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AnyEndpoint } from "../../src/api/endpoint.ts";
import { adoptStyles, forTerminal, style } from "../../src/cli/output/terminal.ts";
import { sourceCommands } from "../../src/cli/run/source-config.ts";
import { commandsOf, newHome, type RunOptions, root, runCli } from "../support/cli.ts";
import { HOSTILE, hostileServer } from "../support/hostile.ts";

const config = await commandsOf(true);
const classes = await sourceCommands(root, (file) => import(/* @vite-ignore */ file));
const endpointsOf = (id: string) =>
  (classes[id] as { endpoints?: readonly AnyEndpoint[] } | undefined)?.endpoints ?? [];

/** What remains after removing our own styles and the status line, of characters that control a terminal. */
// biome-ignore-start lint/suspicious/noControlCharactersInRegex: they are what is looked for
const steering = (text: string): string[] =>
  text
    .replace(/\u001b\[(?:0|1|2|3[1-46]|90)m/g, "")
    .replace(/\r\u001b\[K/g, "")
    .match(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g) ?? [];
/** The text as a terminal shows it: the text on an erased line is gone. */
const seenOf = (written: string): string => written.replace(/[^\n]*\r\u001b\[K/g, "");
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: they are what is looked for

const run = (argv: readonly string[], options: RunOptions = {}) =>
  runCli([...argv], {
    send: hostileServer(),
    tty: true,
    ...options,
    env: { SVC_API_TOKEN: "t", SVC_WEBHOOK_SECRET: "s", ...options.env },
  });

/** Commands that print replies of servers and need other words than their bare arguments. */
const lines: Readonly<Record<string, readonly (readonly string[])[]>> = {
  api: [
    ["api", "GET", "/hosts"],
    ["api", "GET", "/hosts/report", "-F", "format=csv"],
    ["api", "GET", "/nothing"],
  ],
  query: [["query", "SELECT 1", "--hosts", "1"]],
  "queries:report": [
    ["queries", "report", "1"],
    ["queries", "report", "1", "--csv"],
  ],
  "hosts:query": [["hosts", "query", "1", "SELECT 1"]],
  "queries:run": [["queries", "run", "1", "--hosts", "1"]],
  "hosts:explain": [["hosts", "explain", "1", "--where", "status = online"]],
  "activities:follow": [["activities", "follow", "--once"]],
  "hosts:refetch": [["hosts", "refetch", "1"]],
  "hosts:lock": [["hosts", "lock", "1"]],
  "hosts:wipe": [["hosts", "wipe", "1"]],
  "hosts:delete": [
    ["hosts", "delete", "1", "--dry-run"],
    ["hosts", "delete", "1"],
  ],
  "teams:delete": [["teams", "delete", "1"]],
  "mdm:enrollment-profile:manual": [["mdm", "enrollment-profile", "manual", "-o", "-"]],
  "labels:delete": [["labels", "delete", "1"]],
  "software:packages:fetch": [["software", "packages", "fetch", "1", "1", "-o", "-"]],
};
/** Commands that open a browser, listen, or need a file; they print nothing that comes from a host. */
const apart = new Set([
  "webhooks:listen",
  "sso:start",
  "sso:callback",
  "login",
  "completion",
  "export",
  "drift",
  "plan",
]);

const reading = config.commands
  .filter(({ id }) => !apart.has(id) && !/^(serve|db:|agent:)/.test(id))
  .filter(({ id }) => id in lines || endpointsOf(id).every(({ method }) => method === "GET"))
  .filter(({ id }) => id in lines || endpointsOf(id).length > 0);
const argvOf = (id: string): readonly (readonly string[])[] => {
  const { args } = config.commands.find((one) => one.id === id)!;
  const bare = Object.values(args).filter(({ required }) => required);
  return lines[id] ?? [[...id.split(":"), ...bare.map(() => "1")]];
};

// Some commands write a file.
const started = process.cwd();
beforeAll(async () => process.chdir(await newHome()));
afterAll(() => process.chdir(started));

describe("a terminal", () => {
  it.each(reading.map(({ id, flags }) => [id, Object.hasOwn(flags, "fields")] as const))(
    "is not controlled by anything that %s prints",
    async (id, formats) => {
      for (const argv of argvOf(id))
        for (const format of formats ? ["table", "json", "yaml", "csv", "ndjson"] : [null])
          for (const color of format === "table" ? [true, false] : [true]) {
            const whole = [...argv, ...(format === null ? [] : ["-o", format]), ...(color ? [] : ["--no-color"])];
            const { stdout, stderr, asked } = await run(whole, { answers: [false] });
            expect([whole, steering(stdout), steering(stderr)]).toEqual([whole, [], []]);
            // Magenta is not one of our colours: a style that a host chose would show here.
            expect(stdout + stderr).not.toContain("\u001b[35m");
            expect(steering(asked.join(""))).toEqual([]);
          }
    },
  );

  it("shows most of what these commands print, escaped", async () => {
    const shown: string[] = [];
    for (const { id, flags } of reading) {
      const format = Object.hasOwn(flags, "fields") ? ["-o", "json"] : [];
      const { stdout, stderr } = await run([...argvOf(id)[0]!, ...format], { answers: [false] });
      if (/\\u001b\[35mPWNED/.test(stdout + stderr)) shown.push(id);
    }
    expect(shown.length).toBeGreaterThan(50);
    expect(shown).toEqual(expect.arrayContaining(["hosts:list", "hosts:report", "api", "query"]));
  });

  it("gets hosts' bytes escaped however they are split, and files and pipes get them unchanged", async () => {
    const csv = new TextEncoder().encode(`name\r\n"a\u009b35m${HOSTILE}é"\r\nlone\rcr\r\n`);
    const send = hostileServer();
    const bytewise = async (url: string, init: Parameters<typeof send>[1]) => {
      if (!url.includes("/hosts/report")) return send(url, init);
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          for (const byte of csv) controller.enqueue(Uint8Array.of(byte));
          controller.close();
        },
      });
      return new Response(body, { headers: { "content-type": "text/csv" } });
    };
    const shown = await run(["hosts", "report"], { send: bytewise });
    expect(steering(shown.stdout)).toEqual([]);
    expect(shown.stdout).toContain('name\n"a\\u009b35m');
    expect(shown.stdout).toContain('é"\nlone\\rcr\n');
    const piped = await run(["hosts", "report"], { send: bytewise, tty: false });
    expect(Buffer.from(piped.stdout, "latin1").toString("utf8")).toBe(new TextDecoder().decode(csv));
    const raw = await run(["hosts", "list", "--jq", ".[0].hostname"], { tty: false });
    expect(raw.stdout).toBe(`text${HOSTILE}\n`);
  });

  it("accepts only our own styles", () => {
    expect(forTerminal(`${style(31, "red\u001b[32m")}\n`)).toBe("\u001b[31mred\\u001b[32m\u001b[0m\n");
    expect(forTerminal(adoptStyles("\u001b[1mUSAGE\u001b[22m"))).toBe("\u001b[1mUSAGE\u001b[22m");
    expect(forTerminal("\u001b[1;1;1;31mguess")).toBe("\\u001b[1;1;1;31mguess");
  });

  it("loses nothing of a list to the progress line", async () => {
    let screen = "";
    const write = (text: string) => {
      screen += text;
    };
    const { exitCode } = await run(["hosts", "list", "-o", "json", "--no-color"], { onOut: write, onErr: write });
    expect(exitCode).toBe(0);
    expect(JSON.parse(seenOf(screen))).toHaveLength(1);
    expect(screen).toContain("requesting data");
  });
});
