// YARA rules: set in the configuration or by files, and loaded by hosts under their names.
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../../support/app.ts";
import { rulesEngines } from "../../support/engines.ts";
import { applyIn, exportTo, gitops, mainFiles, planIn, writeAll } from "../../support/gitops-cli.ts";
import { makeUser } from "../../support/make.ts";
import { enroll, makeSecret, throughApp, throughSocket } from "./agents.ts";

const EICAR = 'rule eicar {\n  strings: $a = "X5O!P%@AP" // $NAME stays\n  condition: $a\n}\n';
const EMPTY = "rule empty { condition: false }\n";
/** What the server of a test has. */
const ORG = "org_settings:\n  org_info: {org_name: Test}\n  server_settings: {server_url: https://svc.example.com}\n";
const PREFIXES = ["/api/v1/qengine", "/api/qengine", "/api/osquery", "/api/v1/osquery"];

describe.each(rulesEngines)("YARA rules on %s", (engine) => {
  let t: TestApp;
  beforeEach(async () => {
    t = await startApp({ engine });
  });

  const set = (rules: unknown) => t.patch("/config", { yara_rules: rules });
  const kept = async () => ((await (await t.get("/config")).json()) as { yara_rules: unknown }).yara_rules;
  const errorsOf = async (res: Response) =>
    ((await res.json()) as { errors: { name: string; reason: string }[] }).errors;

  it("are kept by name, replaced as a whole, and tried without being kept", async () => {
    expect(await kept()).toEqual([]);
    const rules = [
      { name: "b.yar", contents: EMPTY },
      { name: "a (1).yar", contents: EICAR },
    ];
    expect((await set(rules)).status).toBe(200);
    expect(await kept()).toEqual(rules.toReversed());
    expect((await t.patch("/config", { org_info: { org_name: "Other" } })).status).toBe(200);
    expect((await t.patch("/config", { yara_rules: null })).status).toBe(200);
    expect(await kept()).toHaveLength(2);
    expect((await t.patch("/config?dry_run=true", { yara_rules: [] })).status).toBe(200);
    expect(await kept()).toHaveLength(2);
    expect((await set([])).status).toBe(200);
    expect(await kept()).toEqual([]);
  });

  it("are shown to those who may change them; the feed has their digests only", async () => {
    await set([{ name: "a.yar", contents: EICAR }]);
    const observer = await makeUser(t, "observer");
    const shown = (await (await t.as(observer.token).get("/config")).json()) as object;
    expect(shown).not.toHaveProperty("yara_rules");
    expect((await t.as(observer.token).patch("/config", { yara_rules: [] })).status).toBe(403);
    const feed = await (await t.get("/activities")).text();
    expect(feed).toContain('"path":"yara_rules.a.yar","old":null,"new":"sha256:');
    expect(feed).not.toContain("X5O");
  });

  it.each<[string, unknown, number, string]>([
    ["an object", {}, 400, "yara_rules"],
    ["a rule without contents", [{ name: "a.yar" }], 400, "yara_rules.0.contents"],
    ["an unknown field", [{ name: "a.yar", contents: EMPTY, path: "a" }], 400, "yara_rules.0.path"],
    ["a path as a name", [{ name: "../a.yar", contents: EMPTY }], 422, "yara_rules.0.name"],
    ["a name that ends in a dot", [{ name: "a.", contents: EMPTY }], 422, "yara_rules.0.name"],
    ["no name", [{ name: "", contents: EMPTY }], 422, "yara_rules.0.name"],
    ["two rules of one name", ["a.yar", "A.yar"].map((name) => ({ name, contents: EMPTY })), 422, "yara_rules.1.name"],
    ["text that is no rule", [{ name: "a.yar", contents: "SELECT 1" }], 422, "yara_rules.0.contents"],
    ["null characters", [{ name: "a.yar", contents: `${EMPTY}\0` }], 422, "yara_rules.0.contents"],
    [
      "a rule of more than 1 MiB",
      [{ name: "a.yar", contents: EMPTY.padEnd(1024 * 1024 + 1) }],
      422,
      "yara_rules.0.contents",
    ],
    [
      "more than 3 MiB of rules",
      ["a", "b", "c", "d"].map((name) => ({ name, contents: EMPTY.padEnd(900_000) })),
      422,
      "yara_rules.3.contents",
    ],
    [
      "more than 500 rules",
      Array.from({ length: 501 }, (_, i) => ({ name: `r${i}`, contents: EMPTY })),
      422,
      "yara_rules",
    ],
  ])("refuse %s", async (_, rules, status, name) => {
    const res = await set(rules);
    expect(res.status).toBe(status);
    expect((await errorsOf(res))[0]?.name).toBe(name);
    expect(await kept()).toEqual([]);
  });

  describe("loaded by hosts", () => {
    let key: string;
    beforeEach(async () => {
      await makeSecret(t.services);
      key = await enroll(throughApp(t), {
        host_identifier: "h",
        host_details: { osquery_info: { uuid: "U", version: "5.12.1" }, system_info: { hostname: "h" } },
      });
      await set([{ name: "my rule.yar", contents: EICAR }]);
    });

    it.each(["the app", "a socket"])("come as they are, under every prefix, through %s", async (way) => {
      const socket = await throughSocket(t);
      const send = way === "a socket" ? socket.send : throughApp(t);
      try {
        for (const prefix of PREFIXES) {
          const reply = await send(`${prefix}/yara/my%20rule.yar`, { node_key: key });
          expect(reply).toMatchObject({ status: 200, text: EICAR });
          expect(reply.headers["content-type"]).toMatch(/^text\/plain/);
          const byHeader = await send(`${prefix}/yara/my%20rule.yar?x=1`, {}, { authorization: `NodeKey ${key}` });
          expect(byHeader.text).toBe(EICAR);
        }
        const path = `${PREFIXES[0]}/yara/`;
        expect(await send(`${path}other.yar`, { node_key: key })).toMatchObject({
          status: 404,
          json: { error: "there is no such YARA rule" },
        });
        expect(await send(`${path}my%20rule.yar`, { node_key: "wrong" })).toMatchObject({
          status: 401,
          json: { node_invalid: true },
        });
        expect((await send(`${path}my%20rule.yar`, "not json")).status).toBe(400);
        expect((await send(`${path}my%20rule.yar`, "", {}, "GET")).status).toBe(405);
        for (const none of ["", "a/b", "%zz"])
          expect([400, 404]).toContain((await send(`${path}${none}`, { node_key: key })).status);
      } finally {
        await socket.close();
      }
    });

    it("are those of the configuration as it is now", async () => {
      await set([{ name: "my rule.yar", contents: EMPTY }]);
      const load = () => throughApp(t)("/api/qengine/yara/my%20rule.yar", { node_key: key });
      expect((await load()).text).toBe(EMPTY);
      await set([]);
      expect((await load()).status).toBe(404);
    });
  });

  describe("from files", () => {
    const main = (rules: string) => `${ORG}  yara_rules: ${rules}\ncontrols: {}\n`;
    const folder = (rules: string, more: Record<string, string> = {}) =>
      writeAll(new Map(Object.entries({ "default.yml": main(rules), ...more })));

    it("are applied as they stand there, planned by name, exported, and removed when they are left out", async () => {
      const files = { "lib/eicar.yar": EICAR, "lib/all/b.yara": EMPTY, "lib/all/notes.txt": "no rule" };
      const inline =
        "[{path: lib/eicar.yar}, {paths: 'lib/all/*'}, {name: c.yar, contents: 'rule c { condition: true }'}]";
      const dir = await folder(inline, files);
      const plan = await planIn(t, dir);
      expect(plan).toMatchObject([{ action: "update", kind: "config", name: "yara_rules" }]);
      expect(plan[0]!.fields!.map(({ path }) => path)).toEqual(["eicar.yar", "b.yara", "c.yar"]);
      const dry = await gitops(t, ["apply", ...(await mainFiles(dir)), "--dry-run"]);
      expect(dry.exitCode).toBe(0);
      expect(await kept()).toEqual([]);
      await applyIn(t, dir);
      expect(await kept()).toEqual([
        { name: "b.yara", contents: EMPTY },
        { name: "c.yar", contents: "rule c { condition: true }" },
        { name: "eicar.yar", contents: EICAR },
      ]);
      expect(await planIn(t, dir)).toEqual([]);

      const out = join(dir, "out");
      await mkdir(out);
      await exportTo(t, out);
      expect(await readFile(join(out, "lib/yara/eicar.yar"), "utf8")).toBe(EICAR);
      const planned = await gitops(t, ["plan", "-f", join(out, "default.yml"), "-o", "json"], {
        env: { ENROLL_SECRET: "secret of the hosts here" },
      });
      expect(JSON.parse(planned.stdout)).toMatchObject({ changes: [] });

      await applyIn(t, await writeAll(new Map([["default.yml", `${ORG}controls: {}\n`]])));
      expect(await kept()).toEqual([]);
    });

    it.each<[string, string, Record<string, string>, string]>([
      ["a file that is missing", "[{path: none.yar}]", {}, "none.yar does not exist"],
      ["an entry without a text", "[{name: a.yar}]", {}, "a YARA rule needs path, paths, or name and contents"],
      ["path beside contents", "[{path: a.yar, contents: x}]", { "a.yar": EMPTY }, "contents cannot be used with path"],
      ["both path and paths", "[{path: a.yar, paths: '*.yar'}]", { "a.yar": EMPTY }, "either path or paths"],
      ["a pattern as path", "[{path: '*.yar'}]", { "a.yar": EMPTY }, "is a pattern: use paths"],
      [
        "one name twice",
        "[{path: a.yar}, {path: b/A.yar}]",
        { "a.yar": EMPTY, "b/A.yar": EMPTY },
        'the YARA rule "A.yar" is in',
      ],
      ["an unknown key", "[{pat: a.yar}]", {}, "did you mean path?"],
      ["a file that is no rule", "[{path: a.yar}]", { "a.yar": "text" }, "contains no YARA rule"],
    ])("are refused: %s", async (_, rules, files, text) => {
      const dir = await folder(rules, files);
      const { exitCode, stderr } = await gitops(t, ["apply", "-f", join(dir, "default.yml"), "--yes"]);
      expect(exitCode).not.toBe(0);
      expect(stderr).toContain(text);
      expect(await kept()).toEqual([]);
    });

    it("stand in older documents with their texts", async () => {
      const text = JSON.stringify({ kind: "config", spec: { yara_rules: [{ name: "d.yar", contents: EMPTY }] } });
      const dir = await writeAll(
        new Map([["old.yml", text.replace("{", '{"apiVersion": "v1",\n ').replace('"kind"', '\n"kind"')]]),
      );
      const { exitCode, stderr } = await gitops(t, ["apply", "-f", join(dir, "old.yml"), "--yes"]);
      expect(stderr).not.toContain("error");
      expect(exitCode).toBe(0);
      expect(await kept()).toEqual([{ name: "d.yar", contents: EMPTY }]);
    });
  });

  afterEach(() => t.close());
});
