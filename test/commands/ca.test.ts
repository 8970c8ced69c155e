import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { eq } from "../../src/server/platform/store/query.ts";
import { makeCsr, OpensslCa } from "../support/ca-fakes.ts";
import { startEst } from "../support/est-server.ts";
import { type Fleet, startFleet } from "../support/fleet.ts";

let fleet: Fleet;
beforeEach(async () => {
  fleet = await startFleet({ settings: { outbound_allow: "127.0.0.1" } });
});
// biome-ignore lint/suspicious/noExplicitAny: whatever the command prints
const json = async (...argv: string[]): Promise<any> => {
  const { stdout, stderr, exitCode } = await fleet.run([...argv, "-o", "json"]);
  expect(exitCode, stderr).toBe(0);
  return JSON.parse(stdout);
};
const scep = ["ca", "create", "--type", "custom_scep_proxy", "--url", "https://scep.example.com/scep"];
const add = (name: string) =>
  fleet.run([...scep, "--name", name, "--challenge-stdin", "--skip-check"], { stdin: "the-challenge\n" });
const named = (name: string) => fleet.app.store.certificateAuthorities.first({ where: eq("name", name) });
const file = async (name: string, value: unknown): Promise<string> => {
  const path = join(fleet.files, name);
  await writeFile(path, typeof value === "string" ? value : JSON.stringify(value));
  return path;
};

describe("svc ca", () => {
  it("adds, lists, shows, changes and deletes authorities, and never prints a secret", async () => {
    const added = await add("WIFI");
    expect([added.exitCode, added.stderr]).toEqual([0, expect.stringContaining("added certificate authority WIFI")]);
    expect((await named("WIFI"))!.secret).toBe("the-challenge");
    await add("ALPHA");
    expect((await json("ca", "list")).map(({ name }: { name: string }) => name)).toEqual(["ALPHA", "WIFI"]);
    expect((await fleet.run(["ca", "list"])).stdout).toMatch(/WIFI\s+custom_scep_proxy/);
    expect(await json("ca", "get", "WIFI")).toMatchObject({ type: "custom_scep_proxy", challenge: "********" });
    const moved = ["ca", "update", "WIFI", "--url", "https://new.example.com", "--skip-check"];
    const refused = await fleet.run(moved);
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining("custom_scep_proxy.challenge")]);
    expect((await fleet.run([...moved, "--challenge-stdin"], { stdin: "second" })).exitCode).toBe(0);
    expect(await named("WIFI")).toMatchObject({ secret: "second", settings: { url: "https://new.example.com" } });
    expect((await fleet.run(["ca", "delete", "WIFI"])).exitCode).toBe(2);
    expect((await fleet.run(["ca", "delete", "WIFI", "--yes"])).exitCode).toBe(0);
    const gone = await fleet.run(["ca", "get", "ALPH"]);
    expect([gone.exitCode, gone.stderr]).toEqual([3, expect.stringContaining("did you mean ALPHA?")]);
  });

  it("changes nothing in a dry run, and shows no secret in its output", async () => {
    await add("WIFI");
    const before = await fleet.app.store.certificateAuthorities.list();
    const groups = await file("g.json", {
      custom_scep_proxy: [{ name: "N", url: "https://x.example.com", challenge: "the-secret" }],
    });
    for (const argv of [
      [...scep, "--name", "NEW", "--challenge-stdin", "--skip-check"],
      ["ca", "update", "WIFI", "--challenge-stdin", "--url", "https://x.example.com", "--skip-check"],
      ["ca", "delete", "WIFI"],
      ["ca", "apply", "--input", groups, "--skip-check"],
    ]) {
      const { stdout, stderr, exitCode } = await fleet.run([...argv, "--dry-run"], { stdin: "the-secret" });
      expect(exitCode, stderr).toBe(0);
      expect(stdout).toContain("would ");
      expect(stdout + stderr).not.toContain("the-secret");
    }
    expect(await fleet.app.store.certificateAuthorities.list()).toEqual(before);
  });

  it("reports a flag of another type, an unknown type and a missing field before it sends a request", async () => {
    const cases: [string[], string][] = [
      [[...scep, "--name", "A", "--client-id", "x"], "client-id does not apply to the type custom_scep_proxy"],
      [["ca", "create", "--type", "other"], "custom_scep_proxy"],
      [["ca", "create", "--name", "A"], "--type TYPE is required"],
      [scep, "--name"],
      [[...scep, "--name", "A"], "--challenge-stdin"],
      [["ca", "update", "WIFI"], "nothing to change"],
    ];
    await add("WIFI");
    for (const [argv, words] of cases) {
      const { exitCode, stderr } = await fleet.run(argv);
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining(words)]);
    }
  });

  it("reports why the authority failed the check", async () => {
    const { exitCode, stderr } = await fleet.run(
      [...scep.slice(0, -1), "http://127.0.0.1:1/", "--name", "A", "--challenge-stdin"],
      { stdin: "c" },
    );
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("Invalid url: 127.0.0.1 refused the connection")]);
    expect(await named("A")).toBeNull();
  });

  it("reads a file with the body of the API, and groups as list prints them", async () => {
    const body = { hosted_est_ca: { name: "EST", url: "https://est.example.com", client_id: "c", client_secret: "s" } };
    expect((await fleet.run(["ca", "create", "--input", await file("b.json", body), "--skip-check"])).exitCode).toBe(0);
    await add("WIFI");
    const groups = await json("ca", "list", "--spec");
    expect(groups).toMatchObject({
      hosted_est_ca: [{ name: "EST", client_secret: "********" }],
      directory_scep_proxy: null,
    });
    const before = await fleet.app.store.certificateAuthorities.list();
    expect((await fleet.run(["ca", "apply", "--input", await file("g.json", groups)])).stderr).toContain(
      "applied 2 certificate authorities",
    );
    expect(await fleet.app.store.certificateAuthorities.list()).toEqual(before);
  });

  it("requests a certificate, and prints it alone on stdout", async () => {
    const est = await startEst(await OpensslCa.make(), { username: "u", password: "p" });
    const body = { custom_est_proxy: { name: "EST", url: est.estUrl, username: "u", password: "p" } };
    expect((await fleet.run(["ca", "create", "--input", await file("b.json", body)])).exitCode).toBe(0);
    const csr = await makeCsr({ subject: "/CN=laptop" });
    const request = ["ca", "request-certificate", "EST", "--csr", "-"];
    const { stdout } = await fleet.run(request, { stdin: csr });
    expect(stdout).toMatch(/^-----BEGIN PKCS7-----\n[\s\S]+-----END PKCS7-----\n$/);
    const alone = await fleet.run([...request, "--return-pem-certificate"], { stdin: csr });
    expect(alone.stdout).toMatch(/^-----BEGIN CERTIFICATE-----/);
    const bad = await fleet.run(request, { stdin: "nonsense" });
    expect([bad.exitCode, bad.stdout, bad.stderr]).toEqual([
      1,
      "",
      expect.stringContaining("Invalid certificate request"),
    ]);
  });
});

describe("svc certificates", () => {
  const create = (name: string, ...more: string[]) =>
    fleet.run([
      "certificates",
      "create",
      "--name",
      name,
      "--certificate-authority",
      "WIFI",
      "--subject-name",
      "/CN=$SVC_VAR_HOST_UUID",
      ...more,
    ]);

  it("creates, lists, shows and deletes templates of a team", async () => {
    await add("WIFI");
    for (const argv of [[], ["--team", "Workstations"]]) {
      expect((await create("Wi-Fi", ...argv)).exitCode).toBe(0);
      expect((await create("VPN", ...argv)).exitCode).toBe(0);
      expect((await create("VPN", ...argv)).exitCode).toBe(5);
      expect((await json("certificates", "list", ...argv)).map(({ name }: { name: string }) => name)).toEqual([
        "Wi-Fi",
        "VPN",
      ]);
    }
    expect(await json("certificates", "get", "VPN", "--team", "Workstations")).toMatchObject({
      name: "VPN",
      team_id: fleet.teamId,
    });
    const shown = await json("certificates", "get", "VPN", "--host", "linux-1.example.com");
    expect(shown).toMatchObject({ subject_name: expect.stringMatching(/^\/CN=uuid-/), status: "pending" });
    const dry = await create("Dry", "--dry-run");
    expect(dry.stdout).toContain("would create certificate template Dry");
    expect((await fleet.run(["certificates", "delete", "VPN", "Wi-Fi", "--yes"])).exitCode).toBe(2);
    expect((await fleet.run(["certificates", "delete", "VPN", "Wi-Fi", "--confirm", "2"])).exitCode).toBe(0);
    expect(await json("certificates", "list")).toEqual([]);
    const several = ["certificates", "delete", "VPN", "Wi-Fi", "--team", "Workstations", "--confirm", "2"];
    expect((await fleet.run(several)).exitCode).toBe(0);
    expect(await fleet.app.store.certificateTemplates.count()).toBe(0);
    expect((await fleet.run(["certificates", "get", "VPN"])).exitCode).toBe(3);
    expect((await fleet.run(["certificates", "get", "7"])).exitCode).toBe(3);
  });

  it("applies templates from a file in one transaction", async () => {
    await add("WIFI");
    const ca = (await named("WIFI"))!.id;
    const one = (name: string, certificate_authority_id = ca) => ({
      name,
      team: "Lab",
      certificate_authority_id,
      subject_name: "/CN=x",
    });
    const bad = await fleet.run(["certificates", "apply", "--input", await file("a.json", [one("A"), one("B", 99)])]);
    expect([bad.exitCode, bad.stderr]).toEqual([1, expect.stringContaining("specs.1.certificate_authority_id")]);
    expect(await fleet.app.store.certificateTemplates.count()).toBe(0);
    const good = await file("b.json", { specs: [one("A"), one("B")] });
    expect((await fleet.run(["certificates", "apply", "--input", good, "--dry-run"])).stdout).toContain(
      "would apply 2",
    );
    expect((await fleet.run(["certificates", "apply", "--input", good])).exitCode).toBe(0);
    expect(await json("certificates", "list", "--team", "Lab")).toHaveLength(2);
  });
});
