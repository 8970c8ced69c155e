// Names and email addresses in all inputs: one line of text, one plain address.
import { beforeAll, describe, expect, it } from "vitest";
import { isEmail } from "../../src/api/fields.ts";
import { errorOf } from "../support/accounts.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { makePolicy } from "../support/make.ts";

const names = [
  "two\nlines",
  "a\rb",
  "bell\u0007",
  "\u001b[31mred",
  "next\u0085line",
  "a\u2028b",
  "a\u2029b",
  "a\u202eb",
  "a\u2066b",
];
const password = "plain-Sailing-42-times";

describe("an email address", () => {
  it.each([
    ...[
      "<x@example.com>",
      "X <x@example.com>",
      "x@example.com>",
      "a@b@c",
      "a,b@example.com",
      "a@b, c@d",
      "a;b@example.com",
    ],
    ...[
      "@example.com",
      "x@",
      "x",
      "",
      "x y@example.com",
      "x@exa mple.com",
      "x\n@example.com",
      "x@example.com\n",
      "x\u0000@example.com",
    ],
    ...[
      "x@-example.com",
      "x@example-.com",
      "x@example..com",
      "x@.example.com",
      "x@example.com.",
      ".x@example.com",
      "x.@example.com",
    ],
    ...[
      "x..y@example.com",
      '"x"@example.com',
      "x(c)@example.com",
      "x\u200b@example.com",
      "x@exa_mple.com",
      `${"x".repeat(250)}@b.com`,
    ],
  ])("is not %j", (text) => expect(isEmail(text)).toBe(false));

  it.each([
    "x@example.com",
    "x.y+z@sub.example.com",
    "o'neil@example.com",
    "root@localhost",
    "jörg@bücher.example",
    "a_b-c@1.example",
  ])("is %j", (text) => expect(isEmail(text)).toBe(true));
});

describe("names and addresses in requests", () => {
  let t: TestApp;
  beforeAll(async () => {
    t = await startApp({ shared: true });
    return () => t.close();
  });
  const apply = (kind: string, name: string) => ({
    changes: [{ kind, owner: null, name, action: "create", value: { query: "SELECT 1" } }],
  });

  const ways: Record<string, (name: string) => [string, string, object] | Promise<[string, string, object]>> = {
    user: (name) => ["POST", "/users/admin", { name, email: "n@example.com", password, global_role: "observer" }],
    "user's own": (name) => ["PATCH", "/users/1", { name }],
    invite: (name) => ["POST", "/invites", { name, email: "i@example.com", global_role: "observer" }],
    token: (name) => ["POST", "/tokens", { name }],
    team: (name) => ["POST", "/teams", { name }],
    "team spec": (name) => ["POST", "/spec/teams", { specs: [{ name }] }],
    label: (name) => ["POST", "/labels", { name, query: "SELECT 1" }],
    "label spec": (name) => ["POST", "/spec/labels", { specs: [{ name, query: "SELECT 1" }] }],
    policy: (name) => ["POST", "/global/policies", { name, query: "SELECT 1" }],
    "policy's new": async (name) => ["PATCH", `/global/policies/${(await makePolicy(t)).id}`, { name }],
    "policy spec": (name) => ["POST", "/spec/policies", { specs: [{ name, query: "SELECT 1" }] }],
    query: (name) => ["POST", "/queries", { name, query: "SELECT 1" }],
    "query spec": (name) => ["POST", "/spec/queries", { specs: [{ name, query: "SELECT 1" }] }],
    pack: (name) => ["POST", "/packs", { name }],
    "pack spec": (name) => ["POST", "/spec/packs", { specs: [{ name }] }],
    authority: (name) => [
      "POST",
      "/certificate_authorities?skip_check=true",
      { custom_scep_proxy: { name, url: "https://a.example", challenge: "c" } },
    ],
    certificate: (name) => ["POST", "/certificates", { name, certificate_authority_id: 1, subject_name: "/CN=x" }],
    "applied policy": (name) => ["POST", "/spec/apply", apply("policy", name)],
    "applied query": (name) => ["POST", "/spec/apply", apply("query", name)],
    "applied label": (name) => ["POST", "/spec/apply", apply("label", name)],
    "applied team": (name) => [
      "POST",
      "/spec/apply",
      { changes: [{ kind: "team", owner: null, name, action: "create", value: {} }] },
    ],
  };
  it.each(Object.keys(ways))("refuse a name that is not a line of text: %s", async (way) => {
    for (const name of names) {
      const [method, path, body] = await ways[way]!(name);
      const response = await t.request(method, path, body);
      const { errors } = await errorOf(response);
      expect([400, 422], `${JSON.stringify(name)} ${JSON.stringify(errors)}`).toContain(response.status);
      expect(errors?.[0]?.name).toMatch(/name$/);
    }
  });

  it("refuse anything but a plain address", async () => {
    const bad = "<x@example.com>";
    for (const [method, path, body, field] of [
      ["POST", "/users/admin", { name: "X", email: bad, password, global_role: "observer" }, "email"],
      ["PATCH", "/users/1", { email: bad, password }, "email"],
      ["POST", "/invites", { name: "X", email: bad, global_role: "observer" }, "email"],
      ["POST", "/config/test_mail", { to: bad }, "to"],
      ["PATCH", "/config", { smtp_settings: { sender_address: bad } }, "smtp_settings.sender_address"],
    ] as const) {
      const response = await t.request(method, path, body);
      const { errors } = await errorOf(response);
      expect([response.status, errors?.[0]?.name], path).toEqual([422, field]);
    }
  });
});
