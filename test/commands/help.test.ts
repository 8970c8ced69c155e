// Help topics, manual pages and `svc explain`, each generated from one source.
import { spawnSync } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { exitCodes } from "../../src/cli/exit-codes.ts";
import { resources } from "../../src/cli/help/explain.ts";
import { helpTopics } from "../../src/cli/help/help-topics.ts";
import { manPages } from "../../src/cli/help/man.ts";
import { commandsOf, newHome, root, runCli } from "../support/cli.ts";

const config = await commandsOf(true);
const visible = config.commands.filter(({ hidden }) => !hidden);

describe("the help of a command", () => {
  it("contains no values that are not text", () => {
    const broken = config.commands.flatMap(({ id, summary, description, flags, args }) =>
      [summary, description, ...[...Object.values(flags), ...Object.values(args)].map((one) => one.description)]
        .filter(
          (text) => text !== undefined && (typeof text !== "string" || /\b(NaN|undefined)\b|\[object /.test(text)),
        )
        .map((text) => `${id}: ${text}`),
    );
    expect(broken).toEqual([]);
  });
});

describe("help topics", () => {
  it("list every exit code", async () => {
    const { stdout, exitCode } = await runCli(["help", "exit-codes"]);
    expect(exitCode).toBe(0);
    for (const { code, meaning } of Object.values(exitCodes)) {
      expect(stdout.replace(/\s+/g, " ")).toContain(`${code} ${meaning}`);
    }
  });

  it("list every variable that a flag or the sources use", async () => {
    const { stdout } = await runCli(["help", "environment"]);
    const named = new Set(
      visible
        .filter(({ id }) => id !== "serve")
        .flatMap(({ flags }) =>
          Object.values(flags).flatMap(({ summary = "" }) => summary.match(/\bSVC_[A-Z_]+\b/g) ?? []),
        ),
    );
    for (const folder of ["src/cli", "src/commands"]) {
      const files = await readdir(join(root, folder), { recursive: true });
      for (const file of files.filter((one) => one.endsWith(".ts"))) {
        const text = await readFile(join(root, folder, file), "utf8");
        for (const [, name = ""] of text.matchAll(/\benv\.(SVC_[A-Z_]+)/g)) named.add(name);
        for (const [, name = ""] of text.matchAll(/readSecret\([^)]*"(SVC_[A-Z_]+)"\)/g)) named.add(name);
      }
    }
    // Variables of certificate templates are not environment variables, and SVC_AGENT_SCALE is only for the agent's tests.
    const wanted = [...named].filter((name) => !name.startsWith("SVC_VAR_") && name !== "SVC_AGENT_SCALE");
    expect(wanted.length).toBeGreaterThan(15);
    expect(wanted.filter((name) => !new RegExp(`^ +.*\\b${name}\\b`, "m").test(stdout))).toEqual([]);
  });

  it("describe every format", async () => {
    const { stdout } = await runCli(["help", "formatting"]);
    for (const word of ["table", "json", "yaml", "csv", "ndjson", "--fields", "--jq", "--all"])
      expect(stdout).toContain(word);
  });

  it("are listed by help itself, and suggested", async () => {
    const { stdout } = await runCli(["help"]);
    for (const name of Object.keys(helpTopics)) expect(stdout).toContain(`help ${name}`);
    expect((await runCli(["help", "enviroment"])).stderr).toContain("svc environment");
  });

  it("mark destructive commands, in the help of a command and in lists", async () => {
    expect((await runCli(["hosts", "wipe", "--help"])).stdout).toContain("Destructive:");
    expect((await runCli(["hosts", "list", "--help"])).stdout).not.toContain("Destructive:");
    const { stdout } = await runCli(["hosts"]);
    expect(stdout.replace(/\s+/g, " ")).toMatch(/hosts delete [^()]*\(destructive\)/);
    expect(stdout.replace(/\s+/g, " ")).not.toMatch(/hosts list List hosts\. \(destructive\)/);
  });
});

describe("names that every JavaScript object has", () => {
  const words = ["constructor", "__proto__", "toString", "hasOwnProperty"];
  const send = () => new Response("{}", { headers: { "content-type": "application/json" } });
  const run = (argv: string[]) => runCli(argv, { send, env: { SVC_API_TOKEN: "t" } });

  it.each(words)("are unknown words like any other: %s", async (word) => {
    for (const argv of [
      ["help", word],
      ["help", "hosts", word],
      ["help", word, "hosts"],
      [word],
      ["hosts", word],
      ["hosts", "list", `--${word}`],
      ["hosts", "list", `--${word}=1`],
      ["hosts", "list", "--fields", word],
      ["hosts", "list", "--context", word],
      ["explain", word],
      ["explain", `host.${word}`],
      ["can-i", word],
      ["man", word],
      ["config", "get", word],
      ["config", "get", `org_info.${word}`],
      ["config", "edit", `org_info.${word}`],
      ["context", "use", word],
    ]) {
      const { stdout, stderr, exitCode } = await run(argv);
      expect({ argv, stdout, exitCode }, stderr).toEqual({ argv, stdout: "", exitCode: 2 });
      // A word that nothing has gets an equal answer, apart from what resembles it.
      const other = await run(argv.map((one) => one.replace(word, "qqqqqqqq")));
      const first = (text: string, own: string) => text.split("\n")[0]!.replaceAll(own, "WORD").split(";")[0];
      expect(first(stderr, word)).toBe(first(other.stderr, "qqqqqqqq"));
    }
  });

  it("are no fields that disappear, and no names of contexts that are not kept", async () => {
    expect((await run(["api", "POST", "/hosts", "-F", "__proto__=1"])).stderr).toContain("-F __proto__ is not a valid");
    const own = await run(["api", "POST", "/hosts", "-F", "constructor.x=1", "--dry-run"]);
    expect(JSON.parse(own.stdout)).toMatchObject({ body: { constructor: { x: 1 } } });
    const add = (name: string) => run(["context", "add", name, "--server-url", "http://svc.test"]);
    expect((await add("__proto__")).exitCode).toBe(2);
    expect((await add("constructor")).exitCode).toBe(0);
  });
});

describe("manual pages", () => {
  const pages = manPages(config);
  const all = [...pages.values()].join("\n");

  it("exist for svc, each topic and each command, with every flag", () => {
    const ids = new Set(visible.flatMap(({ id }) => [id, id.split(":")[0]!]));
    expect(pages.size).toBe(ids.size + 1);
    expect([...pages.keys()]).toContain("svc-hosts");
    expect([...pages.keys()]).toContain("svc-login");
    for (const { id, flags } of visible) {
      const page = pages.get(`svc-${id.split(":")[0]}`) ?? "";
      expect(page, id).toContain(id.replaceAll(":", " ").replaceAll("-", "\\-"));
      for (const { name, hidden, helpGroup } of Object.values(flags)) {
        const place = ["OUTPUT", "SERVER", "GLOBAL"].includes(helpGroup ?? "") ? pages.get("svc") : page;
        if (!hidden)
          expect(place, `${id} --${name}`).toMatch(
            new RegExp(`\\\\-\\\\-(\\[no\\\\-\\])?${name.replaceAll("-", "\\\\-")}`),
          );
      }
    }
  });

  it("have the usual sections", () => {
    const main = pages.get("svc") ?? "";
    for (const section of ["NAME", "SYNOPSIS", "COMMANDS", "FLAGS", '"EXIT STATUS"', '"ENVIRONMENT"', "SEE ALSO"])
      expect(main).toContain(`.SH ${section}`);
    expect(pages.get("svc-hosts")).toContain("(destructive)");
  });

  it("contain no template, and no text that roff would interpret", () => {
    expect(all).not.toContain("<%=");
    const known = /^\.(TH|SH|SS|TP|PP|B|I|BR|br|EX|EE)( |$)/;
    expect(all.split("\n").filter((line) => /^[.']/.test(line) && !known.test(line))).toEqual([]);
  });

  const groff = spawnSync("groff", ["--version"]).status === 0;
  it.runIf(groff)("are accepted by groff without warnings", () => {
    // Together, because there are hundreds; each page has its own header.
    const { stderr, stdout, status } = spawnSync("groff", ["-man", "-Tutf8", "-ww", "-rLL=100n"], {
      input: all,
      encoding: "utf8",
      maxBuffer: 64 * 1024 * 1024,
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout.length).toBeGreaterThan(200 * pages.size);
  });

  it("are printed one by one, or all written to files", async () => {
    const { stdout, stderr, exitCode } = await runCli(["man", "hosts", "list"]);
    expect(exitCode, stderr).toBe(0);
    expect(stdout).toMatch(/^\.TH "SVC\\-HOSTS\\-LIST" 1 /);
    expect(stdout).toContain("svc\\-hosts (1)");
    expect((await runCli(["man", "hosts"])).stdout).toMatch(/^\.TH "SVC\\-HOSTS" 1 /);
    expect((await runCli(["man"])).stdout).toMatch(/^\.TH "SVC" 1 /);
    expect((await runCli(["man", "nonsense"])).exitCode).toBe(2);
    const folder = join(await newHome(), "man1");
    expect((await runCli(["man", "--out", folder])).exitCode).toBe(0);
    expect(await readFile(join(folder, "svc-hosts-list.1"), "utf8")).toBe(stdout);
  });
});

describe("explain", () => {
  it("knows the resources of the API, singular and plural, without a server", async () => {
    const names = resources().map(({ name }) => name);
    for (const name of ["host", "team", "label", "policy", "query", "user", "invite", "carve", "activity", "config"])
      expect(names).toContain(name);
    for (const word of ["host", "hosts", "policies", "policy", "queries", "certificate-authorities"])
      expect((await runCli(["explain", word])).exitCode, word).toBe(0);
  });

  it("prints type, values and the endpoints of a field", async () => {
    const { stdout } = await runCli(["explain", "policy.platform", "-o", "json"]);
    const told = JSON.parse(stdout);
    expect(told).toMatchObject({ resource: "policy", field: "platform", type: "text" });
    expect(told.set_by).toContainEqual({
      endpoint: "POST /global/policies",
      commands: expect.arrayContaining(["svc policies create"]),
    });
    expect(told.read_by).toContainEqual({
      endpoint: "GET /global/policies",
      commands: expect.arrayContaining(["svc policies list"]),
    });
    const status = JSON.parse((await runCli(["explain", "hosts.status", "-o", "json"])).stdout);
    expect(status.values).toEqual(["online", "offline"]);
    expect(status.filtered_by).toContainEqual({
      endpoint: "GET /hosts",
      commands: expect.arrayContaining(["svc hosts list"]),
    });
  });

  it("describes nested fields, including those in lists", async () => {
    const { stdout } = await runCli(["explain", "host.mdm"]);
    expect(stdout).toMatch(/^host\.mdm: object/);
    expect(stdout).toContain("enrollment_status");
    expect(JSON.parse((await runCli(["explain", "host.labels.name", "--json"])).stdout)).toMatchObject({
      type: "text",
    });
  });

  it("suggests the most similar name", async () => {
    expect(await runCli(["explain", "hots"])).toMatchObject({
      exitCode: 2,
      stdout: "",
      stderr: expect.stringContaining("Did you mean host?"),
    });
    expect(await runCli(["explain", "host.hostnam"])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("Did you mean hostname?"),
    });
  });

  it("explains every field of every resource", async () => {
    const { explain } = await import("../../src/cli/help/explain.ts");
    for (const resource of resources()) {
      const whole = explain(resource, []);
      expect(whole?.fields.length, resource.name).toBeGreaterThan(0);
      for (const { field, type } of whole?.fields ?? []) expect(type, `${resource.name}.${field}`).not.toBe("");
    }
  });
});
