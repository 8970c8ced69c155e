// The table of endpoints compared with the published list, both ways: the missing ones are listed, and their number may
// only decrease; those that the list does not have are listed too. The query engine's own protocol is not in the table.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { allEndpoints } from "../../src/api/all.ts";
import type { AnyEndpoint } from "../../src/api/endpoint.ts";
import { fullPath, servedPaths, versions } from "../../src/api/paths.ts";
import { protocolsOf } from "../../src/server/protocols.ts";
import { routes } from "../../src/server/routes.ts";
import { rules } from "./walker-rules.ts";

const fixture = (name: string) => readFileSync(new URL(`../fixtures/${name}`, import.meta.url), "utf8");
const wanted = fixture("endpoints.tsv")
  .trim()
  .split("\n")
  .slice(1)
  .map((line) => line.split("\t"))
  .map(([method, path, tier]) => ({ key: `${method} ${path}`, tier }));
const table = new Map(allEndpoints.map(({ endpoint }) => [`${endpoint.method} ${endpoint.path}`, endpoint]));
/** The list may name an endpoint by another of its paths. Protocols of agents and devices are part of it too. */
const served = new Map<string, AnyEndpoint>([
  ...protocolsOf({}).flatMap(({ routes: own, pathsOf = servedPaths }) =>
    own.flatMap(({ endpoint }) =>
      pathsOf(endpoint).flatMap((path): [string, AnyEndpoint][] => [
        [`${endpoint.method} ${path}`, endpoint],
        [`${endpoint.method} ${path.replace(/^\/api\/v1\/svc(?=\/)/, "")}`, endpoint],
      ]),
    ),
  ),
  ...allEndpoints.flatMap(({ endpoint }) =>
    [endpoint.path, ...endpoint.aliases].map((path): [string, AnyEndpoint] => [`${endpoint.method} ${path}`, endpoint]),
  ),
]);

it("has every endpoint of the list except those known to be missing", () => {
  const missing = wanted.map(({ key }) => key).filter((key) => !served.has(key));
  console.log(`${wanted.length - missing.length} of ${wanted.length} listed endpoints exist; missing:`);
  for (const key of missing) console.log(`  ${key}`);
  const known = fixture("endpoints-missing.txt").trim().split("\n").filter(Boolean);
  expect(
    missing.filter((key) => !known.includes(key)),
    "missing, though it was there",
  ).toEqual([]);
  expect(
    known.filter((key) => !missing.includes(key)),
    "there now: strike it from endpoints-missing.txt",
  ).toEqual([]);
});

it("has no other endpoint except those known to be in addition to the list", () => {
  const keys = new Set(wanted.map(({ key }) => key));
  const beyond = allEndpoints
    .filter(
      ({ endpoint: { method, path, aliases } }) => ![path, ...aliases].some((one) => keys.has(`${method} ${one}`)),
    )
    .map(({ endpoint }) => `${endpoint.method} ${endpoint.path}`);
  expect(beyond.sort()).toEqual(fixture("endpoints-beyond.txt").trim().split("\n").sort());
});

/** Listed as free, but part of the premium teams: they return 402 like every team endpoint. */
const premiumAfterAll = ["GET /teams/:id/secrets", "PATCH /teams/:id/secrets"];

it("gives listed endpoints the tier of the list", () => {
  for (const { key, tier } of wanted)
    if (served.has(key)) expect(served.get(key)!.tier, key).toBe(premiumAfterAll.includes(key) ? "premium" : tier);
});

it("names each method and path once, and serves it in every version", () => {
  expect(table.size).toBe(allEndpoints.length);
  for (const { endpoint } of allEndpoints)
    for (const version of versions) expect(fullPath(endpoint, version)).toMatch(/^\/api\/(v1|2022-04|latest)\//);
});

it("mounts every endpoint of the table, and nothing else, exactly once", () => {
  const keyOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`;
  expect(routes.map(({ endpoint }) => keyOf(endpoint)).sort()).toEqual([...table.keys()].sort());
  for (const { endpoint } of routes) expect(table.get(keyOf(endpoint))).toBe(endpoint);
});

it("has an access rule for every endpoint, and no outdated rule", () => {
  expect([...table.keys()].sort()).toEqual(Object.keys(rules).sort());
});

it("requires a token except where a review found that none is needed", () => {
  const open = [...table].filter(([, { access }]) => access === "none").map(([key]) => key);
  // Below /device the token in the path replaces the Authorization header.
  const device = ["", "/certificates", "/desktop", "/desktopadmin", "/device_mapping"];
  device.push("/mdm/vendora/manual_enrollment_profile", "/policies", "/software");
  device.push("/software/self_service_categories", "/software/titles/:software_title_id/icon");
  device.push("/software/install/:install_uuid/results", "/software/uninstall/:execution_id/results");
  device.push("/software/commands/:command_uuid/results");
  expect(open.sort()).toEqual([
    // The enroll secret in the query decides.
    "GET /android_enterprise/enrollment_token",
    // Devices and users download with the token of the file.
    "GET /bootstrap",
    ...device.sort().map((path) => `GET /device/:token${path}`),
    // The invite's own token is in path and body.
    "GET /invites/:token",
    // The sign-in page shows it.
    "GET /logo",
    "GET /results/info",
    "GET /setup_experience/eula/:token",
    // A token of its own, for one download.
    "GET /software/titles/:id/package/token/:token",
    "GET /sso",
    "GET /sso/metadata",
    "POST /device/:token/apns_ping",
    "POST /device/:token/bypass_conditional_access",
    "POST /device/:token/configuration_profiles/:profile_uuid/resend",
    "POST /device/:token/mdm/linux/trigger_escrow",
    "POST /device/:token/migrate_mdm",
    "POST /device/:token/refetch",
    "POST /device/:token/rotate_encryption_key",
    "POST /device/:token/setup_experience/status",
    "POST /device/:token/software/install/:software_title_id",
    "POST /device/:token/software/install_all",
    "POST /device/:token/software/uninstall/:software_title_id",
    "POST /device/:token/sso",
    "POST /forgot_password",
    "POST /login",
    "POST /reset_password",
    "POST /sessions",
    "POST /setup",
    "POST /sso",
    "POST /sso/callback",
    "POST /sso/cli_token",
    "POST /users",
  ]);
});
