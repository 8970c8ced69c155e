// Every id in a query or a body that a role on a team may send: the id of another team's object must get the same reply
// as a missing one, reveal nothing of that object, and leave it unchanged.
import { createHash, randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { roles } from "../../src/api/access.ts";
import { allEndpoints } from "../../src/api/all.ts";
import type { AnyEndpoint } from "../../src/api/endpoint.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines } from "../support/engines.ts";
import { type MadeUser, makeHost, makeOperation, makePolicy, makeTeam, makeUser } from "../support/make.ts";
import { mayOnTeam, rules } from "./walker-rules.ts";

const MISSING = 999_999;
const MISSING_UUID = "a00000000-0000-4000-8000-000000000000";
type Id = number | string;
const CANARY = "canary";

type Kind =
  | "user"
  | "host"
  | "team"
  | "query"
  | "policy"
  | "template"
  | "script"
  | "title"
  | "authority"
  | "profile"
  | "operation"
  | "task";

/** The kind of object of an id, by the name of its field. Other fields contain ids of objects without a team. */
const kinds: Record<string, Kind> = {
  user_id: "user",
  "users[].id": "user",
  actor_id: "user",
  host_id: "host",
  "host_ids[]": "host",
  host_ids: "host",
  "excluded_host_ids[]": "host",
  include_host_ids: "host",
  exclude_host_ids: "host",
  "hosts[]": "host",
  team_id: "team",
  "team_ids[]": "team",
  "teams[].id": "team",
  "teams[]": "team",
  query_id: "query",
  query_ids: "query",
  policy_id: "policy",
  "policy_ids[]": "policy",
  script_id: "script",
  task_id: "task",
  software_title_id: "title",
  "software_title_ids[]": "title",
  profile_uuid: "profile",
  resend_profile_uuid: "profile",
  certificate_authority_id: "authority",
};
/** Fields whose name alone is ambiguous. */
const kindsOf: Record<string, Kind> = {
  "POST /hosts/delete body.ids[]": "host",
  "POST /hosts/refetch body.ids[]": "host",
  "POST /hosts/labels body.ids[]": "host",
  "POST /hosts/lock body.ids[]": "host",
  "POST /hosts/unlock body.ids[]": "host",
  "POST /hosts/wipe body.ids[]": "host",
  "POST /software/titles/:id/install body.ids[]": "host",
  "POST /software/titles/:id/uninstall body.ids[]": "host",
  "POST /queries/delete body.ids[]": "query",
  "POST /teams/:team_id/policies/delete body.ids[]": "policy",
  "DELETE /spec/certificates body.ids[]": "template",
  "POST /operations/cancel body.ids[]": "operation",
  "GET /certificates query.team": "team",
};
/** Ids of objects without a team, or of something that is not an object here. */
const ofNobody =
  /(^|\.)(label_ids?(\[\])?|labels\[\]|os_version_id|software_(version_)?id|mdm_id|munki_issue_id|group_id|command_uuid|app_store_id|svc_maintained_app_id|custom_host_vital_id)$/;
/** Names, not ids: `hosts` of labels by name or serial number, teams by name. */
const byName =
  /^(POST \/spec\/|POST \/labels body.hosts|PATCH \/labels\/:id body.hosts|POST \/queries\/run_by_identifiers|POST \/mdm\/vendora\/enqueue body.device_ids)/;

interface World {
  readonly t: TestApp;
  readonly own: number;
  readonly other: number;
  /** An admin and a technician of the own team. */
  readonly people: readonly MadeUser[];
}

let serial = 0;
const unique = () => `made ${++serial}`;
const at = ({ t }: World) => ({ created_at: t.clock.iso(), updated_at: t.clock.iso() });

async function make(world: World, kind: Exclude<Kind, "profile">, team: number, name: string): Promise<number> {
  const { t } = world;
  switch (kind) {
    case "team":
      return team;
    case "host":
      return (await makeHost(t, { team_id: team, hostname: name })).id;
    case "user":
      return (
        await makeUser(
          t,
          { teams: [{ id: team, role: "observer" }] },
          { name, email: `${name}@example.com`, api_only: true },
        )
      ).id;
    case "query":
      return (
        await t.store.queries.insert({ ...at(world), name, query: `SELECT '${name}'`, interval: 60, team_id: team })
      ).id;
    case "policy":
      return (await makePolicy(t, { scope: "team", team_id: team, name, query: `SELECT '${name}'` })).id;
    case "script": {
      const text = await t.store.scriptTexts.insert({ digest: sha256(name), content: `echo ${name}` });
      return (await t.store.scripts.insert({ ...at(world), team_id: team, name: `${name}.sh`, text_id: text.id })).id;
    }
    case "operation":
      return (await makeOperation(t, (await makeHost(t, { team_id: team })).id)).id;
    case "task":
      return (await t.store.tasks.insert({ created_at: t.clock.iso(), kind: name, state: "done", total: 1 })).id;
    case "title":
      return makeOfferedTitle(world, team, name);
    case "authority":
      return (
        await t.store.certificateAuthorities.insert({
          ...at(world),
          name: name.replaceAll(/\W/g, "_"),
          type: "custom_est_proxy",
          settings: { url: "https://ca.example.com", username: "c" },
          secret: "c",
        })
      ).id;
    case "template": {
      const ca = {
        name: `ca_${++serial}`,
        type: "custom_scep_proxy",
        settings: { url: "https://scep.example.com" },
      } as const;
      const { id } = await t.store.certificateAuthorities.insert({ ...at(world), ...ca, secret: "c" });
      const row = { ...at(world), name, team_id: team, subject_name: "/CN=x", certificate_authority_id: id };
      return (await t.store.certificateTemplates.insert(row)).id;
    }
  }
}

/** A software title that no host has, and of which only this team offers a package. */
async function makeOfferedTitle({ t: { store, clock } }: World, team_id: number, name: string): Promise<number> {
  const title = await store.softwareTitles.insert({ name, source: "deb_packages", key: `${name}|deb_packages` });
  const now = clock.iso();
  const file = { sha256: sha256(name), size: 1 };
  const { id } = await store.files.insert({ ...file, key: name, created_at: now, used_at: now });
  await store.softwareInstallers.insert({
    team_id,
    title_id: title.id,
    file_id: id,
    file_name: `${name}.deb`,
    kind: "deb",
    platform: "linux",
    version: "1",
    package_ids: [name],
    installs_app: null,
    install_script: `install ${name}`,
    catalogue_app_id: null,
    uploaded_at: now,
    ...file,
  });
  return title.id;
}

const isProfile = (kind: Kind): kind is "profile" => kind === "profile";

async function makeForeign(world: World, kind: Kind): Promise<Id> {
  const name = `${CANARY}-${++serial}`;
  if (!isProfile(kind)) return make(world, kind, world.other, name);
  const uuid = `a${randomUUID()}`;
  await world.t.store.configurationProfiles.insert({
    ...at(world),
    uuid,
    team_id: world.other,
    platform: "darwin",
    kind: "declaration",
    name,
    identifier: `com.example.${name}`,
    checksum: sha256(name),
    activation_identifier: null,
    host_platform: null,
    uploaded_at: world.t.clock.iso(),
  });
  return uuid;
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

const tables = {
  user: "users",
  host: "hosts",
  team: "teams",
  query: "queries",
  policy: "policies",
  template: "certificateTemplates",
  operation: "operations",
  script: "scripts",
  task: "tasks",
  title: "softwareTitles",
  authority: "certificateAuthorities",
} as const satisfies Record<Exclude<Kind, "profile">, string>;

/** The data that must not change. */
async function stateOf({ t: { store } }: World, kind: Kind, key: Id): Promise<string> {
  if (isProfile(kind))
    return JSON.stringify(await store.configurationProfiles.first({ where: eq("uuid", String(key)) }));
  const id = Number(key);
  const more =
    kind === "user"
      ? [await store.userTeams.list({ where: eq("user_id", id) }), await store.sessions.count(eq("user_id", id))]
      : kind === "team"
        ? [await store.hosts.count(eq("team_id", id)), await store.userTeams.count(eq("team_id", id))]
        : [];
  return JSON.stringify([await store[tables[kind]].get(id), more]);
}

interface Call {
  readonly path: string;
  readonly body?: Record<string, unknown>;
}
/** One for all calls, because errors name it. */
const ownQueries = new WeakMap<World, Promise<number>>();
function ownQuery(world: World): Promise<number> {
  const query = ownQueries.get(world) ?? make(world, "query", world.own, unique());
  ownQueries.set(world, query);
  return query;
}

/** A valid call, in which the field is set. */
const bases: Record<string, (world: World, field: string) => Call | Promise<Call>> = {
  "POST /hosts/transfer": async (world) => ({
    path: "/hosts/transfer",
    body: { team_id: world.own, hosts: [await make(world, "host", world.own, unique())] },
  }),
  "POST /hosts/transfer/filter": ({ own }) => ({
    path: "/hosts/transfer/filter",
    body: { team_id: own, filters: { team_id: own } },
  }),
  "GET /hosts/report": () => ({ path: "/hosts/report?format=csv&columns=hostname" }),
  "GET /charts/:metric": () => ({ path: "/charts/uptime" }),
  "GET /labels/:id/hosts": () => ({ path: "/labels/1/hosts" }),
  "POST /labels": () => ({ path: "/labels", body: { name: unique() } }),
  "PATCH /labels/:id": async (world) => {
    const row = { name: unique(), label_type: "regular", label_membership_type: "manual" } as const;
    const label = await world.t.store.labels.insert({ ...at(world), ...row, author_id: world.people[0]!.id });
    return { path: `/labels/${label.id}`, body: {} };
  },
  "POST /views": () => ({ path: "/views", body: { name: unique(), page: "hosts", shared: "team" } }),
  "PATCH /views/:id": async (world) => {
    const name = unique();
    const row = { name, page: "hosts", query: {}, shared: "everyone", key: name } as const;
    const view = await world.t.store.views.insert({ ...at(world), ...row });
    return { path: `/views/${view.id}`, body: { shared: "team" } };
  },
  "POST /queries/:id/run": async (world) => ({
    path: `/queries/${await make(world, "query", world.own, unique())}/run`,
    body: {},
  }),
  "GET /queries/run": async (world, field) => ({
    path:
      field === "query.query_ids"
        ? `/queries/run?host_ids=${await make(world, "host", world.own, unique())}`
        : `/queries/run?query_ids=${await make(world, "query", world.own, unique())}`,
  }),
  ...Object.fromEntries(
    ["/queries/run", "/queries/live", "/queries/run_by_identifiers"].map((path) => [
      `POST ${path}`,
      async (world: World, field: string) => ({
        path,
        body:
          field === "body.query_id"
            ? { selected: { hosts: [await make(world, "host", world.own, unique())] } }
            : { query: "SELECT 1" },
      }),
    ]),
  ),
  "POST /queries": () => ({ path: "/queries", body: { name: unique(), query: "SELECT 1" } }),
  "DELETE /queries/:name": () => ({ path: "/queries/none%20such", body: {} }),
  "GET /queries/:id/report": async (world) => ({
    path: `/queries/${await make(world, "query", world.own, unique())}/report`,
  }),
  "GET /queries/:id/report/csv": async (world) => ({
    path: `/queries/${await make(world, "query", world.own, unique())}/report/csv`,
  }),
  "GET /spec/queries/:name": () => ({ path: "/spec/queries/none%20such" }),
  "PATCH /global/schedule/:id": () => ({ path: "/global/schedule/1", body: {} }),
  "PATCH /teams/:team_id/schedule/:scheduled_query_id": async (world) => ({
    path: `/teams/${world.own}/schedule/${await ownQuery(world)}`,
    body: {},
  }),
  "POST /teams/:id/schedule": ({ own }) => ({ path: `/teams/${own}/schedule`, body: { interval: 60 } }),
  "POST /teams/:id/policies": ({ own }, field) => ({
    path: `/teams/${own}/policies`,
    body: field === "body.query_id" ? {} : { name: unique(), query: "SELECT 1" },
  }),
  "PATCH /teams/:team_id/policies/:policy_id": async (world) => ({
    path: `/teams/${world.own}/policies/${await make(world, "policy", world.own, unique())}`,
    body: {},
  }),
  "POST /scripts/run": async (world, field) => ({
    path: "/scripts/run",
    body: field === "body.script_id" ? { host_id: await make(world, "host", world.own, unique()) } : {},
  }),
  "POST /scripts/run/sync": async (world, field) => ({
    path: "/scripts/run/sync",
    body: field === "body.script_id" ? { host_id: await make(world, "host", world.own, unique()) } : {},
  }),
  "POST /scripts/run/batch": async (world, field) => ({
    path: "/scripts/run/batch",
    body: field === "body.script_id" ? { host_ids: [await make(world, "host", world.own, unique())] } : {},
  }),
  "PUT /setup_experience/software": ({ own }) => ({
    path: "/setup_experience/software",
    body: { team_id: own, platform: "linux" },
  }),
  "POST /teams/:team_id/policies/delete": ({ own }) => ({ path: `/teams/${own}/policies/delete`, body: {} }),
  "PATCH /teams/:id": ({ own }) => ({
    path: `/teams/${own}`,
    body: { webhook_settings: { failing_policies_webhook: { destination_url: "https://hooks.example.com/" } } },
  }),
  "PATCH /teams/:id/users": ({ own }) => ({
    path: `/teams/${own}/users`,
    body: { users: [{ id: 0, role: "observer" }] },
  }),
  "DELETE /teams/:id/users": ({ own }) => ({ path: `/teams/${own}/users`, body: { users: [{ id: 0 }] } }),
  "POST /tokens": () => ({ path: "/tokens", body: { name: unique() } }),
  "POST /users/admin": () => ({
    path: "/users/admin",
    body: {
      name: "Made",
      email: `made-${++serial}@example.com`,
      password: "a-good-passw0rd!",
      teams: [{ id: 0, role: "observer" }],
    },
  }),
  "PATCH /users/:id": async (world) => ({
    path: `/users/${await make(world, "user", world.own, `own-${++serial}`)}`,
    body: { teams: [{ id: 0, role: "observer" }] },
  }),
  "POST /certificates": async (world) => {
    const template = await make(world, "template", world.own, unique());
    const { certificate_authority_id } = (await world.t.store.certificateTemplates.get(template))!;
    return { path: "/certificates", body: { name: unique(), certificate_authority_id, subject_name: "/CN=x" } };
  },
  "DELETE /spec/certificates": async (world, field) => ({
    path: "/spec/certificates",
    body:
      field === "body.team_id" ? { ids: [await make(world, "template", world.own, unique())] } : { team_id: world.own },
  }),
  "GET /certificates/:id": async (world) => ({
    path: `/certificates/${await make(world, "template", world.own, unique())}`,
  }),
  "POST /automations/reset": () => ({ path: "/automations/reset", body: {} }),
};

interface Reference {
  readonly key: string;
  readonly endpoint: AnyEndpoint;
  /** Path of the field: `body.selected.hosts[]`. */
  readonly field: string;
  readonly kind: Kind;
}

/** The places in a schema where an id is possible. */
function idFields(schema: z.ZodType, place: string): string[] {
  const found = new Set<string>();
  const walk = (node: z.core.JSONSchema.JSONSchema | boolean | undefined, path: string): void => {
    if (typeof node !== "object") return;
    for (const [name, inner] of Object.entries(node.properties ?? {})) walk(inner as typeof node, `${path}.${name}`);
    if (node.items && !Array.isArray(node.items)) walk(node.items as typeof node, `${path}[]`);
    for (const inner of [...(node.anyOf ?? []), ...(node.oneOf ?? []), ...(node.allOf ?? [])])
      walk(inner as typeof node, path);
    // Sent back as it was read: there is no id.
    if (node.type === "null") return;
    if (/(^|[._])ids?(\[\])?$|uuid$|\.(hosts|users|teams|labels)\[\]$|\.team$/.test(path)) found.add(path);
  };
  walk(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }), place);
  return [...found];
}

const kindOf = (key: string, field: string): Kind | null | undefined => {
  const named = kindsOf[`${key} ${field}`];
  if (named) return named;
  if (ofNobody.test(field) || byName.test(`${key} ${field}`)) return null;
  const known = Object.keys(kinds).find((name) => field.endsWith(`.${name}`));
  return known === undefined ? undefined : kinds[known];
};

function references(): { known: Reference[]; unknown: string[] } {
  const known: Reference[] = [];
  const unknown: string[] = [];
  for (const { endpoint } of allEndpoints) {
    const key = `${endpoint.method} ${endpoint.path}`;
    const rule = rules[key];
    if (rule === undefined || rule === "open") continue;
    if (rule !== "self" && !roles.some((role) => mayOnTeam(rule, role))) continue;
    const fields = (["query", "body"] as const).flatMap((part) => {
      const schema = endpoint[part];
      return schema ? idFields(schema, part) : [];
    });
    for (const field of fields) {
      const kind = kindOf(key, field);
      if (kind === undefined) {
        // An array of ids counts by its items, one of objects by their ids.
        if (!fields.some((other) => other !== field && other.startsWith(`${field}[]`)) && !covers(fields, field))
          unknown.push(`${key} ${field}`);
      } else if (kind !== null && !fields.includes(`${field}[]`) && !covers(fields, field))
        known.push({ key, endpoint, field, kind });
    }
  }
  return { known, unknown };
}
const covers = (fields: readonly string[], field: string) => fields.some((other) => other.startsWith(`${field}.`));

/** Sets what `a.b[].c` names. */
function put(body: Record<string, unknown>, path: readonly string[], value: Id): void {
  const [name, ...rest] = path as [string, ...string[]];
  const list = name.endsWith("[]");
  const key = list ? name.slice(0, -2) : name;
  if (rest.length > 0) body[key] ??= list ? [{}] : {};
  if (rest.length === 0) body[key] = list ? [value] : value;
  else if (list) for (const item of body[key] as Record<string, unknown>[]) put(item, rest, value);
  else put(body[key] as Record<string, unknown>, rest, value);
}

async function callWith(world: World, { key, endpoint, field }: Reference, id: Id): Promise<Call> {
  const base = await (bases[key]?.(world, field) ?? {
    path: endpoint.path.replaceAll(/:\w+/g, String(MISSING)),
    ...(endpoint.hasBody ? { body: {} } : {}),
  });
  const [part, ...path] = field.split(".") as [string, ...string[]];
  if (part === "body") {
    const body = structuredClone(base.body ?? {});
    put(body, path, id);
    return { path: base.path, body };
  }
  return { ...base, path: `${base.path}${base.path.includes("?") ? "&" : "?"}${path.join(".")}=${id}` };
}

/** Values that differ from call to call anyway. */
const comparable = (text: string, id: Id): string =>
  text
    .replaceAll(/made[ -]\d+/g, "made")
    .replaceAll(new RegExp(`\\b${id}\\b`, "g"), "ID")
    .replaceAll(/"uuid":"[^"]*"/g, '"uuid":""');

const { known, unknown } = references();

it("knows the kind of each id", () => {
  expect(unknown).toEqual([]);
  expect(known.length).toBeGreaterThan(40);
});

describe.each(bothEngines)("on %s", (engine) => {
  let world: World;
  beforeAll(async () => {
    const t = await startApp({ engine, shared: true });
    const own = (await makeTeam(t, `own ${unique()}`)).id;
    const other = (await makeTeam(t, `${CANARY} team`)).id;
    const people = [];
    for (const role of ["admin", "technician"] as const) people.push(await makeUser(t, { teams: [{ id: own, role }] }));
    const robot = await makeUser(t, { teams: [{ id: own, role: "gitops" }] }, { api_only: true });
    world = { t, own, other, people: [...people, robot] };
    return () => t.close();
  });

  it.each(known.map((reference) => [`${reference.key} ${reference.field}`, reference] as const))(
    "%s",
    async (_, reference) => {
      const { endpoint, kind } = reference;
      for (const person of world.people) {
        const foreign = await makeForeign(world, kind);
        const before = await stateOf(world, kind, foreign);
        const answers: string[] = [];
        for (const id of [foreign, isProfile(kind) ? MISSING_UUID : MISSING]) {
          const { path, body } = await callWith(world, reference, id);
          const res = await person.request(endpoint.method, path, body);
          const text = await res.text();
          expect(res.status, text).toBeLessThan(500);
          expect(text).not.toContain(CANARY);
          answers.push(res.status < 400 ? String(res.status) : `${res.status} ${comparable(text, id)}`);
        }
        expect(answers[0]).toBe(answers[1]);
        expect(await stateOf(world, kind, foreign)).toBe(before);
      }
    },
  );

  it("names no objects of other teams that use a label of the caller", async () => {
    const { t, own, other } = world;
    const [admin] = world.people;
    const row = { name: unique(), label_type: "regular", label_membership_type: "manual" } as const;
    const label = await t.store.labels.insert({ ...at(world), ...row, author_id: admin!.id });
    const remove = async () => {
      const res = await admin!.request("DELETE", `/labels/id/${label.id}`);
      expect(res.status).toBe(422);
      return ((await res.json()) as { errors: { reason: string }[] }).errors[0]!.reason;
    };
    const limit = async (team: number, name: string) => {
      const policy = await make(world, "policy", team, `${name} policy`);
      const query = await make(world, "query", team, `${name} query`);
      const title = await make(world, "title", team, `${name} title ${++serial}`);
      const installer = await t.store.softwareInstallers.first({ where: eq("title_id", title) });
      const link = { label_id: label.id, rule: "include_any", name: label.name } as const;
      await t.store.policyLabels.insert({ policy_id: policy, label_id: label.id });
      await t.store.queryLabels.insert({ query_id: query, label_id: label.id });
      await t.store.installerLabels.insert({ installer_id: installer!.id, ...link });
    };
    await limit(other, CANARY);
    expect(await remove()).toMatch(/in use \(foreign key\) by 3 objects that you may not read$/);
    await limit(own, "mine");
    expect(await remove()).toMatch(
      /policy "mine policy", query "mine query", package "mine title \d+", 3 objects that/,
    );
  });

  it("repeats the name of a team as it was sent, not as the other team spells it", async () => {
    const { t, own } = world;
    const admin = await makeUser(t, { teams: [{ id: own, role: "admin" }] });
    const res = await admin.patch(`/teams/${own}`, { name: `${CANARY.toUpperCase()} TEAM` });
    const text = await res.text();
    expect(res.status, text).toBe(409);
    expect(text).not.toContain(CANARY);
  });

  it("does not name an authority that the caller may not list", async () => {
    const { own } = world;
    const maintainer = await makeUser(world.t, { teams: [{ id: own, role: "maintainer" }] });
    const certificate_authority_id = await make(world, "authority", own, `${CANARY}-${++serial}`);
    const template = { name: "x", team_id: own, certificate_authority_id, subject_name: "/CN=x" };
    const res = await maintainer.post("/certificates", template);
    const text = await res.text();
    expect(res.status, text).toBe(400);
    expect(text).toContain(`authority ${certificate_authority_id} is a custom_est_proxy`);
    expect(text).not.toContain(CANARY);
  });

  it("finds the caller's own objects with the same calls", async () => {
    const [admin] = world.people;
    const id = await make(world, "user", world.own, `own-${++serial}`);
    for (const method of ["PATCH", "DELETE"] as const) {
      const users = [method === "PATCH" ? { id, role: "maintainer" } : { id }];
      expect((await admin!.request(method, `/teams/${world.own}/users`, { users })).status).toBe(200);
    }
    expect(await world.t.store.userTeams.count(eq("user_id", id))).toBe(0);
  });
});
