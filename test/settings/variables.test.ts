import { describe, expect, it } from "vitest";
import { eq, everything } from "../../src/server/platform/store/query.ts";
import { mask as maskedText } from "../../src/server/settings/variables/mask.ts";
import { expandFor, maskSecrets } from "../../src/server/settings/variables/use.ts";
import { errorOf } from "../support/accounts.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { applied, change, refused as refusedApply, stateOf } from "../support/configuration.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import { makeHost, makeTeam, makeUser } from "../support/make.ts";
import { makeManaged } from "../support/managed.ts";
import { processorTime } from "../support/processor-time.ts";

const put = (t: TestApp, path: string, body: object) => t.request("PUT", path, body);
const apply = (t: TestApp, secrets: object[], more: object = {}) =>
  put(t, "/spec/secret_variables", { secrets, ...more });
const status = async (response: Promise<Response>) => (await response).status;
async function refused(response: Promise<Response>) {
  const answer = await response;
  const { errors } = await errorOf(answer);
  return { status: answer.status, ...errors![0]! };
}

describe.each(rulesEngines)("custom variables on %s", (engine) => {
  it("are created and listed without their values, which are encrypted in the store", async () => {
    const t = await startApp({ engine });
    const made = await t.post("/custom_variables", { name: "API_TOKEN", value: "kept-secret-1" });
    expect(made.status, await made.clone().text()).toBe(200);
    expect(await made.json()).toEqual({ id: 1, name: "API_TOKEN" });
    await t.post("/custom_variables", { name: "AREA", value: "north" });
    const reply = await (await t.get("/custom_variables?per_page=1")).json();
    const at = t.clock.iso();
    expect(reply).toEqual({
      custom_variables: [
        {
          id: 1,
          name: "API_TOKEN",
          team_ids: null,
          uses: ["scripts", "software", "profiles", "host_names"],
          created_at: at,
          updated_at: at,
        },
      ],
      meta: { has_next_results: true, has_previous_results: false },
      count: 2,
    });
    const after = await t.get("/custom_variables?order_key=name&after=API_TOKEN");
    expect(await after.json()).toMatchObject({ custom_variables: [{ name: "AREA" }] });
    expect(JSON.stringify(await (await t.get("/activities")).json())).not.toContain("kept-secret-1");
  });

  it("need a good name that is free, and a value", async () => {
    const t = await startApp({ engine });
    const post = (body: object) => refused(t.post("/custom_variables", body));
    await t.post("/custom_variables", { name: "TAKEN", value: "x" });
    expect(await post({ name: "TAKEN", value: "y" })).toMatchObject({ status: 409 });
    expect(await post({ name: "EMPTY", value: "" })).toMatchObject({ status: 422, name: "value" });
    expect(await post({ name: "NONE" })).toMatchObject({ status: 422, name: "value" });
    for (const name of ["", "a-b", "a b", "SVC_SECRET_X", "É", "X".repeat(256)])
      expect(await post({ name, value: "v" }), name).toMatchObject({ status: 422, name: "name" });
  });

  it("are created or changed together, with or without the prefix", async () => {
    const t = await startApp({ engine });
    await apply(t, [{ name: "A", value: "one" }]);
    t.clock.advance(1_000);
    const reply = await apply(t, [
      { name: "SVC_SECRET_A", value: "two" },
      { name: "B", value: "three" },
    ]);
    expect(reply.status).toBe(200);
    const rows = await t.store.customVariables.list();
    expect(rows.map(({ name, value, previous }) => ({ name, value, previous }))).toEqual([
      { name: "A", value: "two", previous: "one" },
      { name: "B", value: "three", previous: null },
    ]);
    t.clock.advance(1_000);
    expect(await status(apply(t, [{ name: "A", value: "two" }]))).toBe(200);
    expect((await t.store.customVariables.get(1))?.updated_at).toBe(rows[0]!.updated_at);
    const twice = [
      { name: "C", value: "1" },
      { name: "SVC_SECRET_C", value: "2" },
    ];
    expect(await refused(apply(t, twice))).toMatchObject({ status: 422, name: "secrets.1.name" });
    expect(await status(apply(t, [{ name: "D", value: "v" }], { dry_run: true }))).toBe(200);
    expect(await t.store.customVariables.count(everything)).toBe(2);
  });

  it("are deleted by id", async () => {
    const t = await startApp({ engine });
    await apply(t, [{ name: "A", value: "one" }]);
    expect(await status(t.delete("/custom_variables/1"))).toBe(200);
    expect(await status(t.delete("/custom_variables/1"))).toBe(404);
  });

  it("are put into texts for a host with its vitals, in one pass, and are reported where a value is missing", async () => {
    const t = await startApp({ engine });
    const [host, bare] = [await makeHost(t), await makeHost(t)];
    await apply(t, [{ name: "A", value: "$SVC_SECRET_B" }]);
    await t.post("/custom_host_vitals", { name: "Site" });
    await put(t, `/hosts/${host.id}/custom_host_vitals/1`, { value: "Berlin" });
    const text = `a=$SVC_SECRET_A b=\${SVC_HOST_VITAL_1} $HOME`;
    expect(await expandFor(t.store, host.id, text, "scripts")).toEqual({
      text: "a=$SVC_SECRET_B b=Berlin $HOME",
      missing: [],
    });
    expect(await expandFor(t.store, bare.id, text, "scripts")).toMatchObject({ missing: ["$SVC_HOST_VITAL_1"] });
  });

  it("are masked in outputs of what was sent, also with the previous value", async () => {
    const t = await startApp({ engine });
    await apply(t, [
      { name: "LONG", value: "first-value" },
      { name: "PART", value: "value" },
      { name: "SHORT", value: "abc" },
      { name: "OTHER", value: "elsewhere" },
    ]);
    await apply(t, [{ name: "LONG", value: "second-value" }]);
    const sent = `echo $SVC_SECRET_LONG \${SVC_SECRET_PART} $SVC_SECRET_SHORT`;
    const output = "first-value second-value value abc elsewhere";
    expect(await maskSecrets(t.store, sent, output)).toBe(
      "$SVC_SECRET_LONG $SVC_SECRET_LONG $SVC_SECRET_PART abc elsewhere",
    );
  });
});

describe("secrets in outputs", () => {
  const mask = (secret: string, output: string) => maskedText(output, [{ secret, shown: "$S" }]);
  const secret = `pa"ss\\w/ö'<r d>&+`;

  it.each([
    ["JSON", JSON.stringify({ secret })],
    ["JSON in ASCII", '{"a":"pa\\"ss\\\\w/\\u00f6\'<r d>&+"}'],
    ["JSON in ASCII, with capitals and escaped slashes", '{"a":"pa\\"ss\\\\w\\/\\u00F6\'<r d>&+"}'],
    ["JSON that is safe in HTML", '{"a":"pa\\"ss\\\\w/ö\'\\u003cr d\\u003e\\u0026+"}'],
    ["XML", `<a>pa"ss\\w/ö'&lt;r d&gt;&amp;+</a>`],
    ["an attribute of XML", `<a b="pa&quot;ss\\w/ö&apos;&lt;r d&gt;&amp;+"/>`],
    ["HTML", `<a b='pa&quot;ss\\w/ö&#39;&lt;r d&gt;&amp;+'/>`],
    ["an address", `https://a.example/?b=${encodeURIComponent(secret)}&c=1`],
    ["a form", `a=1&${new URLSearchParams({ b: secret })}`],
    ["a traced script", `+ echo 'pa"ss\\w/ö'\\''<r d>&+'`],
    ["double quotes of a shell", `echo "pa\\"ss\\\\w/ö'<r d>&+"`],
    ["Base64", Buffer.from(secret).toString("base64")],
    ["Base64 of a pair", `Basic ${Buffer.from(`ann:${secret}`).toString("base64")}`],
    ["Base64 for addresses, of a pair", Buffer.from(`anna:${secret}\n`).toString("base64url")],
  ])("are masked in %s", (_, output) => {
    const masked = mask(secret, output);
    expect(masked).toContain("$S");
    for (const part of ["ss\\", "r d", "r%20d", "r+d", "%3Cr", "lt;r"]) expect(masked).not.toContain(part);
  });

  it("are masked with all their lines in JSON", () => {
    const output = JSON.stringify({ key: 'first "line"\nsecond\tline', other: 'x first "line" y' });
    expect(mask('first "line"\nsecond\tline', output)).toBe('{"key":"$S","other":"x $S y"}');
  });

  it("do not make other text unreadable", () => {
    const output = "the quick brown fox: dGhlIHF1 100% \\u00e4 &amp;";
    for (const one of [secret, "abcd", "quick+x", "0123456789"]) expect(mask(one, output)).toBe(output);
  });

  it("are masked quickly in long outputs, also if they have many lines with quotes", () => {
    const many = Array.from({ length: 3_000 }, (_, i) => `"line <${i}>" & so on`).join("\n");
    let masked = "";
    const milliseconds = processorTime(() => {
      masked = mask(many, JSON.stringify(many.repeat(8)));
    });
    expect(masked).not.toContain("line <7>");
    expect(milliseconds).toBeLessThan(5_000);
  });
});

describe.each(bothEngines)("the scope of a custom variable on %s", (engine) => {
  const print = "echo $SVC_SECRET_X | rev";
  async function scene() {
    const t = await startApp({ engine });
    const team = await makeTeam(t);
    const other = await makeTeam(t);
    const agent = await makeManaged(t);
    const host = await agent.host();
    await t.store.hosts.update({ where: eq("id", host.id), set: { team_id: team.id } });
    await apply(t, [{ name: "X", value: "the-secret" }]);
    const scope = async (change: object) => {
      const reply = await t.patch("/custom_variables/1", change);
      expect(reply.status, await reply.clone().text()).toBe(200);
      return ((await reply.json()) as { custom_variable: object }).custom_variable;
    };
    const run = (caller: Pick<TestApp, "post">, body: object) =>
      caller.post("/scripts/run", { host_id: host.id, ...body });
    const save = (teamId: number, contents = print) => {
      const form = new FormData();
      form.set("script", new File([contents], `s${Math.random()}.sh`));
      form.set("team_id", String(teamId));
      return t.post("/scripts", form);
    };
    const sent = async (reply: Response) => {
      const { execution_id } = (await reply.json()) as { execution_id: string };
      const { script_contents } = (await agent.call("/scripts/request", { execution_id })).json;
      await agent.call("/scripts/result", { execution_id, exit_code: 0 });
      return script_contents;
    };
    return { t, team, other, agent, host, scope, run, save, sent };
  }

  it("keeps scripts that are not saved from printing it, except for those who may change variables", async () => {
    const { t, team, scope, run, sent } = await scene();
    const technician = await makeUser(t, { teams: [{ id: team.id, role: "technician" }] });
    const everywhere = await makeUser(t, "technician");
    const maintainer = await makeUser(t, { teams: [{ id: team.id, role: "maintainer" }] });
    for (const user of [technician, everywhere, maintainer]) {
      expect(await refused(run(user, { script_contents: print }))).toMatchObject({
        status: 403,
        reason: expect.stringContaining("$SVC_SECRET_X may not be used in scripts that are not saved"),
      });
      expect(await sent(await run(user, { script_contents: "echo" }))).toBe("echo");
    }
    expect(await status(t.post("/scripts/run/sync", { script_contents: print, host_id: 0 }))).not.toBe(200);
    expect(await sent(await run(t, { script_contents: print }))).toBe("echo the-secret | rev");
    expect(await scope({ uses: ["one_off_scripts", "scripts"], team_ids: [team.id] })).toMatchObject({
      uses: ["scripts", "one_off_scripts"],
      team_ids: [team.id],
    });
    expect(await sent(await run(technician, { script_contents: print }))).toBe("echo the-secret | rev");
    await scope({ team_ids: [0] });
    expect((await run(technician, { script_contents: print })).status).toBe(403);
  });

  it("is checked when a text is stored, and again when a host gets it", async () => {
    const { t, team, other, scope, run, save, sent } = await scene();
    await scope({ team_ids: [team.id] });
    expect(await refused(save(other.id))).toMatchObject({ status: 403, reason: expect.stringContaining("team") });
    const { script_id } = (await (await save(team.id)).json()) as { script_id: number };
    const technician = await makeUser(t, { teams: [{ id: team.id, role: "technician" }] });
    expect(await sent(await run(technician, { script_id }))).toBe("echo the-secret | rev");
    const waiting = await run(t, { script_id });
    await scope({ team_ids: [other.id] });
    expect(await sent(waiting)).toContain("$SVC_SECRET_X, or may not use it");
    expect((await run(t, { script_id })).status).toBe(403);
    expect((await save(other.id)).status).toBe(200);
    await scope({ team_ids: null, uses: ["profiles"] });
    expect((await save(team.id)).status).toBe(403);
    expect(await refused(t.patch("/custom_variables/1", { team_ids: [999] }))).toMatchObject({
      status: 422,
      name: "team_ids",
    });
    expect((await t.patch("/custom_variables/9", { uses: [] })).status).toBe(404);
  });

  it("stays when only the value changes, as configuration files change it", async () => {
    const { t, team, scope } = await scene();
    await scope({ team_ids: [team.id, 0], uses: ["profiles"] });
    await apply(t, [{ name: "X", value: "new-value" }]);
    const [row] = await t.store.customVariables.list();
    expect(row).toMatchObject({
      value: "new-value",
      previous: "the-secret",
      team_ids: [0, team.id],
      uses: ["profiles"],
    });
    await apply(t, [{ name: "X", value: "new-value", team_ids: null }]);
    expect((await t.store.customVariables.list())[0]).toMatchObject({ team_ids: null, previous: "the-secret" });
  });
});

describe.each(rulesEngines)("secrets of several lines on %s", (engine) => {
  it("are masked with any line breaks and indentation, and when only some of their lines are printed", async () => {
    const t = await startApp({ engine });
    const key = ["-----BEGIN KEY-----", "MIIEvQIBADANBgkq", "hkiG9w0BAQEFAASC", "x=", "-----END KEY-----"];
    await apply(t, [{ name: "KEY", value: `${key.join("\n")}\n` }]);
    const masked = (output: string) => maskSecrets(t.store, "echo $SVC_SECRET_KEY", output);
    const shown = "$SVC_SECRET_KEY";
    expect(await masked(`a\n${key.join("\n")}\nb`)).toBe(`a\n${shown}\nb`);
    expect(await masked(`a\r\n${key.join("\r\n")}\r\nb`)).toBe(`a\r\n${shown}\r\nb`);
    expect(await masked(key.map((line) => `    ${line}  `).join("\r\n"))).toBe(
      `    ${shown}  \r\n    ${shown}  \r\n    ${shown}  \r\n    x=  \r\n    ${shown}  `,
    );
    expect(await masked(`line 2 is ${key[1]}.`)).toBe(`line 2 is ${shown}.`);
    expect(await masked(JSON.stringify(key.join("\n")))).not.toMatch(/MIIE|hkiG/);
    await apply(t, [{ name: "KEY", value: "another\r\nvalue here" }]);
    expect(await masked(`${key[2]}\n\tanother\n\tvalue here`)).toBe(`${shown}\n\t${shown}\n\t${shown}`);
    const many = Array.from({ length: 2_000 }, (_, i) => `line-${i}-of-the-secret`);
    await apply(t, [{ name: "KEY", value: many.join("\n") }]);
    expect(await masked(many.map((line) => `  ${line}`).join("\r\n"))).not.toContain("of-the-secret");
  });
});

describe.each(rulesEngines)("custom host vitals on %s", (engine) => {
  const names = async (t: TestApp, query = "") => {
    const reply = (await (await t.get(`/custom_host_vitals${query}`)).json()) as {
      custom_host_vitals: { id: number; name: string }[];
      count: number;
    };
    expect(reply.count).toBe(reply.custom_host_vitals.length);
    return reply.custom_host_vitals.map(({ id, name }) => `${id} ${name}`);
  };

  it("have names that differ by more than case", async () => {
    const t = await startApp({ engine });
    const post = (name: string) => t.post("/custom_host_vitals", { name });
    expect(await (await post("Asset tag")).json()).toMatchObject({ custom_host_vital: { id: 1, name: "Asset tag" } });
    await post("Site");
    expect(await status(post("ASSET TAG"))).toBe(409);
    expect(await status(post(" "))).toBe(422);
    expect(await status(t.patch("/custom_host_vitals/2", { name: "asset Tag" }))).toBe(409);
    expect(await status(t.patch("/custom_host_vitals/1", { name: "Asset Tag" }))).toBe(200);
    expect(await names(t)).toEqual(["1 Asset Tag", "2 Site"]);
    expect(await names(t, "?query=sit")).toEqual(["2 Site"]);
    expect(await status(t.delete("/custom_host_vitals/2"))).toBe(200);
    expect(await status(t.delete("/custom_host_vitals/2"))).toBe(404);
  });

  it("are replaced together; those that stay keep the values of hosts", async () => {
    const t = await startApp({ engine });
    const { id } = await makeHost(t);
    const all = (list?: string[]) =>
      put(t, "/spec/custom_host_vitals", list ? { custom_host_vitals: list.map((name) => ({ name })) } : {});
    expect(await status(all(["Site", "Rack"]))).toBe(200);
    expect(await status(put(t, `/hosts/${id}/custom_host_vitals/1`, { value: "Berlin" }))).toBe(200);
    expect(await status(all(["SITE", "Desk"]))).toBe(200);
    expect(await names(t)).toEqual(["3 Desk", "1 SITE"]);
    expect(await t.store.hostVitalValues.list()).toMatchObject([{ host_id: id, vital_id: 1, value: "Berlin" }]);
    expect(await refused(all(["One", "one"]))).toMatchObject({ status: 422, name: "custom_host_vitals.1.name" });
    expect(await status(all())).toBe(200);
    expect(await names(t)).toEqual([]);
    expect(await t.store.hostVitalValues.list()).toEqual([]);
  });

  it("get a value on each host, which is an activity of the host", async () => {
    const t = await startApp({ engine });
    const { id } = await makeHost(t);
    await t.post("/custom_host_vitals", { name: "Site" });
    const path = `/hosts/${id}/custom_host_vitals/1`;
    for (const value of ["Berlin", "Berlin", ""]) expect(await status(put(t, path, { value }))).toBe(200);
    expect(await t.store.hostVitalValues.list()).toEqual([]);
    const { activities } = (await (await t.get(`/hosts/${id}/activities`)).json()) as {
      activities: { type: string; details: object }[];
    };
    const edited = activities.filter(({ type }) => type === "edited_custom_host_vital_value");
    expect(edited.map(({ details }) => details)).toEqual([
      expect.objectContaining({ custom_host_vital_id: 1, custom_host_vital_name: "Site" }),
      expect.objectContaining({ host_id: id }),
    ]);
    expect(await status(put(t, `/hosts/${id}/custom_host_vitals/9`, { value: "x" }))).toBe(404);
    expect(await status(put(t, "/hosts/999/custom_host_vitals/1", { value: "x" }))).toBe(404);
  });

  it("choose the hosts of labels, which follow them at once and keep them from being deleted", async () => {
    const t = await startApp({ engine });
    const [host, other] = [await makeHost(t), await makeHost(t)];
    await t.post("/custom_host_vitals", { name: "Site" });
    const value = (id: number, given: string) => put(t, `/hosts/${id}/custom_host_vitals/1`, { value: given });
    await value(host.id, "Berlin");
    const criteria = { vital: "custom_host_vital", custom_host_vital_id: 1, value: " Berlin " };
    const create = (name: string, given: object) => t.post("/labels", { name, criteria: given });
    const made = await create("Berlin", criteria);
    expect(made.status, await made.clone().text()).toBe(200);
    const { label } = (await made.json()) as { label: { id: number; count: number; criteria: object } };
    expect(label).toMatchObject({ count: 1, criteria: { ...criteria, value: "Berlin" } });
    const members = async () =>
      ((await (await t.get(`/labels/${label.id}/hosts`)).json()) as { hosts: { id: number }[] }).hosts.map(
        ({ id }) => id,
      );
    await value(other.id, "Berlin");
    await value(host.id, "Paris");
    expect(await members()).toEqual([other.id]);
    expect(await refused(t.delete("/custom_host_vitals/1"))).toMatchObject({
      status: 409,
      reason: expect.stringContaining('the label "Berlin"'),
    });
    const specs = [{ name: "Again", label_membership_type: "host_vitals", criteria }];
    expect(await status(t.post("/spec/labels", { specs }))).toBe(200);
    const wrong: [object, string][] = [
      [{ ...criteria, custom_host_vital_id: 9 }, "there is no custom host vital"],
      [{ vital: "custom_host_vital", value: "x" }, "custom_host_vital_id is required"],
      [{ ...criteria, vital: "end_user_idp_group" }, "custom_host_vital_id is required"],
      [{ ...criteria, value: " " }, "value must not be empty"],
      [{ where: "platform = darwin", custom_host_vital_id: 1 }, "give either"],
    ];
    for (const [given, reason] of wrong)
      expect(await refused(create("wrong", given)), reason).toMatchObject({
        status: 422,
        name: "criteria",
        reason: expect.stringContaining(reason),
      });
  });

  it("are a part of the configuration, without the values of hosts", async () => {
    const t = await startApp({ engine });
    const { id } = await makeHost(t);
    const apply = (action: "create" | "delete", ...names: string[]) =>
      applied(t, {
        changes: names.map((name) => change(action, "custom_host_vital", name, action === "create" ? {} : undefined)),
      });
    expect(await apply("create", "Site", "Rack")).toEqual({ create: 2, update: 0, delete: 0 });
    await put(t, `/hosts/${id}/custom_host_vitals/1`, { value: "Berlin" });
    const shown = async () =>
      (await stateOf(t)).things
        .filter(({ kind }) => kind === "custom_host_vital")
        .map(({ name, value }) => [name, value]);
    expect((await shown()).sort()).toEqual([
      ["Rack", {}],
      ["Site", {}],
    ]);
    expect(await apply("delete", "Rack")).toEqual({ create: 0, update: 0, delete: 1 });
    expect(await names(t)).toEqual(["1 Site"]);
    expect(await t.store.hostVitalValues.count()).toBe(1);
    const one = (name: string, value: object = {}) => [change("create", "custom_host_vital", name, value as never)];
    const [taken] = await refusedApply(t, 409, { changes: one("SITE") });
    expect(taken!.reason).toContain("already exists");
    await refusedApply(t, 422, { changes: one(" x ") });
    await refusedApply(t, 422, { changes: one("x", { more: 1 }) });
    const gitops = await makeUser(t, "observer");
    const denied = await gitops.post("/spec/apply", { changes: one("y"), skip_checks: true });
    expect(denied.status).toBe(403);
    expect(await names(t)).toEqual(["1 Site"]);
  });
});
