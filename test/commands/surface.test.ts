// The commands and flags in the manifest: every change shows in the committed snapshot.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { allEndpoints } from "../../src/api/all.ts";
import type { AnyEndpoint } from "../../src/api/endpoint.ts";
import { isDestructive } from "../../src/cli/help/help.ts";
import { sourceCommands } from "../../src/cli/run/source-config.ts";
import { build } from "../e2e/support/svc.ts";
import { commandsOf, root } from "../support/cli.ts";

type Config = Awaited<ReturnType<typeof commandsOf>>;
let config: Config;
let endpoints: Map<string, readonly AnyEndpoint[]>;

beforeAll(async () => {
  config = await commandsOf(true);
  const classes = await sourceCommands(root, (file) => import(/* @vite-ignore */ file));
  endpoints = new Map(
    Object.entries(classes).map(([id, one]) => [id, (one as { endpoints?: readonly AnyEndpoint[] }).endpoints ?? []]),
  );
});

const changing = (id: string) => (endpoints.get(id) ?? []).some(({ method }) => method !== "GET");

describe("the commands", () => {
  it("are these, with these flags", async () => {
    const surface = config.commands
      .map(({ id, args, flags, hidden }) => {
        const names = Object.values(flags).map(({ name, char }) => (char ? `-${char}, --${name}` : `--${name}`));
        const given = Object.values(args).map(({ name, required }) =>
          required ? name.toUpperCase() : `[${name.toUpperCase()}]`,
        );
        return [
          `${[id.replaceAll(":", " "), ...given].join(" ")}${hidden ? " (hidden)" : ""}`,
          ...names.sort().map((name) => `  ${name}`),
        ].join("\n");
      })
      .sort()
      .join("\n");
    await expect(`${surface}\n`).toMatchFileSnapshot("surface.txt");
  });

  it("cover every endpoint", () => {
    const covered = new Set([...endpoints.values()].flat());
    // The newer spellings have commands.
    const needing = allEndpoints.filter(({ group }) => group !== "older");
    expect(needing.filter(({ endpoint }) => !covered.has(endpoint)).map(({ name }) => name)).toEqual([]);
  });

  it("each have a summary and an example", () => {
    const bare = config.commands.filter(({ summary, examples }) => !summary || !examples || examples.length === 0);
    expect(bare.map(({ id }) => id)).toEqual([]);
  });

  it("describe each flag on its own, and show which can be repeated", () => {
    const flags = config.commands.flatMap(({ id, flags }) => Object.values(flags).map((flag) => ({ id, ...flag })));
    // oclif adds dots to the values of flags that can be repeated.
    const dotted = flags.filter(
      (flag) => flag.type === "option" && flag.multiple && /\.\.\.$/.test(String(flag.helpValue)),
    );
    expect(dotted.map(({ id, name }) => `${id} --${name}`)).toEqual([]);
    const vague = flags.filter(({ name, summary = "" }) => {
      const isName = summary.toLowerCase() === `${name.replaceAll("-", " ")}.`;
      return /^The same/.test(summary) || (isName && /-(?:id|uuid|settings|type|score|status|encryption)$/.test(name));
    });
    expect(vague.map(({ id, name, summary }) => `${id} --${name}: ${summary}`)).toEqual([]);
  });

  it("have --dry-run if they change something", () => {
    // A sign-in changes nothing that could be tested in a dry run, and POST requests that only read change nothing.
    const asks = ["login", "translate", "plan", "drift", "export"];
    const without = config.commands.filter(({ id, flags }) => changing(id) && !asks.includes(id) && !flags["dry-run"]);
    expect(without.map(({ id }) => id)).toEqual([]);
  });

  it("have -o on every list and get", () => {
    const reading = config.commands.filter(({ id }) => /(^|:)(list|get|show|summary|count)$/.test(id));
    expect(reading.length).toBeGreaterThan(10);
    expect(reading.filter(({ flags }) => !flags.output || !flags.fields).map(({ id }) => id)).toEqual([]);
  });

  it("ask for confirmation, and are marked, if they destroy something", () => {
    // What these remove can be restored unchanged by a related command, or requested again.
    const undone = ["hosts:labels:remove", "queries:live:cancel", "logout"];
    const destroying = config.commands.filter(
      ({ id }) =>
        !undone.includes(id) &&
        (endpoints.get(id) ?? []).some(({ method, path }) => method === "DELETE" || /\/(delete|wipe|lock)$/.test(path)),
    );
    expect(destroying.length).toBeGreaterThan(15);
    expect(destroying.filter((one) => !isDestructive(one)).map(({ id }) => id)).toEqual([]);
    const marked = config.commands.filter(isDestructive);
    expect(marked.filter(({ flags }) => !flags.yes && !flags.confirm).map(({ id }) => id)).toEqual([]);
  });

  it("have --jq if they have -o", () => {
    const printing = config.commands.filter(({ flags }) => flags.output);
    expect(printing.length).toBeGreaterThan(100);
    expect(printing.filter(({ flags }) => !flags.jq || !flags["no-header"]).map(({ id }) => id)).toEqual([]);
  });

  it("have --limit and --all, both or none", () => {
    const one = config.commands.filter(({ flags }) => Boolean(flags.limit) !== Boolean(flags.all));
    expect(one.map(({ id }) => id)).toEqual([]);
  });

  it("have --wait and --timeout, both or none", () => {
    const waiting = config.commands.filter(({ flags }) => flags.wait);
    expect(waiting.map(({ id }) => id)).toEqual(expect.arrayContaining(["hosts:lock", "hosts:unlock", "hosts:wipe"]));
    expect(waiting.filter(({ flags }) => !flags.timeout).map(({ id }) => id)).toEqual([]);
  });

  it("name flags like the API's fields, in kebab-case, and each has a description", () => {
    const odd = config.commands.flatMap(({ id, flags }) =>
      Object.values(flags)
        .filter(
          ({ name, summary, description }) => !/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name) || !(summary ?? description),
        )
        .map(({ name }) => `${id} --${name}`),
    );
    expect(odd).toEqual([]);
  });

  it("accept the API's body with --input if they create or update", () => {
    const writing = config.commands.filter(({ id }) => /:(create|update)$/.test(id));
    expect(writing.length).toBeGreaterThan(15);
    // A file cannot stand in a body of JSON or YAML.
    const sendsFile = (id: string) =>
      (endpoints.get(id) ?? []).some(({ takes }) => ["multipart", "stream"].includes(takes.kind));
    expect(writing.filter(({ id, flags }) => !flags.input && !sendsFile(id)).map(({ id }) => id)).toEqual([]);
  });

  it("read each secret from stdin and from a file", () => {
    const alone = config.commands.flatMap(({ id, flags }) =>
      Object.keys(flags)
        .filter((name) => name.endsWith("-stdin") && !flags[name.replace(/-stdin$/, "-file")])
        .map((name) => `${id} --${name}`),
    );
    expect(alone).toEqual([]);
  });

  it("accept no secret as the value of a flag", () => {
    const secret = /password|secret|token/;
    const found = config.commands.flatMap(({ id, flags }) =>
      Object.values(flags)
        .filter(({ name, type }) => type === "option" && secret.test(name) && !/-(file|path|url)$/.test(name))
        .map(({ name }) => `${id} --${name}`),
    );
    expect(found).toEqual([]);
  });

  it("have a description for each topic", () => {
    const bare = config.topics.filter(
      ({ name, description }) => !description && config.commands.some(({ id }) => id.startsWith(`${name}:`)),
    );
    expect(bare.map(({ name }) => name)).toEqual([]);
  });

  // The build may be older than the source, and takes long while other tests run.
  it("are in the manifest of the build unchanged", { timeout: 600_000 }, async () => {
    await build();
    const { commands } = JSON.parse(await readFile(join(root, "oclif.manifest.json"), "utf8"));
    expect(Object.keys(commands).sort()).toEqual(config.commands.map(({ id }) => id).sort());
    for (const { id, flags } of config.commands) {
      expect(Object.keys(commands[id].flags).sort(), id).toEqual(Object.keys(flags).sort());
    }
  });
});
